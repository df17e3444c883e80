package queue

import "sync/atomic"

// Live is a ticket inside the state machine. Its Ticket is guarded by the lock of its place: look at the
// place, take that lock, look again.
type Live struct {
	Ticket
	place    atomic.Uint64
	Summoned int64  // when it was last called from a line or taken up again, Unix ns
	Told     uint16 // announcements since then
	Span     uint16 // from the record that set the deadline to the deadline, whole seconds, 18 hours at most
	Due      int32  // place in the heap of deadlines, from 1; 0: in none. Guarded by that heap's owner
}

// Place says which lock guards a ticket: that of the counter, if it is not 0, else that of the category.
type Place struct {
	Category int // index of the category
	Counter  CounterID
}

// Place may be read without a lock; it holds for as long as the lock that it names is held.
func (t *Live) Place() Place {
	p := t.place.Load()
	return Place{Category: int(p >> 32), Counter: CounterID(p)}
}

// SetPlace publishes a new place. The caller holds the locks of the old and of the new one.
func (t *Live) SetPlace(p Place) { t.place.Store(uint64(p.Category)<<32 | uint64(p.Counter)) }

// series is the tickets of one category on one day, numbered from 1 without gap. One goroutine at a time
// grows it; at may be called beside that.
type series struct {
	day    Day
	n      atomic.Uint32
	chunks atomic.Pointer[[]*chunk]
}

const chunkSize = 256

type chunk [chunkSize]Live

// grow adds the next ticket and returns it, zero but for its place, which is published first: whoever finds the
// ticket finds the lock that guards it.
func (s *series) grow(p Place) *Live {
	n := s.n.Load()
	var chunks []*chunk
	if p := s.chunks.Load(); p != nil {
		chunks = *p
	}
	if int(n/chunkSize) == len(chunks) {
		chunks = append(chunks, new(chunk))
		s.chunks.Store(&chunks)
	}
	t := &chunks[n/chunkSize][n%chunkSize]
	t.SetPlace(p)
	s.n.Store(n + 1)
	return t
}

// at returns the n-th ticket, from 1, or nil.
func (s *series) at(n uint32) *Live {
	if n == 0 || n > s.n.Load() {
		return nil
	}
	return &(*s.chunks.Load())[(n-1)/chunkSize][(n-1)%chunkSize]
}
