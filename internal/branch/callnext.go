package branch

import (
	"context"
	"fmt"
	"time"

	"callerd/internal/counter"
	"callerd/internal/queue"
)

// CallReply is a called ticket and why it was that one.
type CallReply struct {
	Ticket    *queue.Ticket // nil: nobody waits
	Completed *queue.Ticket // the one that the request named
	Rule      queue.Rule
	Waited    time.Duration
	Waiting   int // in the counter's lines
	Held      int // at the counter
	Replayed  bool
	Sequence  uint64
}

// CallNext calls the next ticket by the counter's rule; complete, if it is not zero, is the current ticket, which
// is completed in the same record. An empty line is no refusal.
func (b *Branch) CallNext(ctx context.Context, r Request, sessionToken string, complete queue.TicketID) (CallReply, error) {
	s := b.session(sessionToken)
	req := &request{r, fingerprint("CallNext", s.token.counter, complete.String())}
	var lines []*queue.Category
	var chosen *queue.Live
	var completed *queue.Live
	var reply CallReply
	o, err := b.do(ctx, req, func(o *operation) error {
		lines, chosen, completed = lines[:0], nil, nil
		err := s.lock(o)
		if s.counter != nil {
			lines = b.lockLinesOf(o, s.counter)
		}
		return err
	}, func(o *operation) error {
		o.actAs(s.counter)
		if err := b.mayCall(s.counter, complete); err != nil {
			return err
		}
		if t := s.counter.Current(); t != nil {
			completed = t
			o.emit(changed(t, queue.Complete, s.counter.ID()))
		}
		rule := s.counter.Session().Rule
		if chosen = counter.Choose(rule, lines); chosen != nil {
			out := changed(chosen, queue.Call, s.counter.ID())
			out.Rule, out.Waited = rule, o.at-chosen.Entered
			o.emit(out)
		}
		return nil
	}, func(o *operation) {
		if o.seen != nil {
			return
		}
		reply.count(b, s.counter)
		reply.Completed = copied(completed)
		if chosen != nil {
			reply.Ticket, reply.Rule, reply.Waited = copied(chosen), s.counter.Session().Rule, time.Duration(o.at-chosen.Entered)
		}
	})
	if err != nil {
		return CallReply{}, err
	}
	if o.seen != nil {
		return b.callAgain(ctx, s.counter, o.seen)
	}
	reply.Sequence = o.sequence
	return reply, nil
}

// lockLinesOf takes the lines that the counter serves, and that of its current ticket; it returns the former in the
// session's order. The caller holds the counter's lock.
func (b *Branch) lockLinesOf(o *operation, c *counter.Counter) (lines []*queue.Category) {
	lines = b.state.sets.Load().linesOf(c)
	all := append(make([]*queue.Category, 0, len(lines)+1), lines...)
	if t := c.Current(); t != nil {
		all = append(all, b.lineOf(t))
	}
	o.lockLines(all...)
	return lines
}

// linesOf returns the lines that the counter serves, in its session's order. The caller holds the counter's lock.
func (s *sets) linesOf(c *counter.Counter) (lines []*queue.Category) {
	for _, id := range c.Categories() {
		if l := s.byCategory[id]; l != nil {
			lines = append(lines, l)
		}
	}
	return lines
}

// mayCall refuses a call at a paused counter, over a current ticket that is not named, or with one named that is
// not current.
func (b *Branch) mayCall(c *counter.Counter, complete queue.TicketID) error {
	if !complete.IsZero() {
		if err := b.exists(complete); err != nil {
			return err
		}
		if err := current(c, complete); err != nil {
			if t := c.Current(); t == nil {
				return &currentError{fmt.Errorf("%w: %v is not current at counter %d any more", ErrTicketMoved, complete, c.ID()), queue.TicketID{}}
			}
			return err
		}
	} else if t := c.Current(); t != nil {
		return busy(c, t)
	}
	if c.Paused() {
		return fmt.Errorf("%w: counter %d is paused; resume it first", ErrCounterClosed, c.ID())
	}
	return nil
}

// callAgain answers a retry: the tickets of the recorded call and the counter's lines, as they are now.
func (b *Branch) callAgain(ctx context.Context, c *counter.Counter, did *seen) (CallReply, error) {
	ticket, completed := did.ticket, did.completed
	if ticket != nil && did.rule == 0 { // nobody waited: the record only completes
		ticket, completed = nil, ticket
	}
	reply := CallReply{Replayed: true, Rule: did.rule, Waited: time.Duration(did.waited)}
	o, err := b.do(ctx, nil, func(o *operation) error { return o.lockPlaces(c, ticket, completed) }, nil, func(*operation) {
		reply.Ticket, reply.Completed = copied(ticket), copied(completed)
		reply.count(b, c)
	})
	if err != nil {
		return CallReply{}, err
	}
	reply.Sequence = o.sequence
	return reply, nil
}

// count notes who waits for the counter. The caller holds its lock and its lines'.
func (r *CallReply) count(b *Branch, c *counter.Counter) {
	for _, l := range b.state.sets.Load().linesOf(c) {
		r.Waiting += l.Waiting()
	}
	r.Held = len(c.Held())
}

// copied returns a snapshot of a ticket. The caller holds the lock of its place.
func copied(t *queue.Live) *queue.Ticket {
	if t == nil {
		return nil
	}
	v := t.Ticket
	return &v
}
