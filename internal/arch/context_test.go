package arch_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"time"

	"callerd/internal/arch"
)

func TestLockContextWithADeadContext(t *testing.T) {
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	late, cancel := context.WithDeadline(context.Background(), time.Unix(0, 0))
	defer cancel()
	for _, c := range []struct {
		name string
		ctx  context.Context
		want error
	}{
		{"a cancelled one", cancelled, context.Canceled},
		{"one whose deadline has passed", late, context.DeadlineExceeded},
	} {
		t.Run(c.name, func(t *testing.T) {
			var l arch.TicketLock
			if got := l.LockContext(c.ctx); !errors.Is(got, c.want) {
				t.Errorf("unlocked lock: got %v, want %v", got, c.want)
			}
			checkFree(t, &l)
			l.Lock()
			drawn := arch.Drawn(&l)
			if got := l.LockContext(c.ctx); !errors.Is(got, c.want) {
				t.Errorf("locked lock: got %v, want %v", got, c.want)
			}
			if got := arch.Drawn(&l); got != drawn {
				t.Errorf("next ticket %d, want %d: a dead context drew one", got, drawn)
			}
			l.Unlock()
			checkFree(t, &l)
		})
	}
}

func TestLockContextThatCannotBeDone(t *testing.T) {
	var l arch.TicketLock
	l.Lock()
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := l.LockContext(context.Background()); err != nil {
			t.Errorf("got %v, want nil", err)
		}
		l.Unlock()
	})
	await(t, "the waiter parked", func() bool { return arch.Parked(&l) == 1 })
	l.Unlock()
	awaitAll(t, &wg, &l)
	checkFree(t, &l)
}

// TestGivenUpTicketsAreSkipped has every pattern of stayers and leavers among
// eight waiters, through the wrap-around of the counters.
func TestGivenUpTicketsAreSkipped(t *testing.T) {
	const waiters = 8
	for _, s := range starts {
		for _, size := range []int{2, 16} {
			t.Run(fmt.Sprintf("%s, lot of %d", s.name, size), func(t *testing.T) {
				step := 1<<waiters/scaled(1<<waiters) | 1 // odd, so that everybody leaves at times
				for leave := 0; leave < 1<<waiters; leave += step {
					giveUpSome(t, s.start, size, waiters, leave)
				}
			})
		}
	}
}

// giveUpSome queues waiters, lets those leave whose bit is set, and checks that
// the others are served in order.
func giveUpSome(t *testing.T, start uint64, size, waiters, leave int) {
	var l arch.TicketLock
	arch.StartAt(&l, start)
	arch.UseLot(&l, size)
	l.Lock()
	ctx, cancel := context.WithCancel(context.Background())
	var order []int
	var want []int
	var stay, left sync.WaitGroup
	for i := range waiters {
		if leave>>i&1 == 1 {
			left.Go(func() {
				if err := l.LockContext(ctx); !errors.Is(err, context.Canceled) {
					t.Errorf("leave %b: waiter %d got %v, want %v", leave, i, err, context.Canceled)
				}
			})
		} else {
			want = append(want, i)
			stay.Go(func() {
				l.Lock()
				order = append(order, i)
				l.Unlock()
			})
		}
		await(t, "a waiter parked", func() bool { return arch.Parked(&l) == i+1 })
	}
	cancel()
	awaitAll(t, &left, &l)
	l.Unlock()
	awaitAll(t, &stay, &l)
	if got, want := fmt.Sprint(order), fmt.Sprint(want); got != want {
		t.Fatalf("leave %b: served %s, want %s", leave, got, want)
	}
	if got, want := arch.Serving(&l), start+uint64(waiters)+1; got != want {
		t.Fatalf("leave %b: serving %d, want %d", leave, got, want)
	}
	checkFree(t, &l)
}

// TestCancelAgainstGrant lets a cancel and an Unlock race for one parked waiter,
// with another behind it. Whoever wins, the lock is held if and only if the
// result is nil, and the one behind gets it.
func TestCancelAgainstGrant(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	rounds := scaled(20_000)
	var l arch.TicketLock
	arch.UseLot(&l, 2)
	granted := 0
	for range rounds {
		ctx, cancel := context.WithCancel(context.Background())
		delays := [2]int{random.IntN(4), random.IntN(4)}
		held := false // guarded by l
		l.Lock()
		var wg sync.WaitGroup
		wg.Go(func() {
			if l.LockContext(ctx) == nil {
				held = true
				granted++
				runtime.Gosched()
				held = false
				l.Unlock()
			}
		})
		await(t, "the waiter parked", func() bool { return arch.Parked(&l) == 1 })
		wg.Go(func() {
			l.Lock()
			if held {
				t.Error("two hold the lock")
			}
			l.Unlock()
		})
		wg.Go(func() { yield(delays[0]); cancel() })
		yield(delays[1])
		l.Unlock()
		awaitAll(t, &wg, &l)
		checkFree(t, &l)
	}
	t.Logf("granted %d, given up %d", granted, rounds-granted)
}

func yield(n int) {
	for range n {
		runtime.Gosched()
	}
}
