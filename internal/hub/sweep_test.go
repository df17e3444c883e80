package hub

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gorilla/websocket"
)

const (
	small = 100     // bytes of a frame that the kernel takes at once
	large = 1 << 19 // of one of which it takes only a part
)

// Each burst only when all have the last: were one left behind, without a goroutine and outside the
// line or with no sweeper on the way, the test would hang. (A gap of some instructions it finds by luck only; that there is none is argued in
// DESIGN.md.)
func TestNoConnectionIsLeftBehind(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ displays, sweepers, bursts int }{{1, 1, 2000}, {3, 2, 700}, {60, 1, 40}, {60, 4, 40}} {
		t.Run(fmt.Sprintf("displays=%d/sweepers=%d", test.displays, test.sweepers), func(t *testing.T) {
			t.Parallel()
			h := open(t, Options{Encode: bodies})
			h.sweepers = test.sweepers
			st := openSite(t, h)
			seed := rand.Uint64()
			t.Logf("seed %d", seed)
			random := rand.New(rand.NewPCG(seed, 1))
			const most = 4                           // frames of a burst
			got := make(chan error, 2*test.displays) // a burst's end and the connection's: no display waits for the counting
			var head atomic.Uint64
			for d := range test.displays {
				w := st.wire(t, "")
				go func() { // ends with the connection
					for last, done := uint64(0), uint64(0); ; {
						if d%3 == 1 { // makes its own reader the owner, again and again
							_ = w.send(websocket.PingMessage, "?")
						}
						text, err := w.text(nil)
						if err != nil {
							got <- err
							return
						}
						sequence, err := wantBody(text)
						if err != nil || sequence != last && sequence != last+1 {
							got <- fmt.Errorf("got frame %d, %v, behind %d", sequence, err, last)
							return
						}
						if last = sequence; last > done && last == head.Load() {
							done = last
							got <- nil
						}
					}
				}()
			}
			for sequence := uint64(0); test.bursts > 0; test.bursts-- {
				burst := 1 + random.Uint64N(most)
				head.Store(sequence + burst)
				for range burst {
					for range random.IntN(20_000) { // at whatever moment of the sweep before
					}
					sequence++
					h.Append(hall, sequence, sized{sequence, small})
				}
				for range test.displays {
					if err := <-got; err != nil {
						t.Fatal(err)
					}
				}
			}
			h.Close()
		})
	}
}

// One sweeper starts the next: while the first is inside the kernel, others write.
func TestASweeperStartsTheNext(t *testing.T) {
	t.Parallel()
	joined := make(chan *Subscription, 2) // one for each display
	h := open(t, Options{Encode: bodies})
	h.sweepers = 2
	st := openSite(t, h)
	st.joined = joined
	one, _ := st.resting(t)
	two, _ := st.resting(t)
	both := make(chan struct{})
	var inside atomic.Int64
	h.write = func(fd uintptr, b []byte) (int, error) {
		if inside.Add(1) == 2 {
			close(both)
		}
		<-both // for ever, if the second does not come
		return writeOnce(fd, b)
	}
	h.Append(hall, 1, sized{1, small})
	for _, w := range []*wire{one, two} {
		if text, err := w.text(nil); err != nil {
			t.Errorf("got %.20q, %v, want frame 1", text, err)
		}
	}
}

// More dead displays than there are sweepers, first in the line: the others get every frame.
func TestDeadDisplaysHoldUpNobody(t *testing.T) {
	t.Parallel()
	const frames = 25
	h := open(t, Options{Encode: bodies, WriteTimeout: time.Hour})
	st := openSite(t, h)
	dead := make([]*wire, 2*h.sweepers+2)
	for i := range dead {
		dead[i] = st.wire(t, "")
	}
	living := []*wire{st.wire(t, ""), st.wire(t, ""), st.wire(t, "")}
	for sequence := uint64(0); sequence <= frames; sequence++ {
		if sequence > 0 {
			h.Append(hall, sequence, sized{sequence, large})
		}
		for i, w := range living {
			text, err := w.text(nil)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := wantBody(text); err != nil || got != sequence {
				t.Fatalf("display %d got frame %d, %v, want %d", i, got, err, sequence)
			}
		}
	}

	// What Close cuts ends inside a frame, and nothing is said there.
	h.Close()
	for _, w := range living {
		if _, err := w.text(nil); !websocket.IsCloseError(err, websocket.CloseGoingAway) {
			t.Errorf("a living display's end is %v, want %d", err, websocket.CloseGoingAway)
		}
	}
	for i, w := range dead {
		want := uint64(0)
		for {
			kind, payload, err := w.frame()
			if err != nil {
				if whole := body(want, large); kind != 0 && !strings.HasPrefix(string(whole), string(payload)) {
					t.Errorf("dead display %d: what was cut off is not the beginning of frame %d", i, want)
				}
				break
			}
			if got, err := wantBody(string(payload)); err != nil || got != want {
				t.Errorf("dead display %d got frame %d, %v, want %d", i, got, err, want)
			}
			want++
		}
		if want > frames {
			t.Errorf("dead display %d got everything, want it to be cut", i)
		}
	}
	for range len(dead) + len(living) {
		if err := <-st.results; err == nil {
			t.Error("a Serve returned nil")
		}
	}
}

// A display that reads again goes back to rest, without a goroutine, and gets the next frames from a
// sweeper; the deadline of the write that was waiting is no longer there.
func TestADisplayThatHasCaughtUpRestsAgain(t *testing.T) {
	t.Parallel()
	joined := make(chan *Subscription, 1)
	h := open(t, Options{Encode: bodies, WriteTimeout: time.Second, HeartbeatEvery: 1100 * time.Millisecond, Heartbeat: func(string, uint64) any { return nil }})
	st := openSite(t, h)
	st.joined = joined
	w := st.wire(t, "")
	s := <-joined
	read := func(want uint64) {
		t.Helper()
		text, err := w.text(nil)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := wantBody(text); err != nil || got != want {
			t.Fatalf("got frame %d, %v, want %d", got, err, want)
		}
	}
	rest := func() {
		t.Helper()
		for !rests(s) {
			runtime.Gosched()
		}
	}
	read(0)
	sequence := uint64(0)
	for range 5 {
		rest()
		for _, size := range []int{large, small, large, small} {
			sequence++
			h.Append(hall, sequence, sized{sequence, size})
		}
		for h.Stats().Delivered == sequence-3 && rests(s) { // until somebody writes
			runtime.Gosched()
		}
		for back := uint64(4); back > 0; back-- {
			read(sequence - back + 1)
		}
	}
	rest()
	read(0) // A heartbeat, when the deadline has passed.
	sequence++
	h.Append(hall, sequence, sized{sequence, small})
	read(sequence)
}
