package arch_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"callerd/internal/arch"
)

// hammer lets many goroutines use one lock in every way, and checks what the
// lock promises from within the sections.
type hammer struct {
	goroutines int
	rounds     int  // for each goroutine
	leaving    bool // some use LockContext, and some of those are cancelled

	lock arch.TicketLock

	// Guarded by lock, and not atomic: the race detector would see two in it.
	inside   bool
	last     uint64 // the ticket served last
	sections uint64

	gaveUp  atomic.Uint64
	cancels []atomic.Pointer[context.CancelFunc] // one for each goroutine
}

// section checks that its caller, with ticket t, is alone and comes in order.
func (h *hammer) section(t *testing.T, ticket uint64) {
	if h.inside {
		t.Error("two hold the lock")
	}
	h.inside = true
	if got := arch.Serving(&h.lock); got != ticket {
		t.Errorf("ticket %d holds the lock while %d is served", ticket, got)
	}
	// Tickets in between were given up: one that was not would wait for ever.
	if int64(ticket-h.last) <= 0 || !h.leaving && ticket != h.last+1 {
		t.Errorf("overtaking: ticket %d served after %d", ticket, h.last)
	}
	h.last = ticket
	h.sections++
	if h.sections%64 == 0 {
		runtime.Gosched() // a holder that loses its processor
	}
	h.inside = false
}

// work is what goroutine i does in one round.
func (h *hammer) work(t *testing.T, i int, random *rand.Rand) {
	switch n := random.IntN(10); {
	case n == 0:
		if !h.lock.TryLock() {
			return
		}
		h.section(t, arch.Serving(&h.lock))
	case n == 2 && h.leaving:
		if h.lock.TryLockContext(context.Background(), arch.Backoff{First: 1, Tries: 3}) != nil {
			return
		}
		h.section(t, arch.Serving(&h.lock))
	case n == 1:
		h.lock.Lock()
		h.section(t, arch.Serving(&h.lock))
	case n < 6 && h.leaving:
		ctx, cancel := context.WithCancel(context.Background())
		h.cancels[i].Store(&cancel)
		err := h.lock.LockContext(ctx)
		if err != nil {
			h.gaveUp.Add(1)
			return
		}
		cancel()
		h.section(t, arch.Serving(&h.lock))
	default:
		h.section(t, arch.LockTicket(&h.lock))
	}
	h.lock.Unlock()
	if h.leaving && random.IntN(2) == 0 {
		if cancel := h.cancels[random.IntN(h.goroutines)].Load(); cancel != nil {
			(*cancel)()
		}
	}
}

func (h *hammer) run(t *testing.T, start, seed uint64, size int) {
	arch.StartAt(&h.lock, start)
	arch.UseLot(&h.lock, size)
	h.last = start - 1
	h.cancels = make([]atomic.Pointer[context.CancelFunc], h.goroutines)
	var wg sync.WaitGroup
	begin := make(chan struct{})
	for i := range h.goroutines {
		random := rand.New(rand.NewPCG(seed, uint64(i)))
		wg.Go(func() {
			<-begin
			for range h.rounds {
				h.work(t, i, random)
				if random.IntN(8) == 0 {
					runtime.Gosched()
				}
			}
		})
	}
	close(begin)
	awaitAll(t, &wg, &h.lock)
	checkFree(t, &h.lock)
	drawn := arch.Drawn(&h.lock) - 1 - start // but for checkFree's
	// A context that was dead before the call drew no ticket, so there may be more
	// who gave up than tickets that were skipped.
	if most := h.sections + h.gaveUp.Load(); drawn < h.sections || drawn > most {
		t.Errorf("%d tickets drawn, want %d sections and at most %d given up", drawn, h.sections, h.gaveUp.Load())
	}
}

func TestHammer(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	acquisitions := scaled(64_000)
	for _, processors := range []int{1, 2, 4} {
		for _, goroutines := range []int{2, 16, 1024} {
			for _, size := range []int{2, 16, 64} {
				for _, budget := range []uint32{0, 80} {
					for _, leaving := range []bool{false, true} {
						name := fmt.Sprintf("%d processors, %d goroutines, lot of %d, budget %d, leaving %v",
							processors, goroutines, size, budget, leaving)
						t.Run(name, func(t *testing.T) {
							useProcessors(t, processors)
							arch.SetSpin(t, budget, 1)
							h := &hammer{goroutines: goroutines, rounds: acquisitions / goroutines, leaving: leaving}
							h.run(t, math.MaxUint64-1000, seed, size) // the wrap-around is in it
						})
					}
				}
			}
		}
	}
}
