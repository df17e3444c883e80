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
func (b *Branch) renew(c *counter.Counter) { c.Lease = b.mono() + int64(b.opts.Lease) }

// endLease closes a counter whose console was not heard of: a called ticket goes back to its place in the line, one
// being served is held for the next session.
func (b *Branch) endLease(ctx context.Context, c *counter.Counter) error {
	o, err := b.do(ctx, nil, func(o *operation) error {
		o.lockCounters(c)
		if t := c.Current(); t != nil {
			o.lockLines(b.lineOf(t))
		}
		return nil
	}, func(o *operation) error {
		since, ok := b.pipe.admittedSince()
		if !ok || c.Session() == nil || max(c.Lease, since+int64(b.opts.Lease)) > b.mono() {
			return nil
		}
		if t := c.Current(); t != nil {
			out := changed(t, queue.Hold, c.ID())
			if t.State == queue.Called {
				out = changed(t, queue.Requeue, 0)
				out.Key = t.Key
			}
			out.Cause = queue.LeaseEnded
			o.emit(out)
		}
		o.emit(&queue.CounterChanged{Verb: queue.CloseCounter, Counter: c.ID(), Cause: queue.LeaseEnded})
		return nil
	}, nil)
	if err == nil && len(o.outcomes) > 0 {
		b.opts.Logger.Warn("counter closed, its console was not heard of", "counter", uint32(c.ID()))
	}
	return err
}

// lineOf returns the category in whose line a ticket is or last was. The caller holds the lock of its place.
func (b *Branch) lineOf(t *queue.Live) *queue.Category {
	return b.state.sets.Load().categories[t.Place().Category]
}

// changed makes the outcome of a verb on a ticket, at a counter or (0) at none. The lifecycle has it: the caller has
// looked.
func changed(t *queue.Live, v queue.Verb, at queue.CounterID) *queue.TicketChanged {
	next, _ := queue.Next(t.State, v)
	o := &queue.TicketChanged{Verb: v, Ticket: t.ID, Number: t.Number, From: t.State, To: next, Category: t.Category, Counter: at}
	if t.State.AtCounter() {
		o.Holder = t.Counter
	}
	return o
}
