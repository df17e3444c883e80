package branch

import (
	"context"
	"time"

	"callerd/internal/queue"
)

// expireTickets carries out the tickets' deadlines that have passed.
func (b *Branch) expireTickets(ctx context.Context) error {
	for {
		t, at := b.state.deadlines.next()
		if t == nil || at > b.now() {
			return nil
		}
		if err := b.expireTicket(ctx, t); err != nil {
			return err
		}
	}
}

// expireTicket ends a ticket's state, if its deadline has passed; else it notes when to look again. It is an ordinary
// operation and loses to any newer fact.
func (b *Branch) expireTicket(ctx context.Context, t *queue.Live) error {
	_, err := b.do(ctx, nil, func(o *operation) error { return o.lockPlaces(nil, t) }, func(o *operation) error {
		if t.Deadline == 0 || o.at < t.Deadline {
			b.state.deadlines.set(t, t.Deadline)
			return nil
		}
		if t.State == queue.Called {
			if later := b.calledLater(o, t); later != 0 {
				b.state.deadlines.set(t, later)
				return nil
			}
			out := b.outcome(o, t, queue.MarkNoShow, t.Counter)
			out.Cause = queue.TimeUp
			o.emit(out)
			return nil
		}
		out := b.outcome(o, t, queue.Expire, 0)
		out.Cause = queue.TimeUp
		o.emit(out)
		return nil
	}, nil)
	return err
}

// calledLater returns when to look at a called ticket again, 0 if it is a no-show now. Its time runs only while commands are
// admitted, and begins anew in full when that begins; and whose console has not been heard of since is the lease's to
// decide. The caller holds the ticket's locks.
func (b *Branch) calledLater(o *operation, t *queue.Live) int64 {
	since, ok := b.pipe.admittedSince()
	c := b.state.sets.Load().byCounter[t.Counter]
	mono := b.mono()
	if rest := since + int64(t.Span)*int64(time.Second) - mono; rest > 0 {
		return o.at + rest
	}
	if !ok || !b.heardOf(c, since) {
		return o.at + max(since+int64(b.opts.Lease)-mono, int64(retryEvery))
	}
	return 0
}
