package arch_test

import (
	"context"
	"errors"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"callerd/internal/arch"
)

func TestBackoffBounds(t *testing.T) {
	for _, c := range []struct {
		name    string
		backoff arch.Backoff
		n       int
		want    time.Duration
	}{
		{"the zero value begins with a millisecond", arch.Backoff{}, 1, time.Millisecond},
		{"the zero value doubles", arch.Backoff{}, 7, 64 * time.Millisecond},
		{"the zero value is capped", arch.Backoff{}, 8, 100 * time.Millisecond},
		{"a first pause of one's own", arch.Backoff{First: 3}, 3, 12},
		{"a cap of one's own", arch.Backoff{First: 3, Most: 20}, 3, 12},
		{"a cap that is not a doubling", arch.Backoff{First: 3, Most: 20}, 4, 20},
		{"a cap below the first pause", arch.Backoff{First: 20, Most: 3}, 1, 3},
		{"negative values are defaults", arch.Backoff{First: -1, Most: -1}, 8, 100 * time.Millisecond},
		{"the last that can be doubled", arch.Backoff{First: 1, Most: math.MaxInt64}, 63, 1 << 62},
		{"one more does not overflow", arch.Backoff{First: 1, Most: math.MaxInt64}, 64, math.MaxInt64},
		{"nor do the most tries there are", arch.Backoff{}, math.MaxInt, 100 * time.Millisecond},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := arch.BackoffBound(c.backoff, c.n); got != c.want {
				t.Errorf("pause after try %d: got %v, want %v", c.n, got, c.want)
			}
		})
	}
}

func TestTryLockContextOfAFreeLock(t *testing.T) {
	var l arch.TicketLock
	if err := l.TryLockContext(t.Context(), arch.Backoff{}); err != nil {
		t.Fatalf("got %v, want nil", err)
	}
	if l.TryLock() {
		t.Error("the result is nil and the lock is free")
	}
	l.Unlock()
	checkFree(t, &l)
}

// Whoever tries a lock that stays busy ends when it should, and the lock does not know that it was there.
func TestTryLockContextOfABusyLock(t *testing.T) {
	for _, c := range []struct {
		name        string
		timeout     time.Duration // of the context; negative: it has passed
		backoff     arch.Backoff
		want        error
		least, most time.Duration
	}{
		{"a dead context", -1, arch.Backoff{}, context.DeadlineExceeded, 0, 0},
		{"a context that is done in the middle of a pause", time.Minute, arch.Backoff{}, context.DeadlineExceeded, time.Minute, time.Minute},
		{"pauses longer than the context lives", 5, arch.Backoff{First: 1 << 60, Most: 1 << 60}, context.DeadlineExceeded, 5, 5},
		{"one try", time.Hour, arch.Backoff{Tries: 1}, arch.ErrBusy, 0, 0},
		{"four tries, so three pauses", time.Hour, arch.Backoff{First: time.Second, Most: time.Minute, Tries: 4}, arch.ErrBusy, 3, 7 * time.Second},
		{"a sum of pauses", time.Hour, arch.Backoff{Within: 3 * time.Second}, arch.ErrBusy, 3 * time.Second, 3 * time.Second},
		{"a sum that ends in the first pause", time.Hour, arch.Backoff{First: 1 << 60, Most: 1 << 60, Within: 7}, arch.ErrBusy, 7, 7},
		{"both, and the context ends first", time.Second, arch.Backoff{Tries: 1 << 30, Within: time.Minute}, context.DeadlineExceeded, time.Second, time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), c.timeout)
				defer cancel()
				var l arch.TicketLock
				l.Lock()
				drawn, start := arch.Drawn(&l), time.Now()
				if got := l.TryLockContext(ctx, c.backoff); !errors.Is(got, c.want) {
					t.Errorf("got %v, want %v", got, c.want)
				}
				if got := time.Since(start); got < c.least || got > c.most {
					t.Errorf("it took %v, want %v to %v", got, c.least, c.most)
				}
				if got := arch.Drawn(&l); got != drawn {
					t.Errorf("next ticket %d, want %d: a try drew one", got, drawn)
				}
				l.Unlock()
				checkFree(t, &l)
			})
		})
	}
}

// Those who wait in line come before the one who tries, also if they come later.
func TestTryLockContextComesAfterAllInLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const waiters = 20
		var l arch.TicketLock
		var order []string
		l.Lock()
		start := time.Now()
		tried := make(chan time.Duration)
		go func() {
			if err := l.TryLockContext(t.Context(), arch.Backoff{Most: time.Second}); err != nil {
				t.Errorf("got %v, want nil", err)
			}
			order = append(order, "tried")
			l.Unlock()
			tried <- time.Since(start)
		}()
		synctest.Wait()
		for range waiters { // each holds the lock for a second, so one is always in line
			go func() {
				l.Lock()
				order = append(order, "waited")
				time.Sleep(time.Second)
				l.Unlock()
			}()
		}
		synctest.Wait()
		l.Unlock()
		took := <-tried
		if most := (waiters + 1) * time.Second; took < waiters*time.Second || took > most {
			t.Errorf("it took %v, want %v to %v", took, waiters*time.Second, most)
		}
		if len(order) != waiters+1 || order[waiters] != "tried" {
			t.Errorf("order %v, want the one who tried last", order)
		}
		checkFree(t, &l)
	})
}

// Full jitter: those who failed together do not come again together.
func TestTriesAreSpread(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const goroutines = 100
		var l arch.TicketLock
		l.Lock()
		start := time.Now()
		ends := make(chan time.Duration)
		for range goroutines {
			go func() {
				_ = l.TryLockContext(t.Context(), arch.Backoff{First: time.Hour, Most: time.Hour, Tries: 2})
				ends <- time.Since(start)
			}()
		}
		quarters := [4]int{}
		for range goroutines {
			quarters[min(3, int(<-ends/(15*time.Minute)))]++
		}
		for i, n := range quarters {
			if n == 0 { // one run in 10^12
				t.Errorf("nobody tried again in quarter %d of the pause: %v", i, quarters)
			}
		}
		l.Unlock()
	})
}
