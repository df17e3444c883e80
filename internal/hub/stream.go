package hub

import (
	"sort"
	"sync"
	"time"
)

// stream is one ordered series of frames: the last of them in a ring, and the subscriptions that
// have seen them all, in two lines.
//
// Positions count the frames ever appended: the ring holds [tail, head), frame p at p % size.
type stream struct {
	hub  *Hub
	size uint64 // of the ring, when full; it grows to it

	mu         sync.Mutex
	ring       []*Message
	tail, head uint64
	last       uint64 // sequence

	waiting line // watchers, each with a goroutine inside next, woken by each other
	resting line // connections, for which no goroutine waits: sweepers write to them

	sweepers int         // now at work
	timer    *time.Timer // for the heartbeat of the first that rests
	armed    bool        // it runs
}

// append stores a frame, wakes one watcher, who wakes others, and starts one sweeper, who starts others.
func (st *stream) append(sequence uint64, value any) (last uint64, ok bool) {
	m := &Message{Sequence: sequence, Value: value}
	st.mu.Lock()
	if sequence <= st.last {
		defer st.mu.Unlock()
		return st.last, false
	}
	m.Previous, st.last = st.last, sequence
	if uint64(len(st.ring)) < st.size {
		st.ring = append(st.ring, m)
	} else {
		st.ring[st.head%st.size] = m
		st.tail = st.head + 1 - st.size
	}
	st.head++
	next, hired := st.unpark(), st.hire()
	st.mu.Unlock()
	next.rouse()
	if hired {
		go st.sweep()
	}
	return sequence, true
}

// seed forgets the history and sets the last sequence.
func (st *stream) seed(sequence uint64) {
	st.mu.Lock()
	if sequence == st.last {
		st.mu.Unlock()
		return
	}
	st.last = sequence
	clear(st.ring)
	st.ring = st.ring[:0]
	// Whoever is behind is now in front of the tail, and lags. The ring begins again at a whole
	// number of turns, so that frame p is still at p % size.
	st.head += st.size - st.head%st.size
	st.tail = st.head
	next, hired := st.unpark(), st.hire()
	st.mu.Unlock()
	next.rouse()
	if hired {
		go st.sweep()
	}
}

// joinBehind puts s behind the frame with sequence after, if all that followed it is still here.
func (st *stream) joinBehind(s *Subscription, after uint64) bool {
	st.mu.Lock()
	defer st.mu.Unlock()
	if after == 0 || after > st.last {
		return false
	}
	kept := int(st.head - st.tail)
	at := func(i int) *Message { return st.ring[(st.tail+uint64(i))%st.size] }
	// The first frame after it must name it as the one before: so a sequence that is not of this
	// stream is not taken for one of it.
	i := sort.Search(kept, func(i int) bool { return at(i).Sequence > after })
	if i == kept && after != st.last || i < kept && at(i).Previous != after {
		return false
	}
	s.cursor, s.joined, s.greet = st.tail+uint64(i), st.head, true
	return true
}

// joinAtHead gives s its first message and puts it behind the last frame.
func (st *stream) joinAtHead(s *Subscription, value any) {
	st.mu.Lock()
	defer st.mu.Unlock()
	s.snapshot = &Message{Sequence: st.last, Value: value}
	s.cursor, s.joined = st.head, st.head
}

// unpark takes the first watcher out of the line, if it is behind the head; nil if none is. mu must
// be held. Whoever gets one must rouse it: it carries the duty to unpark more.
func (st *stream) unpark() *Subscription {
	s := st.waiting.first
	if s == nil || s.cursor >= st.head {
		return nil
	}
	s.leave()
	return s
}
