package arch_test

import (
	"fmt"
	"math"
	"sync"
	"testing"

	"callerd/internal/arch"
)

var _ sync.Locker = (*arch.TicketLock)(nil) // so go vet finds copies

func TestZeroValueIsUnlocked(t *testing.T) {
	var l arch.TicketLock
	checkFree(t, &l)
	l.Lock()
	if l.TryLock() {
		t.Error("TryLock of a locked lock succeeded")
	}
	l.Unlock()
	checkFree(t, &l)
}

func TestCountersLieApart(t *testing.T) {
	if got := arch.NextToServing; got < 128 {
		t.Errorf("next and serving lie %d bytes apart, want 128", got)
	}
	if got := arch.ServingToEnd; got < 128 {
		t.Errorf("serving lies %d bytes from what follows the lock, want 128", got)
	}
}

// starts are the tickets that the tests of order begin with: the counters go on
// through their wrap-around as if there were none.
var starts = []struct {
	name  string
	start uint64
}{
	{"from the first ticket", 0},
	{"through the sign bit", math.MaxInt64 - 20},
	{"through the wrap-around", math.MaxUint64 - 20},
	{"from the last ticket before the wrap-around", math.MaxUint64},
}

// TestServedInOrderOfCalls lets waiters call one after another, each when the one
// before has its ticket, and checks the order in which they get the lock. It
// looks at nothing but that.
func TestServedInOrderOfCalls(t *testing.T) {
	for _, budget := range []uint32{0, 50} {
		for _, size := range []int{2, 16, 64} {
			for _, s := range starts {
				t.Run(fmt.Sprintf("%s, lot of %d, budget %d", s.name, size, budget), func(t *testing.T) {
					arch.SetSpin(t, budget, 1)
					var l arch.TicketLock
					arch.StartAt(&l, s.start)
					arch.UseLot(&l, size)
					l.Lock()
					const waiters = 100
					var order []int
					var wg sync.WaitGroup
					for i := range waiters {
						wg.Go(func() {
							l.Lock()
							order = append(order, i)
							l.Unlock()
						})
						await(t, "a ticket drawn", func() bool { return arch.Drawn(&l) == s.start+uint64(i)+2 })
					}
					if l.TryLock() {
						t.Fatal("TryLock overtook the waiters")
					}
					l.Unlock()
					awaitAll(t, &wg, &l)
					for i, got := range order {
						if got != i {
							t.Fatalf("served %d at place %d, want %d", got, i, i)
						}
					}
					if len(order) != waiters {
						t.Errorf("served %d, want %d", len(order), waiters)
					}
					checkFree(t, &l)
				})
			}
		}
	}
}

func TestUnlockByAnotherGoroutine(t *testing.T) {
	var l arch.TicketLock
	l.Lock()
	var wg sync.WaitGroup
	wg.Go(l.Unlock)
	l.Lock()
	wg.Wait()
	l.Unlock()
	checkFree(t, &l)
}

func TestMisusePanics(t *testing.T) {
	for _, s := range starts {
		t.Run("unlock of a lock that was never locked, "+s.name, func(t *testing.T) {
			var l arch.TicketLock
			arch.StartAt(&l, s.start)
			mustPanic(t, l.Unlock, "arch: Unlock of unlocked TicketLock")
		})
		t.Run("a second unlock, "+s.name, func(t *testing.T) {
			var l arch.TicketLock
			arch.StartAt(&l, s.start)
			l.Lock()
			//lint:ignore SA2001 nothing is to be guarded
			l.Unlock()
			mustPanic(t, l.Unlock, "arch: Unlock of unlocked TicketLock")
		})
		t.Run("a lock that meets an unlock too many, "+s.name, func(t *testing.T) {
			var l arch.TicketLock
			arch.StartAt(&l, s.start)
			arch.Overrun(&l)
			mustPanic(t, l.Lock, "arch: TicketLock was unlocked more often than locked")
		})
	}
}
