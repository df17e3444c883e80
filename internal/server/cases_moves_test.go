package server

import (
	"testing"
	"time"

	"callerd/internal/branch"
	"callerd/internal/queue"
	pb "callerd/proto/callerd/v1"
)

// Case 19: recalls are limited: one more is refused, or makes a no-show; and a no-show has its time, told in seconds.
func TestRecallsAndNoShowsHaveTheirLimits(t *testing.T) {
	t.Parallel()
	for _, toNoShow := range []bool{false, true} {
		r, clock := ruled(t, branch.Policy{MaxRecalls: 3, NoShowAtLimit: toNoShow, MinCalls: 2, MinWait: 30 * time.Second})
		token := r.open(t, 1, 1)
		r.issue(t, 2, "personal")
		id := r.call(t, 3, token).Ticket.Id
		n := 10
		recall := func() (*pb.RecallTicketResponse, error) {
			n++
			return r.counter.RecallTicket(t.Context(), &pb.RecallTicketRequest{RequestId: requestID(n), SessionToken: token, Ticket: id})
		}
		noShow := func() (*pb.MarkNoShowResponse, error) {
			n++
			return r.counter.MarkNoShow(t.Context(), &pb.MarkNoShowRequest{RequestId: requestID(n), SessionToken: token, Ticket: id})
		}
		clock.step(12*time.Second + 500*time.Millisecond)
		if _, err := noShow(); reasonOf(err) != "NO_SHOW_TOO_EARLY" || refused(err).info.Metadata["seconds_left"] != "18" {
			t.Errorf("got %v %v, want NO_SHOW_TOO_EARLY with 18 s left", err, refused(err).info)
		}
		clock.step(18 * time.Second)
		if _, err := noShow(); reasonOf(err) != "NO_SHOW_TOO_EARLY" || refused(err).info.Metadata["seconds_left"] != "0" {
			t.Errorf("got %v %v, want too few calls", err, refused(err).info)
		}
		for range 3 {
			if _, err := recall(); err != nil {
				t.Fatal(err)
			}
		}
		v, err := recall()
		if toNoShow && (err != nil || v.Ticket.State != pb.TicketState_TICKET_STATE_NO_SHOW) {
			t.Errorf("got %v, %v, want a no-show", v, err)
		}
		if !toNoShow && reasonOf(err) != "RECALL_LIMIT" {
			t.Errorf("got %v, want RECALL_LIMIT", err)
		}
		if !toNoShow {
			if _, err := noShow(); err != nil {
				t.Error(err)
			}
		}
	}
}

// Case 20: a counter with a current ticket is not closed, unless it is said what becomes of it.
func TestALogoutWithACurrentTicketSaysWhatBecomesOfIt(t *testing.T) {
	t.Parallel()
	r := start(t, Options{})
	n := 0
	id := func() string { n++; return requestID(n) }
	for current, want := range map[pb.CloseCurrent]string{pb.CloseCurrent_CLOSE_CURRENT_REQUEUE: "WAITING", pb.CloseCurrent_CLOSE_CURRENT_HOLD: "HELD"} {
		token := mustOpen(t, r, id(), 1)
		n++
		r.issue(t, n, "personal")
		n++
		ticket := r.call(t, n, token).Ticket
		if _, err := r.counter.CloseCounter(t.Context(), &pb.CloseCounterRequest{RequestId: id(), SessionToken: token}); reasonOf(err) != "COUNTER_BUSY" || refused(err).info.Metadata["current_ticket"] != ticket.Id {
			t.Errorf("got %v, want COUNTER_BUSY with the ticket", err)
		}
		if _, err := r.counter.CloseCounter(t.Context(), &pb.CloseCounterRequest{RequestId: id(), SessionToken: token, Current: current}); err != nil {
			t.Error(err)
		}
		v, err := r.kiosk.GetTicket(t.Context(), &pb.GetTicketRequest{Ticket: ticket.Id})
		if err != nil || v.Ticket.State.String() != "TICKET_STATE_"+want || v.Ahead != 0 {
			t.Errorf("%v: got %v, %v, want %s", current, v, err, want)
		}
		if _, err := r.kiosk.CancelTicket(t.Context(), &pb.CancelTicketRequest{RequestId: id(), Ticket: ticket.Id}); err != nil {
			t.Error(err)
		}
	}
}

// Case 25: a transfer goes where it says, keeps the number, and frees the counter.
func TestATransferGoesWhereItSays(t *testing.T) {
	t.Parallel()
	for where, want := range map[pb.Where]uint32{0: 4, pb.Where_WHERE_BACK: 4, pb.Where_WHERE_FRONT: 0, pb.Where_WHERE_AFTER: 2, pb.Where_WHERE_BY_ISSUE: 1} {
		r := start(t, Options{})
		r.issue(t, 1, "corporate")
		ticket := r.issue(t, 2, "personal").Ticket // between the first of the other line and the rest
		for n := range 3 {
			r.issue(t, 3+n, "corporate")
		}
		token := r.open(t, 10, 1)
		if _, err := r.counter.CallTicket(t.Context(), &pb.CallTicketRequest{RequestId: requestID(11), SessionToken: token, Ticket: ticket.Id}); err != nil {
			t.Fatal(err)
		}
		after := uint32(0)
		if where == pb.Where_WHERE_AFTER {
			after = 2
		}
		v, err := r.counter.TransferTicket(t.Context(), &pb.TransferTicketRequest{RequestId: requestID(12), SessionToken: token, Ticket: ticket.Id,
			To: &pb.TransferTicketRequest_Category{Category: "corporate"}, Where: where, After: after})
		if err != nil {
			t.Fatal(err)
		}
		if v.Ahead != want || v.Ticket.Number != "A001" || v.Ticket.Category != "corporate" || v.Ticket.OriginCategory != "personal" {
			t.Errorf("%v: got %v, want A001 behind %d in corporate", where, v, want)
		}
		var order []string
		current := ""
		for n := range 5 {
			c, err := r.counter.CallNext(t.Context(), &pb.CallNextRequest{RequestId: requestID(20 + n), SessionToken: token, CompleteTicket: current})
			if err != nil {
				t.Fatal(err)
			}
			current = c.Ticket.GetId()
			order = append(order, c.Ticket.GetNumber())
		}
		if order[want] != "A001" {
			t.Errorf("%v: got the order %v, want A001 at place %d", where, order, want)
		}
	}
}

