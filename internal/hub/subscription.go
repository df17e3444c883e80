package hub

import (
	"context"
	"errors"
	"time"
)

var (
	// ErrLagging is returned when a subscription has fallen too far behind: join again, resuming.
	ErrLagging = errors.New("hub: fell too far behind")

	// ErrClosed is returned when the hub, or the subscription, has been closed.
	ErrClosed = errors.New("hub: closed")

	errDone = errors.New("hub: told to stop waiting")
)

// Subscription is a place in one stream. Next and Serve are for one goroutine at a time, Close is
// for any.
type Subscription struct {
	hub    *Hub
	stream *stream
	served *connection   // that Serve sends to; nil for a watcher; guarded by stream.mu
	name   string        // of the stream
	wake   chan struct{} // one slot: somebody has something to say
	timer  *time.Timer   // of the next heartbeat; touched by the receiving goroutine alone

	// Guarded by stream.mu.
	snapshot *Message // to be delivered before all others
	cursor   uint64   // position of the next frame
	joined   uint64   // the head at Join: what was there before does not count as lagging
	closed   bool
	lagging  bool
	greet    bool        // has resumed, and owes its receiver a sign of life when it has caught up
	since    time.Time   // when the connection got its last message
	own      *time.Timer // for its heartbeat, when it rests behind others who have been silent for less long
	line     *line       // that it stands in, between before and behind
	before   *Subscription
	behind   *Subscription
}

// Next waits for the next message: a frame, or a heartbeat after a silence. It returns ErrLagging,
// ErrClosed or the context's error.
func (s *Subscription) Next(ctx context.Context) (*Message, error) {
	m, err := s.next(ctx.Done())
	if err == errDone {
		return nil, context.Cause(ctx)
	}
	if err == nil {
		s.hub.delivered(m)
	}
	return m, err
}

// Close ends the subscription; a Next that waits returns ErrClosed.
func (s *Subscription) Close() {
	st := s.stream
	st.mu.Lock()
	was := s.closed
	s.closed = true
	c := s.served
	rested := c != nil && s.leave()
	if s.own != nil {
		s.own.Stop()
	}
	st.mu.Unlock()
	if !was {
		s.hub.count.subscriptions.Add(-1)
	}
	s.rouse()
	if rested { // Serve is to end
		go c.advance()
	}
}

// next is Next for whoever has no context: it returns errDone when done is closed.
//
// A goroutine that waits here is woken by another that unparked it, and then owes the same to two
// more. So every way out of the wait goes through the locked part below, also when it was another
// reason that ended the wait.
func (s *Subscription) next(done <-chan struct{}) (*Message, error) {
	st := s.stream
	var (
		silence     <-chan time.Time
		beat, ended bool
	)
	defer s.stopTimer()
	for {
		st.mu.Lock()
		m, err := s.take()
		if m == nil && err == nil {
			if ended {
				err = errDone
			} else {
				m = s.beat(beat)
			}
		}
		ready := m != nil || err != nil
		if ready {
			s.leave()
		} else {
			st.waiting.push(s)
		}
		one, two := st.unpark(), st.unpark()
		st.mu.Unlock()
		one.rouse()
		two.rouse()

		if ready {
			s.fill(m)
			return m, err
		}
		if silence == nil {
			silence = s.startTimer()
		}
		select {
		case <-s.wake:
		case <-s.hub.closing:
		case <-done:
			ended = true
		case <-silence:
			beat = true
		}
	}
}

// take moves the cursor over the next message, if there is one. s.stream.mu must be held.
func (s *Subscription) take() (*Message, error) {
	st := s.stream
	switch {
	case s.closed:
		return nil, ErrClosed
	case s.lagging, s.cursor < st.tail, st.head-max(s.cursor, s.joined) > uint64(s.hub.options.Lag):
		if !s.lagging {
			s.lagging = true
			s.hub.count.lagging.Add(1)
		}
		return nil, ErrLagging
	case s.snapshot != nil:
		m := s.snapshot
		s.snapshot = nil
		return m, nil
	case s.cursor < st.head:
		m := st.ring[s.cursor%st.size]
		s.cursor++
		return m, nil
	}
	if s.hub.isClosing() { // only now: what was there before is still delivered
		return nil, ErrClosed
	}
	return nil, nil
}

// beat is a heartbeat, if one is due or owed; its Value is made by fill. s.stream.mu must be held,
// and the cursor be at the head.
func (s *Subscription) beat(due bool) *Message {
	if s.hub.options.Heartbeat == nil || !due && !s.greet {
		return nil
	}
	s.greet = false
	last := s.stream.last
	return &Message{Sequence: last, Previous: last, heartbeat: true}
}

// fill gives a heartbeat its Value, with no lock held.
func (s *Subscription) fill(m *Message) {
	if m != nil && m.heartbeat {
		m.Value = s.hub.options.Heartbeat(s.name, m.Sequence)
	}
}

// startTimer returns the channel that fires when the silence has been long enough for a heartbeat.
func (s *Subscription) startTimer() <-chan time.Time {
	o := &s.hub.options
	switch {
	case o.Heartbeat == nil:
		return nil
	case s.timer == nil:
		s.timer = time.NewTimer(o.HeartbeatEvery)
	default:
		s.timer.Reset(o.HeartbeatEvery)
	}
	return s.timer.C
}

func (s *Subscription) stopTimer() {
	if s.timer != nil {
		s.timer.Stop()
	}
}

// rouse wakes the goroutine that waits for s. A nil s is nobody.
func (s *Subscription) rouse() {
	if s == nil {
		return
	}
	select {
	case s.wake <- struct{}{}:
	default: // it has been told already
	}
}
