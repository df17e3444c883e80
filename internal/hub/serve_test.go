package hub

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"
)

// site serves a hub's hall stream over real sockets.
type site struct {
	*httptest.Server
	results chan error         // what each Serve returned
	joined  chan *Subscription // gets each, unless nil; set before the first connects
}

func openSite(tb testing.TB, h *Hub) *site {
	tb.Helper()
	upgrader := websocket.Upgrader{ReadBufferSize: 128, WriteBufferSize: 128, WriteBufferPool: &sync.Pool{}}
	st := &site{results: make(chan error, 2000)} // more than any test has connections: Serve must not wait for the test
	st.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		after, err := strconv.ParseUint(r.FormValue("after"), 10, 64)
		s, joinErr := h.Join(hall, err == nil, after, func() any { return "snapshot" })
		if joinErr != nil {
			return
		}
		conn, upgradeErr := upgrader.Upgrade(w, r, nil) // who has dialled has joined
		if upgradeErr != nil {
			s.Close()
			return // the client knows
		}
		if st.joined != nil {
			st.joined <- s
		}
		st.results <- h.Serve(conn, s)
	}))
	tb.Cleanup(st.Close)
	return st
}

// dial connects a display and returns it with its first frame.
func (st *site) dial(tb testing.TB, query string) (*websocket.Conn, string) {
	tb.Helper()
	conn := st.dialUnread(tb, query)
	return conn, read(tb, conn)
}

func (st *site) dialUnread(tb testing.TB, query string) *websocket.Conn {
	tb.Helper()
	conn, _, err := websocket.DefaultDialer.Dial("ws"+strings.TrimPrefix(st.URL, "http")+"?"+query, nil)
	if err != nil {
		tb.Fatalf("Dial: %v", err)
	}
	tb.Cleanup(func() { conn.Close() })
	return conn
}

func read(tb testing.TB, conn *websocket.Conn) string {
	tb.Helper()
	_, p, err := conn.ReadMessage()
	if err != nil {
		tb.Fatalf("ReadMessage: %v", err)
	}
	return string(p)
}

// wantClose reads what is left and checks the close code at its end.
func wantClose(tb testing.TB, conn *websocket.Conn, code int) (frames []string) {
	tb.Helper()
	for {
		_, p, err := conn.ReadMessage()
		if err == nil {
			frames = append(frames, string(p))
			continue
		}
		if !websocket.IsCloseError(err, code) {
			tb.Fatalf("the connection ended with %v, want close code %d", err, code)
		}
		return frames
	}
}

func TestServe(t *testing.T) {
	t.Parallel()
	h := open(t, Options{})
	st := openSite(t, h)
	conn, first := st.dial(t, "")
	if first != "snapshot" {
		t.Fatalf("the first frame is %q, want the snapshot", first)
	}
	for sequence := uint64(1); sequence <= 100; sequence++ {
		h.Append(hall, sequence, sequence)
	}
	for want := 1; want <= 100; want++ {
		if got := read(t, conn); got != strconv.Itoa(want) {
			t.Fatalf("the frame is %q, want %d", got, want)
		}
	}
	if got := h.Stats(); got.Connections != 1 || got.Subscriptions != 1 {
		t.Errorf("%d connections, %d subscriptions, want 1 and 1", got.Connections, got.Subscriptions)
	}

	message := websocket.FormatCloseMessage(websocket.CloseNormalClosure, "")
	if err := conn.WriteControl(websocket.CloseMessage, message, time.Time{}); err != nil {
		t.Fatal(err)
	}
	wantClose(t, conn, websocket.CloseNormalClosure)
	if err := <-st.results; !websocket.IsCloseError(errors.Unwrap(err), websocket.CloseNormalClosure) {
		t.Errorf("Serve: %v, want the display's close", err)
	}
	if got := h.Stats(); got.Connections != 0 || got.Subscriptions != 0 || got.Delivered != 101 {
		t.Errorf("%d connections, %d subscriptions, %d delivered, want 0, 0 and 101", got.Connections, got.Subscriptions, got.Delivered)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.serving) != 0 {
		t.Errorf("%d connections are still kept for Close, want none", len(h.serving))
	}
}

