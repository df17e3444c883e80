package branch

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"

	"callerd/internal/arch"
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
	latest   int32        // newest date that a business day ever had
	runs     int32        // highest run that a business day ever had
	last     atomic.Int64 // newest time of a record, Unix ns
	requests *requests

	deadlines deadlines
	credits   credits
	resources resources
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
	s.resources.lock.Init(arch.RankResources, 0)
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
		if c := s.category(*o); c.Definition() != *o {
			c.Define(*o)
		}
	case *queue.CounterDefined:
		if c := s.counter(*o); !sameCounter(c.Definition(), *o) {
			c.Define(*o)
		}
	case *queue.DayOpened:
		return s.applyDay(r, o)
	case *queue.Started:
		s.branch = o.Branch
	case *queue.NoticePublished:
		s.notice = o.Text
	case *queue.BranchNamed:
		s.branch = o.Name
	case *queue.CreditsChanged:
		s.credits.set(o.Credits)
	case *queue.CategoryReset: // says who and why; the outcomes beside it say what
	case *queue.ClockAccepted:
		s.last.Store(min(o.To, r.At))
		s.requests.shift(o.To - o.From)
	case *queue.ResourceDefined:
		s.resources.define(*o)
	case *queue.ResourceChanged:
		return s.resources.apply(r, o)
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

// category returns the category, made if it is new: then it is found as it is defined, for its lock is not among those
// that the caller holds. The caller holds all others.
func (s *State) category(d queue.CategoryDefined) *queue.Category {
	old, id := s.sets.Load(), d.ID
	if c := old.byCategory[id]; c != nil {
		return c
	}
	c := queue.NewCategory(len(old.categories), id, s.day.Load().Day)
	c.Define(d)
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

// counter returns the counter, made if it is new, as category does.
func (s *State) counter(d queue.CounterDefined) *counter.Counter {
	old, id := s.sets.Load(), d.ID
	if c := old.byCounter[id]; c != nil {
		return c
	}
	c := counter.New(id)
	c.Define(d)
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
	if t := (*s.carried.Load())[id]; t != nil {
		return t
	}
	if c := s.sets.Load().byCategory[id.Category]; c != nil {
		return c.Find(id)
	}
	return nil
}

// remember makes what a retry of the record's request is told.
func (s *State) remember(r *queue.Record) seen {
	e := seen{fingerprint: r.Fingerprint, sequence: r.Sequence, at: r.At}
	for _, o := range r.Outcomes {
		switch o := o.(type) {
		case *queue.TicketChanged:
			switch {
			case o.Cause == queue.Unbound || o.Cause == queue.TakenOver: // beside what was asked
			case o.Verb == queue.Complete:
				e.completed = s.find(o.Ticket)
			case o.Verb == queue.Call:
				e.why = &why{o.Rule, o.Waited, o.Overtaken, o.PassedOver}
				fallthrough
			default:
				e.ticket = s.find(o.Ticket)
			}
			e.counter = o.Counter
		case *queue.CounterChanged:
			if o.Verb == queue.OpenCounter {
				e.epoch = o.Session.Epoch
			}
			e.counter = o.Counter
		case *queue.ResourceChanged:
			if o.Cause == queue.Asked && e.counter == 0 {
				e.epoch, e.until = o.Fence, o.Until
			}
		}
	}
	return e
}
