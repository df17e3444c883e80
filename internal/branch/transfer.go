package branch

import (
	"context"
	"fmt"

	"callerd/internal/counter"
	"callerd/internal/queue"
)

// TransferRequest sends a ticket into another category's line, or to one counter.
type TransferRequest struct {
	Request
	Ticket   queue.TicketID
	Category queue.CategoryID // into its line
	Place    Place
	Counter  queue.CounterID // or to this counter
	Note     string
}

// TransferTicket sends a ticket on: out of a line, or from the session's counter. It keeps its number for life.
func (b *Branch) TransferTicket(ctx context.Context, r TransferRequest, sessionToken string) (TicketReply, error) {
	s := b.session(sessionToken)
	req := &request{r.Request, fingerprint("TransferTicket", s.token.counter, r.Ticket.String(), string(r.Category), r.Place.String(), fmt.Sprint(r.Counter), r.Note)}
	var t *queue.Live
	sets := b.state.sets.Load()
	into, target := sets.byCategory[r.Category], sets.byCounter[r.Counter]
	return b.ticketVerb(ctx, req, s, &t, func(o *operation) error {
		if t = b.state.find(r.Ticket); s.counter == nil || t == nil {
			return s.lock(o)
		}
		if err := o.lockToMove(s.counter, t, into, target); err != nil {
			return err
		}
		return s.check()
	}, func(o *operation) error {
		if t == nil {
			return unknown(r.Ticket)
		}
		if r.Counter != 0 && target == nil {
			return fmt.Errorf("%w: there is no counter %d", ErrUnknownCounter, r.Counter)
		}
		if into == nil && (r.Category != "" || target == nil) {
			return fmt.Errorf("%w: %q", ErrUnknownCategory, r.Category)
		}
		if into != nil && !into.Open() && into.ID() != t.Category {
			return fmt.Errorf("%w: %s is no longer in the configuration", ErrCategoryClosed, into.ID())
		}
		if target != nil && !target.Definition().Configured {
			return fmt.Errorf("%w: counter %d is no longer in the configuration", ErrCounterClosed, r.Counter)
		}
		if err := here(s, t); err != nil {
			return err
		}
		if err := allowed(t, queue.Transfer); err != nil {
			return err
		}
		if target != nil && target.Session() == nil {
			return fmt.Errorf("%w: counter %d has no session", ErrCounterClosed, r.Counter)
		}
		o.emit(b.transferred(o, t, into, target, r))
		return nil
	})
}

// transferred makes the outcome of a transfer. The caller holds all the locks.
func (b *Branch) transferred(o *operation, t *queue.Live, into *queue.Category, target *counter.Counter, r TransferRequest) *queue.TicketChanged {
	out := b.outcome(o, t, queue.Transfer, 0)
	out.Note = r.Note
	if into != nil && into.ID() != t.Category {
		out.Category, out.FromCategory = into.ID(), t.Category
	}
	if target != nil {
		out.Bound = target.ID()
	}
	b.place(o, out, t, r.Place)
	return out
}

// lockToMove takes all the locks of a move: the session's counter, the ticket's place, and where it goes.
func (o *operation) lockToMove(at *counter.Counter, t *queue.Live, into *queue.Category, target *counter.Counter) error {
	p := t.Place()
	s := o.b.state.sets.Load() // after the place: it has what that names
	counters, lines := []*counter.Counter{at}, []*queue.Category{s.categories[p.Category]}
	if p.Counter != 0 {
		counters = append(counters, s.byCounter[p.Counter])
	}
	if target != nil {
		counters = append(counters, target)
	}
	if into != nil {
		lines = append(lines, into)
	}
	o.lockCounters(counters...)
	o.lockLines(lines...)
	if t.Place() != p {
		return errMoved
	}
	return nil
}