func TestAFrameIsEncodedOnce(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	encoded := map[any]int{}
	h := open(t, Options{Encode: func(v any) []byte {
		mu.Lock()
		defer mu.Unlock()
		encoded[v]++
		return fmt.Append(nil, v)
	}})
	st := openSite(t, h)
	h.Append(hall, 1, "nobody has needed this")
	var conns []*websocket.Conn
	for range 20 {
		conn, _ := st.dial(t, "")
		conns = append(conns, conn)
	}
	h.Append(hall, 2, "frame")
	for _, conn := range conns {
		if got := read(t, conn); got != "frame" {
			t.Errorf("got %q", got)
		}
	}
	mu.Lock()
	defer mu.Unlock()
	if encoded["frame"] != 1 || encoded["nobody has needed this"] != 0 {
		t.Errorf("encoded %v, want the frame once and the unneeded one never", encoded)
	}
}

// Case 30: a display that does not read is closed with "come back"; the others and the publisher
// notice nothing.
func TestASlowDisplayIsToldToComeBack(t *testing.T) {
	t.Parallel()
	const lag, frames, size = 16, 200, 128 << 10
	h := open(t, Options{Lag: lag, History: 1000, WriteTimeout: time.Hour, Encode: func(v any) []byte {
		return fmt.Appendf(nil, "%-*v", size, v) // large, so that the kernel's buffers are soon full
	}})
	st := openSite(t, h)
	slow := st.dialUnread(t, "")
	var others []*websocket.Conn
	for range 5 {
		conn, _ := st.dial(t, "")
		others = append(others, conn)
	}
	for sequence := uint64(1); sequence <= frames; sequence++ {
		h.Append(hall, sequence, sequence) // would block here, were the publisher to wait
		for _, conn := range others {
			if got := strings.TrimSpace(read(t, conn)); got != fmt.Sprint(sequence) {
				t.Fatalf("another display got frame %s, want %d", got, sequence)
			}
		}
	}
	// It wakes up: what was under way, in order, and then the code.
	got := wantClose(t, slow, CloseLagging)
	if len(got) == 0 || len(got) > frames-lag {
		t.Fatalf("the slow display got %d frames before the close, want some, and fewer than %d", len(got), frames-lag)
	}
	for i, frame := range got[1:] {
		if frame := strings.TrimSpace(frame); frame != fmt.Sprint(i+1) {
			t.Fatalf("frame %d is %s", i+1, frame)
		}
	}
	if err := <-st.results; err != ErrLagging {
		t.Errorf("Serve: %v, want %v", err, ErrLagging)
	}
	if got := h.Stats(); got.Lagging != 1 || got.Cut != 0 {
		t.Errorf("%d lagging, %d cut, want 1 and 0", got.Lagging, got.Cut)
	}

	back := st.dialUnread(t, fmt.Sprint("after=", len(got)-1))
	for want := len(got); want <= frames; want++ {
		if got := strings.TrimSpace(read(t, back)); got != fmt.Sprint(want) {
			t.Fatalf("come back, it got frame %s, want %d", got, want)
		}
	}
}

// Case 30, the worst of it: one that takes no bytes at all.
func TestADisplayThatNeverReadsIsCut(t *testing.T) {
	t.Parallel()
	h := open(t, Options{WriteTimeout: 50 * time.Millisecond, Encode: func(v any) []byte {
		return make([]byte, 1<<20)
	}})
	st := openSite(t, h)
	st.dialUnread(t, "")
	for sequence := uint64(1); sequence < 30; sequence++ {
		h.Append(hall, sequence, sequence)
	}
	if err := <-st.results; !isTimeout(err) {
		t.Errorf("Serve: %v, want a timeout", err)
	}
	if got := h.Stats().Cut; got != 1 {
		t.Errorf("Stats count %d as cut, want 1", got)
	}
}

func TestADisplayWhosePlugIsPulledIsGivenUp(t *testing.T) {
	t.Parallel()
	h := open(t, Options{HeartbeatEvery: 10 * time.Millisecond, Heartbeat: beats})
	st := openSite(t, h)
	st.dialUnread(t, "") // never answers a ping, for it never reads
	if err := <-st.results; !errors.Is(err, ErrLagging) {
		t.Errorf("Serve: %v, want %v", err, ErrLagging)
	}
}

