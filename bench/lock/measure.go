package lock

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"callerd/internal/arch"
)

// crowd is a number of goroutines that use one lock in the way of a row.
type crowd struct {
	row              Row
	section, outside int // rounds of spend
}

// speed is what a slice without a clock in its loop tells.
type speed struct {
	ns    float64 // an operation
	ops   int64
	burnt time.Duration // processor time
	cores float64       // the same in a unit of time
	jain  float64
	quiet []float64 // ns an operation, in the undisturbed windows
}

// burntPerOp is the processor time an operation, in ns: what other programs take from the machine is not in it.
func (v speed) burntPerOp() float64 { return v.ns * v.cores }

// undisturbed reports whether the goroutines had all the processors they could use, as far as one can tell: other programs
// did not have them.
func (c crowd) undisturbed(w window) bool {
	processors := min(c.row.Goroutines, c.row.Processors, runtime.NumCPU())
	return w.ops > 0 && float64(w.burnt) > 0.93*float64(w.took)*float64(processors)
}

// run lets n goroutines work, each with its number, and returns when all have ended. When the row says so they all stand in
// line before the slice begins.
func (c crowd) run(s *slice, l sync.Locker, work func(i int)) {
	var wg sync.WaitGroup
	var called atomic.Int64
	if c.row.Queued {
		l.Lock()
	}
	for i := range c.row.Goroutines {
		wg.Go(func() {
			called.Add(1)
			work(i)
		})
	}
	if c.row.Queued {
		for called.Load() < int64(c.row.Goroutines) && !s.stop.Load() {
			runtime.Gosched()
		}
		s.begin()
		l.Unlock()
	}
	s.wait()
	wg.Wait()
}

// speed measures a lock for a while.
func (c crowd) speed(k kind, d time.Duration) speed {
	s := newSlice(d)
	l := k.make(s)
	counts := make([]int64, c.row.Goroutines)
	c.run(s, l, func(i int) { counts[i] = c.loop(s, l) })
	took := float64(s.took.Load())
	v := speed{burnt: s.burnt, cores: float64(s.burnt) / took, jain: jain(counts)}
	for _, n := range counts {
		v.ops += n
	}
	v.ns = took / float64(max(v.ops, 1))
	for _, w := range s.windows {
		if c.undisturbed(w) {
			v.quiet = append(v.quiet, float64(w.took)/float64(w.ops))
		}
	}
	return v
}

// loop is what one goroutine does; it returns how often. The locks that are compared are called as their users call
// them: directly, and so inlined.
func (c crowd) loop(s *slice, l sync.Locker) (n int64) {
	section, outside, yields := c.section, c.outside, c.row.Yielding
	switch l := l.(type) {
	case *sync.Mutex:
		for {
			l.Lock()
			if s.stop.Load() {
				l.Unlock()
				return n
			}
			s.done++
			done := s.done
			at := s.stamp(done)
			spend(section)
			l.Unlock()
			if n++; at != 0 {
				s.tick(done, at)
			}
			spend(outside)
			if yields {
				runtime.Gosched()
			}
		}
	case *arch.TicketLock:
		for {
			l.Lock()
			if s.stop.Load() {
				l.Unlock()
				return n
			}
			s.done++
			done := s.done
			at := s.stamp(done)
			spend(section)
			l.Unlock()
			if n++; at != 0 {
				s.tick(done, at)
			}
			spend(outside)
			if yields {
				runtime.Gosched()
			}
		}
	default:
		for {
			l.Lock()
			if s.stop.Load() {
				l.Unlock()
				return n
			}
			s.done++
			done := s.done
			at := s.stamp(done)
			spend(section)
			l.Unlock()
			if n++; at != 0 {
				s.tick(done, at)
			}
			spend(outside)
			if yields {
				runtime.Gosched()
			}
		}
	}
}

// jain is Jain's index of fairness: 1 if all did as much, 1/n if one did everything.
func jain(counts []int64) float64 {
	var sum, squares float64
	for _, n := range counts {
		sum += float64(n)
		squares += float64(n) * float64(n)
	}
	if squares == 0 {
		return 1
	}
	return sum * sum / (float64(len(counts)) * squares)
}

// waits measures how long each operation of a while waits for the lock; quiet are those that ended in an undisturbed window.
func (c crowd) waits(k kind, d time.Duration) (all, quiet []uint32) {
	s := newSlice(d)
	l := k.make(s)
	each := make([][]uint64, c.row.Goroutines) // number of the window, and the wait in ns
	c.run(s, l, func(i int) {
		var mine []uint64
		for {
			start := time.Now()
			l.Lock()
			waited := time.Since(start)
			if s.stop.Load() {
				l.Unlock()
				break
			}
			s.done++
			done := s.done
			at := s.stamp(done)
			spend(c.section)
			l.Unlock()
			mine = append(mine, uint64(s.number.Load())<<32|uint64(min(waited, 1<<32-1)))
			if at != 0 {
				s.tick(done, at)
			}
			spend(c.outside)
			if c.row.Yielding {
				runtime.Gosched()
			}
		}
		each[i] = mine
	})
	for _, mine := range each {
		for _, w := range mine {
			all = append(all, uint32(w))
			if i := int(w >> 32); i < len(s.windows) && c.undisturbed(s.windows[i]) {
				quiet = append(quiet, uint32(w))
			}
		}
	}
	return all, quiet
}
