package server

import (
	"encoding/json"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"callerd/internal/queue"
)

// display is a hall's screen as far as the server can tell.
type display struct {
	*websocket.Conn
	epoch string
	last  uint64
}

type displayFrame struct {
	Epoch              string
	Sequence, Previous uint64
	Events             []json.RawMessage
	raw                string
}

func (f displayFrame) is(kind string) bool {
	return strings.HasPrefix(string(f.Events[0]), `{"type":"`+kind+`"`)
}

func (r *rig) display(t *testing.T, query string) *display {
	t.Helper()
	conn, resp, err := websocket.DefaultDialer.Dial("ws://"+r.web+"/ws/display?"+query, nil)
	if err != nil {
		t.Fatalf("%v %v", resp, err)
	}
	t.Cleanup(func() { conn.Close() })
	return &display{Conn: conn}
}

// read is the next frame that is no heartbeat; those that do not follow one another fail the test.
func (d *display) read(t *testing.T) (f displayFrame, err error) {
	t.Helper()
	for {
		_, raw, err := d.ReadMessage()
		if err != nil {
			return f, err
		}
		f = displayFrame{raw: string(raw)}
		if err := json.Unmarshal(raw, &f); err != nil || len(f.Events) == 0 {
			t.Fatalf("%s: %v", raw, err)
		}
		if f.is("heartbeat") {
			if f.Sequence != d.last || f.Previous != d.last {
				t.Errorf("got heartbeat %s behind %d", raw, d.last)
			}
			continue
		}
		if f.is("snapshot") != (f.Previous == 0) || !f.is("snapshot") && d.last != 0 && f.Previous != d.last {
			t.Fatalf("got %.200s, want a frame behind %d", raw, d.last)
		}
		d.epoch, d.last = f.Epoch, f.Sequence
		return f, nil
	}
}

func (d *display) next(t *testing.T) displayFrame {
	t.Helper()
	f, err := d.read(t)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// Case 28: cut, three calls, back with the last sequence: the three events in order, once.
func TestADisplayThatWasCutGetsWhatItMissed(t *testing.T) {
	t.Parallel()
	r := start(t, Options{})
	d := r.display(t, "view=hall")
	if !d.next(t).is("snapshot") {
		t.Fatal("want a snapshot first")
	}
	tokens := []string{r.open(t, 1, 1), r.open(t, 2, 2), r.open(t, 3, 3)}
	for i := range tokens {
		r.issue(t, 10+i, "personal")
	}
	for range 6 {
		d.next(t)
	}
	d.Close()
	for i, token := range tokens {
		r.call(t, 20+i, token)
	}
	again := r.display(t, fmt.Sprintf("view=hall&epoch=%s&after=%d", d.epoch, d.last))
	again.last = d.last
	for n := 1; n <= 3; n++ {
		if f := again.next(t); !f.is("called") || !strings.Contains(f.raw, fmt.Sprintf(`"number":"A00%d"`, n)) {
			t.Errorf("got %s, want the call of A00%d", f.raw, n)
		}
	}
	for what, query := range map[string]string{
		"another epoch":  fmt.Sprintf("epoch=00&after=%d", again.last),
		"above the head": fmt.Sprintf("epoch=%s&after=%d", again.epoch, again.last+1),
		"no epoch":       fmt.Sprintf("after=%d", again.last),
	} {
		if f := r.display(t, query).next(t); !f.is("snapshot") || f.Sequence != again.last {
			t.Errorf("%s: got %.100s, want a snapshot at %d", what, f.raw, again.last)
		}
	}
}

// Case 29: the server stops: every display is told.
func TestAStoppingServerSaysSoToItsDisplays(t *testing.T) {
	t.Parallel()
	r := start(t, Options{})
	displays := []*display{r.display(t, "view=hall"), r.display(t, "view=counter&counter=2")}
	for _, d := range displays {
		d.next(t)
	}
	told := make(chan error)
	for _, d := range displays {
		go func() { // a display is read all the time
			_, err := d.read(t)
			told <- err
		}()
	}
	go r.stop()
	for range displays {
		if err := <-told; !websocket.IsCloseError(err, websocket.CloseGoingAway) {
			t.Errorf("got %v, want 1001", err)
		}
	}
	r.stop()
}

// Case 30: a display that never reads is sent away with "come back"; others notice nothing.
func TestADisplayThatDoesNotReadIsSentAwayAlone(t *testing.T) {
	t.Parallel()
	r := start(t, Options{WriteTimeout: time.Hour}) // it is to lag, not to be cut
	dialer := websocket.Dialer{ReadBufferSize: 1024, NetDial: func(network, addr string) (net.Conn, error) {
		c, err := net.Dial(network, addr)
		if err == nil {
			err = c.(*net.TCPConn).SetReadBuffer(64 << 10)
		}
		return c, err
	}}
	deaf, _, err := dialer.Dial("ws://"+r.web+"/ws/display", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer deaf.Close()
	other := r.display(t, "view=hall")
	other.next(t)
	head := r.b.Sequence()
	const frames = 6000
	for i := range uint64(frames) {
		text := queue.Names{En: strings.Repeat("x", 400)}
		r.Publish([]*queue.Record{{Sequence: head + 1 + i, Outcomes: []queue.Outcome{&queue.NoticePublished{Text: text}}}})
		if i%500 == 499 { // the other one is not far behind
			for other.last < head+1+i {
				other.next(t)
			}
		}
	}
	d, seen := &display{Conn: deaf}, 0
	for ; err == nil; seen++ {
		_, err = d.read(t)
	}
	if !websocket.IsCloseError(err, 4001) || seen > frames {
		t.Errorf("got %v after %d frames, want 4001", err, seen)
	}
}

func TestADisplayThatSpeaksIsSentAway(t *testing.T) {
	t.Parallel()
	r := start(t, Options{})
	d := r.display(t, "view=hall")
	d.next(t)
	if err := d.WriteMessage(websocket.TextMessage, []byte("hello")); err != nil {
		t.Fatal(err)
	}
	r.issue(t, 1, "personal")
	if f := d.next(t); !f.is("waiting") {
		t.Errorf("got %s, want a word to be forgiven", f.raw)
	}
	if err := d.WriteMessage(websocket.TextMessage, make([]byte, 4096)); err != nil {
		t.Fatal(err)
	}
	if _, err := d.read(t); !websocket.IsCloseError(err, 4002) {
		t.Errorf("got %v, want 4002", err)
	}
	if v := r.issue(t, 2, "personal"); v.Ticket.Number != "A002" {
		t.Errorf("got %v, want A002", v)
	}
}

func TestAnIdleDisplayHearsOfTheServer(t *testing.T) {
	t.Parallel()
	r := start(t, Options{Heartbeat: time.Millisecond})
	d := r.display(t, "view=hall")
	first := d.next(t)
	_, raw, err := d.ReadMessage()
	var f displayFrame
	if err != nil || json.Unmarshal(raw, &f) != nil || !f.is("heartbeat") || f.Sequence != first.Sequence || f.Previous != first.Sequence || f.Epoch != first.Epoch {
		t.Errorf("got %s, %v, want a heartbeat of %d", raw, err, first.Sequence)
	}
}
