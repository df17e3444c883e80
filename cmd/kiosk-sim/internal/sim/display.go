package sim

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"

	"callerd/cmd/kiosk-sim/internal/history"
)

// ErrDisplay is returned when the server refuses a display.
var ErrDisplay = errors.New("display refused")

// display is a lobby display: it connects, keeps its place by epoch and sequence, and comes back.
type display struct {
	name    string
	counter uint32 // 0: the whole hall
	addr    string
	rec     *history.Recorder

	epoch      string
	last       atomic.Uint64
	moved      chan struct{} // has room for one: "last has grown"
	reconnects atomic.Uint64
	ready      chan struct{} // closed with the first frame
}

func newDisplay(name string, counter uint32, addr string, rec *history.Recorder) *display {
	// moved holds one wake-up: who wakes looks at last.
	return &display{name: name, counter: counter, addr: addr, rec: rec, moved: make(chan struct{}, 1), ready: make(chan struct{})}
}

func (d *display) stream() string {
	if d.counter == 0 {
		return "hall"
	}
	return "counter/" + strconv.Itoa(int(d.counter))
}

// run shows until ctx ends. Every end of a connection is followed by another connection, as the
// protocol says of all ends but 4002, which a display that sends nothing does not get.
func (d *display) run(ctx context.Context) error {
	for first := true; ctx.Err() == nil; first = false {
		if !first {
			d.reconnects.Add(1)
		}
		code, err := d.show(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if errors.Is(err, ErrDisplay) || (err != nil && first) {
			return err
		}
		if code == 4001 {
			continue
		}
		// The jitter of a few clocks in one lobby needs no seed.
		t := time.NewTimer(500*time.Millisecond + rand.N(500*time.Millisecond))
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
		}
	}
	return nil
}

// show is one connection, from the handshake to its end.
func (d *display) show(ctx context.Context) (code int, err error) {
	q := url.Values{"view": {"hall"}}
	if d.counter != 0 {
		q = url.Values{"view": {"counter"}, "counter": {strconv.Itoa(int(d.counter))}}
	}
	after := d.last.Load()
	if d.epoch != "" {
		q.Set("epoch", d.epoch)
		q.Set("after", strconv.FormatUint(after, 10))
	}
	dialer := websocket.Dialer{HandshakeTimeout: 5 * time.Second}
	conn, resp, err := dialer.DialContext(ctx, "ws://"+d.addr+"/ws/display?"+q.Encode(), http.Header{})
	if err != nil {
		return 0, d.refused(resp, err)
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() {
		// A courtesy: a server that is gone needs no farewell.
		_ = conn.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(websocket.CloseGoingAway, "the run is over"), time.Now().Add(time.Second))
		conn.Close()
	})
	defer stop()
	d.rec.Link(&history.Link{Display: d.name, Stream: d.stream(), State: history.Up, After: after, At: d.rec.Now()})
	defer func() {
		d.rec.Link(&history.Link{Display: d.name, Stream: d.stream(), State: history.Down, Last: d.last.Load(), Code: code, At: d.rec.Now()})
	}()
	for {
		conn.SetReadDeadline(time.Now().Add(15 * time.Second)) // three heartbeats
		_, raw, err := conn.ReadMessage()
		if err != nil {
			var ce *websocket.CloseError
			if errors.As(err, &ce) {
				return ce.Code, nil
			}
			return 0, nil
		}
		ok, err := d.take(raw)
		if err != nil {
			return 0, err
		}
		if !ok {
			d.epoch = "" // a frame is missing: the snapshot, please
			return 4001, nil
		}
	}
}

// refused tells a refusal (no use in trying again) from a server that is not there.
func (d *display) refused(resp *http.Response, err error) error {
	if resp == nil || resp.StatusCode == http.StatusServiceUnavailable {
		return fmt.Errorf("connect display to ws://%s: %w", d.addr, err)
	}
	body, _ := io.ReadAll(io.LimitReader(resp.Body, 300))
	return fmt.Errorf("%w: http %d from %s: %s", ErrDisplay, resp.StatusCode, d.addr, strings.TrimSpace(string(body)))
}

// take records one frame and says whether it follows the last one.
func (d *display) take(raw []byte) (ok bool, err error) {
	at := d.rec.Now()
	var w wireFrame
	if err := json.Unmarshal(raw, &w); err != nil {
		return false, fmt.Errorf("%w: a frame that is no JSON: %w", ErrDisplay, err)
	}
	f := w.frame()
	f.Display, f.Stream, f.At = d.name, d.stream(), at
	h := fnv.New64a()
	h.Write(raw)
	f.Hash = h.Sum64()
	d.rec.Frame(f)
	last := d.last.Load()
	ok = f.Snapshot || (f.Epoch == d.epoch && (f.Heartbeat && f.Sequence == last || f.Previous == last && f.Sequence > last))
	d.epoch = f.Epoch
	d.last.Store(f.Sequence)
	select {
	case d.moved <- struct{}{}:
	default:
	}
	select {
	case <-d.ready:
	default:
		close(d.ready)
	}
	return ok, nil
}

// reach waits until the display has seen sequence want, or ctx ends.
func (d *display) reach(ctx context.Context, want uint64) {
	for d.last.Load() < want && ctx.Err() == nil {
		select {
		case <-d.moved:
		case <-ctx.Done():
		}
	}
	d.rec.Link(&history.Link{Display: d.name, Stream: d.stream(), State: history.Drained, Last: want, At: d.rec.Now()})
}
