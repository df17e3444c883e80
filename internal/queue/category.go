package queue

import (
	"fmt"
	"maps"
	"sync/atomic"

	"callerd/internal/arch"
)

// MaxNumber is the last number of a series on one day: seven digits fit on every display.
const MaxNumber = 9_999_999

// Category (业务类别) is a series of numbers and the line of those who wait for it. The pair issued and
// serving is the hall's own ticket lock: the next number to hand out, and the highest one called.
//
// Lock guards everything but what says otherwise.
type Category struct {
	lock  arch.RankedLock
	index int
	id    CategoryID

	def      CategoryDefined
	today    atomic.Pointer[series] // changed under all locks
	before   atomic.Pointer[series] // changed under all locks; nil: no day before is known
	serving  atomic.Uint32
	lanes    [numLanes]Line
	reserved int               // tickets of today that wait for their check-in
	unused   uint32            // numbers of today whose place in the quota came back
	persons  map[string]uint32 // tickets of today by person key
	mean     int64             // recent mean service time, ns; 0: nothing served yet

	counters atomic.Int32 // open, unpaused counters that serve the category; changed under their own locks
}

// NewCategory makes an empty, undefined category. Index is its rank among the categories' locks.
func NewCategory(index int, id CategoryID, day Day) *Category {
	c := &Category{index: index, id: id}
	c.lock.Init(arch.RankLine, uint64(index))
	c.today.Store(&series{day: day})
	return c
}

// Lock takes the category's lock.
func (c *Category) Lock(h *arch.Held) { c.lock.Lock(h) }

// Unlock lets the category's lock go.
func (c *Category) Unlock(h *arch.Held) { c.lock.Unlock(h) }

// AssertHeld panics under the tag lockrank unless h holds the category's lock.
func (c *Category) AssertHeld(h *arch.Held) { h.AssertHeld(&c.lock) }

// ID returns the category's id; it needs no lock.
func (c *Category) ID() CategoryID { return c.id }

// Index returns the category's rank among the categories' locks; it needs no lock.
func (c *Category) Index() int { return c.index }

// Define replaces the definition. The caller holds all locks.
func (c *Category) Define(d CategoryDefined) { c.def = d }

// Definition returns the definition. The caller holds the lock.
func (c *Category) Definition() CategoryDefined { return c.def }

// Open reports whether the category issues numbers. The caller holds the lock.
func (c *Category) Open() bool { return c.def.Open }

// Issued returns the last number handed out today; it needs no lock.
func (c *Category) Issued() uint32 { return c.today.Load().n.Load() }

// Serving returns the highest number of the series called today; it needs no lock.
func (c *Category) Serving() uint32 { return c.serving.Load() }

// Waiting returns how many wait, in both lanes. The caller holds the lock.
func (c *Category) Waiting() int { return c.lanes[RegularLane].Len() + c.lanes[PriorityLane].Len() }

// Lane returns one of the lanes. The caller holds the lock.
func (c *Category) Lane(l Lane) *Line { return &c.lanes[l] }

// First returns the ticket to be called next of this category alone, or nil: the priority lane's first, else the regular
// lane's. The caller holds the lock.
func (c *Category) First() *Live {
	if t := c.lanes[PriorityLane].First(); t != nil {
		return t
	}
	return c.lanes[RegularLane].First()
}

// Ahead returns how many tickets are called before a waiting one, if no bound and no counter chooses otherwise. The
// caller holds the lock.
func (c *Category) Ahead(t *Live) int {
	n := c.lanes[t.Priority.Lane()].Ahead(t.Key)
	if t.Priority.Lane() == RegularLane {
		n += c.lanes[PriorityLane].Len()
	}
	return n
}

// Reserved returns how many tickets of the series wait for their check-in. The caller holds the lock.
func (c *Category) Reserved() int { return c.reserved }

// CountReserved adds n to them. The caller holds the lock.
func (c *Category) CountReserved(id TicketID, n int) {
	if id.Day == c.today.Load().day {
		c.reserved += n
	}
}

// Used returns how many places of today's quota are taken: numbers handed out, less those whose place came back. The
// caller holds the lock.
func (c *Category) Used() uint32 { return c.Issued() - c.unused }

// GiveBack returns one place of today's quota. The caller holds the lock.
func (c *Category) GiveBack(id TicketID) {
	if id.Day == c.today.Load().day {
		c.unused++
	}
}

// OfPerson returns how many tickets a person key has taken today. The caller holds the lock.
func (c *Category) OfPerson(key string) uint32 { return c.persons[key] }

// Persons returns how many tickets each person key has taken today. The caller holds the lock.
func (c *Category) Persons() map[string]uint32 { return maps.Clone(c.persons) }

// CountPerson notes a ticket of a person key. The caller holds the lock.
func (c *Category) CountPerson(key string) {
	if key == "" {
		return
	}
	if c.persons == nil {
		c.persons = map[string]uint32{}
	}
	c.persons[key]++
}

