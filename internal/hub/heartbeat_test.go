package hub

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// beat is the Value of a test's heartbeat.
type beat struct {
	stream   string
	sequence uint64
}

func beats(stream string, sequence uint64) any { return beat{stream, sequence} }

// pass lets the bubble's time pass.
func pass(d time.Duration) { <-time.NewTimer(d).C }

func TestHeartbeatsRepeatAndNeverAdvance(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := open(t, Options{Heartbeat: beats})
		s := join(t, h, false, 0)
		next(t, s)
		wantBeat := func(after time.Duration, sequence uint64) {
			t.Helper()
			start := time.Now()
			m := next(t, s)
			if got := time.Since(start); got != after {
				t.Errorf("the heartbeat came after %v, want %v", got, after)
			}
			if m.Value != (beat{hall, sequence}) || m.Sequence != sequence || m.Previous != sequence || !m.Heartbeat() {
				t.Errorf("the heartbeat is %+v, want sequence and previous %d", m, sequence)
			}
		}
		wantBeat(5*time.Second, 0)
		h.Append(hall, 8, "a")
		wantMessages(t, s, [2]uint64{8, 0})
		wantBeat(5*time.Second, 8)
		wantBeat(5*time.Second, 8)
		if got := h.Last(hall); got != 8 {
			t.Errorf("Last is %d, want 8", got)
		}

		// A frame three seconds into the silence begins it anew.
		go func() {
			pass(3 * time.Second)
			h.Append(hall, 9, "b")
		}()
		start := time.Now()
		wantMessages(t, s, [2]uint64{9, 8})
		if got := time.Since(start); got != 3*time.Second {
			t.Errorf("the frame came after %v, want 3s", got)
		}
		wantBeat(5*time.Second, 9)

		// One that was busy for long gets what there is, and its next heartbeat a silence later.
		h.Append(hall, 10, "c")
		pass(time.Minute)
		wantMessages(t, s, [2]uint64{10, 9})
		wantBeat(5*time.Second, 10)
		if got := h.Stats(); got.Heartbeats != 5 || got.Appended != 3 {
			t.Errorf("%d heartbeats and %d frames are counted, want 5 and 3", got.Heartbeats, got.Appended)
		}
	})
}

func TestWhoResumesHearsAtOnceThatItHasAll(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := open(t, Options{Heartbeat: beats})
		h.Append(hall, 8, "a")
		h.Append(hall, 9, "b")
		start := time.Now()
		nothingMissed, oneMissed := join(t, h, true, 9), join(t, h, true, 8)
		wantMessages(t, nothingMissed, [2]uint64{9, 9})
		wantMessages(t, oneMissed, [2]uint64{9, 8}, [2]uint64{9, 9})
		if got := time.Since(start); got != 0 {
			t.Errorf("it took %v, want no time", got)
		}
		wantMessages(t, nothingMissed, [2]uint64{9, 9})
		if got := time.Since(start); got != 5*time.Second {
			t.Errorf("the next heartbeat came after %v, want 5s", got)
		}
	})
}

func TestManyWaitingAreWokenInABubble(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := open(t, Options{Heartbeat: beats, HeartbeatEvery: time.Second})
		const watchers = 100
		results := make([]atomic.Uint64, watchers)
		for i := range watchers {
			s := join(t, h, false, 0)
			next(t, s)
			go func() {
				for m, err := s.Next(t.Context()); err == nil; m, err = s.Next(t.Context()) {
					results[i].Store(m.Sequence)
				}
			}()
		}
		for sequence := uint64(1); sequence < 50; sequence++ {
			pass(time.Duration(sequence%3) * 500 * time.Millisecond) // some beside a heartbeat, some at the very moment of one
			h.Append(hall, sequence, sequence)
			synctest.Wait()
			for i := range results {
				if got := results[i].Load(); got != sequence {
					t.Fatalf("watcher %d is at %d, want %d", i, got, sequence)
				}
			}
		}
		h.Close()
		synctest.Wait()
	})
}
