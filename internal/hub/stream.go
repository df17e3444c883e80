package hub

import (
	"sort"
	"sync"
)

// stream is one ordered series of frames: the last of them in a ring, and the subscriptions that
// have seen them all and wait for the next.
//
// Positions count the frames ever appended: the ring holds [tail, head), frame p at p % size.
type stream struct {
	size uint64 // of the ring, when full; it grows to it

	mu         sync.Mutex
	ring       []*Message
	tail, head uint64
	last       uint64 // sequence

	// Those waiting, the longest first. A subscription lines up when its cursor is at the head,
	// and the head only grows: so the cursors in the list never fall, and if the first is not
	// behind, none is.
	first, final *Subscription
}

// append stores a frame and wakes one waiting subscription, which wakes others.
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
	next := st.unpark()
	st.mu.Unlock()
	next.rouse()
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
	next := st.unpark()
	st.mu.Unlock()
	next.rouse()
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

// park lines s up, if it is not yet. st.mu must be held.
func (st *stream) park(s *Subscription) {
	if s.parked {
		return
	}
	s.parked, s.before = true, st.final
	if st.final == nil {
		st.first = s
	} else {
		st.final.behind = s
	}
	st.final = s
}

// leave takes s out of the line, if it is in it. st.mu must be held.
func (st *stream) leave(s *Subscription) {
	if !s.parked {
		return
	}
	if s.before == nil {
		st.first = s.behind
	} else {
		s.before.behind = s.behind
	}
	if s.behind == nil {
		st.final = s.before
	} else {
		s.behind.before = s.before
	}
	s.parked, s.before, s.behind = false, nil, nil
}

// unpark takes the first waiting subscription out of the line, if it is behind the head; nil if
// none is. st.mu must be held. Whoever gets one must rouse it: it carries the duty to unpark more.
func (st *stream) unpark() *Subscription {
	s := st.first
	if s == nil || s.cursor >= st.head {
		return nil
	}
	st.leave(s)
	return s
}
