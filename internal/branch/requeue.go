package branch

import (
	"context"
	"fmt"

	"callerd/internal/queue"
)

// Place says where a ticket goes in a line.
type Place struct {
	Where queue.Where // 0: what the configuration says
	After uint32      // for queue.After: behind so many
}

func (p Place) String() string { return fmt.Sprintf("%d/%d", p.Where, p.After) }

// RequeueTicket puts a ticket back into its category's line: a no-show whose customer came after all, within the time that
// the configuration gives, or one that is called, served or held at the session's counter.
func (b *Branch) RequeueTicket(ctx context.Context, r Request, sessionToken string, id queue.TicketID, to Place) (TicketReply, error) {
	s := b.session(sessionToken)
	req := &request{r, fingerprint("RequeueTicket", s.token.counter, id.String(), to.String())}
	var t *queue.Live
	return b.ticketVerb(ctx, req, s, &t, func(o *operation) error {
		if t = b.state.find(id); s.counter == nil || t == nil {
			return s.lock(o)
		}
		if err := o.lockPlaces(s.counter, t); err != nil {
			return err
		}
		return s.check()
	}, func(o *operation) error {
		if t == nil {
			return unknown(id)
		}
		if err := here(s, t); err != nil {
			return err
		}
		if err := allowed(t, queue.Requeue); err != nil {
			return err
		}
		p := b.policy(t.Category)
		if err := p.mayComeBack(t, b.lineOf(t), o.at); err != nil {
			return err
		}
		where := to
		if where.Where == 0 {
			where = Place{p.RequeueTo, p.RequeueAfter}
		}
		out := b.outcome(o, t, queue.Requeue, 0)
		b.place(o, out, t, where)
		o.emit(out)
		return nil
	})
}

// mayComeBack refuses a no-show that comes too late.
func (p Policy) mayComeBack(t *queue.Live, c *queue.Category, at int64) error {
	if t.State != queue.NoShow {
		return nil
	}
	if t.Deadline != 0 && at >= t.Deadline {
		return fmt.Errorf("%w: %s could come back until %v after its no-show; take a new number", ErrRequeueTooLate, t.Number, p.RequeueWithin)
	}
	if n := p.RequeueNumbers; n != 0 && t.ID.Category == c.ID() && c.Serving() > t.ID.N+n {
		return fmt.Errorf("%w: %s could come back until %d numbers later, %d is called; take a new number", ErrRequeueTooLate, t.Number, n, c.Serving())
	}
	return nil
}

// here refuses a ticket that is at another counter than the session's.
func here(s *session, t *queue.Live) error {
	if t.State.AtCounter() && t.Counter != s.counter.ID() {
		return fmt.Errorf("%w: %s is at counter %d", ErrTicketMoved, t.Number, t.Counter)
	}
	return nil
}

// place writes into an outcome where its ticket goes, in the line that the outcome names. The caller holds its lock.
func (b *Branch) place(o *operation, out *queue.TicketChanged, t *queue.Live, to Place) {
	if to.Where == 0 {
		to.Where = queue.Back
	}
	lane := t.Priority.Lane()
	l := b.state.lineOf(b.state.sets.Load().byCategory[out.Category], lane, out.Bound)
	out.Where, out.After = to.Where, to.After
	out.Key, out.Renumbered = l.KeyAt(t, to.Where, int(to.After), b.taken(o, out, lane)...)
}

// taken returns the keys that tickets get, or may get, in the same line by the record in the making.
func (b *Branch) taken(o *operation, out *queue.TicketChanged, lane queue.Lane) (keys []queue.OrderKey) {
	for _, other := range o.outcomes {
		if c, ok := other.(*queue.TicketChanged); ok && c.To == queue.Waiting && c.Category == out.Category && c.Bound == out.Bound &&
			b.state.find(c.Ticket).Priority.Lane() == lane {
			keys = append(keys, c.Key)
		}
	}
	if out.Where != queue.Kept || out.Bound != 0 {
		return keys
	}
	// A counter that closes sends back all that wait for it: they keep their order among themselves.
	for _, c := range o.counters {
		c.Own().Each(func(t *queue.Live) bool {
			if t.ID != out.Ticket && t.Category == out.Category && t.Priority.Lane() == lane {
				keys = append(keys, t.Key)
			}
			return true
		})
	}
	return keys
}

// ticketVerb carries out a session's verb on a named ticket.
func (b *Branch) ticketVerb(ctx context.Context, req *request, s *session, t **queue.Live, plan, decide func(*operation) error) (TicketReply, error) {
	var reply TicketReply
	o, err := b.do(ctx, req, plan, func(o *operation) error {
		o.actAs(s.counter)
		return decide(o)
	}, func(o *operation) {
		if o.seen == nil {
			reply = b.look(*t, o.sequence)
		}
	})
	return b.replied(ctx, o, err, reply)
}
