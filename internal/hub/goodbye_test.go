package hub

import (
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"
)

// The goodbye comes behind the whole frame that was half out, and so does the answer to a violation.
func TestAGoodbyeIsNeverInsideAFrame(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		end  func(*Subscription, *wire)
		code int
	}{
		"the subscription is closed":      {func(s *Subscription, _ *wire) { s.Close() }, websocket.CloseGoingAway},
		"the display talks":               {func(_ *Subscription, w *wire) { _ = w.send(websocket.TextMessage, strings.Repeat("x", 125)) }, 0},
		"the display breaks the protocol": {func(_ *Subscription, w *wire) { _ = w.send(0x0b, "?") }, websocket.CloseProtocolError},
		"the display says goodbye":        {func(_ *Subscription, w *wire) { _ = w.send(websocket.CloseMessage, "\x03\xe8") }, websocket.CloseNormalClosure},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			joined := make(chan *Subscription, 1)
			h := open(t, Options{Encode: bodies, WriteTimeout: time.Hour})
			st := openSite(t, h)
			st.joined = joined
			w, s := st.resting(t)
			h.Append(hall, 1, sized{1, 4 * large})
			if _, err := w.r.Peek(100); err != nil { // some of it is here
				t.Fatal(err)
			}
			test.end(s, w)
			if test.code == 0 { // forgiven
				test.end(s, w)
				h.Append(hall, 2, sized{2, small})
			}
			for want := uint64(1); want <= 2; want++ {
				text, err := w.text(nil)
				if want == 2 && test.code != 0 {
					if !websocket.IsCloseError(err, test.code) {
						t.Errorf("it ended with %v, want code %d", err, test.code)
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				if got, err := wantBody(text); err != nil || got != want {
					t.Errorf("got frame %d, %v, want %d", got, err, want)
				}
			}
		})
	}
}

// What the reader finds between the part that the kernel took at once and the rest, when nobody is
// inside a write, is answered behind the rest.
func TestWhatComesInsideAFrameIsAnsweredBehindIt(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		sent  byte
		noted func(*connection) bool
		want  byte
	}{
		"a ping":      {websocket.PingMessage, func(c *connection) bool { return c.pong != nil }, websocket.PongMessage},
		"a violation": {0x0b, func(c *connection) bool { return c.why != nil }, websocket.CloseMessage},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			joined := make(chan *Subscription, 1)
			h := open(t, Options{Encode: bodies})
			st := openSite(t, h)
			st.joined = joined
			part, found := make(chan struct{}), make(chan struct{})
			h.write = func(fd uintptr, b []byte) (int, error) {
				if len(b) < 1000 {
					return writeOnce(fd, b)
				}
				n, err := writeOnce(fd, b[:500])
				close(part)
				<-found
				return n, err
			}
			w := st.wire(t, "")
			s := <-joined
			for !rests(s) { // so that a sweeper writes, and the reader is there
				runtime.Gosched()
			}
			h.Append(hall, 1, sized{1, 1000})
			<-part
			if err := w.send(test.sent, "?"); err != nil {
				t.Fatal(err)
			}
			for noted := false; !noted; runtime.Gosched() {
				s.stream.mu.Lock()
				noted = test.noted(s.served)
				s.stream.mu.Unlock()
			}
			close(found)
			for want := uint64(0); want <= 1; want++ {
				text, err := w.text(nil)
				if err != nil {
					t.Fatal(err)
				}
				if got, err := wantBody(text); err != nil || got != want {
					t.Errorf("got frame %d, %v, want %d", got, err, want)
				}
			}
			if kind, payload, err := w.frame(); err != nil || kind != test.want {
				t.Errorf("behind it came %d with %q, %v, want %d", kind, payload, err, test.want)
			}
		})
	}
}

// Nobody writes to it and it answers nothing: a second later it is gone all the same.
func TestARestingDisplayWhoseSubscriptionIsClosedIsLetGo(t *testing.T) {
	t.Parallel()
	joined := make(chan *Subscription, 1)
	h := open(t, Options{Encode: bodies})
	st := openSite(t, h)
	st.joined = joined
	w := st.wire(t, "")
	s := <-joined
	for !rests(s) {
		runtime.Gosched()
	}
	s.Close()
	if _, err := w.text(nil); err != nil {
		t.Fatal(err)
	}
	if _, err := w.text(nil); !websocket.IsCloseError(err, websocket.CloseGoingAway) {
		t.Errorf("it ended with %v, want code %d", err, websocket.CloseGoingAway)
	}
	if err := <-st.results; err != ErrClosed {
		t.Errorf("Serve: %v, want %v", err, ErrClosed)
	}
}

func TestAViolationIsAnsweredWhileNobodyWrites(t *testing.T) {
	t.Parallel()
	h := open(t, Options{Encode: bodies})
	st := openSite(t, h)
	w := st.wire(t, "")
	if _, err := w.text(nil); err != nil {
		t.Fatal(err)
	}
	if err := w.send(0x0b, "?"); err != nil {
		t.Fatal(err)
	}
	if _, err := w.text(nil); !websocket.IsCloseError(err, websocket.CloseProtocolError) {
		t.Errorf("it ended with %v, want code %d", err, websocket.CloseProtocolError)
	}
	if err := <-st.results; err == nil || !strings.Contains(err.Error(), "bad opcode 11") {
		t.Errorf("Serve: %v, want the bad opcode", err)
	}
}

// A pong that comes behind our goodbye once might have let a display stay for as long as it sends some.
func TestPongsBehindAGoodbyeDoNotKeepADisplay(t *testing.T) {
	t.Parallel()
	joined := make(chan *Subscription, 1)
	h := open(t, Options{Encode: bodies})
	st := openSite(t, h)
	st.joined = joined
	w := st.wire(t, "")
	s := <-joined
	s.Close()
	go func() {
		for w.send(websocket.PongMessage, "") == nil { // until the socket is closed, which ends it
			runtime.Gosched()
		}
	}()
	if err := <-st.results; err != ErrClosed { // it would never come
		t.Errorf("Serve: %v, want %v", err, ErrClosed)
	}
}

// Who rests is told at once when the history is forgotten: nobody else would look at it before the next frame.
func TestSeedSendsAwayWhoRests(t *testing.T) {
	t.Parallel()
	joined := make(chan *Subscription, 1)
	h := open(t, Options{Encode: bodies})
	st := openSite(t, h)
	st.joined = joined
	w, _ := st.resting(t)
	h.Seed(hall, 99)
	if _, err := w.text(nil); !websocket.IsCloseError(err, CloseLagging) {
		t.Errorf("got %v, want code %d", err, CloseLagging)
	}
}
