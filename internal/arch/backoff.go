package arch

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"
)

// ErrBusy is returned when TryLockContext has used up its tries or its time.
var ErrBusy = errors.New("the lock is busy")

// Backoff says how long TryLockContext waits between its tries, and when it has
// tried enough. The zero value is ready: it tries until the context is done, with
// pauses of a millisecond at first and of a tenth of a second at most.
//
// The pause after the n'th failed try is drawn evenly from nothing to First
// doubled n-1 times, or to Most if that is less ("full jitter"): so those who
// failed at the same moment do not come again at the same moment, and the longer
// a lock is busy the less it is asked for. A Backoff is a plain value: it keeps
// nothing, and any number of goroutines may use a copy, or the same, at once.
type Backoff struct {
	// First bounds the pause after the first try. 0, or less: 1 ms. A timer of less
	// may come late by about so much.
	First time.Duration
	// Most bounds every pause. 0, or less: 100 ms.
	Most time.Duration
	// Tries is how often the lock is tried at most. 0, or less: any number of times.
	Tries int
	// Within is the sum of all pauses at most; when it is used up the lock is tried
	// once more. 0, or less: any sum.
	Within time.Duration
}

// bound returns the longest pause after the n'th failed try; n counts from 1.
func (b Backoff) bound(n int) time.Duration {
	first, most := b.First, b.Most
	if first <= 0 {
		first = time.Millisecond
	}
	if most <= 0 {
		most = 100 * time.Millisecond
	}
	if n > 63 || first > most>>(n-1) { // so doubling it cannot overflow
		return most
	}
	return first << (n - 1)
}

// TryLockContext is TryLock that comes again: for work that nobody waits for,
// which should get the lock at a quiet moment and be in nobody's way until then.
// It returns nil once it has locked l, ErrBusy when backoff says that it has tried
// enough, and the error of ctx if ctx is done first. The lock is held if and only
// if the result is nil.
//
// Between its tries it sleeps and is not in line: it draws no ticket, never
// overtakes, and all those who call Lock meanwhile come before it. Under load it may
// so come never, hence the limits. Work that must be done at last tries a few
// times and then waits in line:
//
//	err := l.TryLockContext(ctx, Backoff{Tries: 8})
//	if errors.Is(err, ErrBusy) {
//		err = l.LockContext(ctx)
//	}
//
// With a ctx that is done already it returns at once, also if l is unlocked.
func (l *TicketLock) TryLockContext(ctx context.Context, backoff Backoff) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	var timer *time.Timer // of the pauses, made by the first
	left := backoff.Within
	for n := 1; !l.TryLock(); n++ {
		if n == backoff.Tries || backoff.Within > 0 && left == 0 {
			return ErrBusy
		}
		pause := 1 + rand.N(backoff.bound(n))
		if backoff.Within > 0 {
			pause = min(pause, left)
			left -= pause
		}
		if timer == nil {
			timer = time.NewTimer(pause)
			defer timer.Stop()
		} else {
			timer.Reset(pause)
		}
		select {
		case <-timer.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}
