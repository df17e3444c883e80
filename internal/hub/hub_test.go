package hub

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
)

const hall = "hall"

// open returns a hub that encodes a value by printing it, closed when the test ends.
func open(tb testing.TB, o Options) *Hub {
	tb.Helper()
	if o.Encode == nil {
		o.Encode = func(v any) []byte { return fmt.Append(nil, v) }
	}
	h := New(o)
	tb.Cleanup(h.Close)
	return h
}

func join(tb testing.TB, h *Hub, resume bool, after uint64) *Subscription {
	tb.Helper()
	s, err := h.Join(hall, resume, after, func() any { return "snapshot" })
	if err != nil {
		tb.Fatalf("Join: %v", err)
	}
	tb.Cleanup(s.Close)
	return s
}

func next(tb testing.TB, s *Subscription) *Message {
	tb.Helper()
	m, err := s.Next(tb.Context())
	if err != nil {
		tb.Fatalf("Next: %v", err)
	}
	return m
}

// wantMessages checks what comes next, each given as {sequence, previous}.
func wantMessages(tb testing.TB, s *Subscription, want ...[2]uint64) {
	tb.Helper()
	for _, w := range want {
		if m := next(tb, s); m.Sequence != w[0] || m.Previous != w[1] {
			tb.Fatalf("message is (%d after %d), want (%d after %d)", m.Sequence, m.Previous, w[0], w[1])
		}
	}
}

func wantNothing(tb testing.TB, s *Subscription) {
	tb.Helper()
	ctx, cancel := context.WithCancel(tb.Context())
	cancel()
	if m, err := s.Next(ctx); !errors.Is(err, context.Canceled) {
		tb.Fatalf("Next is (%v, %v), want nothing to come", m, err)
	}
}

func TestFramesNameTheOneBefore(t *testing.T) {
	t.Parallel()
	h := open(t, Options{})
	s := join(t, h, false, 0)
	h.Append(hall, 3, "a")
	h.Append("counter 1", 4, "not for the hall")
	h.Append(hall, 7, "b")
	wantMessages(t, s, [2]uint64{0, 0}, [2]uint64{3, 0}, [2]uint64{7, 3})
	wantNothing(t, s)
	if got := h.Last(hall); got != 7 {
		t.Errorf("Last is %d, want 7", got)
	}
	if got := h.Last("nobody's"); got != 0 {
		t.Errorf("Last of an unknown stream is %d, want 0", got)
	}
}

// Case 28: back with the last sequence: what was missed, in order, once. Too old: a snapshot.
func TestResume(t *testing.T) {
	t.Parallel()
	snapshot := [2]uint64{50, 0}
	for name, test := range map[string]struct {
		resume bool
		after  uint64
		want   [][2]uint64
	}{
		"the last frame is known: nothing missed": {true, 50, nil},
		"three missed": {true, 20, [][2]uint64{{30, 20}, {40, 30}, {50, 40}}},
		"the oldest frame kept is the first missed":        {true, 10, [][2]uint64{{20, 10}, {30, 20}, {40, 30}, {50, 40}}},
		"one more was dropped":                             {true, 5, [][2]uint64{snapshot}},
		"above the head":                                   {true, 51, [][2]uint64{snapshot}},
		"between two frames, so never one of this stream":  {true, 25, [][2]uint64{snapshot}},
		"zero names no frame":                              {true, 0, [][2]uint64{snapshot}},
		"a known frame, but no wish to resume (new epoch)": {false, 40, [][2]uint64{snapshot}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := open(t, Options{History: 4})
			for _, sequence := range []uint64{5, 10, 20, 30, 40, 50} {
				h.Append(hall, sequence, sequence)
			}
			s := join(t, h, test.resume, test.after)
			wantMessages(t, s, test.want...)
			h.Append(hall, 60, "later")
			wantMessages(t, s, [2]uint64{60, 50})
			wantNothing(t, s)
		})
	}
}

