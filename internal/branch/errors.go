package branch

import (
	"errors"

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
