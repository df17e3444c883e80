package hub

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gorilla/websocket"
)

// Pings and frames of all sizes cross. Nothing may be inside anything else, and no byte be lost or
// come twice; and the last ping is answered, whoever was writing when it came.
func TestAPongIsNeverInsideAFrame(t *testing.T) {
	t.Parallel()
	t.Run("the kernel as it is", func(t *testing.T) {
		t.Parallel()
		pingAndPush(t, open(t, Options{Encode: bodies}))
	})
	t.Run("a kernel that takes a part and lets others run", func(t *testing.T) {
		t.Parallel()
		seed := rand.Uint64()
		t.Logf("seed %d", seed)
		var mu sync.Mutex
		random := rand.New(rand.NewPCG(seed, 1))
		h := open(t, Options{Encode: bodies})
		h.write = func(fd uintptr, b []byte) (int, error) {
			mu.Lock()
			part, others := random.IntN(len(b)+1), random.IntN(100)
			mu.Unlock()
			n, err := writeOnce(fd, b[:part])
			for range others {
				runtime.Gosched()
			}
			return n, err
		}
		pingAndPush(t, h)
	})
}

// pingAndPush lets displays ping a hub that sends them frames.
func pingAndPush(t *testing.T, h *Hub) {
	const displays, frames = 4, 200
	st := openSite(t, h)
	var all sync.WaitGroup
	var got [displays]atomic.Uint64
	for d := range displays {
		w := st.wire(t, "")
		all.Go(func() {
			pings, pongs, more := 0, "", true
			control := func(kind byte, payload string) {
				if kind == websocket.PongMessage {
					pongs = payload
				}
			}
			ping := func() {
				pings++
				if err := w.send(websocket.PingMessage, fmt.Sprint(pings)); err != nil {
					t.Error(err)
				}
			}
			for want := uint64(0); more; want++ {
				text, err := w.text(control)
				if err != nil {
					t.Errorf("display %d, frame %d: %v", d, want, err)
					return
				}
				if sequence, err := wantBody(text); err != nil || sequence != want {
					t.Errorf("display %d: frame %d, %v, want %d", d, sequence, err, want)
					return
				}
				for range want % 4 {
					ping()
				}
				got[d].Store(want)
				more = want < frames
			}
			ping()
			for pongs != fmt.Sprint(pings) {
				kind, payload, err := w.frame()
				if err != nil {
					t.Errorf("display %d, waiting for the last pong: %v", d, err)
					return
				}
				control(kind, string(payload))
			}
		})
	}
	for sequence := uint64(1); sequence <= frames; sequence++ {
		size := small
		if sequence%8 == 0 {
			size = large
		}
		h.Append(hall, sequence, sized{sequence, size})
		for d := range got { // all are close behind, so that what comes next is not always sent by a goroutine that catches up
			for got[d].Load()+2 < sequence && !t.Failed() {
				runtime.Gosched()
			}
		}
	}
	all.Wait()
}

