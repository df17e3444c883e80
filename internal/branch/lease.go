package branch

import (
	"context"

	"callerd/internal/arch"
	"callerd/internal/counter"
	"callerd/internal/queue"
)

// leaseEnd returns when the counter's session ends by itself, in monotonic ns. Leases run only while commands are
// admitted: since is when that began.
func (b *Branch) leaseEnd(c *counter.Counter, since int64) (end int64, open bool) {
	var h arch.Held
	c.Lock(&h)
	defer c.Unlock(&h)
	return max(c.Lease, since+int64(b.opts.Lease)), c.Session() != nil
}

// renew lets the session live for another lease. The caller holds the counter's lock.
func (b *Branch) renew(c *counter.Counter) {
	since, _ := b.pipe.admittedSince()
	if t := c.Current(); t != nil && t.Deadline != 0 && !b.heardOf(c, since) {
		b.state.deadlines.set(t, t.Deadline) // from now on it is not the lease's to decide
	}
	c.Lease = b.mono() + int64(b.opts.Lease)
}

// heardOf reports whether the counter's console was heard of since then. The caller holds the counter's lock.
func (b *Branch) heardOf(c *counter.Counter, since int64) bool {
	return c.Lease-int64(b.opts.Lease) >= since
}

// endLease closes a counter whose console was not heard of: a called ticket goes back to its place in the line, one
// being served is held for the next session.
func (b *Branch) endLease(ctx context.Context, c *counter.Counter) error {
	o, err := b.do(ctx, nil, func(o *operation) error {
		o.lockCounters(c)
		b.lockLinesToClose(o, c)
		return nil
	}, func(o *operation) error {
		since, ok := b.pipe.admittedSince()
		if !ok || c.Session() == nil || max(c.Lease, since+int64(b.opts.Lease)) > b.mono() {
			return nil
		}
		if t := c.Current(); t != nil {
			b.sendBack(o, c, t, queue.LeaseEnded)
		}
		b.closeCounter(o, c, queue.LeaseEnded)
		return nil
	}, nil)
	if err == nil && len(o.outcomes) > 0 {
		b.opts.Logger.Warn("counter closed, its console was not heard of", "counter", uint32(c.ID()))
	}
	return err
}

// lockLinesToClose takes the lines that a closing counter's tickets go back to. The caller holds the counter's lock.
func (b *Branch) lockLinesToClose(o *operation, c *counter.Counter) {
	var lines []*queue.Category
	if t := c.Current(); t != nil {
		lines = append(lines, b.lineOf(t))
	}
	c.Own().Each(func(t *queue.Live) bool {
		lines = append(lines, b.lineOf(t))
		return true
	})
	o.lockLines(lines...)
}

// sendBack does what becomes of a current ticket whose console is not there any more: called, it goes back to its place in
// the line; being served, it is held for the next session.
func (b *Branch) sendBack(o *operation, c *counter.Counter, t *queue.Live, cause queue.Cause) {
	out := b.outcome(o, t, queue.Hold, c.ID())
	if t.State == queue.Called {
		out = b.outcome(o, t, queue.Requeue, 0)
		b.place(o, out, t, Place{Where: queue.Kept})
	}
	out.Cause = cause
	o.emit(out)
}

// closeCounter ends the session of a counter that has no current ticket left: what waited for it goes to the lines, what it
// held of the shared resources is free.
func (b *Branch) closeCounter(o *operation, c *counter.Counter, cause queue.Cause) {
	b.unbind(o, c)
	desk := o.lockResources()
	for _, r := range desk.held(c.ID(), 0) {
		o.emit(released(r, cause))
	}
	desk.leave(c.ID())
	o.emit(&queue.CounterChanged{Verb: queue.CloseCounter, Counter: c.ID(), Cause: cause})
}

// unbind sends the tickets that wait for a closing counter to the lines of their categories, each by its key.
func (b *Branch) unbind(o *operation, c *counter.Counter) {
	c.Own().Each(func(t *queue.Live) bool {
		out := b.outcome(o, t, queue.Transfer, 0)
		out.Cause = queue.Unbound
		b.place(o, out, t, Place{Where: queue.Kept})
		o.emit(out)
		return true
	})
}

// lineOf returns the category in whose line a ticket is or last was. The caller holds the lock of its place.
func (b *Branch) lineOf(t *queue.Live) *queue.Category {
	return b.state.sets.Load().categories[t.Place().Category]
}

// outcome makes the outcome of a verb on a ticket, at a counter or (0) at none, with the deadline that the policy sets for
// the new state. The lifecycle has it: the caller has looked.
func (b *Branch) outcome(o *operation, t *queue.Live, v queue.Verb, at queue.CounterID) *queue.TicketChanged {
	next, _ := queue.Next(t.State, v)
	out := &queue.TicketChanged{Verb: v, Ticket: t.ID, Number: t.Number, From: t.State, To: next, Category: t.Category, Counter: at,
		Deadline: b.policy(t.Category).deadline(next, o.at)}
	switch {
	case t.State.AtCounter():
		out.Holder = t.Counter
	case t.State == queue.Waiting:
		out.Holder = t.Bound
	}
	return out
}
