package hub

import (
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/gorilla/websocket"
)

// Close codes of our own; the protocol's text says what a display does about each.
const (
	CloseLagging    = 4001 // fell too far behind: come back at once, resuming
	CloseNotAllowed = 4002 // sent what a display does not send: do not come back
)

const (
	closeTimeout = time.Second // for saying goodbye, and for Close to let frames out
	readLimit    = 128         // bytes of a message that are forgiven
	sendBuffer   = 64 << 10    // bytes the kernel may hold for a display that does not read
	missedBeats  = 3           // pings, one a heartbeat, after which a silent display is given up
)

// ErrNotAllowed is returned when a display has sent more than a few bytes.
var ErrNotAllowed = errors.New("hub: the display sent something")

var errSilent = fmt.Errorf("%w: pings stay unanswered", ErrLagging)

// Serve sends the subscription's messages to a WebSocket until either side has had enough. It owns
// the connection and the subscription from here on and closes both. It returns why it ended:
// ErrLagging, ErrClosed, ErrNotAllowed, or what the connection said, usually a
// *websocket.CloseError.
//
// The Upgrader that made the connection should have EnableCompression false (a compressed message
// is larger than it looks, and each connection would compress for itself), a ReadBufferSize of 128
// (a display sends nothing), a WriteBufferPool (frames do not pass the write buffer at all), and an
// exact CheckOrigin.
func (h *Hub) Serve(conn *websocket.Conn, s *Subscription) error {
	defer s.Close()
	defer conn.Close()
	c := &connection{hub: h, sub: s, conn: conn, ended: make(chan struct{})}
	if !h.enter(c) {
		_ = conn.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(websocket.CloseGoingAway, "stopping"),
			h.options.Now().Add(closeTimeout))
		return ErrClosed
	}
	defer h.leave(c)
	c.prepare()
	s.stream.mu.Lock()
	s.served = c
	s.stream.mu.Unlock()
	c.advance()
	why := c.read()
	c.note(func() { c.why = why })
	if why == ErrNotAllowed {
		// Closing a socket with unread bytes resets it, and the close code is lost.
		_, _ = io.Copy(io.Discard, conn.NetConn())
	}
	<-c.ended
	return c.err
}

// prepare sets the socket up.
func (c *connection) prepare() {
	conn := c.conn
	if tcp, ok := conn.NetConn().(*net.TCPConn); ok {
		_ = tcp.SetWriteBuffer(sendBuffer) // without it the kernel grows the buffer to megabytes
		if raw, err := tcp.SyscallConn(); err == nil {
			c.raw, c.attempt = raw, c.once
			// The library answers a protocol error by itself, and might do so in the middle of a frame. After a
			// write that failed it writes nothing any more, and this one fails before it has written anything.
			_ = conn.SetWriteDeadline(past)
			_ = conn.WriteMessage(websocket.BinaryMessage, nil)
			_ = tcp.SetWriteDeadline(time.Time{})
		}
	}
	conn.SetCloseHandler(func(int, string) error { return nil }) // read returns it
	conn.SetPongHandler(func(string) error { c.answered(); return nil })
	conn.SetPingHandler(func(data string) error {
		pong := frame(websocket.PongMessage, []byte(data))
		c.note(func() { c.pong = pong })
		return nil
	})
}

// read discards what comes until the connection ends or more than a few bytes come.
func (c *connection) read() error {
	var buffer [readLimit + 1]byte
	for {
		_, r, err := c.conn.NextReader()
		if err == nil {
			var n int
			n, err = io.ReadFull(r, buffer[:])
			if n > readLimit {
				return ErrNotAllowed
			}
			if err == io.EOF || err == io.ErrUnexpectedEOF {
				err = nil
			}
		}
		if isTimeout(err) {
			return errSilent
		}
		if err != nil {
			return fmt.Errorf("hub: reading: %w", c.judge(err))
		}
	}
}

// violation is what the other side did against the protocol.
type violation string

func (v violation) Error() string { return library + string(v) }

const library = "websocket: " // begins what the library says by itself

// judge finds out whether an error of reading is a violation that the library has not answered.
func (c *connection) judge(err error) error {
	var closed *websocket.CloseError
	if text, ok := strings.CutPrefix(err.Error(), library); ok && c.raw != nil && !errors.As(err, &closed) {
		return violation(text)
	}
	return err
}

// deadlines are those of reading: for a pong, and for the other side's goodbye.
type deadlines struct {
	mu      sync.Mutex // a leaf
	waiting bool       // for a pong
	ending  bool
}

// await gives the other side until then to answer a ping. Without pings a display whose plug was
// pulled would stay for as long as TCP retries.
func (c *connection) await(until time.Time) {
	c.deadlines.mu.Lock()
	defer c.deadlines.mu.Unlock()
	if !c.waiting {
		c.waiting = true
		_ = c.conn.SetReadDeadline(until)
	}
}

// answered takes the deadline away.
func (c *connection) answered() {
	c.deadlines.mu.Lock()
	defer c.deadlines.mu.Unlock()
	c.waiting = false
	if !c.ending {
		_ = c.conn.SetReadDeadline(time.Time{})
	}
}

// linger gives the other side until then to answer a goodbye.
func (c *connection) linger(until time.Time) {
	c.deadlines.mu.Lock()
	defer c.deadlines.mu.Unlock()
	c.ending = true
	_ = c.conn.SetReadDeadline(until)
}

// enter notes a connection for Close; false when it came too late.
func (h *Hub) enter(c *connection) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return false
	}
	h.serving[c] = struct{}{}
	h.done.Add(1)
	h.count.connections.Add(1)
	return true
}

func (h *Hub) leave(c *connection) {
	h.mu.Lock()
	delete(h.serving, c)
	h.mu.Unlock()
	h.count.connections.Add(-1)
	h.done.Done()
}

func isTimeout(err error) bool {
	var e net.Error
	return errors.As(err, &e) && e.Timeout()
}
