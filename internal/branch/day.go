package branch

import (
	"context"
	"time"
)

// openDay writes the record of a new business day, if another one has come than the state's. The day is worked out
// from the time of the operation that finds it, under all locks; no timer at a magic minute decides it.
func (b *Branch) openDay(ctx context.Context) error {
	o := &operation{b: b, turning: true}
	for {
		if err := b.pipe.permit(ctx); err != nil {
			return err
		}
		err := o.underLocks(nil, lockAll, func(o *operation) error {
			if o.at < b.state.day.Load().end {
				return nil
			}
			o.emit(b.state.opened(o.at, b.opts.Config.Zone, b.opts.Config.Cut))
			return b.configure(o, true)
		}, nil)
		if len(o.outcomes) == 0 {
			b.pipe.giveBack()
		}
		if err != errMoved {
			return err
		}
	}
}

// NextDeadline returns how long nothing is due: a session's lease or the turn of the business day. A nearer
// deadline may come up before; [Branch.DeadlineChanged] then tells.
func (b *Branch) NextDeadline() time.Duration {
	next := time.Duration(b.state.day.Load().end - b.now())
	since, ok := b.pipe.admittedSince()
	if !ok {
		return max(retryEvery, next)
	}
	mono := b.mono()
	for _, c := range b.state.sets.Load().counters {
		if end, open := b.leaseEnd(c, since); open {
			next = min(next, time.Duration(end-mono))
		}
	}
	return max(next, 0)
}

// DeadlineChanged tells whoever waits for the next deadline to ask again.
func (b *Branch) DeadlineChanged() <-chan struct{} { return b.changed }

// Expire carries out what is due. Each deadline is an ordinary operation that looks again, under the locks of
// its subject: what is not yet due, changed or gone is left alone.
func (b *Branch) Expire(ctx context.Context) error {
	if b.now() >= b.state.day.Load().end {
		if err := b.openDay(ctx); err != nil {
			return err
		}
	}
	for _, c := range b.state.sets.Load().counters {
		since, ok := b.pipe.admittedSince()
		if !ok {
			return b.pipe.admitting()
		}
		if end, open := b.leaseEnd(c, since); open && end <= b.mono() {
			if err := b.endLease(ctx, c); err != nil {
				return err
			}
		}
	}
	return nil
}
