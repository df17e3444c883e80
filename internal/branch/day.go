package branch

import (
	"context"
	"errors"
	"time"

	"callerd/internal/queue"
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
			o.lockResources() // the record carries them
			o.emit(b.state.opened(o.at, b.config.Load().Zone, b.config.Load().Cut))
			return b.configure(o, turning)
		}, nil)
		if len(o.outcomes) == 0 {
			b.pipe.giveBack()
		}
		if err != errMoved {
			return err
		}
	}
}

// stalled is how late a deadline comes up only if the whole process stood still: stopped, or its machine frozen. Consoles could
// not be heard meanwhile, so leases begin anew in full, as after a start.
const stalled = 2 * time.Second

// NextDeadline returns how long nothing is due: a session's lease or the turn of the business day. A nearer
// deadline may come up before; [Branch.DeadlineChanged] then tells.
func (b *Branch) NextDeadline() time.Duration {
	b.lookForStall()
	next := b.nextDeadline()
	b.expected.Store(b.mono() + int64(next))
	return next
}

// lookForStall lets leases begin anew if the process stood still.
func (b *Branch) lookForStall() {
	if at := b.expected.Load(); at != 0 && b.mono()-at > int64(stalled) {
		b.pipe.beginAnew()
	}
}

func (b *Branch) nextDeadline() time.Duration {
	next := time.Duration(b.state.day.Load().end - b.now())
	since, ok := b.pipe.admittedSince()
	if !ok {
		return max(retryEvery, next)
	}
	if t, at := b.state.deadlines.next(); t != nil {
		next = min(next, time.Duration(at-b.now()))
	}
	if at := b.nextResource(since); at != 0 {
		next = min(next, time.Duration(at-b.now()))
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
	b.lookForStall()
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
	if err := b.expireTickets(ctx); err != nil {
		return err
	}
	return b.expireResources(ctx)
}

// noNewerDate makes every date from now on one that may have been used before, so that it gets a run number: which dates
// had one is not kept, and an id must never repeat.
const noNewerDate = 9999_12_31

// acceptClock writes that time goes on from the wall clock, back as that is, and opens a business day under it.
func (b *Branch) acceptClock(ctx context.Context) error {
	if b.clock.check(b.state.last.Load()) == nil {
		return errors.New("the clock is not behind the newest record: there is nothing to accept")
	}
	if err := b.pipe.permit(ctx); err != nil {
		return err
	}
	o := &operation{b: b, turning: true}
	to := b.opts.Now().UnixNano()
	b.clock = newClock(b.opts.Now, b.opts.Boot, b.mono, to, b.opts.Logger)
	return o.underLocks(nil, lockAll, func(o *operation) error {
		b.accepted = queue.ClockAccepted{From: b.state.last.Load(), To: to}
		o.at = to
		day := b.state.opened(to, b.config.Load().Zone, b.config.Load().Cut)
		for i := range day.Resources {
			if r := &day.Resources[i]; r.Until != 0 {
				r.Until += to - b.accepted.From
			}
		}
		day.Latest = noNewerDate
		o.emit(day) // first: a replay begins with it
		o.emit(&b.accepted)
		return b.configure(o, turning)
	}, nil)
}
