package branch

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"callerd/internal/counter"
	"callerd/internal/queue"
)

// RecallTicket calls the current ticket again; every display announces it again.
func (b *Branch) RecallTicket(ctx context.Context, r Request, sessionToken string, id queue.TicketID) (TicketReply, error) {
	return b.currentVerb(ctx, r, sessionToken, id, "RecallTicket", queue.Recall)
}

// StartTicket says that the customer of the current ticket has come.
func (b *Branch) StartTicket(ctx context.Context, r Request, sessionToken string, id queue.TicketID) (TicketReply, error) {
	return b.currentVerb(ctx, r, sessionToken, id, "StartTicket", queue.Start)
}

// CompleteTicket ends the service of the current ticket, or of one that is held at this counter.
func (b *Branch) CompleteTicket(ctx context.Context, r Request, sessionToken string, id queue.TicketID) (TicketReply, error) {
	return b.currentVerb(ctx, r, sessionToken, id, "CompleteTicket", queue.Complete)
}

// MarkNoShow says that nobody came for the current ticket.
func (b *Branch) MarkNoShow(ctx context.Context, r Request, sessionToken string, id queue.TicketID) (TicketReply, error) {
	return b.currentVerb(ctx, r, sessionToken, id, "MarkNoShow", queue.MarkNoShow)
}

// HoldTicket sets the current ticket aside.
func (b *Branch) HoldTicket(ctx context.Context, r Request, sessionToken string, id queue.TicketID) (TicketReply, error) {
	return b.currentVerb(ctx, r, sessionToken, id, "HoldTicket", queue.Hold)
}

// currentVerb does a verb on the counter's current ticket, which the command must name.
func (b *Branch) currentVerb(ctx context.Context, r Request, sessionToken string, id queue.TicketID, method string, v queue.Verb) (TicketReply, error) {
	s := b.session(sessionToken)
	req := &request{r, fingerprint(method, s.token.counter, id.String())}
	var t *queue.Live
	var reply TicketReply
	o, err := b.do(ctx, req, func(o *operation) error {
		err := s.lock(o)
		if s.counter == nil {
			return err
		}
		if t = named(s.counter, id, v); t != nil {
			o.lockLines(b.lineOf(t))
		}
		return err
	}, func(o *operation) error {
		o.actAs(s.counter)
		if err := b.exists(id); err != nil {
			return err
		}
		if t == nil {
			return current(s.counter, id)
		}
		if err := allowed(t, v); err != nil {
			return err
		}
		return b.emitCurrent(o, s.counter, t, v)
	}, func(o *operation) {
		if o.seen == nil {
			reply = b.look(t, o.sequence)
		}
	})
	return b.replied(ctx, o, err, reply)
}

// emitCurrent emits a verb on the current ticket, as far as the policy lets it.
func (b *Branch) emitCurrent(o *operation, c *counter.Counter, t *queue.Live, v queue.Verb) error {
	p := b.policy(t.Category)
	cause := queue.Asked
	switch {
	case v == queue.Recall && p.MaxRecalls != 0 && t.Told > p.MaxRecalls:
		if !p.NoShowAtLimit {
			return fmt.Errorf("%w: %s was recalled %d times", ErrRecallLimit, t.Number, t.Told-1)
		}
		v, cause = queue.MarkNoShow, queue.LimitMet
	case v == queue.MarkNoShow:
		if err := p.mayGiveUp(t, o.at); err != nil {
			return err
		}
	}
	out := b.outcome(o, t, v, c.ID())
	out.Cause = cause
	o.emit(out)
	return nil
}

// mayGiveUp refuses a no-show before the customer was called often and long enough.
func (p Policy) mayGiveUp(t *queue.Live, at int64) error {
	left := max(0, p.MinWait-time.Duration(at-t.Summoned()))
	if left > 0 || t.Told < p.MinCalls {
		return &earlyError{fmt.Errorf("%w: %s was called %d times (at least %d) and has %d s left", ErrNoShowTooEarly, t.Number, t.Told, max(p.MinCalls, 1), int(math.Ceil(left.Seconds()))), left}
	}
	return nil
}

// named returns the ticket at the counter that the id names and the verb may mean: the current one, or for complete also
// a held one. The caller holds the counter's lock.
func named(c *counter.Counter, id queue.TicketID, v queue.Verb) *queue.Live {
	if t := c.Current(); t != nil && t.ID == id {
		return t
	}
	if v == queue.Complete {
		if i := slices.IndexFunc(c.Held(), func(t *queue.Live) bool { return t.ID == id }); i >= 0 {
			return c.Held()[i]
		}
	}
	return nil
}

// current refuses an id that does not name the counter's current ticket. The caller holds the counter's lock.
func current(c *counter.Counter, id queue.TicketID) error {
	t := c.Current()
	if t == nil {
		return fmt.Errorf("%w: counter %d has none", ErrNoCurrentTicket, c.ID())
	}
	if t.ID != id {
		return &currentError{fmt.Errorf("%w: %s (%v) is current at counter %d, not %v", ErrTicketMoved, t.Number, t.ID, c.ID(), id), t.ID}
	}
	return nil
}

// exists refuses an id that names no ticket of this or the last day. It needs no lock.
func (b *Branch) exists(id queue.TicketID) error {
	if b.state.find(id) == nil {
		return unknown(id)
	}
	return nil
}

func unknown(id queue.TicketID) error {
	return fmt.Errorf("%w: %v is of neither this nor the last business day", ErrUnknownTicket, id)
}

// ResumeTicket takes a held ticket up at the session's counter; it may be held at another.
func (b *Branch) ResumeTicket(ctx context.Context, r Request, sessionToken string, id queue.TicketID) (TicketReply, error) {
	s := b.session(sessionToken)
	req := &request{r, fingerprint("ResumeTicket", s.token.counter, id.String())}
	var t *queue.Live
	var reply TicketReply
	o, err := b.do(ctx, req, func(o *operation) error {
		if s.counter == nil {
			return s.lock(o)
		}
		t = b.state.find(id)
		if t == nil {
			return s.lock(o)
		}
		if err := o.lockPlaces(s.counter, t); err != nil {
			return err
		}
		return s.check()
	}, func(o *operation) error {
		o.actAs(s.counter)
		if t == nil { // also if it came to be since: its lock is not held
			return unknown(id)
		}
		if c := s.counter.Current(); c != nil {
			return busy(s.counter, c)
		}
		if s.counter.Paused() {
			return fmt.Errorf("%w: counter %d is paused; resume it first", ErrCounterClosed, s.counter.ID())
		}
		if err := allowed(t, queue.Resume); err != nil {
			return err
		}
		o.emit(b.outcome(o, t, queue.Resume, s.counter.ID()))
		return nil
	}, func(o *operation) {
		if o.seen == nil {
			reply = b.look(t, o.sequence)
		}
	})
	return b.replied(ctx, o, err, reply)
}
