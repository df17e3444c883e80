package branch

import (
	"slices"
	"testing"
	"time"

	"callerd/internal/queue"
)

// Case 25.
func TestATransferGoesWhereItSays(t *testing.T) {
	for _, test := range []struct {
		name string
		to   Place
		want []string
	}{
		{"to the front", Place{Where: queue.Front}, []string{"A001", "B001", "B002", "B003"}},
		{"to the back", Place{Where: queue.Back}, []string{"B001", "B002", "B003", "A001"}},
		{"nothing said is the back", Place{}, []string{"B001", "B002", "B003", "A001"}},
		{"behind two", Place{Where: queue.After, After: 2}, []string{"B001", "B002", "A001", "B003"}},
		{"behind more than there are", Place{Where: queue.After, After: 9}, []string{"B001", "B002", "B003", "A001"}},
		{"by its issue", Place{Where: queue.ByIssue}, []string{"B001", "A001", "B002", "B003"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := with(t, Policy{})
			h.issue("corporate")
			a1 := h.issue("personal")
			h.issue("corporate")
			h.issue("corporate")
			s := h.rule(1, queue.Oldest, nil, "personal")
			h.next(s)
			h.verb((*Branch).StartTicket, s, a1.ID)
			r := h.transfer(s, TransferRequest{Ticket: a1.ID, Category: "corporate", Place: test.to})
			if v := r.Ticket; v.Number != "A001" || v.Category != "corporate" || v.ID != a1.ID || test.want[r.Ahead] != "A001" {
				t.Errorf("got %+v with %d ahead, want A001 in %v", v, r.Ahead, test.want)
			}
			if got := h.next(s); got.Ticket != nil {
				t.Errorf("got %+v, want the counter free and its line empty", got.Ticket)
			}
			h.restart()
			same(t, h.serve(h.rule(2, queue.Oldest, nil, "corporate")), test.want...)
		})
	}
}

// Case 25, to one counter: it calls those first, nobody else does, and they keep their places when it closes.
func TestATransferToACounterWaitsForThatOne(t *testing.T) {
	h := with(t, Policy{})
	a1, a2, a3 := h.issue("personal"), h.issue("personal"), h.issue("personal")
	s1, s2 := h.counter(1), h.counter(2)
	if _, err := h.TransferTicket(t.Context(), TransferRequest{Request: h.request(), Ticket: a2.ID, Counter: 3}, s1); err == nil {
		t.Error("got a transfer to a closed counter")
	}
	r := h.transfer(s1, TransferRequest{Ticket: a2.ID, Counter: 2})
	if r.Ticket.Bound != 2 || r.Ticket.State != queue.Waiting || r.Ahead != 0 {
		t.Errorf("got %+v, want it bound to counter 2", r.Ticket)
	}
	_, err := h.CallTicket(t.Context(), h.request(), s1, a2.ID, queue.TicketID{})
	refused(t, err, ErrTicketMoved)
	if got := h.next(s2); got.Ticket.ID != a2.ID || got.Rule != queue.Bound {
		t.Errorf("got %+v, want A002 for its counter", got)
	}
	h.transfer(s2, TransferRequest{Ticket: a2.ID, Counter: 2})
	h.transfer(s2, TransferRequest{Ticket: a1.ID, Counter: 2, Place: Place{Where: queue.ByIssue}})
	ok(h.CloseCounter(t.Context(), h.request(), s2, 0))(t)
	for _, v := range []queue.Ticket{a1, a2, a3} {
		if got := h.ticket(v.ID); got.Bound != 0 || got.State != queue.Waiting {
			t.Errorf("got %+v, want it in its line", got)
		}
	}
	h.restart()
	same(t, h.serve(s1), "A001", "A003", "A002") // A002 entered anew when it was sent on
}

// Case 26.
func TestANoShowMayComeBackForAWhile(t *testing.T) {
	h := with(t, Policy{RequeueWithin: 5 * time.Minute, RequeueNumbers: 3, RequeueTo: queue.After, RequeueAfter: 1})
	s := h.counter(1)
	var tickets []queue.Ticket
	for range 8 {
		tickets = append(tickets, h.issue("personal"))
	}
	h.next(s)
	h.verb((*Branch).MarkNoShow, s, tickets[0].ID)
	h.clock.step(5*time.Minute - 1)
	r := ok(h.RequeueTicket(t.Context(), h.request(), s, tickets[0].ID, Place{}))(t)
	if r.Ticket.State != queue.Waiting || r.Ahead != 1 || r.Ticket.Number != "A001" {
		t.Errorf("got %+v with %d ahead, want A001 behind one", r.Ticket, r.Ahead)
	}
	h.next(s) // A002
	h.verb((*Branch).MarkNoShow, s, tickets[1].ID)
	h.clock.step(5 * time.Minute)
	_, err := h.RequeueTicket(t.Context(), h.request(), s, tickets[1].ID, Place{})
	refused(t, err, ErrRequeueTooLate)
	h.expire()
	if got := h.ticket(tickets[1].ID).State; got != queue.Expired {
		t.Errorf("got %v after its time, want EXPIRED", got)
	}
	h.next(s) // A001 again
	last := h.next(s, tickets[0].ID).Ticket
	h.verb((*Branch).MarkNoShow, s, last.ID) // A003
	for range 4 {
		n := h.next(s).Ticket
		h.verb((*Branch).CompleteTicket, s, n.ID)
	}
	_, err = h.RequeueTicket(t.Context(), h.request(), s, last.ID, Place{})
	refused(t, err, ErrRequeueTooLate)
}

