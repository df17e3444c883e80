package branch

import (
	"fmt"
	"math"
	"time"

	"callerd/internal/queue"
)

// applyTicket does one verb to one ticket: out of where it was, changed, into where it goes.
func (s *State) applyTicket(r *queue.Record, o *queue.TicketChanged) error {
	sets := s.sets.Load()
	origin, into := sets.byCategory[o.Ticket.Category], sets.byCategory[o.Category]
	if origin == nil || into == nil {
		return fmt.Errorf("ticket %v: no category %q or %q", o.Ticket, o.Ticket.Category, o.Category)
	}
	if next, ok := queue.Next(o.From, o.Verb); !ok || next != o.To {
		return fmt.Errorf("ticket %v: %v leads from %v not to %v", o.Ticket, o.Verb, o.From, o.To)
	}
	var t *queue.Live
	if o.From == queue.None {
		n, err := origin.Grow(o.Ticket, o.Number)
		if err != nil {
			return err
		}
		t = n
		t.Issued, t.Priority = r.At, o.Priority
	} else if t = s.find(o.Ticket); t == nil {
		return fmt.Errorf("ticket %v does not exist", o.Ticket)
	}
	if t.State != o.From || t.Number != o.Number {
		return fmt.Errorf("ticket %v is %v %s, the record has %v %s", o.Ticket, t.State, t.Number, o.From, o.Number)
	}
	if err := s.leave(sets, t, o); err != nil {
		return err
	}
	if err := s.renumber(into, o); err != nil {
		return err
	}
	if err := s.passOver(sets, o); err != nil {
		return err
	}
	ended := t.Deadline
	stamp(t, r, o)
	s.count(origin, o)
	if ended != 0 || o.Deadline != 0 {
		s.deadlines.set(t, o.Deadline)
	}
	return s.enter(sets, origin, into, t, o)
}

// renumber gives waiting tickets other keys, in the same places. All leave before the first comes back: a new key may be
// another's old one.
func (s *State) renumber(c *queue.Category, o *queue.TicketChanged) error {
	line := func(t *queue.Live) *queue.Line { return s.lineOf(c, t.Priority.Lane(), o.Bound) }
	for _, m := range o.Renumbered {
		t := s.find(m.Ticket)
		if t == nil {
			return fmt.Errorf("renumbered ticket %v does not exist", m.Ticket)
		}
		if l := line(t); l == nil || !l.Leave(t) {
			return fmt.Errorf("renumbered ticket %v is not in the line of %s", m.Ticket, c.ID())
		}
	}
	for _, m := range o.Renumbered {
		t := s.find(m.Ticket)
		t.Key = m.Key
		line(t).Enter(t)
	}
	return nil
}

// lineOf returns the line of a lane, or that of a counter for the tickets bound to it; nil when there is none.
func (s *State) lineOf(c *queue.Category, l queue.Lane, bound queue.CounterID) *queue.Line {
	if bound == 0 {
		return c.Lane(l)
	}
	if k := s.sets.Load().byCounter[bound]; k != nil {
		return k.Own()
	}
	return nil
}

// passOver counts an overtake for each ticket that a call passed over. The counts of the record are held against the
// lines: they are the promise that nobody is overtaken unseen.
func (s *State) passOver(sets *sets, o *queue.TicketChanged) error {
	t := s.find(o.Ticket)
	for _, p := range o.PassedOver {
		c := sets.byCategory[p.Category]
		if c == nil || p.Lane > queue.PriorityLane {
			return fmt.Errorf("ticket %v passed over %q, which does not exist", o.Ticket, p.Category)
		}
		l := c.Lane(p.Lane)
		if n := l.Ahead(t.Key); n != int(p.Count) || n == 0 || l.First().ID != p.First {
			return fmt.Errorf("ticket %v passed over %d of %s, the record has %d", o.Ticket, n, p.Category, p.Count)
		}
		l.PassOver(t.Key)
	}
	return nil
}

// count keeps the quota and the reservations of the category of origin.
func (s *State) count(origin *queue.Category, o *queue.TicketChanged) {
	if o.From == queue.None {
		origin.CountPerson(o.Person)
	}
	if o.To == queue.Reserved {
		origin.CountReserved(o.Ticket, 1)
	}
	if o.From == queue.Reserved {
		origin.CountReserved(o.Ticket, -1)
		if o.To.Final() {
			origin.GiveBack(o.Ticket)
		}
	}
}

// leave takes a ticket out of its line or from its counter.
func (s *State) leave(sets *sets, t *queue.Live, o *queue.TicketChanged) error {
	switch {
	case o.From == queue.Waiting:
		l := s.lineOf(sets.byCategory[t.Category], t.Priority.Lane(), t.Bound)
		if l == nil || !l.Leave(t) {
			return fmt.Errorf("ticket %v is not in the line of %s", o.Ticket, t.Category)
		}
	case o.From.AtCounter():
		c := sets.byCounter[t.Counter]
		if c == nil || t.Counter != o.Holder {
			return fmt.Errorf("ticket %v is at counter %d, the record has %d", o.Ticket, t.Counter, o.Holder)
		}
		return c.Release(t, o.From)
	}
	return nil
}

// stamp writes the verb into the ticket.
func stamp(t *queue.Live, r *queue.Record, o *queue.TicketChanged) {
	if o.Verb == queue.Start {
		t.Start(r.At)
	}
	if o.Verb == queue.Call || o.Verb == queue.Recall || o.Verb == queue.Resume {
		if t.Calls < math.MaxUint16 {
			t.Calls++
		}
		if o.From != queue.Called {
			t.Summon(r.At)
		}
		t.Told++
	}
	if o.To.Final() {
		t.End(r.At)
	}
	if o.Counter != 0 {
		t.Counter = o.Counter
	}
	if o.To == queue.Waiting {
		if t.Key = o.Key; t.Key == (queue.OrderKey{}) {
			t.Key = queue.OrderKey{Entry: int64(r.Sequence)}
		}
		if o.Where != queue.Kept {
			t.Entered, t.Overtaken = r.At, 0
		}
		if t.First == 0 {
			t.First = int64(r.Sequence)
		}
	}
	t.State, t.Category, t.Version, t.Deadline, t.Bound = o.To, o.Category, r.Sequence, o.Deadline, o.Bound
	if t.Span = 0; o.Deadline != 0 {
		t.Span = uint16(min((o.Deadline-r.At)/int64(time.Second), math.MaxUint16))
	}
}

// enter puts a ticket into its line or to its counter, and publishes its place.
func (s *State) enter(sets *sets, origin, into *queue.Category, t *queue.Live, o *queue.TicketChanged) error {
	place := queue.Place{Category: into.Index()}
	switch {
	case o.To == queue.Waiting:
		l := s.lineOf(into, t.Priority.Lane(), o.Bound)
		if l == nil {
			return fmt.Errorf("ticket %v: counter %d does not exist", o.Ticket, o.Bound)
		}
		l.Enter(t)
		place.Counter = o.Bound
	case o.To.AtCounter():
		c := sets.byCounter[o.Counter]
		if c == nil {
			return fmt.Errorf("ticket %v: counter %d does not exist", o.Ticket, o.Counter)
		}
		if err := c.Take(t, o.To); err != nil {
			return err
		}
		place.Counter = o.Counter
	case o.Verb == queue.Complete && o.From == queue.Serving:
		into.Served(t.Times().Ended - t.Times().Started)
	}
	if o.Verb == queue.Call {
		origin.RaiseServing(t.ID)
	}
	t.SetPlace(place)
	return nil
}
