package lock

import (
	"context"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// slice is one stretch of measuring. It is looked at in windows, so that those can be told apart in which other programs
// had the processors.
type slice struct {
	stop atomic.Bool // it is over
	_    [60]byte
	done int64 // sections; guarded by the lock that is measured
	_    [120]byte

	born  time.Time
	long  time.Duration
	end   atomic.Int64 // ns after born
	begun atomic.Int64 // ns after born
	took  atomic.Int64 // ns, when it is over

	looked atomic.Int64 // ns after born at which the current window began
	number atomic.Int64 // of the current window

	ended   chan struct{} // closed when all is told
	mu      sync.Mutex    // guards the rest
	before  map[int]time.Duration
	burnt   time.Duration // processor time
	windows []window
	threads []int
	sofar   window // sums until the current window
}

// window is a short part of a slice.
type window struct {
	ops         int64
	took, burnt time.Duration
}

// windowLength is how long a window is at least: short, for the sake of windows without other programs in them.
const windowLength = 300 * time.Microsecond

func newSlice(d time.Duration) *slice {
	s := &slice{born: time.Now(), long: d, before: threads(), ended: make(chan struct{})}
	s.end.Store(int64(d))
	return s
}

// begin starts the time again: what came before was preparation.
func (s *slice) begin() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.before = threads()
	now := time.Since(s.born)
	s.begun.Store(int64(now))
	s.end.Store(int64(now + s.long))
}

// finish ends the slice, unless that is done.
func (s *slice) finish() {
	if !s.took.CompareAndSwap(0, max(1, int64(time.Since(s.born))-s.begun.Load())) {
		return
	}
	s.stop.Store(true) // at once: what is done from here on is in nobody's time
	s.mu.Lock()
	for id, now := range threads() {
		s.burnt += now - s.before[id]
	}
	s.mu.Unlock()
	close(s.ended)
}

// past reports whether it is time to end.
func (s *slice) past() bool { return int64(time.Since(s.born)) > s.end.Load() }

// over says to a spinning waiter, in its i'th round, whether to give up. Like all who work,
// it looks at the clock itself now and then: where processors are full of them, a timer may come seconds late.
func (s *slice) over(i int) bool {
	if i%1000 == 0 && s.past() {
		s.finish()
	}
	return s.stop.Load()
}

// stamp returns the time of a section, for tick, if it is one of every few; else 0.
func (s *slice) stamp(done int64) time.Duration {
	if done%64 != 0 {
		return 0
	}
	return time.Since(s.born)
}

// stale is how long after a section its number no longer tells how many there were.
const stale = 5 * time.Microsecond

// tick is called after every few sections, with number and time of the last. It ends the slice and the window if it is time.
func (s *slice) tick(done int64, at time.Duration) {
	if s.past() {
		s.finish()
	}
	if at-time.Duration(s.looked.Load()) < windowLength || !s.mu.TryLock() {
		return
	}
	defer s.mu.Unlock()
	if time.Since(s.born)-at > stale {
		return
	}
	burnt := burntBy(s.threads)
	w := window{done - s.sofar.ops, at - s.sofar.took, burnt - s.sofar.burnt}
	if len(s.windows)%8 == 0 { // there may be new threads; the first window has the start of the goroutines in it
		w.burnt = 0
		s.threads = slices.Collect(maps.Keys(threads()))
		burnt = burntBy(s.threads)
	}
	s.windows = append(s.windows, w)
	s.sofar = window{done, at, burnt}
	s.number.Store(int64(len(s.windows)))
	s.looked.Store(int64(at))
}

// wait waits for the end of the slice, and ends it.
func (s *slice) wait() {
	timer := time.NewTimer(s.long)
	defer timer.Stop()
	select {
	case <-timer.C:
		s.finish()
	case <-s.ended:
	}
	<-s.ended
}

// threads returns the processor time that each thread of the process has burnt. The sum that getrusage tells is as old as the
// last timer interrupt, for threads that are running. Where there is no /proc it returns nothing.
func threads() map[int]time.Duration {
	entries, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return nil
	}
	all := make(map[int]time.Duration, len(entries))
	for _, e := range entries {
		if id, err := strconv.Atoi(e.Name()); err == nil {
			all[id] = burntBy([]int{id})
		}
	}
	return all
}

// burntBy returns the processor time of some threads.
func burntBy(ids []int) (sum time.Duration) {
	for _, id := range ids {
		var t unix.Timespec
		if unix.ClockGettime(int32(^id<<3|6), &t) == nil { // the clock of a thread, as pthread_getcpuclockid makes it
			sum += time.Duration(t.Nano())
		}
	}
	return sum
}

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

// sink keeps the compiler from dropping the work.
var sink atomic.Uint64

// roundsOf measures how many rounds of spend take a microsecond.
func roundsOf() float64 {
	const rounds = 100_000
	best := time.Hour
	for range 20 {
		start := time.Now()
		spend(rounds)
		best = min(best, time.Since(start))
	}
	return rounds / float64(best.Nanoseconds()) * 1000
}

// hogs starts processes that do nothing as fast as they can; stop ends them.
func hogs(ctx context.Context, n int) (stop func(), err error) {
	ctx, cancel := context.WithCancel(ctx)
	var all []*exec.Cmd
	stop = func() {
		cancel()
		for _, c := range all {
			_ = c.Wait() // killed, as it should be
		}
	}
	for range n {
		c := exec.CommandContext(ctx, "sh", "-c", "while :; do :; done")
		if err := c.Start(); err != nil {
			stop()
			return nil, err
		}
		all = append(all, c)
	}
	return stop, nil
}
