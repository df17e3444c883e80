package arch_test

import (
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"callerd/internal/arch"
)

// patience is how long a test waits for goroutines before it calls them lost.
const patience = 2 * time.Minute

// scaled returns n, or less where every step costs more: with -short, as for an
// emulated processor, and under the race detector.
func scaled(n int) int {
	if testing.Short() {
		n /= 8
	}
	if raceDetector {
		n /= 4
	}
	return n
}

// await gives up the processor until cond holds.
func await(t *testing.T, what string, cond func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !cond(); runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatalf("still waiting after %v: %s", patience, what)
		}
	}
}

// awaitAll waits for wg. A lost wake-up shows here: somebody sleeps for ever.
func awaitAll(t *testing.T, wg *sync.WaitGroup, l *arch.TicketLock) {
	t.Helper()
	done := make(chan struct{})
	go func() { wg.Wait(); close(done) }()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
		t.Fatalf("lost wake-up: serving %d, next %d, parked %d after %v",
			arch.Serving(l), arch.Drawn(l), arch.Parked(l), patience)
	}
}

// checkFree checks that nobody holds l, waits for it or is remembered in it.
func checkFree(t *testing.T, l *arch.TicketLock) {
	t.Helper()
	if got, want := arch.Serving(l), arch.Drawn(l); got != want {
		t.Errorf("serving %d, want next, %d: the lock is held", got, want)
	}
	if got := arch.Parked(l); got != 0 {
		t.Errorf("parked %d, want 0", got)
	}
	if !l.TryLock() {
		t.Fatal("TryLock failed on a free lock")
	}
	l.Unlock()
}

// useProcessors sets GOMAXPROCS for the length of the test.
func useProcessors(t *testing.T, n int) {
	was := runtime.GOMAXPROCS(n)
	arch.Glance()
	t.Cleanup(func() { runtime.GOMAXPROCS(was); arch.Glance() })
}

// mustPanic runs f and checks that it panics with a message that has all of want in it.
func mustPanic(t *testing.T, f func(), want ...string) {
	t.Helper()
	defer func() {
		t.Helper()
		got := recover()
		if got == nil {
			t.Errorf("no panic, want one with %q", want)
			return
		}
		for _, w := range want {
			if s, _ := got.(string); !strings.Contains(s, w) {
				t.Errorf("panic %v, want %q in it", got, w)
			}
		}
	}()
	f()
}
