package hub

import (
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/gorilla/websocket"
)

// connection is one socket being served.
//
// Whoever has taken its subscription out of the stream's line owns the socket's writing side, alone,
// until the subscription is back in the line or the connection has ended. Everything is written by
// the owner: frames, pings, pongs and the goodbye. Others leave a note, and become the owner if
// there is none.
type connection struct {
	hub  *Hub
	sub  *Subscription
	conn *websocket.Conn // only reads
	raw  syscall.RawConn // for writing without waiting; nil where that is not possible

	attempt func(fd uintptr) bool // c.once, made once
	bytes   []byte                // what it is to write
	wrote   int                   // how much of it the kernel took
	failure error

	told  bool          // a message has gone out since the last look into the stream
	turn  bool          // the last parcel was a pong: now it is the stream's turn
	err   error         // why it ended; set before ended is closed
	ended chan struct{} // closed by the last owner: nothing is written any more

	// Notes for the owner, guarded by the stream's lock.
	pong []byte // to be sent
	why  error  // the reader has ended, because of this

	deadlines // of reading
}

// parcel is something to write.
type parcel struct {
	bytes   []byte   // what is left of it
	message *Message // whose frame it is; nil for a control frame
	last    bool     // a goodbye
}

var past = time.Unix(1, 0)

const mostText = 123 // bytes that fit into a close frame beside the code

var pingFrame = frame(websocket.PingMessage, nil)

// advance writes what there is, as far as the kernel takes it without waiting. The caller owns the
// connection, and does not any more when it returns: it rests, has ended, or is behind, and then a
// goroutine owns it until it has caught up.
func (c *connection) advance() {
	for {
		p, ok := c.next()
		if !ok {
			return
		}
		if err := c.try(&p); err != nil {
			c.broken(p, err)
			return
		}
		if len(p.bytes) > 0 {
			go c.catchUp(p)
			return
		}
		if !c.sent(p) {
			return
		}
	}
}

// catchUp writes what is left of p and all that follows, waiting where it must.
func (c *connection) catchUp(p parcel) {
	for ok := true; ok; p, ok = c.next() {
		if err := c.write(p); err != nil {
			c.broken(p, err)
			return
		}
		if !c.sent(p) {
			return
		}
	}
}

// next is what the owner is to write. If it is nothing, the caller owns the connection no longer.
func (c *connection) next() (p parcel, ok bool) {
	s, st := c.sub, c.sub.stream
	var m *Message
	var err error
	st.mu.Lock()
	told := c.told
	if told {
		s.since, c.told = c.hub.options.Now(), false
	}
	pong := c.pong
	if err = c.why; err == nil && (pong == nil || c.turn) { // pings without end put off nothing but themselves
		m, err = s.take()
		if m == nil && err == nil {
			m = s.beat(!told && st.silent(s) <= 0)
		}
	}
	if c.turn = m == nil && err == nil && pong != nil; c.turn {
		c.pong = nil
	}
	if m == nil && err == nil && pong == nil {
		st.rest(s)
		if !told {
			c.beatAlone()
		} else if s.own != nil {
			s.own.Stop() // the stream's timer is for it again
		}
		st.mu.Unlock()
		return p, false
	}
	st.mu.Unlock()
	switch {
	case err != nil:
		return c.goodbye(err)
	case m == nil:
		return parcel{bytes: pong}, true
	}
	s.fill(m)
	p = parcel{bytes: m.prepare(c.hub.options.Encode), message: m}
	if m.heartbeat {
		o := &c.hub.options
		c.await(o.Now().Add(missedBeats * o.HeartbeatEvery))
		// The message is nobody else's, and so are its bytes.
		p.bytes = append(p.bytes, pingFrame...)
	}
	return p, true
}

// beatAlone sets a timer of its own for a connection that rests without having been told anything, after a pong: it stands
// behind others who have been silent for less long, and the stream's timer looks at the first only. The stream's lock must be held.
func (c *connection) beatAlone() {
	s, st := c.sub, c.sub.stream
	switch {
	case c.hub.options.Heartbeat == nil:
	case s.own == nil:
		s.own = time.AfterFunc(st.silent(s), func() { c.note(func() {}) })
	default:
		s.own.Reset(st.silent(s))
	}
}

// try writes p as far as the kernel takes it without waiting.
func (c *connection) try(p *parcel) error {
	if c.raw == nil {
		return nil
	}
	c.bytes, c.wrote, c.failure = p.bytes, 0, nil
	err := c.raw.Write(c.attempt)
	c.bytes = nil
	if err == nil {
		err = c.failure
	}
	p.bytes = p.bytes[c.wrote:]
	return err
}

// once always says that it is done, whatever the kernel took: so its caller does not wait.
func (c *connection) once(fd uintptr) bool {
	c.wrote, c.failure = c.hub.write(fd, c.bytes)
	return true
}

// write writes all of p, waiting until the deadline.
func (c *connection) write(p parcel) error {
	o, conn := &c.hub.options, c.conn.NetConn()
	within := o.WriteTimeout
	if p.last {
		within = closeTimeout
	}
	_ = conn.SetWriteDeadline(o.Now().Add(within)) // a failure shows in the next line
	if _, err := conn.Write(p.bytes); err != nil {
		return err
	}
	return conn.SetWriteDeadline(time.Time{}) // one that has passed would fail the next try
}

// sent notes that all of p is out, and reports whether more may follow.
func (c *connection) sent(p parcel) bool {
	switch {
	case p.last:
		c.linger(c.hub.options.Now().Add(closeTimeout))
		close(c.ended)
		return false
	case p.message != nil:
		c.told = true
		c.hub.delivered(p.message)
	}
	return true
}

// broken ends a connection of which nobody knows how much of p has arrived: nothing can be said.
func (c *connection) broken(p parcel, err error) {
	switch {
	case p.last: // it has ended for another reason
	case p.message == nil:
		c.err = fmt.Errorf("hub: writing: %w", err)
	default:
		c.err = fmt.Errorf("hub: writing frame %d: %w", p.message.Sequence, err)
	}
	if !p.last && isTimeout(err) {
		c.hub.count.cut.Add(1)
	}
	c.linger(past) // Closing would wait for the reader, who closes by himself now.
	close(c.ended)
}

// goodbye ends a connection for a reason, saying it if the other side can still hear it.
func (c *connection) goodbye(why error) (p parcel, ok bool) {
	c.err = why
	code, text := 0, ""
	var (
		closed *websocket.CloseError
		wrong  violation
	)
	switch {
	case errors.Is(why, ErrClosed):
		code, text = websocket.CloseGoingAway, "stopping"
	case errors.Is(why, ErrLagging):
		code, text = CloseLagging, "too far behind, come back"
	case errors.Is(why, ErrNotAllowed):
		c.hub.count.notAllowed.Add(1)
		code, text = CloseNotAllowed, "a display sends nothing"
	case errors.As(why, &closed) && closed.Code != websocket.CloseAbnormalClosure:
		code = closed.Code // the answer to its goodbye
	case errors.As(why, &wrong):
		code, text = websocket.CloseProtocolError, string(wrong[:min(len(wrong), mostText)])
	default:
		close(c.ended)
		return p, false
	}
	return parcel{bytes: frame(websocket.CloseMessage, websocket.FormatCloseMessage(code, text)), last: true}, true
}

// note leaves a note for the owner; without an owner it is the caller who does what it says.
func (c *connection) note(write func()) {
	st := c.sub.stream
	st.mu.Lock()
	write()
	mine := c.sub.leave()
	st.mu.Unlock()
	if mine {
		c.advance()
	}
}
