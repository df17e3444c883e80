package branch

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"

	"callerd/internal/counter"
	"callerd/internal/queue"
)

// State is the branch as its records make it; [State.Apply] is the only thing that changes it, live as in
// replay. It reads no clock and no configuration. One goroutine may use a State as it likes; beside others, each
// part is guarded by its lock: what belongs to the whole branch is changed under all locks and read under any.
type State struct {
	sets     atomic.Pointer[sets]
	day      atomic.Pointer[day]
	carried  atomic.Pointer[map[queue.TicketID]*queue.Live] // tickets of older days that were being served at the turn
	branch   queue.Names
	notice   queue.Names
	last     atomic.Int64 // newest time of a record, Unix ns
	requests *requests
}

// sets are the categories and counters that ever were. They are copied on write.
type sets struct {
	categories []*queue.Category // by index
	counters   []*counter.Counter
	byCategory map[queue.CategoryID]*queue.Category
	byCounter  map[queue.CounterID]*counter.Counter
}

// NewState makes the state before the first record.
func NewState() *State {
	s := &State{requests: newRequests()}
	s.sets.Store(&sets{})
	s.day.Store(&day{})
	s.carried.Store(&map[queue.TicketID]*queue.Live{})
	return s
}

// Apply makes one record true. An error means that the record is impossible, and leaves the state unusable.
// Beside others, the caller holds the locks of all that the record touches.
func (s *State) Apply(r *queue.Record) error {
	for _, o := range r.Outcomes {
		if err := s.apply(r, o); err != nil {
			return fmt.Errorf("record %d: %w", r.Sequence, err)
		}
	}
	if r.Request != (queue.RequestID{}) {
		s.requests.shard(r.Request).add(r.Request, s.remember(r))
	}
	for {
		last := s.last.Load()
		if r.At <= last || s.last.CompareAndSwap(last, r.At) {
			return nil
		}
	}
}

func (s *State) apply(r *queue.Record, o queue.Outcome) error {
	if _, first := o.(*queue.DayOpened); s.day.Load().IsZero() && !first {
		return fmt.Errorf("%T before the first business day", o)
	}
	switch o := o.(type) {
	case *queue.TicketChanged:
		return s.applyTicket(r, o)
	case *queue.CounterChanged:
		return s.applyCounter(o)
	case *queue.CategoryDefined:
		s.category(o.ID).Define(*o)
	case *queue.CounterDefined:
		s.counter(o.ID).Define(*o)
	case *queue.DayOpened:
		return s.applyDay(r, o)
	case *queue.Started:
		s.branch = o.Branch
	case *queue.NoticePublished:
		s.notice = o.Text
	default:
		return fmt.Errorf("unknown outcome %T", o)
	}
	return nil
}

func (s *State) applyCounter(o *queue.CounterChanged) error {
	c := s.sets.Load().byCounter[o.Counter]
	if c == nil {
		return fmt.Errorf("counter %d does not exist", o.Counter)
	}
	s.countServing(c, -1)
	err := c.Apply(o)
	s.countServing(c, 1)
	return err
}

// countServing keeps each category's number of counters that can call from it.
func (s *State) countServing(c *counter.Counter, n int32) {
	if !c.Calls() {
		return
	}
	for _, id := range c.Categories() {
		if k := s.sets.Load().byCategory[id]; k != nil {
			k.ServedBy(n)
		}
	}
}

// category returns the category, made if it is new. The caller holds all locks.
func (s *State) category(id queue.CategoryID) *queue.Category {
	old := s.sets.Load()
	if c := old.byCategory[id]; c != nil {
		return c
	}
	c := queue.NewCategory(len(old.categories), id, s.day.Load().Day)
	n := *old
	n.categories = append(slices.Clone(old.categories), c)
	n.byCategory = maps.Clone(old.byCategory)
	if n.byCategory == nil {
		n.byCategory = map[queue.CategoryID]*queue.Category{}
	}
	n.byCategory[id] = c
	s.sets.Store(&n)
	return c
}

// counter returns the counter, made if it is new. The caller holds all locks.
func (s *State) counter(id queue.CounterID) *counter.Counter {
	old := s.sets.Load()
	if c := old.byCounter[id]; c != nil {
		return c
	}
	c := counter.New(id)
	n := *old
	n.counters = append(slices.Clone(old.counters), c)
	slices.SortFunc(n.counters, func(a, b *counter.Counter) int { return cmp.Compare(a.ID(), b.ID()) })
	n.byCounter = maps.Clone(old.byCounter)
	if n.byCounter == nil {
		n.byCounter = map[queue.CounterID]*counter.Counter{}
	}
	n.byCounter[id] = c
	s.sets.Store(&n)
	return c
}

// find returns the ticket with that id, nil when it is of neither this nor the last day. It needs no lock.
func (s *State) find(id queue.TicketID) *queue.Live {
	if c := s.sets.Load().byCategory[id.Category]; c != nil {
		if t := c.Find(id); t != nil {
			return t
		}
	}
	return (*s.carried.Load())[id]
}

// remember makes what a retry of the record's request is told.
func (s *State) remember(r *queue.Record) seen {
	e := seen{fingerprint: r.Fingerprint, sequence: r.Sequence, at: r.At}
	for _, o := range r.Outcomes {
		switch o := o.(type) {
		case *queue.TicketChanged:
			if o.Verb == queue.Complete && r.Outcomes[0] == queue.Outcome(o) && len(r.Outcomes) > 1 {
				e.completed = s.find(o.Ticket)
				continue
			}
			e.ticket, e.counter, e.rule, e.waited = s.find(o.Ticket), o.Counter, o.Rule, o.Waited
		case *queue.CounterChanged:
			e.counter, e.epoch = o.Counter, o.Session.Epoch
		}
	}
	return e
}
