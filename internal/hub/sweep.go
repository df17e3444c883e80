package hub

import (
	"runtime"
	"time"
)

// A stream's sweepers write to the connections that have seen everything and get the next frame. They
// are started when there is something to write and end when there is not.
const (
	mostSweepers = 8  // of a stream at once; as many as processors, if those are fewer
	turns        = 16 // connections after which a sweeper lets other goroutines run
)

// due returns the first resting connection, if there is something to do for it; if not, there is
// nothing to do for any. mu must be held.
func (st *stream) due() *Subscription {
	s := st.resting.first
	switch {
	case s == nil:
		return nil
	case s.cursor < st.head, st.hub.isClosing(), st.silent(s) <= 0:
		return s
	}
	return nil
}

// silent is how long s may still rest before it is owed a heartbeat. mu must be held.
func (st *stream) silent(s *Subscription) time.Duration {
	o := &st.hub.options
	if o.Heartbeat == nil {
		return o.HeartbeatEvery
	}
	return o.HeartbeatEvery - o.Now().Sub(s.since)
}

// hire reports whether the caller must start one more sweeper. mu must be held.
func (st *stream) hire() bool {
	if st.sweepers >= st.hub.sweepers || st.due() == nil {
		return false
	}
	st.sweepers++
	return true
}

// sweep writes to the connections that rest and have something to get, until there are none. It
// never waits: a connection that does not take a whole frame at once gets a goroutine of its own.
func (st *stream) sweep() {
	for n := 1; ; n++ {
		st.mu.Lock()
		s := st.due()
		if s == nil {
			st.sweepers--
			st.arm()
			st.mu.Unlock()
			return
		}
		s.leave()
		hired := st.hire()
		st.mu.Unlock()
		if hired {
			go st.sweep()
		}
		s.served.advance()
		if n%turns == 0 {
			runtime.Gosched()
		}
	}
}

// rest puts a connection that has all it should have into the line. mu must be held.
func (st *stream) rest(s *Subscription) {
	st.resting.push(s)
	if st.sweepers == 0 {
		st.arm()
	}
}

// arm sets the timer for the heartbeat of the first, the longest silent of all but those who have a timer of their own. mu must be
// held.
func (st *stream) arm() {
	s := st.resting.first
	if s == nil || st.armed || st.hub.options.Heartbeat == nil {
		return
	}
	st.armed = true
	if st.timer == nil {
		st.timer = time.AfterFunc(st.silent(s), st.wake)
		return
	}
	st.timer.Reset(st.silent(s))
}

// wake is called by the timer.
func (st *stream) wake() {
	st.mu.Lock()
	st.armed = false
	st.mu.Unlock()
	st.look()
}

// look starts a sweeper if there is something to do for one.
func (st *stream) look() {
	st.mu.Lock()
	hired := st.hire()
	if st.sweepers == 0 {
		st.arm()
	}
	st.mu.Unlock()
	if hired {
		go st.sweep()
	}
}
