package branch

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"time"

	"callerd/internal/queue"
)

// TicketReply is a ticket as it is at a sequence.
type TicketReply struct {
	Ticket queue.Ticket
	Ahead  int // waiting tickets in front of it; 0 when it is not waiting
	// Estimate is ahead times the category's recent mean service time, shared among its open counters; nil when no counter is
	// open for it or nothing was served yet.
	Estimate *time.Duration
	Replayed bool
	Sequence uint64
}

// IssueRequest asks for a number.
type IssueRequest struct {
	Request
	Category queue.CategoryID
	Priority queue.PriorityReason
	Person   string // an opaque hash; counts against the limit a person
	Reserve  bool   // from afar: held until the customer checks in
}

// IssueTicket hands out the next number of a category.
func (b *Branch) IssueTicket(ctx context.Context, r IssueRequest) (TicketReply, error) {
	d, err := b.DecideTicket(ctx, r)
	if err != nil {
		return TicketReply{}, err
	}
	return d.Wait(ctx)
}

// DecidedTicket is a number that is decided on and perhaps not yet on disk; only Wait tells it. It is for one goroutine.
type DecidedTicket struct {
	b       *Branch
	o       *operation
	refused error
	reply   TicketReply
}

// DecideTicket is IssueTicket without the wait for the disk, for those who send many and wait for them together: numbers
// of one category come in the order of the calls. Its errors are those of IssueTicket under which nothing was decided.
// Who does not call Wait may ask again with the same request id, as after a reply that was lost.
func (b *Branch) DecideTicket(ctx context.Context, r IssueRequest) (*DecidedTicket, error) {
	req := &request{r.Request, fingerprint("IssueTicket", 0, string(r.Category), strconv.Itoa(int(r.Priority))+" "+strconv.FormatBool(r.Reserve), r.Person)}
	c := b.state.sets.Load().byCategory[r.Category]
	var id queue.TicketID
	d := &DecidedTicket{b: b}
	var err error
	d.o, d.refused, err = b.begin(ctx, req, func(o *operation) error {
		if c == nil {
			return fmt.Errorf("%w: %q", ErrUnknownCategory, r.Category)
		}
		o.lockLines(c)
		return nil
	}, func(o *operation) error {
		if err := b.mayIssue(o, c, r.Person); err != nil {
			return err
		}
		var number string
		id, number = c.NextID()
		out := &queue.TicketChanged{Verb: queue.Issue, Ticket: id, Number: number, To: queue.Waiting, Category: r.Category, Priority: r.Priority, Person: r.Person}
		if r.Reserve {
			out.Verb, out.To, out.Deadline = queue.Reserve, queue.Reserved, b.policy(r.Category).deadline(queue.Reserved, o.at)
		}
		o.emit(out)
		return nil
	}, func(o *operation) {
		if o.seen == nil {
			d.reply = b.look(c.Find(id), o.sequence)
		}
	})
	if err != nil {
		return nil, err
	}
	return d, nil
}

// Wait returns the ticket, or why there is none, once that is on disk.
func (d *DecidedTicket) Wait(ctx context.Context) (TicketReply, error) {
	o, err := d.b.finish(ctx, d.o, d.refused)
	return d.b.replied(ctx, o, err, d.reply)
}

// mayIssue refuses a number by the opening hours, the end of the series and the quotas. The caller holds the line's lock,
// under which the number is taken: a quota is never oversold by one.
func (b *Branch) mayIssue(o *operation, c *queue.Category, person string) error {
	p := b.policy(c.ID())
	if !c.Open() {
		return fmt.Errorf("%w: %s is no longer in the configuration", ErrCategoryClosed, c.ID())
	}
	if open, next := p.Hours.Open(time.Unix(0, o.at).In(b.state.day.Load().zone)); !open {
		return &closedError{fmt.Errorf("%w: %s hands out numbers again at %s", ErrCategoryClosed, c.ID(), nextOpening(next)), next}
	}
	if c.Issued() >= queue.MaxNumber {
		return fmt.Errorf("%w: %s has reached %d today", ErrNumbersExhausted, c.ID(), queue.MaxNumber)
	}
	if p.MaxPerDay != 0 && c.Used() >= p.MaxPerDay {
		return fmt.Errorf("%w: %s has handed out its %d numbers of today", ErrQuotaExhausted, c.ID(), p.MaxPerDay)
	}
	if p.MaxPerPerson != 0 && person != "" && c.OfPerson(person) >= p.MaxPerPerson {
		return fmt.Errorf("%w: this person has taken %d numbers of %s today", ErrPersonLimit, c.OfPerson(person), c.ID())
	}
	return nil
}