// Case 27.
func TestAHeldTicketIsNeverCalledNext(t *testing.T) {
	h := with(t, Policy{HeldWithin: time.Hour})
	a1 := h.issue("personal")
	s := h.counter(1)
	h.next(s)
	h.verb((*Branch).HoldTicket, s, a1.ID)
	if got := h.next(s); got.Ticket != nil || got.Held != 1 {
		t.Errorf("got %+v, want nobody and one held", got)
	}
	s2 := h.counter(2)
	if got := h.verb((*Branch).ResumeTicket, s2, a1.ID); got.Counter != 2 || got.Calls != 2 {
		t.Errorf("got %+v, want it taken up at counter 2", got)
	}
	h.verb((*Branch).HoldTicket, s2, a1.ID)
	h.clock.step(time.Hour)
	h.expire()
	if got := h.ticket(a1.ID).State; got != queue.Expired {
		t.Errorf("got %v after an hour, want EXPIRED", got)
	}
}

// Between two tickets there is room for some; then those of that entry get new keys, in the same places, the ticket that is
// moved within its own line among them.
func TestThereIsAlwaysRoomBetweenTwo(t *testing.T) {
	h := with(t, Policy{})
	s := h.counter(1)
	h.issue("personal")
	h.issue("personal")
	want := []string{"A001", "A002"}
	for range 70 {
		b := h.issue("corporate")
		h.transfer(s, TransferRequest{Ticket: b.ID, Category: "personal", Place: Place{Where: queue.After, After: 1}})
		want = slices.Insert(want, 1, b.Number)
	}
	renumbered := 0
	for n := range 200 { // the third again and again to the second place, the head now and then behind it
		line := ids(h.state.sets.Load().byCategory["personal"].Lane(queue.RegularLane))
		from, to := 2, uint32(1)
		if n%7 == 0 {
			from = 0
		}
		r := h.transfer(s, TransferRequest{Ticket: line[from], Category: "personal", Place: Place{Where: queue.After, After: to}})
		v := want[from]
		want = slices.Insert(slices.Delete(want, from, from+1), 1, v)
		if r.Ahead != 1 {
			t.Fatalf("got %d ahead, want 1", r.Ahead)
		}
	}
	for _, rec := range h.records() {
		if o, is := rec.Outcomes[0].(*queue.TicketChanged); is && len(o.Renumbered) > 0 {
			renumbered++
		}
	}
	if renumbered < 3 {
		t.Errorf("got %d records that renumber, want some", renumbered)
	}
	h.restart()
	same(t, h.serve(h.rule(2, queue.Oldest, nil, "personal")), want...)
}

// A counter closes while tickets wait for it whose keys others have in the line that they go to.
func TestTicketsOfAClosingCounterFindPlacesOfTheirOwn(t *testing.T) {
	h := with(t, Policy{})
	s, s2 := h.counter(1), h.counter(2)
	a := []queue.Ticket{h.issue("personal"), h.issue("personal"), h.issue("personal"), h.issue("personal")}
	h.transfer(s, TransferRequest{Ticket: a[2].ID, Counter: 2})                                             // alone there: a new entry
	h.transfer(s, TransferRequest{Ticket: a[3].ID, Counter: 2, Place: Place{Where: queue.After, After: 1}}) // a new entry behind it
	b := h.issue("corporate")
	h.transfer(s, TransferRequest{Ticket: b.ID, Category: "personal", Place: Place{Where: queue.Front}})
	h.transfer(s, TransferRequest{Ticket: a[2].ID, Counter: 2, Place: Place{Where: queue.ByIssue}})
	h.transfer(s, TransferRequest{Ticket: a[1].ID, Counter: 2, Place: Place{Where: queue.Front}}) // the key of A002 itself
	c := h.issue("corporate")
	h.transfer(s, TransferRequest{Ticket: c.ID, Category: "personal", Place: Place{Where: queue.After, After: 2}})
	h.transfer(s, TransferRequest{Ticket: c.ID, Category: "personal", Place: Place{Where: queue.Front}})
	own := ids(h.state.sets.Load().byCounter[2].Own())
	ok(h.CloseCounter(t.Context(), h.request(), s2, 0))(t)
	var back []queue.TicketID
	for _, id := range ids(h.state.sets.Load().byCategory["personal"].Lane(queue.RegularLane)) {
		if slices.Contains(own, id) {
			back = append(back, id)
		}
	}
	if len(own) != 3 || !slices.Equal(back, own) {
		t.Errorf("got %v back in the line, want %v in that order", back, own)
	}
	h.restart()
}
