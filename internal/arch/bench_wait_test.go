package arch_test

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"callerd/internal/arch"
)

// BenchmarkLockDrain measures a turn when 1,024 wait in line and nobody comes
// again: for the ticket lock, and for a sync.Mutex in starvation mode, which also
// goes by the order of the calls.
func BenchmarkLockDrain(b *testing.B) {
	const waiters = 1024
	section := roundsFor(50)
	duel(b, func(l sync.Locker) float64 {
		var ready atomic.Int64
		var wg sync.WaitGroup
		l.Lock()
		for range waiters {
			wg.Go(func() {
				ready.Add(1)
				l.Lock()
				spend(section)
				l.Unlock()
			})
		}
		for ready.Load() < waiters {
			runtime.Gosched()
		}
		if m, ok := l.(*sync.Mutex); ok {
			starve(m)
		}
		start := time.Now()
		l.Unlock()
		wg.Wait()
		return float64(time.Since(start).Nanoseconds()) / waiters
	})
}

// starve makes m, which is locked and waited for, starving: the waiter that is
// woken has waited for more than a millisecond and finds itself overtaken.
func starve(m *sync.Mutex) {
	for start := time.Now(); time.Since(start) < 2*time.Millisecond; {
		runtime.Gosched()
	}
	m.Unlock()
	m.Lock()
	for range 100 {
		runtime.Gosched()
	}
}

// BenchmarkLockWait measures how long 1,024 goroutines that yield between
// operations wait for the lock: the 99.9th percentile, and the longest.
func BenchmarkLockWait(b *testing.B) {
	section, outside := roundsFor(50), roundsFor(200)
	for _, c := range []struct {
		name string
		of   func(waits []time.Duration) time.Duration // sorted
	}{
		{"p99.9", func(w []time.Duration) time.Duration { return w[len(w)*999/1000] }},
		{"longest", func(w []time.Duration) time.Duration { return w[len(w)-1] }},
	} {
		b.Run(c.name, func(b *testing.B) {
			duel(b, func(l sync.Locker) float64 {
				return float64(c.of(waits(l, 1024, section, outside)))
			})
		})
	}
}

// waits returns all waits of one slice, sorted.
func waits(l sync.Locker, goroutines, section, outside int) []time.Duration {
	var stop atomic.Bool
	var wg sync.WaitGroup
	all := make([][]time.Duration, goroutines)
	for i := range all {
		wg.Go(func() {
			for !stop.Load() {
				start := time.Now()
				l.Lock()
				all[i] = append(all[i], time.Since(start))
				spend(section)
				l.Unlock()
				spend(outside)
				runtime.Gosched()
			}
		})
	}
	<-time.NewTimer(5 * slice).C
	stop.Store(true)
	wg.Wait()
	w := slices.Concat(all...)
	slices.Sort(w)
	return w
}

// BenchmarkLockSkip measures what one given-up ticket costs the Unlock that skips it.
func BenchmarkLockSkip(b *testing.B) {
	const waiters = 1000
	var spent time.Duration
	for b.Loop() {
		var l arch.TicketLock
		var wg sync.WaitGroup
		ctx, cancel := context.WithCancel(context.Background())
		l.Lock()
		for range waiters {
			wg.Go(func() { _ = l.LockContext(ctx) })
		}
		for arch.Parked(&l) < waiters {
			runtime.Gosched()
		}
		cancel()
		wg.Wait()
		start := time.Now()
		l.Unlock()
		spent += time.Since(start)
	}
	b.ReportMetric(0, "ns/op") // with the preparation: says nothing
	b.ReportMetric(float64(spent.Nanoseconds())/float64(b.N*waiters), "ns/ticket")
}

// BenchmarkLockOrder counts overtakings among b.N acquisitions by 64 goroutines.
// Now and then the holder yields, and the others run up behind it.
func BenchmarkLockOrder(b *testing.B) {
	const goroutines = 64
	var l arch.TicketLock
	var wg sync.WaitGroup
	next, overtakings, left := uint64(0), 0, b.N // guarded by l
	for range goroutines {
		wg.Go(func() {
			for more := true; more; {
				if t := arch.LockTicket(&l); t != next {
					overtakings++
				}
				next++
				left--
				more = left > 0
				if next%100 == 0 {
					runtime.Gosched()
				}
				l.Unlock()
			}
		})
	}
	wg.Wait()
	b.ReportMetric(float64(overtakings), "overtakings")
}
