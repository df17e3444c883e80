package branch

import (
	"sync"
	"testing"
	"time"

	"callerd/internal/queue"
)

// Case 11: each ticket called once, order kept per line.
func TestTenCountersCallFiftyTicketsAThousandTimes(t *testing.T) {
	rounds := 1000
	if testing.Short() || raceEnabled {
		rounds = 40
	}
	h := open(t, func(o *Options) {
		o.Config.Counters = nil
		for n := queue.CounterID(1); n <= 10; n++ {
			o.Config.Counters = append(o.Config.Counters, queue.CounterDefined{ID: n, Categories: []queue.CategoryID{"personal", "corporate"}, Rule: queue.Oldest})
		}
	})
	tokens := make([]string, 10)
	for i := range tokens {
		tokens[i] = h.counter(queue.CounterID(i + 1))
	}
	type call struct {
		id       queue.TicketID
		sequence uint64
	}
	for round := range rounds {
		want := map[queue.TicketID]bool{}
		for i := range 50 {
			want[h.issue([]queue.CategoryID{"personal", "corporate"}[i%2]).ID] = true
		}
		calls := make(chan call, 100) // more than are called: nobody waits for the test
		var wg sync.WaitGroup
		for _, token := range tokens {
			wg.Go(func() {
				var current queue.TicketID
				for {
					c, err := h.CallNext(t.Context(), h.request(), token, current)
					if err != nil {
						t.Error(err)
						return
					}
					if c.Ticket == nil {
						return
					}
					current = c.Ticket.ID
					calls <- call{current, c.Sequence}
				}
			})
		}
		wg.Wait()
		close(calls)
		at := map[queue.TicketID]uint64{}
		for c := range calls {
			if at[c.id] != 0 || !want[c.id] {
				t.Fatalf("round %d: %v was called twice or is not of this round", round, c.id)
			}
			at[c.id] = c.sequence
		}
		if len(at) != 50 {
			t.Fatalf("round %d: got %d calls, want 50", round, len(at))
		}
		for id, sequence := range at {
			before := id
			before.N--
			if s, called := at[before]; called && s >= sequence {
				t.Fatalf("round %d: %v was called at %d, %v before it at %d", round, id, sequence, before, s)
			}
		}
	}
}

// Case 12.
func TestCallNextOverACurrentTicket(t *testing.T) {
	h := open(t)
	a1, a2 := h.issue("personal"), h.issue("personal")
	h.issue("personal")
	s := h.counter(1)
	h.next(s)
	h.verb((*Branch).StartTicket, s, a1.ID)
	_, err := h.CallNext(t.Context(), h.request(), s, queue.TicketID{})
	refused(t, err, ErrCounterBusy)
	if id, ok := CurrentTicket(err); !ok || id != a1.ID {
		t.Errorf("the refusal names %v, want %v", id, a1.ID)
	}
	c := h.next(s, a1.ID)
	if c.Ticket == nil || c.Ticket.ID != a2.ID || c.Completed == nil || c.Completed.State != queue.Completed {
		t.Fatalf("got %+v, want A001 completed and A002 called", c)
	}
	if c.Ticket.Version != c.Completed.Version || c.Ticket.Version != c.Sequence {
		t.Errorf("got records %d and %d, want one", c.Completed.Version, c.Ticket.Version)
	}
	_, err = h.CallNext(t.Context(), h.request(), s, a1.ID)
	refused(t, err, ErrTicketMoved)
	if id, ok := CurrentTicket(err); !ok || id != a2.ID {
		t.Errorf("the refusal names %v, want %v", id, a2.ID)
	}
	if got := h.ticket(a2.ID).State; got != queue.Called {
		t.Errorf("A002 is %v, want CALLED: the second click changed nothing", got)
	}
}

