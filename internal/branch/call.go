package branch

import (
	"context"
	"fmt"
	"slices"
	"time"

	"callerd/internal/counter"
	"callerd/internal/queue"
)

// CallReply is a called ticket and why it was that one.
type CallReply struct {
	Ticket     *queue.Ticket // nil: nobody waits
	Completed  *queue.Ticket // the one that the request named
	Rule       queue.Rule
	Waited     time.Duration
	Overtaken  uint32
	PassedOver []queue.PassedOver
	Waiting    int // in the counter's lines
	Held       int // at the counter
	Reserved   int // in the counter's categories, not yet checked in
	Replayed   bool
	Sequence   uint64
}

// call is one call on its way: what is called, and what is completed beside it.
type call struct {
	b         *Branch
	session   *session
	complete  queue.TicketID
	given     func() error // refuses a given ticket that there is not
	choice    counter.Choice
	completed *queue.Live
	out       *queue.TicketChanged
	reply     CallReply
}

// CallNext calls the next ticket by the counter's rule; complete, if it is not zero, is the current ticket, which
// is completed in the same record. An empty line is no refusal.
func (b *Branch) CallNext(ctx context.Context, r Request, sessionToken string, complete queue.TicketID) (CallReply, error) {
	c := &call{b: b, session: b.session(sessionToken), complete: complete}
	req := &request{r, fingerprint("CallNext", c.session.token.counter, complete.String())}
	return c.do(ctx, req, func(o *operation) error {
		err := c.session.lock(o)
		if k := c.session.counter; k != nil {
			b.lockLinesOf(o, k)
		}
		return err
	}, func(o *operation) (counter.Choice, error) {
		k := c.session.counter
		if t := k.Own().First(); t != nil {
			return counter.Choice{Ticket: t, Rule: queue.Bound}, nil
		}
		s := k.Session()
		var saved []int64
		if s.Rule == queue.Ratio {
			saved = b.state.credits.saved(s.Categories, s.Weights)
		}
		return counter.Choose(s.Rule, b.sources(k, o.at), saved), nil
	})
}

// CallTicket calls a given waiting ticket, out of turn: that it was named, and whom it passed over, stands in the record.
func (b *Branch) CallTicket(ctx context.Context, r Request, sessionToken string, id, complete queue.TicketID) (CallReply, error) {
	c := &call{b: b, session: b.session(sessionToken), complete: complete}
	req := &request{r, fingerprint("CallTicket", c.session.token.counter, id.String(), complete.String())}
	var t *queue.Live
	c.given = func() error {
		if t == nil {
			return unknown(id)
		}
		return nil
	}
	return c.do(ctx, req, func(o *operation) error {
		k := c.session.counter
		t = b.state.find(id)
		if k == nil || t == nil {
			return c.session.lock(o)
		}
		if err := o.lockPlaces(k, t, b.currentOf(k)); err != nil {
			return err
		}
		if cur := k.Current(); cur != nil && !slices.Contains(o.lines, b.lineOf(cur)) {
			return errMoved
		}
		return c.session.check()
	}, func(o *operation) (counter.Choice, error) {
		if t.Bound != 0 && t.Bound != c.session.counter.ID() {
			return counter.Choice{}, fmt.Errorf("%w: %s waits for counter %d", ErrTicketMoved, t.Number, t.Bound)
		}
		return counter.Choice{Ticket: t, Rule: queue.Given}, allowed(t, queue.Call)
	})
}

// currentOf looks at the counter's current ticket for a plan; the plan looks again under the lock.
func (b *Branch) currentOf(k *counter.Counter) *queue.Live {
	o := operation{b: b}
	defer o.unlock()
	o.lockCounters(k)
	return k.Current()
}

// do carries the call out: plan takes the locks, choose says what is called.
func (c *call) do(ctx context.Context, req *request, plan func(*operation) error, choose func(*operation) (counter.Choice, error)) (CallReply, error) {
	b := c.b
	o, err := b.do(ctx, req, plan, func(o *operation) error { return c.decide(o, choose) }, func(o *operation) {
		if o.seen != nil {
			return
		}
		c.reply.count(b, c.session.counter)
		c.reply.Completed, c.reply.Ticket = copied(c.completed), copied(c.choice.Ticket)
		if c.out != nil {
			c.reply.Rule, c.reply.Waited, c.reply.Overtaken, c.reply.PassedOver = c.out.Rule, time.Duration(c.out.Waited), c.out.Overtaken, c.out.PassedOver
		}
	})
	if err != nil {
		return CallReply{}, err
	}
	if o.seen != nil {
		return b.callAgain(ctx, c.session.counter, o.seen)
	}
	c.reply.Sequence = o.sequence
	return c.reply, nil
}