// A ticket transferred to a counter is called by that one only, before all others; the counter closes and it is in its line.
func TestATicketForOneCounterIsCalledThereOrGoesBackToItsLine(t *testing.T) {
	t.Parallel()
	r := start(t, Options{})
	one, two := r.open(t, 1, 1), r.open(t, 2, 2)
	r.issue(t, 3, "personal")
	second := r.issue(t, 4, "personal").Ticket.Id
	to := func(n int, counter uint32) (*pb.TransferTicketResponse, error) {
		return r.counter.TransferTicket(t.Context(), &pb.TransferTicketRequest{RequestId: requestID(n), SessionToken: one, Ticket: second, To: &pb.TransferTicketRequest_Counter{Counter: counter}})
	}
	if _, err := to(5, 4); reasonOf(err) != "COUNTER_CLOSED" {
		t.Errorf("got %v, want COUNTER_CLOSED: nobody is there", err)
	}
	if _, err := to(6, 9); reasonOf(err) != "UNKNOWN_COUNTER" {
		t.Errorf("got %v, want UNKNOWN_COUNTER", err)
	}
	if v, err := to(7, 2); err != nil || v.Ticket.BoundCounter != 2 {
		t.Fatalf("got %v, %v, want it bound to counter 2", v, err)
	}
	if _, err := r.counter.CallTicket(t.Context(), &pb.CallTicketRequest{RequestId: requestID(8), SessionToken: one, Ticket: second}); reasonOf(err) != "TICKET_MOVED" {
		t.Errorf("got %v, want TICKET_MOVED: it waits for another counter", err)
	}
	if _, err := r.counter.CloseCounter(t.Context(), &pb.CloseCounterRequest{RequestId: requestID(9), SessionToken: two}); err != nil {
		t.Fatal(err)
	}
	if v, err := r.kiosk.GetTicket(t.Context(), &pb.GetTicketRequest{Ticket: second}); err != nil || v.Ticket.BoundCounter != 0 || v.Ahead != 1 {
		t.Errorf("got %v, %v, want it second in its line again", v, err)
	}
	two = mustOpen(t, r, requestID(10), 2)
	if _, err := to(11, 2); err != nil {
		t.Fatal(err)
	}
	c := r.call(t, 12, two)
	if c.Ticket.GetId() != second || c.Reason.Rule != pb.CallRule_CALL_RULE_BOUND {
		t.Errorf("got %v, want A002 because it was bound", c)
	}
	if len(c.Reason.PassedOver) != 1 || c.Reason.PassedOver[0].Count != 1 {
		t.Errorf("got %v, want A001 told to be passed over", c.Reason)
	}
}

// Case 26: a no-show comes back within its time to where the policy says, and too late not at all.
func TestANoShowComesBackInTimeOnly(t *testing.T) {
	t.Parallel()
	r, clock := ruled(t, branch.Policy{RequeueWithin: 10 * time.Minute, RequeueTo: queue.After, RequeueAfter: 1})
	n := 100
	id := func() string { n++; return requestID(n) }
	token := r.open(t, 1, 1)
	var tickets []string
	for range 2 {
		n++
		r.issue(t, n, "personal")
		n++
		ticket := r.call(t, n, token).Ticket.Id
		if _, err := r.counter.MarkNoShow(t.Context(), &pb.MarkNoShowRequest{RequestId: id(), SessionToken: token, Ticket: ticket}); err != nil {
			t.Fatal(err)
		}
		tickets = append(tickets, ticket)
	}
	for range 3 {
		n++
		r.issue(t, n, "personal")
	}
	requeue := func(ticket string) (*pb.RequeueTicketResponse, error) {
		return r.counter.RequeueTicket(t.Context(), &pb.RequeueTicketRequest{RequestId: id(), SessionToken: token, Ticket: ticket})
	}
	clock.step(9 * time.Minute)
	if v, err := requeue(tickets[0]); err != nil || v.Ahead != 1 || v.Ticket.Number != "A001" {
		t.Errorf("got %v, %v, want A001 behind one", v, err)
	}
	clock.step(time.Minute)
	if _, err := requeue(tickets[1]); reasonOf(err) != "REQUEUE_TOO_LATE" {
		t.Errorf("got %v, want REQUEUE_TOO_LATE", err)
	}
	if err := r.b.Expire(t.Context()); err != nil {
		t.Fatal(err)
	}
	if v, err := r.kiosk.GetTicket(t.Context(), &pb.GetTicketRequest{Ticket: tickets[1]}); err != nil || v.Ticket.State != pb.TicketState_TICKET_STATE_EXPIRED {
		t.Errorf("got %v, %v, want it expired", v, err)
	}
}