// One that pings without end still gets its heartbeats.
func TestPingsDoNotPutOffHeartbeats(t *testing.T) {
	t.Parallel()
	h := open(t, Options{Encode: bodies, HeartbeatEvery: 30 * time.Millisecond, Heartbeat: func(string, uint64) any { return sized{7, small} }})
	st := openSite(t, h)
	answered := time.Now() // at the latest: the server gives a display up three beats after what it read last
	w := st.wire(t, "")
	for beats := 0; beats < 5; {
		kind, payload, err := w.frame()
		if err != nil {
			t.Fatal(err)
		}
		if kind == websocket.CloseMessage && time.Since(answered) >= missedBeats*h.options.HeartbeatEvery { // rightly, on a machine that stood still
			t.Skipf("the machine was too slow: %q", payload)
		}
		switch kind {
		case websocket.PingMessage:
			answered = time.Now()
			err = w.send(websocket.PongMessage, string(payload))
		case websocket.PongMessage:
			err = w.send(websocket.PingMessage, "?")
		default:
			if sequence, wrong := wantBody(string(payload)); wrong != nil || sequence == 7 {
				err = wrong
				beats++
			} else {
				err = w.send(websocket.PingMessage, "?")
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// A ping that comes while the pong to the last one leaves, again and again: it once went before every frame.
func TestAFrameWaitsForOnePongAtMost(t *testing.T) {
	t.Parallel()
	joined := make(chan *Subscription, 1)
	h := open(t, Options{Encode: bodies})
	st := openSite(t, h)
	st.joined = joined
	var pongs atomic.Int64
	var s *Subscription
	h.write = func(fd uintptr, b []byte) (int, error) {
		n, err := writeOnce(fd, b)
		if b[0] == 0x80|websocket.PongMessage {
			k := pongs.Add(1)
			if k == 1 {
				h.Append(hall, 1, sized{1, small})
			}
			if k < 100 {
				s.served.note(func() { s.served.pong = frame(websocket.PongMessage, nil) })
			}
		}
		return n, err
	}
	var w *wire
	w, s = st.resting(t)
	if err := w.send(websocket.PingMessage, "?"); err != nil {
		t.Fatal(err)
	}
	before := 0
	text, err := w.text(func(byte, string) { before++ })
	if sequence, wrong := wantBody(text); err != nil || wrong != nil || sequence != 1 || before > 2 {
		t.Errorf("got %.20q, %v behind %d pongs, want frame 1 behind one or two", text, err, before)
	}
}

// A heartbeat brings a ping with it, the only way to find out that a display is gone to which nothing is to be said.
func TestAHeartbeatBringsAPing(t *testing.T) {
	t.Parallel()
	h := open(t, Options{Encode: bodies, Heartbeat: func(string, uint64) any { return sized{7, small} }})
	st := openSite(t, h)
	h.Append(hall, 1, sized{1, small})
	w := st.wire(t, "after=1") // resumes, and has missed nothing: a heartbeat at once
	if text, err := w.text(nil); err != nil || !strings.HasPrefix(text, string(body(7, small)[:8])) {
		t.Fatalf("got %.20q, %v, want a heartbeat", text, err)
	}
	if kind, _, err := w.frame(); err != nil || kind != websocket.PingMessage {
		t.Errorf("got a frame of kind %d, %v behind it, want a ping", kind, err)
	}
}

// A display that pings is behind others in the line then, who have been silent for less long. It once got its heartbeat with theirs, up to
// twice the silence after its last message. Here that would be in an hour.
func TestAHeartbeatAfterAPingIsNotThatOfWhoCameLater(t *testing.T) {
	t.Parallel()
	var ahead atomic.Int64 // the clock, of the machine's
	h := open(t, Options{Encode: bodies, HeartbeatEvery: time.Hour, Heartbeat: func(string, uint64) any { return sized{7, small} },
		Now: func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }})
	joined := make(chan *Subscription, 2) // one for each display
	st := openSite(t, h)
	st.joined = joined
	first, _ := st.resting(t)
	ahead.Store(int64(time.Hour - 100*time.Millisecond))
	_, _ = st.resting(t)
	if err := first.send(websocket.PingMessage, "?"); err != nil {
		t.Fatal(err)
	}
	pongs := 0
	text, err := first.text(func(kind byte, _ string) {
		if kind == websocket.PongMessage {
			pongs++
		}
	})
	if sequence, wrong := wantBody(text); err != nil || wrong != nil || sequence != 7 || pongs != 1 {
		t.Errorf("got %.20q, %v behind %d pongs, want a heartbeat behind one", text, err, pongs)
	}
}

// A connection that is no plain TCP cannot be written to without waiting: a goroutine does it.
func TestServeOverTLS(t *testing.T) {
	t.Parallel()
	h := open(t, Options{Encode: bodies, Heartbeat: func(string, uint64) any { return nil }})
	plain := openSite(t, h)
	st := httptest.NewTLSServer(plain.Config.Handler)
	t.Cleanup(st.Close)
	dialer := websocket.Dialer{TLSClientConfig: st.Client().Transport.(*http.Transport).TLSClientConfig}
	conn, _, err := dialer.Dial("wss"+strings.TrimPrefix(st.URL, "https"), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	const frames = 40
	for sequence := uint64(1); sequence <= frames; sequence++ {
		h.Append(hall, sequence, sized{sequence, []int{small, large}[sequence%2]})
	}
	for want := uint64(0); want <= frames; want++ {
		if got, err := wantBody(read(t, conn)); err != nil || got != want {
			t.Fatalf("got frame %d, %v, want %d", got, err, want)
		}
	}
	back, _, err := dialer.Dial("wss"+strings.TrimPrefix(st.URL, "https")+fmt.Sprint("?after=", frames), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { back.Close() })
	if got, err := wantBody(read(t, back)); err != nil || got != 0 {
		t.Fatalf("got frame %d, %v, want a heartbeat at once", got, err)
	}
	go h.Close()
	for err == nil {
		_, _, err = conn.ReadMessage()
	}
	if !websocket.IsCloseError(err, websocket.CloseGoingAway) {
		t.Errorf("the connection ended with %v, want code %d", err, websocket.CloseGoingAway)
	}
	for range 2 {
		if err := <-plain.results; err != ErrClosed {
			t.Errorf("Serve: %v, want %v", err, ErrClosed)
		}
	}
}
