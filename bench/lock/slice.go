package lock

import (
	"context"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// slice is one stretch of measuring.
type slice struct {
	stop   atomic.Bool // it is over
	_      [60]byte
	born   time.Time
	long   time.Duration
	end    atomic.Int64  // ns after born
	begun  atomic.Int64  // ns after born
	took   atomic.Int64  // ns, when it is over
	ended  chan struct{} // closed when all is told
	mu     sync.Mutex    // guards the rest
	before map[int]time.Duration
	burnt  time.Duration // processor time
}

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
	if i%1000 == 0 {
		s.tick()
	}
	return s.stop.Load()
}

// tick ends the slice if it is time.
func (s *slice) tick() {
	if s.past() {
		s.finish()
	}
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

// threads returns the processor time that each thread of the process has burnt, to the microsecond: the sum that getrusage
// tells is as old as the last timer interrupt, for threads that are running. Where there is no /proc it returns nothing.
func threads() map[int]time.Duration {
	entries, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return nil
	}
	all := make(map[int]time.Duration, len(entries))
	for _, e := range entries {
		id, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		var t unix.Timespec
		if unix.ClockGettime(int32(^id<<3|6), &t) == nil { // the clock of a thread, as pthread_getcpuclockid makes it
			all[id] = time.Duration(t.Nano())
		}
	}
	return all
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