func TestResumeInAFreshStream(t *testing.T) {
	t.Parallel()
	h := open(t, Options{})
	h.Seed(hall, 100)
	wantMessages(t, join(t, h, false, 0), [2]uint64{100, 0})
	wantNothing(t, join(t, h, true, 100))
	wantMessages(t, join(t, h, true, 99), [2]uint64{100, 0})
	h.Append(hall, 105, "a")
	wantMessages(t, join(t, h, true, 100), [2]uint64{105, 100})
	wantMessages(t, join(t, h, true, 99), [2]uint64{105, 0})
}

func TestSeedLeavesNobodyWithAGap(t *testing.T) {
	t.Parallel()
	h := open(t, Options{History: 4})
	for sequence := range uint64(6) {
		h.Append(hall, sequence+1, sequence)
	}
	s := join(t, h, true, 6)
	h.Seed(hall, 90)
	if _, err := s.Next(t.Context()); !errors.Is(err, ErrLagging) {
		t.Errorf("Next after a Seed: %v, want %v", err, ErrLagging)
	}
	s = join(t, h, true, 6)
	for sequence := uint64(91); sequence < 99; sequence++ {
		h.Append(hall, sequence, sequence)
		if sequence == 91 {
			wantMessages(t, s, [2]uint64{90, 0})
		}
		wantMessages(t, s, [2]uint64{sequence, sequence - 1})
	}
}

func TestAFrameOutOfOrderIsRefused(t *testing.T) {
	t.Parallel()
	h := open(t, Options{})
	s := join(t, h, false, 0)
	h.Append(hall, 5, "a")
	h.Append(hall, 5, "again")
	h.Append(hall, 4, "back")
	h.Append(hall, 6, "b")
	wantMessages(t, s, [2]uint64{0, 0}, [2]uint64{5, 0}, [2]uint64{6, 5})
	if got := h.Stats(); got.Refused != 2 || got.Appended != 2 {
		t.Errorf("refused %d, appended %d, want 2 and 2", got.Refused, got.Appended)
	}
}

// A snapshot is the sum of all frames so far. Whoever joins at whatever moment, and resumes at
// whatever frame, must see the sum and then every frame, each once.
func TestJoinWhileAppendingHasNeitherGapNorRepeat(t *testing.T) {
	t.Parallel()
	const frames, watchers = 4000, 16
	h := open(t, Options{Lag: frames})
	var board struct {
		sync.Mutex // the caller's lock
		sum        uint64
	}
	var all sync.WaitGroup
	for w := range watchers {
		all.Go(func() {
			var resume bool
			var last, sum uint64
			for last < 3*frames {
				board.Lock()
				s, err := h.Join(hall, resume, last, func() any { return board.sum })
				board.Unlock()
				if err != nil {
					t.Errorf("Join: %v", err)
					return
				}
				// Stays a while, in proportion to its number, then comes back resuming.
				for range 7 * (w + 1) {
					m, err := s.Next(t.Context())
					switch {
					case err != nil:
						t.Errorf("Next: %v", err)
						return
					case m.Previous == 0 && m.Sequence != 3:
						sum = m.Value.(uint64)
					case m.Previous != last:
						t.Errorf("frame %d names %d, want %d", m.Sequence, m.Previous, last)
						return
					case m.Value != uint64(1):
						sum = m.Value.(uint64) // a snapshot before the first frame
					default:
						sum++
					}
					last = m.Sequence
					if 3*sum != last {
						t.Errorf("at %d the sum is %d, want %d", last, sum, last/3)
						return
					}
					if last == 3*frames {
						break
					}
				}
				s.Close()
				resume = w%2 == 0 && last > 0
			}
		})
	}
	all.Go(func() {
		for i := range uint64(frames) {
			board.Lock()
			board.sum++
			h.Append(hall, 3*(i+1), uint64(1))
			board.Unlock()
		}
	})
	all.Wait()
}