// Find returns the ticket of this series with that id, of today or the day before, or nil. It needs no lock.
func (c *Category) Find(id TicketID) *Live {
	if s := c.today.Load(); s.day == id.Day {
		return s.at(id.N)
	}
	if s := c.before.Load(); s != nil && s.day == id.Day {
		return s.at(id.N)
	}
	return nil
}

// NextID returns the id that the next ticket gets, and its number. The caller holds the lock.
func (c *Category) NextID() (TicketID, string) {
	s := c.today.Load()
	n := s.n.Load() + 1
	return TicketID{Day: s.day, Category: c.id, N: n}, FormatNumber(c.def.Prefix, c.def.Width, n)
}

// Each calls f for the tickets of a day (today or the day before) from number n on, until it returns false;
// ok is false when the day is not known. The caller holds all locks: a ticket may be anywhere.
func (c *Category) Each(day Day, n uint32, f func(*Live) bool) (ok bool) {
	s := c.today.Load()
	if s.day != day {
		if s = c.before.Load(); s == nil || s.day != day {
			return false
		}
	}
	for n = max(n, 1); n <= s.n.Load(); n++ {
		if !f(s.at(n)) {
			break
		}
	}
	return true
}

// Grow adds the ticket that [Category.NextID] named, with that id and its number. The caller holds the lock.
func (c *Category) Grow(id TicketID, number string) (*Live, error) {
	if next, _ := c.NextID(); next != id {
		return nil, fmt.Errorf("category %s: issued %v, want %v", c.id, id, next)
	}
	s := c.today.Load()
	t := s.grow(Place{Category: c.index})
	t.ID, t.Number = id, s.keep(number)
	return t, nil
}

// Enter puts t into its lane by its key. The caller holds the lock.
func (c *Category) Enter(t *Live) { c.lanes[t.Priority.Lane()].Enter(t) }

// Leave takes t out of its lane and reports whether it was there. The caller holds the lock.
func (c *Category) Leave(t *Live) bool { return c.lanes[t.Priority.Lane()].Leave(t) }

// RaiseServing notes that number n of today's series was called; serving never goes back. It needs no lock.
func (c *Category) RaiseServing(id TicketID) {
	if id.Day != c.today.Load().day {
		return
	}
	for {
		old := c.serving.Load()
		if id.N <= old || c.serving.CompareAndSwap(old, id.N) {
			return
		}
	}
}

// Served takes one service time in ns into the recent mean: a mean that forgets, each new time counting an
// eighth, whole nanoseconds so that it replays alike. The caller holds the lock.
func (c *Category) Served(ns int64) {
	if c.mean == 0 {
		c.mean = max(ns, 1)
		return
	}
	c.mean = max(c.mean+(ns-c.mean)/8, 1)
}

// ServiceMean returns the recent mean service time in ns, 0 when nothing was served yet. The caller holds
// the lock.
func (c *Category) ServiceMean() int64 { return c.mean }

// ServedBy adds n to the number of open counters for the category. The caller holds the counter's lock.
func (c *Category) ServedBy(n int32) { c.counters.Add(n) }

// Counters returns how many open, unpaused counters serve the category; it needs no lock.
func (c *Category) Counters() int { return int(c.counters.Load()) }

// OpenDay begins a new day: today becomes the day before, every ticket that is not final and not being
// served expires at the given time, and the series and the line begin empty. The caller holds all locks.
func (c *Category) OpenDay(day Day, d DayCategory, at int64, sequence uint64) {
	old := c.today.Load()
	for n := uint32(1); n <= old.n.Load(); n++ {
		if t := old.at(n); !t.State.Final() && t.State != Serving {
			t.Expire(at, sequence)
		}
	}
	if old.day.IsZero() {
		old = nil
	}
	c.def, c.mean = d.CategoryDefined, d.ServiceMean
	c.before.Store(old)
	c.today.Store(&series{day: day})
	c.serving.Store(0)
	c.counters.Store(0)
	c.lanes, c.reserved, c.unused, c.persons = [numLanes]Line{}, 0, 0, nil
}

// Settle makes up every waiting ticket's count of overtakes: before the turn of the day, which takes the lines apart.
// The caller holds all locks.
func (c *Category) Settle() {
	for i := range c.lanes {
		c.lanes[i].Each(func(*Live) bool { return true })
	}
}

// Expire ends a ticket by the turn of the day. The caller holds all locks.
func (t *Live) Expire(at int64, sequence uint64) {
	t.State, t.Version, t.Deadline, t.Bound = Expired, sequence, 0, 0
	t.End(at)
	t.SetPlace(Place{Category: t.Place().Category})
}

// EachBefore calls f for the tickets of the day before. The caller holds all locks.
func (c *Category) EachBefore(f func(*Live)) {
	if s := c.before.Load(); s != nil {
		for n := uint32(1); n <= s.n.Load(); n++ {
			f(s.at(n))
		}
	}
}
