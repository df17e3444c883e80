package branch

import (
	"fmt"

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
		n, err := origin.Grow(o.Ticket)
		if err != nil {
			return err
		}
		t = n
		t.ID, t.Number, t.Issued = o.Ticket, o.Number, r.At
	} else if t = s.find(o.Ticket); t == nil {
		return fmt.Errorf("ticket %v does not exist", o.Ticket)
	}
	if t.State != o.From || t.Number != o.Number {
		return fmt.Errorf("ticket %v is %v %s, the record has %v %s", o.Ticket, t.State, t.Number, o.From, o.Number)
	}
	if err := s.leave(sets, t, o); err != nil {
		return err
	}
	stamp(t, r, o)
	return s.enter(sets, origin, into, t, o)
}

// leave takes a ticket out of its line or from its counter.
func (s *State) leave(sets *sets, t *queue.Live, o *queue.TicketChanged) error {
	switch {
	case o.From == queue.Waiting:
		if !sets.byCategory[t.Category].Leave(t) {
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
		t.Started = r.At
	}
	if o.Verb == queue.Call || o.Verb == queue.Recall || o.Verb == queue.Resume {
		t.Calls++
		if t.Called == 0 {
			t.Called = r.At
		}
	}
	if o.To.Final() {
		t.Ended = r.At
	}
	if o.Counter != 0 {
		t.Counter = o.Counter
	}
	if o.To == queue.Waiting {
		t.Key = o.Key
		if t.Key == (queue.OrderKey{}) {
			t.Key, t.Entered = queue.OrderKey{Entry: int64(r.Sequence)}, r.At
		}
	}
	t.State, t.Category, t.Version = o.To, o.Category, r.Sequence
}

// enter puts a ticket into its line or to its counter, and publishes its place.
func (s *State) enter(sets *sets, origin, into *queue.Category, t *queue.Live, o *queue.TicketChanged) error {
	place := queue.Place{Category: into.Index()}
	switch {
	case o.To == queue.Waiting:
		into.Enter(t)
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
		into.Served(t.Ended - t.Started)
	}
	if o.Verb == queue.Call {
		origin.RaiseServing(t.ID)
	}
	t.SetPlace(place)
	return nil
}
