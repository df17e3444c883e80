package hub

import (
	"errors"
	"fmt"
	"io"
	"net"
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

// connection is one socket being served.
type connection struct {
	hub  *Hub
	conn *websocket.Conn
	gone chan struct{} // closed by the reader at the first reason to stop, which is then in why
	done chan struct{} // closed when the reader has ended
	why  error

	mu      sync.Mutex // orders the deadlines of reading
	waiting bool       // for a pong
	ending  bool
}

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
	c := &connection{hub: h, conn: conn, gone: make(chan struct{}), done: make(chan struct{})}
	if !h.enter(c) {
		c.say(websocket.CloseGoingAway, "stopping")
		return ErrClosed
	}
	defer h.leave(c)
	if tcp, ok := conn.NetConn().(interface{ SetWriteBuffer(int) error }); ok {
		_ = tcp.SetWriteBuffer(sendBuffer) // without it the kernel grows the buffer to megabytes
	}
	conn.SetPongHandler(func(string) error { c.pong(); return nil })
	go c.read()
	err := c.write(s)
	c.end(err)
	conn.Close()
	<-c.done
	if err == errDone {
		err = c.why
	}
	return err
}

// write sends messages until there is a reason to stop.
func (c *connection) write(s *Subscription) error {
	o := &c.hub.options
	for {
		m, err := s.next(c.gone)
		if err != nil {
			return err
		}
		frame, err := m.prepare(o.Encode)
		if err != nil {
			return fmt.Errorf("hub: preparing frame %d: %w", m.Sequence, err)
		}
		_ = c.conn.SetWriteDeadline(o.Now().Add(o.WriteTimeout)) // never fails
		if err := c.conn.WritePreparedMessage(frame); err != nil {
			if isTimeout(err) {
				c.hub.count.cut.Add(1)
			}
			return fmt.Errorf("hub: writing frame %d: %w", m.Sequence, err)
		}
		c.hub.delivered(m)
		if m.heartbeat {
			c.ping()
		}
	}
}

// read discards what comes until the connection ends or more than a few bytes come.
func (c *connection) read() {
	defer close(c.done)
	c.why = c.discard()
	close(c.gone)
	if c.why == ErrNotAllowed {
		// Closing a socket with unread bytes resets it, and the close code is lost.
		_, _ = io.Copy(io.Discard, c.conn.NetConn())
	}
}

func (c *connection) discard() error {
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
			return fmt.Errorf("hub: reading: %w", err)
		}
	}
}

// ping asks whether a display to which nothing is to be said is still there. Without it a display
// whose plug was pulled would stay for as long as TCP retries. Failing is the reader's to notice.
func (c *connection) ping() {
	o := &c.hub.options
	now := o.Now()
	c.mu.Lock()
	if !c.waiting {
		c.waiting = true
		_ = c.conn.SetReadDeadline(now.Add(missedBeats * o.HeartbeatEvery))
	}
	c.mu.Unlock()
	_ = c.conn.WriteControl(websocket.PingMessage, nil, now.Add(o.WriteTimeout))
}

func (c *connection) pong() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waiting = false
	if !c.ending {
		_ = c.conn.SetReadDeadline(time.Time{})
	}
}

// end says why, if the other side can still hear it, and gives it a moment to answer.
func (c *connection) end(err error) {
	why := err
	if err == errDone {
		<-c.gone
		why = c.why
	}
	switch {
	case errors.Is(why, ErrClosed):
		c.say(websocket.CloseGoingAway, "stopping")
	case errors.Is(why, ErrLagging):
		c.say(CloseLagging, "too far behind, come back")
	case errors.Is(why, ErrNotAllowed):
		c.hub.count.notAllowed.Add(1)
		c.say(CloseNotAllowed, "a display sends nothing")
	default:
		return
	}
	c.mu.Lock()
	c.ending = true
	_ = c.conn.SetReadDeadline(c.hub.options.Now().Add(closeTimeout))
	c.mu.Unlock()
	<-c.done
}

// say sends a close frame; a connection that does not take it is closed all the same.
func (c *connection) say(code int, text string) {
	_ = c.conn.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(code, text),
		c.hub.options.Now().Add(closeTimeout))
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