func (c *call) decide(o *operation, choose func(*operation) (counter.Choice, error)) (err error) {
	c.completed, c.out, c.choice = nil, nil, counter.Choice{}
	k := c.session.counter
	o.actAs(k)
	if c.given != nil {
		if err := c.given(); err != nil {
			return err
		}
	}
	if err := c.b.mayCall(k, c.complete); err != nil {
		return err
	}
	if c.choice, err = choose(o); err != nil {
		return err
	}
	if t := k.Current(); t != nil {
		c.completed = t
		o.emit(c.b.outcome(o, t, queue.Complete, k.ID()))
	}
	t := c.choice.Ticket
	if t == nil {
		return nil
	}
	c.b.settle(t)
	c.out = c.b.outcome(o, t, queue.Call, k.ID())
	c.out.Rule, c.out.Waited, c.out.Overtaken = c.choice.Rule, o.at-t.Entered, t.Overtaken
	c.out.PassedOver = counter.PassedOver(t, c.b.withLineOf(t, c.b.sources(k, o.at)))
	o.emit(c.out)
	if s := k.Session(); c.choice.Saved != nil {
		o.emit(&queue.CreditsChanged{Credits: queue.Credits{Categories: s.Categories, Weights: s.Weights, Saved: c.choice.Saved}})
	}
	return nil
}

// sources are the lines of the counter with the bounds over them at a time.
func (b *Branch) sources(k *counter.Counter, at int64) []counter.Source {
	weights := k.Weights()
	lines := b.state.sets.Load().linesOf(k)
	out := make([]counter.Source, len(lines))
	for i, l := range lines {
		p := b.policy(l.ID())
		out[i] = counter.Source{Category: l, Weight: 1, Overtakes: p.MaxOvertakes}
		if i < len(weights) {
			out[i].Weight = weights[i]
		}
		if p.MaxWait > 0 {
			out[i].Entered = at - int64(p.MaxWait)
		}
	}
	return out
}

// withLineOf adds the line of a ticket that was given from another than the counter serves: those before it are passed
// over as well.
func (b *Branch) withLineOf(t *queue.Live, sources []counter.Source) []counter.Source {
	l := b.lineOf(t)
	if t.Bound != 0 || slices.ContainsFunc(sources, func(s counter.Source) bool { return s.Category == l }) {
		return sources
	}
	return append(sources, counter.Source{Category: l})
}

// settle makes up a waiting ticket's count of overtakes. The caller holds the lock of its place.
func (b *Branch) settle(t *queue.Live) {
	if t.State == queue.Waiting {
		b.state.lineOf(b.lineOf(t), t.Priority.Lane(), t.Bound).Settle(t)
	}
}

// lockLinesOf takes the lines that the counter serves, and that of its current ticket. The caller holds the counter's
// lock.
func (b *Branch) lockLinesOf(o *operation, c *counter.Counter) {
	all := slices.Clone(b.state.sets.Load().linesOf(c))
	if t := c.Current(); t != nil {
		all = append(all, b.lineOf(t))
	}
	o.lockLines(all...)
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
	reply := CallReply{Replayed: true}
	if w := did.why; w != nil {
		reply.Rule, reply.Waited, reply.Overtaken, reply.PassedOver = w.rule, time.Duration(w.waited), w.overtaken, w.passedOver
	}
	o, err := b.do(ctx, nil, func(o *operation) error { return o.lockPlaces(c, did.ticket, did.completed) }, nil, func(*operation) {
		reply.Ticket, reply.Completed = b.copy(did.ticket), b.copy(did.completed)
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
		r.Reserved += l.Reserved()
	}
	r.Waiting += c.Own().Len()
	r.Held = len(c.Held())
}

// copied returns a snapshot of a ticket that does not wait. The caller holds the lock of its place.
func copied(t *queue.Live) *queue.Ticket {
	if t == nil {
		return nil
	}
	v := t.Ticket()
	return &v
}

// copy returns a snapshot of a ticket. The caller holds the lock of its place and of its line.
func (b *Branch) copy(t *queue.Live) *queue.Ticket {
	if t != nil {
		b.settle(t)
	}
	return copied(t)
}
