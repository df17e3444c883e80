package branch

import (
	"errors"
	"time"

	"callerd/internal/queue"
)

// The refusals. Each is wrapped with the particulars; a refusal has changed nothing.
var (
	// ErrUnknownCategory is returned when a request names a category that the branch never had.
	ErrUnknownCategory = errors.New("unknown category")
	// ErrUnknownTicket is returned when a request names a ticket of neither this nor the last business day.
	ErrUnknownTicket = errors.New("unknown ticket")
	// ErrUnknownCounter is returned when a request names a counter that the branch never had.
	ErrUnknownCounter = errors.New("unknown counter")
	// ErrUnknownDay is returned when a list is asked for a day that is neither the current one nor the one before.
	ErrUnknownDay = errors.New("unknown business day")
	// ErrWrongTicketState is returned when the lifecycle has no such verb in the ticket's state.
	ErrWrongTicketState = errors.New("wrong ticket state")
	// ErrCategoryClosed is returned when a category issues no numbers.
	ErrCategoryClosed = errors.New("category closed")
	// ErrCounterClosed is returned when a counter is paused or no longer configured.
	ErrCounterClosed = errors.New("counter closed")
	// ErrCounterBusy is returned when a counter has a current ticket that the request does not name.
	ErrCounterBusy = errors.New("counter busy")
	// ErrCounterTaken is returned when another session is on at the counter.
	ErrCounterTaken = errors.New("counter taken")
	// ErrNoCurrentTicket is returned when a verb on the current ticket finds none.
	ErrNoCurrentTicket = errors.New("no current ticket")
	// ErrStaleSession is returned when a session's token is not that of the counter's session.
	ErrStaleSession = errors.New("stale session")
	// ErrTicketMoved is returned when a request names another ticket than the current one.
	ErrTicketMoved = errors.New("ticket moved")
	// ErrNumbersExhausted is returned when a series has reached queue.MaxNumber today.
	ErrNumbersExhausted = errors.New("numbers exhausted")
	// ErrQuotaExhausted is returned when a category has handed out its numbers of the day.
	ErrQuotaExhausted = errors.New("quota exhausted")
	// ErrPersonLimit is returned when a person has taken as many numbers of a category as one may.
	ErrPersonLimit = errors.New("person limit")
	// ErrRequeueTooLate is returned when a no-show comes back after its time.
	ErrRequeueTooLate = errors.New("too late to come back")
	// ErrRecallLimit is returned when a ticket has been recalled as often as one may.
	ErrRecallLimit = errors.New("recall limit")
	// ErrNoShowTooEarly is returned when a customer has not been called often or long enough to be a no-show.
	ErrNoShowTooEarly = errors.New("too early for a no-show")
	// ErrUnknownResource is returned when a request names a resource that is not configured.
	ErrUnknownResource = errors.New("unknown resource")
	// ErrResourceBusy is returned when a resource is not free after the wait.
	ErrResourceBusy = errors.New("resource busy")
	// ErrLeaseLost is returned when a grant has ended: released, or its time was up.
	ErrLeaseLost = errors.New("lease lost")
	// ErrRequestReused is returned when a request id comes again with other content.
	ErrRequestReused = errors.New("request id reused")

	// ErrJournalBehind is returned when the disk is behind and the caller's deadline passed before there was room.
	ErrJournalBehind = errors.New("journal behind")
	// ErrNoSpace is returned while the disk is full: nothing that is not on disk is said. It ends by itself.
	ErrNoSpace = errors.New("no space for the journal")
	// ErrStopping is returned while the branch is closing.
	ErrStopping = errors.New("stopping")
	// ErrStoreFailed is returned after a commit failed in a way that leaves its outcome unknown; the process must end.
	ErrStoreFailed = errors.New("store failed")
)

// refusal keeps the sequence at which a refusal is true.
type refusal struct {
	err      error
	sequence uint64
}

func (r *refusal) Error() string { return r.err.Error() }
func (r *refusal) Unwrap() error { return r.err }

// RefusedAt returns the sequence at which a refusal was true, 0 when err names none.
func RefusedAt(err error) uint64 {
	var r *refusal
	if errors.As(err, &r) {
		return r.sequence
	}
	return 0
}

// CurrentTicket returns the counter's current ticket that a refusal met, for ErrCounterBusy and ErrTicketMoved.
func CurrentTicket(err error) (queue.TicketID, bool) {
	var c *currentError
	if errors.As(err, &c) {
		return c.current, !c.current.IsZero()
	}
	return queue.TicketID{}, false
}

// currentError is a refusal that met a current ticket.
type currentError struct {
	error
	current queue.TicketID
}

func (e *currentError) Unwrap() error { return e.error }

// closedError is a refusal outside the opening hours.
type closedError struct {
	error
	next time.Time
}

func (e *closedError) Unwrap() error { return e.error }

// NextOpening returns when a category hands out numbers again, for ErrCategoryClosed; ok is false when that is not known.
func NextOpening(err error) (at time.Time, ok bool) {
	var c *closedError
	if errors.As(err, &c) {
		return c.next, !c.next.IsZero()
	}
	return time.Time{}, false
}

// earlyError is a refusal that ends by itself.
type earlyError struct {
	error
	left time.Duration
}

func (e *earlyError) Unwrap() error { return e.error }

// TimeLeft returns how long a refusal still stands, for ErrNoShowTooEarly.
func TimeLeft(err error) (time.Duration, bool) {
	var e *earlyError
	if errors.As(err, &e) {
		return e.left, true
	}
	return 0, false
}
