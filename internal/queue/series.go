package queue

import (
	"strings"
	"sync/atomic"
)

// Live is a ticket inside the state machine. It is guarded by the lock of its place: look at the place, take that lock,
// look again.
type Live struct {
	Standing
	place atomic.Uint64
	times *times // nil while there are none: whoever waits needs no room for them
	Told  uint16 // announcements since it was summoned
	Span  uint16 // from the record that set the deadline to the deadline, whole seconds, 18 hours at most
	Due   int32  // place in the heap of deadlines, from 1; 0: in none. Guarded by that heap's owner
}

type times struct {
	Times
	summoned int64
}

// NewLive makes a live ticket of a copy.
func NewLive(t Ticket) *Live {
	l := &Live{Standing: t.Standing}
	if t.Times != (Times{}) {
		l.times = &times{Times: t.Times}
	}
	return l
}

// Ticket returns a copy. In a line its count of overtakes may not be made up, see [Line.Settle].
func (t *Live) Ticket() Ticket { return Ticket{t.Standing, t.Times()} }

// Times returns what became of it behind the line.
func (t *Live) Times() Times {
	if t.times == nil {
		return Times{}
	}
	return t.times.Times
}

// Summoned returns when it was last called from a line or taken up again, Unix ns; 0: never.
func (t *Live) Summoned() int64 {
	if t.times == nil {
		return 0
	}
	return t.times.summoned
}

// Summon notes that it is called from a line or taken up again, for the first time perhaps.
func (t *Live) Summon(at int64) {
	n := t.noted()
	n.summoned, t.Told = at, 0
	if n.Called == 0 {
		n.Called = at
	}
}

// Start notes that its service begins.
func (t *Live) Start(at int64) { t.noted().Started = at }

// End notes that it is in a final state.
func (t *Live) End(at int64) { t.noted().Ended = at }

func (t *Live) noted() *times {
	if t.times == nil {
		t.times = new(times)
	}
	return t.times
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
	texts  strings.Builder // of the newest numbers
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

// keep returns a copy of a number, beside others: a string by itself takes more room than its few letters.
func (s *series) keep(number string) string {
	if n := len(number); s.texts.Cap()-s.texts.Len() < n {
		s.texts.Reset() // those of before stay where they are
		s.texts.Grow(max(n, 8*chunkSize))
	}
	at := s.texts.Len()
	s.texts.WriteString(number)
	return s.texts.String()[at:]
}

// at returns the n-th ticket, from 1, or nil.
func (s *series) at(n uint32) *Live {
	if n == 0 || n > s.n.Load() {
		return nil
	}
	return &(*s.chunks.Load())[(n-1)/chunkSize][(n-1)%chunkSize]
}
