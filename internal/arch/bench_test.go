package arch_test

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"callerd/internal/arch"
)

// Every benchmark here that compares lets sync.Mutex and the ticket lock take
// turns in one process, a slice each, and reports medians: the figures of a
// shared machine drift, their ratio holds. The ratio of the best slices is what a
// machine shows that has nothing else to do.

const slice = 20 * time.Millisecond

// duel measures one side after the other for as long as b wants.
func duel(b *testing.B, measure func(l sync.Locker) (ns float64)) {
	arch.Calibrate()
	var mutex, ticket, ratio []float64
	for b.Loop() {
		m := measure(new(sync.Mutex))
		t := measure(new(arch.TicketLock))
		mutex, ticket, ratio = append(mutex, m), append(ticket, t), append(ratio, t/m)
	}
	b.ReportMetric(0, "ns/op") // of both sides and their preparation: says nothing
	b.ReportMetric(median(mutex), "mutex-ns")
	b.ReportMetric(median(ticket), "ticket-ns")
	b.ReportMetric(median(ratio), "ratio")
	b.ReportMetric(slices.Min(ticket)/slices.Min(mutex), "best-ratio")
}

func median(x []float64) float64 {
	slices.Sort(x)
	return x[len(x)/2]
}

// sink keeps the compiler from dropping the work.
var sink atomic.Uint64

// spend computes for n rounds.
func spend(n int) {
	x := uint64(n) | 1
	for range n {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
	}
	if x == 0 {
		sink.Add(x)
	}
}

// roundsFor returns how many rounds of spend take d on this machine.
func roundsFor(d time.Duration) int {
	const rounds = 100_000
	best := time.Hour
	for range 20 {
		start := time.Now()
		spend(rounds)
		best = min(best, time.Since(start))
	}
	return int(d * rounds / best)
}

func BenchmarkLockUncontended(b *testing.B) {
	const rounds = 1_000_000
	perRound := func(start time.Time) float64 { return float64(time.Since(start).Nanoseconds()) / rounds }
	b.Run("bare", func(b *testing.B) {
		duel(b, func(l sync.Locker) float64 {
			start := time.Now()
			switch l := l.(type) { // the calls that users make: direct, and so inlined
			case *sync.Mutex:
				for range rounds {
					l.Lock()
					//lint:ignore SA2001 an empty section is what is measured
					l.Unlock()
				}
			case *arch.TicketLock:
				for range rounds {
					l.Lock()
					//lint:ignore SA2001 an empty section is what is measured
					l.Unlock()
				}
			}
			return perRound(start)
		})
	})
	b.Run("section of 10 ns and 10 ns outside", func(b *testing.B) {
		work := roundsFor(10)
		duel(b, func(l sync.Locker) float64 {
			start := time.Now()
			switch l := l.(type) {
			case *sync.Mutex:
				for range rounds {
					l.Lock()
					spend(work)
					l.Unlock()
					spend(work)
				}
			case *arch.TicketLock:
				for range rounds {
					l.Lock()
					spend(work)
					l.Unlock()
					spend(work)
				}
			}
			return perRound(start)
		})
	})
}

// crowd is a number of goroutines that use one lock, section 50 ns, 200 ns outside.
type crowd struct {
	goroutines int
	yielding   bool // they yield between operations, as handlers do
	queued     bool // they all wait in line at the start
}

// run returns the time per operation.
func (c crowd) run(l sync.Locker, section, outside int) float64 {
	var stop atomic.Bool
	var ready atomic.Int64
	var total atomic.Int64
	var wg sync.WaitGroup
	if c.queued {
		l.Lock()
	}
	start := time.Now()
	for range c.goroutines {
		wg.Go(func() {
			n := int64(0)
			for ready.Add(1); !stop.Load(); n++ {
				l.Lock()
				spend(section)
				l.Unlock()
				spend(outside)
				if c.yielding {
					runtime.Gosched()
				}
			}
			total.Add(n)
		})
	}
	if c.queued {
		for ready.Load() < int64(c.goroutines) {
			runtime.Gosched()
		}
		start = time.Now()
		l.Unlock()
	}
	<-time.NewTimer(slice).C
	stop.Store(true)
	elapsed := time.Since(start)
	wg.Wait()
	return float64(elapsed.Nanoseconds()) / float64(total.Load())
}

func BenchmarkLockContended(b *testing.B) {
	section, outside := roundsFor(50), roundsFor(200)
	for _, yielding := range []bool{false, true} {
		for _, queued := range []bool{false, true} {
			for _, n := range []int{2, 4, 16, 64, 256, 1024} {
				c := crowd{goroutines: n, yielding: yielding, queued: queued}
				b.Run(fmt.Sprintf("yielding=%v/queued=%v/goroutines=%d", yielding, queued, n), func(b *testing.B) {
					duel(b, func(l sync.Locker) float64 { return c.run(l, section, outside) })
				})
			}
		}
	}
}