func nextOpening(t time.Time) string {
	if t.IsZero() {
		return "no time within a year"
	}
	return t.Format("2006-01-02 15:04")
}

// CheckInTicket puts a reserved ticket into its line: the customer has arrived.
func (b *Branch) CheckInTicket(ctx context.Context, r Request, id queue.TicketID) (TicketReply, error) {
	return b.placeVerb(ctx, r, id, "CheckInTicket", queue.CheckIn, "")
}

// CancelTicket gives a ticket up before it is served, wherever it is.
func (b *Branch) CancelTicket(ctx context.Context, r Request, id queue.TicketID, reason string) (TicketReply, error) {
	return b.placeVerb(ctx, r, id, "CancelTicket", queue.Cancel, reason)
}

// placeVerb does a customer's verb on a ticket wherever it is.
func (b *Branch) placeVerb(ctx context.Context, r Request, id queue.TicketID, method string, v queue.Verb, note string) (TicketReply, error) {
	req := &request{r, fingerprint(method, 0, id.String(), note)}
	var t *queue.Live
	var reply TicketReply
	o, err := b.do(ctx, req, func(o *operation) (err error) {
		t, err = o.lockTicket(id)
		return err
	}, func(o *operation) error {
		if err := allowed(t, v); err != nil {
			return err
		}
		if v == queue.CheckIn && t.Deadline != 0 && o.at >= t.Deadline {
			return fmt.Errorf("%w: the time to check %s in is over", ErrWrongTicketState, t.Number)
		}
		out := b.outcome(o, t, v, 0)
		out.Note = note
		o.emit(out)
		return nil
	}, func(o *operation) {
		if o.seen == nil {
			reply = b.look(t, o.sequence)
		}
	})
	return b.replied(ctx, o, err, reply)
}

// GetTicket tells a ticket of this or the last business day.
func (b *Branch) GetTicket(ctx context.Context, id queue.TicketID) (TicketReply, error) {
	var t *queue.Live
	var reply TicketReply
	o, err := b.do(ctx, nil, func(o *operation) (err error) {
		t, err = o.lockTicket(id)
		return err
	}, nil, func(o *operation) { reply = b.look(t, o.sequence) })
	return b.replied(ctx, o, err, reply)
}

// replied ends a verb on a ticket: a retry reads the ticket as it is now, holding nothing of the first look.
func (b *Branch) replied(ctx context.Context, o *operation, err error, reply TicketReply) (TicketReply, error) {
	if err != nil {
		return TicketReply{}, err
	}
	if o.seen == nil {
		return reply, nil
	}
	// By its address and not by its id: after a short day the ticket may be older than what can be asked for.
	t := cmp.Or(o.seen.ticket, o.seen.completed)
	_, err = b.do(ctx, nil, func(o *operation) error { return o.lockPlaces(nil, t) }, nil, func(o *operation) {
		reply = b.look(t, o.sequence)
	})
	if err != nil {
		return TicketReply{}, err
	}
	reply.Replayed = true
	return reply, nil
}

// look copies a ticket and what stands before it. The caller holds the lock of its place and of its line.
func (b *Branch) look(t *queue.Live, sequence uint64) TicketReply {
	b.settle(t)
	r := TicketReply{Ticket: t.Ticket(), Sequence: sequence}
	if t.State != queue.Waiting {
		return r
	}
	c := b.lineOf(t)
	if t.Bound != 0 {
		r.Ahead = b.state.sets.Load().byCounter[t.Bound].Own().Ahead(t.Key)
		return r // one counter's customers are no measure for an estimate
	}
	r.Ahead = c.Ahead(t)
	if n, mean := c.Counters(), c.ServiceMean(); n > 0 && mean > 0 {
		e := time.Duration(int64(r.Ahead) * mean / int64(n))
		r.Estimate = &e
	}
	return r
}

// allowed refuses what the lifecycle does not have.
func allowed(t *queue.Live, v queue.Verb) error {
	if _, ok := queue.Next(t.State, v); !ok {
		return fmt.Errorf("%w: %s is %v, %v is not possible", ErrWrongTicketState, t.Number, t.State, v)
	}
	return nil
}