func TestAnEmptyLineIsNoRefusal(t *testing.T) {
	h := open(t)
	a1 := h.issue("personal")
	s := h.counter(1)
	h.next(s)
	h.verb((*Branch).HoldTicket, s, a1.ID)
	if c := h.next(s); c.Ticket != nil || c.Held != 1 || c.Waiting != 0 || c.Sequence == 0 {
		t.Errorf("got %+v, want no ticket, one held", c)
	}
	before := len(h.records())
	h.next(s)
	if got := len(h.records()); got != before {
		t.Errorf("an empty line wrote %d records", got-before)
	}
}

// Case 14.
func TestACommandThatNamesAnotherTicketChangesNothing(t *testing.T) {
	h := open(t)
	var tickets []queue.Ticket
	for range 6 {
		tickets = append(tickets, h.issue("personal"))
	}
	s := h.counter(1)
	h.next(s)
	for _, v := range tickets[:5] {
		h.next(s, v.ID)
	}
	a5, a6 := tickets[4], h.ticket(tickets[5].ID)
	for name, v := range map[string]verb{"recall": (*Branch).RecallTicket, "start": (*Branch).StartTicket, "complete": (*Branch).CompleteTicket,
		"no-show": (*Branch).MarkNoShow, "hold": (*Branch).HoldTicket} {
		_, err := v(h.Branch, t.Context(), h.request(), s, a5.ID)
		refused(t, err, ErrTicketMoved)
		if got := h.ticket(a6.ID); got != a6 {
			t.Errorf("%s of A005: got A006 %+v, want %+v", name, got, a6)
		}
	}
}

// Case 15.
func TestCallNextTwiceIsOneAnnouncement(t *testing.T) {
	h := open(t)
	a1 := h.issue("personal")
	h.issue("personal")
	s, r := h.counter(1), h.request()
	first := ok(h.CallNext(t.Context(), r, s, queue.TicketID{}))(t)
	h.clock.step(time.Minute)
	for range 2 {
		again := ok(h.CallNext(t.Context(), r, s, queue.TicketID{}))(t)
		if !again.Replayed || again.Ticket == nil || *again.Ticket != *first.Ticket || again.Waited != first.Waited || again.Rule != first.Rule || again.Waiting != 1 {
			t.Errorf("got %+v, want %+v again", again, first)
		}
		h.restart()
	}
	calls := 0
	for _, r := range h.records() {
		for _, o := range r.Outcomes {
			if o, ok := o.(*queue.TicketChanged); ok && o.Verb == queue.Call {
				calls++
			}
		}
	}
	if calls != 1 || h.ticket(a1.ID).Calls != 1 {
		t.Errorf("got %d calls, the ticket says %d, want 1", calls, h.ticket(a1.ID).Calls)
	}
}

// Case 39, at the branch: the same state after a second and after hours.
func TestARestartKeepsTheHall(t *testing.T) {
	h := open(t)
	var tickets []queue.Ticket
	for range 17 {
		tickets = append(tickets, h.issue("personal"))
	}
	s1, s2, s3 := h.counter(1), h.counter(2), h.counter(3)
	h.next(s1)
	h.verb((*Branch).HoldTicket, s1, tickets[0].ID)
	h.next(s1)
	h.verb((*Branch).StartTicket, s1, tickets[1].ID)
	h.next(s2)
	ok(h.PauseCounter(t.Context(), h.request(), s3, "lunch"))(t)
	before := h.state.Dump()
	for _, off := range []time.Duration{time.Second, 5 * time.Hour} {
		h.close()
		h.clock.step(off)
		h.open()
		after := h.state.Dump()
		before.Last, after.Last = 0, 0
		equal(t, after, before)
		if err := h.Expire(t.Context()); err != nil { // the leases begin anew
			t.Fatal(err)
		}
	}
	if got := h.issue("personal").Number; got != "A018" {
		t.Errorf("got %s, want A018", got)
	}
	_, err := h.CallNext(t.Context(), h.request(), s3, queue.TicketID{})
	refused(t, err, ErrCounterClosed)
	if c := h.next(s1, tickets[1].ID); c.Ticket == nil || c.Ticket.ID != tickets[3].ID {
		t.Errorf("got %+v called, want A004", c.Ticket)
	}
}