func TestADisplayThatAnswersPingsStays(t *testing.T) {
	t.Parallel()
	h := open(t, Options{HeartbeatEvery: 50 * time.Millisecond, Heartbeat: func(string, uint64) any { return "beat" }})
	st := openSite(t, h)
	conn, _ := st.dial(t, "")
	var pings int
	answered := time.Now() // the server gives a display up three beats after what it read last
	answer := conn.PingHandler()
	conn.SetPingHandler(func(data string) error {
		pings++
		answered = time.Now()
		return answer(data)
	})
	for pings < 10*missedBeats {
		_, got, err := conn.ReadMessage()
		if websocket.IsCloseError(err, CloseLagging) && time.Since(answered) >= missedBeats*h.options.HeartbeatEvery {
			// On a machine that stands still for three beats it may be given up, rightly.
			t.Skipf("the machine was too slow for beats of 50 ms: %v", err)
		}
		if err != nil || string(got) != "beat" {
			t.Fatalf("got %q, %v, want a heartbeat", got, err)
		}
	}
}

func TestADisplayMustNotTalk(t *testing.T) {
	t.Parallel()
	h := open(t, Options{})
	st := openSite(t, h)
	for name, size := range map[string]int{"a little more than forgiven": readLimit + 1, "very much": 3 << 20} {
		conn, _ := st.dial(t, "")
		for range 3 {
			if err := conn.WriteMessage(websocket.TextMessage, make([]byte, readLimit)); err != nil {
				t.Fatal(err)
			}
		}
		go func() { _ = conn.WriteMessage(websocket.BinaryMessage, make([]byte, size)) }() // may fail half-way
		wantClose(t, conn, CloseNotAllowed)
		conn.Close()
		if err := <-st.results; err != ErrNotAllowed {
			t.Errorf("%s: Serve: %v, want %v", name, err, ErrNotAllowed)
		}
	}
	if got := h.Stats().NotAllowed; got != 2 {
		t.Errorf("Stats count %d, want 2", got)
	}
}

func TestCloseSaysGoodbyeAfterTheLastFrame(t *testing.T) {
	t.Parallel()
	h := open(t, Options{})
	st := openSite(t, h)
	conn, _ := st.dial(t, "")
	h.Append(hall, 1, "the last call")
	var all sync.WaitGroup
	all.Go(h.Close)
	if got := wantClose(t, conn, websocket.CloseGoingAway); len(got) != 1 || got[0] != "the last call" {
		t.Errorf("before the close came %q, want the last call", got)
	}
	all.Wait()
	if err := <-st.results; err != ErrClosed {
		t.Errorf("Serve: %v, want %v", err, ErrClosed)
	}
	if got := h.Stats(); got.Connections != 0 || got.Subscriptions != 0 {
		t.Errorf("%d connections, %d subscriptions are left", got.Connections, got.Subscriptions)
	}
}

func TestCloseCutsOneThatDoesNotRead(t *testing.T) {
	t.Parallel()
	h := open(t, Options{WriteTimeout: time.Hour, Encode: func(any) []byte { return make([]byte, 1<<20) }})
	st := openSite(t, h)
	st.dialUnread(t, "")
	for sequence := uint64(1); sequence < 30; sequence++ {
		h.Append(hall, sequence, sequence)
	}
	h.Close() // hangs for an hour, were it not to cut
	if err := <-st.results; err == nil || errors.Is(err, io.EOF) {
		t.Errorf("Serve: %v, want a failed write", err)
	}
}

func TestServeAfterCloseSaysGoodbye(t *testing.T) {
	t.Parallel()
	h := open(t, Options{})
	st := openSite(t, h)
	joined := make(chan struct{})
	results := make(chan error)
	upgrader := websocket.Upgrader{}
	st.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, err := upgrader.Upgrade(w, r, nil)
		if err != nil {
			return
		}
		s, err := h.Join(hall, false, 0, func() any { return nil })
		if err != nil {
			t.Error(err)
		}
		joined <- struct{}{}
		<-joined
		results <- h.Serve(conn, s)
	})
	conn := st.dialUnread(t, "")
	<-joined
	h.Close()
	joined <- struct{}{}
	if err := <-results; err != ErrClosed {
		t.Errorf("Serve: %v, want %v", err, ErrClosed)
	}
	wantClose(t, conn, websocket.CloseGoingAway)
}
