package hub

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"runtime"
	"strings"
	"testing"

	"github.com/gorilla/websocket"
)

// wire is a display that looks at every byte it gets, so that a frame inside a frame is noticed.
type wire struct {
	net.Conn
	r *bufio.Reader
}

// wire connects one.
func (st *site) wire(tb testing.TB, query string) *wire {
	tb.Helper()
	address := strings.TrimPrefix(st.URL, "http://")
	conn, err := net.Dial("tcp", address)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { conn.Close() })
	fmt.Fprintf(conn, "GET /?%s HTTP/1.1\r\nHost: %s\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"+
		"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n", query, address)
	w := &wire{conn, bufio.NewReaderSize(conn, 1000)}
	for line := ""; line != "\r\n"; {
		if line, err = w.r.ReadString('\n'); err != nil {
			tb.Fatal(err)
		}
	}
	return w
}

// frame reads one frame, whole and as a server may send it.
func (w *wire) frame() (kind byte, payload []byte, err error) {
	var head [10]byte
	if _, err := io.ReadFull(w.r, head[:2]); err != nil {
		return 0, nil, err
	}
	kind = head[0] & 0x0f
	n := uint64(head[1])
	switch n {
	case 126:
		_, err = io.ReadFull(w.r, head[2:4])
		n = uint64(binary.BigEndian.Uint16(head[2:]))
	case 127:
		_, err = io.ReadFull(w.r, head[2:])
		n = binary.BigEndian.Uint64(head[2:])
	}
	if err != nil {
		return 0, nil, io.ErrUnexpectedEOF
	}
	switch control := kind == websocket.CloseMessage || kind == websocket.PingMessage || kind == websocket.PongMessage; {
	case head[0] != 0x80|kind, !control && kind != websocket.TextMessage, control && n > 125, n > 64<<20:
		return 0, nil, fmt.Errorf("got % x, which begins no frame", head[:2])
	}
	payload = make([]byte, n)
	if got, err := io.ReadFull(w.r, payload); err != nil {
		return kind, payload[:got], io.ErrUnexpectedEOF
	}
	return kind, payload, nil
}

// send sends a frame as a display does: masked, here with zeros.
func (w *wire) send(kind byte, payload string) error {
	b := frame(kind, []byte(payload))
	b[1] |= 0x80
	_, err := w.Write(append(append(b[:2:2], 0, 0, 0, 0), payload...))
	return err
}

// text is the next text frame; pings and pongs before it are passed to control, which may be nil.
func (w *wire) text(control func(kind byte, payload string)) (string, error) {
	for {
		kind, payload, err := w.frame()
		switch {
		case err != nil:
			return "", err
		case kind == websocket.CloseMessage:
			code := 0
			if len(payload) >= 2 {
				code = int(binary.BigEndian.Uint16(payload))
			}
			return "", &websocket.CloseError{Code: code}
		case kind == websocket.TextMessage:
			return string(payload), nil
		case control != nil:
			control(kind, string(payload))
		}
	}
}

// body is the text of a frame, as long as asked and such that a byte too many or too few shows.
func body(sequence uint64, size int) []byte {
	b := fmt.Appendf(make([]byte, 0, size+32), "%d %d ", sequence, size)
	for n := sequence; len(b) < size; n = n*6364136223846793005 + 1442695040888963407 {
		b = binary.BigEndian.AppendUint64(b, n)
	}
	return b
}

// wantBody checks a text made by body and returns its sequence.
func wantBody(text string) (sequence uint64, err error) {
	var size int
	if _, err := fmt.Sscanf(text[:min(len(text), 40)], "%d %d ", &sequence, &size); err != nil {
		return 0, fmt.Errorf("got %.40q, want a sequence and a size", text)
	}
	if want := body(sequence, size); !bytes.Equal(want, []byte(text)) {
		return sequence, fmt.Errorf("frame %d of %d bytes came as %d others", sequence, len(want), len(text))
	}
	return sequence, nil
}

// sized is the value of a frame made by body.
type sized struct {
	sequence uint64
	size     int
}

func bodies(v any) []byte {
	if v, ok := v.(sized); ok {
		return body(v.sequence, v.size)
	}
	return body(0, 0)
}

// rests reports whether a subscription's connection has all it should have, and nobody writes to it.
func rests(s *Subscription) bool {
	s.stream.mu.Lock()
	defer s.stream.mu.Unlock()
	return s.line == &s.stream.resting
}

// resting connects a display and returns when it has its first frame and nobody writes to it any more.
func (st *site) resting(tb testing.TB) (*wire, *Subscription) {
	tb.Helper()
	w := st.wire(tb, "")
	if _, err := w.text(nil); err != nil {
		tb.Fatal(err)
	}
	s := <-st.joined
	for !rests(s) {
		runtime.Gosched()
	}
	return w, s
}

func TestFrame(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{
		0: "\x81\x00", 125: "\x81\x7d", 126: "\x81\x7e\x00\x7e", 1<<16 - 1: "\x81\x7e\xff\xff",
		1 << 16: "\x81\x7f\x00\x00\x00\x00\x00\x01\x00\x00", 1 << 17: "\x81\x7f\x00\x00\x00\x00\x00\x02\x00\x00",
	} {
		payload := strings.Repeat("x", n)
		if got := frame(websocket.TextMessage, []byte(payload)); string(got) != want+payload {
			t.Errorf("%d bytes: the frame begins % x, want % x", n, got[:min(len(got), 10)], want)
		}
	}
}