func TestAllWaitingAreWoken(t *testing.T) {
	t.Parallel()
	const watchers, frames = 300, 200
	h := open(t, Options{})
	var all sync.WaitGroup
	turn := make(chan struct{}, watchers) // one slot a watcher, so that none waits for the counting
	for w := range watchers {
		s := join(t, h, false, 0)
		next(t, s)
		all.Go(func() {
			for want := uint64(1); want <= frames; want++ {
				ctx, cancel := context.WithCancel(t.Context())
				if w%3 == 0 { // one that is for ever changing its mind
					cancel()
				}
				m, err := s.Next(ctx)
				for errors.Is(err, context.Canceled) && t.Context().Err() == nil {
					m, err = s.Next(t.Context())
				}
				cancel()
				if err != nil || m.Sequence != want {
					t.Errorf("Next is (%v, %v), want frame %d", m, err, want)
					return
				}
				turn <- struct{}{}
			}
		})
	}
	// The next frame only when all have the last: were one left sleeping, the test would hang.
	for sequence := uint64(1); sequence <= frames; sequence++ {
		h.Append(hall, sequence, sequence)
		for range watchers {
			<-turn
		}
	}
	all.Wait()
}

func TestLagging(t *testing.T) {
	t.Parallel()
	h := open(t, Options{Lag: 10, History: 100})
	slow, quick := join(t, h, false, 0), join(t, h, false, 0)
	next(t, quick)
	for sequence := uint64(1); sequence <= 11; sequence++ {
		h.Append(hall, sequence, sequence)
		wantMessages(t, quick, [2]uint64{sequence, sequence - 1})
	}
	for range 2 {
		if _, err := slow.Next(t.Context()); !errors.Is(err, ErrLagging) {
			t.Fatalf("Next 11 behind: %v, want %v", err, ErrLagging)
		}
	}
	if got := h.Stats().Lagging; got != 1 {
		t.Errorf("Stats count %d as lagging, want 1", got)
	}

	// It comes back and is again more than Lag behind, as one that was away for long always is.
	for sequence := uint64(12); sequence <= 50; sequence++ {
		h.Append(hall, sequence, sequence)
	}
	back := join(t, h, true, 3)
	for sequence := uint64(4); sequence <= 50; sequence++ {
		wantMessages(t, back, [2]uint64{sequence, sequence - 1})
	}
}

func TestClose(t *testing.T) {
	t.Parallel()
	h := open(t, Options{})
	behind, waiting, ended := join(t, h, false, 0), join(t, h, false, 0), join(t, h, false, 0)
	next(t, waiting)
	result := make(chan error)
	go func() {
		_, err := waiting.Next(t.Context())
		result <- err
	}()
	h.Append(hall, 1, "the last call")
	if err := <-result; err != nil {
		t.Fatalf("Next: %v", err)
	}
	go func() {
		_, err := waiting.Next(t.Context())
		result <- err
	}()
	ended.Close()
	ended.Close()
	var all sync.WaitGroup
	for range 4 {
		all.Go(h.Close)
	}
	all.Wait()
	h.Close()
	if err := <-result; err != ErrClosed {
		t.Errorf("Next of one that waits: %v, want %v", err, ErrClosed)
	}
	wantMessages(t, behind, [2]uint64{0, 0}, [2]uint64{1, 0}) // what was there before is still told
	if _, err := behind.Next(t.Context()); err != ErrClosed {
		t.Errorf("Next: %v, want %v", err, ErrClosed)
	}
	if _, err := ended.Next(t.Context()); err != ErrClosed {
		t.Errorf("Next after the subscription's Close: %v, want %v", err, ErrClosed)
	}
	if _, err := h.Join(hall, false, 0, nil); err != ErrClosed {
		t.Errorf("Join: %v, want %v", err, ErrClosed)
	}
	behind.Close()
	waiting.Close()
	if got := h.Stats().Subscriptions; got != 0 {
		t.Errorf("%d subscriptions are counted, want 0", got)
	}
}
