package main

import (
	"context"

	pb "callerd/proto/callerd/v1"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

func (h fakeConsole) CallNext(_ context.Context, r *pb.CallNextRequest) (*pb.CallNextResponse, error) {
	if h.cheat == "never answers a call" {
		return nil, status.Error(codes.Unavailable, "the answer is lost")
	}
	return once(h.fakeHall, r.RequestId, func(a *pb.CallNextResponse) *pb.CallNextResponse {
		a.Replayed, a.Sequence = true, h.sequence
		if a.Ticket != nil {
			a.Ticket = clone(h.byID[a.Ticket.Id])
		}
		if a.Completed != nil {
			a.Completed = clone(h.byID[a.Completed.Id])
		}
		return a
	}, func() (*pb.CallNextResponse, error) {
		c, n, err := h.session(r.SessionToken)
		switch {
		case err != nil:
			return nil, err
		case r.CompleteTicket != "" && (c.current == nil || c.current.Id != r.CompleteTicket):
			return nil, h.refuse(codes.Aborted, "TICKET_MOVED")
		case r.CompleteTicket == "" && c.current != nil:
			return nil, h.refuse(codes.FailedPrecondition, "COUNTER_BUSY")
		case c.paused:
			return nil, h.refuse(codes.FailedPrecondition, "COUNTER_CLOSED")
		}
		a := &pb.CallNextResponse{}
		done, t := c.current, h.next(c)
		if h.due("says nobody waits") {
			t = nil
		}
		if done != nil || t != nil {
			h.sequence++
		}
		if done != nil {
			h.set(done, pb.TicketState_TICKET_STATE_COMPLETED, n)
			a.Completed = clone(done)
		}
		if t != nil {
			h.called(t, n, a)
		} else if done != nil {
			h.publish(nil, []uint32{n}, "")
		}
		for _, category := range c.categories {
			for _, o := range h.tickets {
				if o.Category == category && o.State == pb.TicketState_TICKET_STATE_WAITING {
					a.Waiting++
				}
			}
		}
		a.Held, a.Sequence = uint32(len(c.held)), h.sequence
		return a, nil
	})
}

func (h fakeConsole) called(t *pb.Ticket, n uint32, a *pb.CallNextResponse) {
	h.set(t, pb.TicketState_TICKET_STATE_CALLED, n)
	t.Calls++
	var number uint32
	for _, digit := range t.Id[len(fakeDay)+len(t.Category)+2:] {
		number = number*10 + uint32(digit-'0')
	}
	h.serving[t.Category] = max(h.serving[t.Category], number)
	h.publish([]fakeCall{{t, false}}, []uint32{n}, t.Category)
	a.Ticket, a.Reason = clone(t), &pb.CallReason{Rule: pb.CallRule_CALL_RULE_OLDEST}
	if h.due("calls one to two counters") {
		t.State = pb.TicketState_TICKET_STATE_WAITING
	}
}

// verb does one thing to a ticket at the session's counter.
func (h *fakeHall) verb(token, ticket string, to pb.TicketState, from ...pb.TicketState) (*pb.Ticket, error) {
	c, n, err := h.session(token)
	if err != nil {
		return nil, err
	}
	t := h.byID[ticket]
	resume := len(from) == 1 && from[0] == pb.TicketState_TICKET_STATE_HELD
	heldHere := t != nil && t.State == pb.TicketState_TICKET_STATE_HELD && t.Counter == n && to == pb.TicketState_TICKET_STATE_COMPLETED
	switch {
	case t == nil:
		return nil, h.refuse(codes.NotFound, "UNKNOWN_TICKET")
	case resume && c.current != nil:
		return nil, h.refuse(codes.FailedPrecondition, "COUNTER_BUSY")
	case !resume && !heldHere && c.current == nil:
		return nil, h.refuse(codes.FailedPrecondition, "NO_CURRENT_TICKET")
	case !resume && !heldHere && c.current != t:
		return nil, h.refuse(codes.Aborted, "TICKET_MOVED")
	}
	ok := heldHere
	for _, f := range from {
		ok = ok || t.State == f
	}
	if !ok {
		return nil, h.refuse(codes.FailedPrecondition, "WRONG_TICKET_STATE")
	}
	h.sequence++
	recall := t.State == pb.TicketState_TICKET_STATE_CALLED
	at := []uint32{n}
	if heldHere {
		at = nil
	}
	h.set(t, to, n)
	var calls []fakeCall
	if to == pb.TicketState_TICKET_STATE_CALLED {
		t.Calls++
		calls = []fakeCall{{t, recall}}
	}
	h.publish(calls, at, "")
	return clone(t), nil
}

func (h fakeConsole) RecallTicket(_ context.Context, r *pb.RecallTicketRequest) (*pb.RecallTicketResponse, error) {
	return once(h.fakeHall, r.RequestId, func(*pb.RecallTicketResponse) *pb.RecallTicketResponse {
		return &pb.RecallTicketResponse{Ticket: clone(h.byID[r.Ticket]), Replayed: true, Sequence: h.sequence}
	}, func() (*pb.RecallTicketResponse, error) {
		t, err := h.verb(r.SessionToken, r.Ticket, pb.TicketState_TICKET_STATE_CALLED, pb.TicketState_TICKET_STATE_CALLED)
		return &pb.RecallTicketResponse{Ticket: t, Sequence: h.sequence}, err
	})
}

func (h fakeConsole) StartTicket(_ context.Context, r *pb.StartTicketRequest) (*pb.StartTicketResponse, error) {
	return once(h.fakeHall, r.RequestId, func(*pb.StartTicketResponse) *pb.StartTicketResponse {
		return &pb.StartTicketResponse{Ticket: clone(h.byID[r.Ticket]), Replayed: true, Sequence: h.sequence}
	}, func() (*pb.StartTicketResponse, error) {
		t, err := h.verb(r.SessionToken, r.Ticket, pb.TicketState_TICKET_STATE_SERVING, pb.TicketState_TICKET_STATE_CALLED)
		return &pb.StartTicketResponse{Ticket: t, Sequence: h.sequence}, err
	})
}

func (h fakeConsole) CompleteTicket(_ context.Context, r *pb.CompleteTicketRequest) (*pb.CompleteTicketResponse, error) {
	return once(h.fakeHall, r.RequestId, func(*pb.CompleteTicketResponse) *pb.CompleteTicketResponse {
		return &pb.CompleteTicketResponse{Ticket: clone(h.byID[r.Ticket]), Replayed: true, Sequence: h.sequence}
	}, func() (*pb.CompleteTicketResponse, error) {
		t, err := h.verb(r.SessionToken, r.Ticket, pb.TicketState_TICKET_STATE_COMPLETED, pb.TicketState_TICKET_STATE_CALLED, pb.TicketState_TICKET_STATE_SERVING)
		return &pb.CompleteTicketResponse{Ticket: t, Sequence: h.sequence}, err
	})
}

func (h fakeConsole) MarkNoShow(_ context.Context, r *pb.MarkNoShowRequest) (*pb.MarkNoShowResponse, error) {
	return once(h.fakeHall, r.RequestId, func(*pb.MarkNoShowResponse) *pb.MarkNoShowResponse {
		return &pb.MarkNoShowResponse{Ticket: clone(h.byID[r.Ticket]), Replayed: true, Sequence: h.sequence}
	}, func() (*pb.MarkNoShowResponse, error) {
		t, err := h.verb(r.SessionToken, r.Ticket, pb.TicketState_TICKET_STATE_NO_SHOW, pb.TicketState_TICKET_STATE_CALLED)
		return &pb.MarkNoShowResponse{Ticket: t, Sequence: h.sequence}, err
	})
}

func (h fakeConsole) HoldTicket(_ context.Context, r *pb.HoldTicketRequest) (*pb.HoldTicketResponse, error) {
	return once(h.fakeHall, r.RequestId, func(*pb.HoldTicketResponse) *pb.HoldTicketResponse {
		return &pb.HoldTicketResponse{Ticket: clone(h.byID[r.Ticket]), Replayed: true, Sequence: h.sequence}
	}, func() (*pb.HoldTicketResponse, error) {
		t, err := h.verb(r.SessionToken, r.Ticket, pb.TicketState_TICKET_STATE_HELD, pb.TicketState_TICKET_STATE_CALLED, pb.TicketState_TICKET_STATE_SERVING)
		return &pb.HoldTicketResponse{Ticket: t, Sequence: h.sequence}, err
	})
}

func (h fakeConsole) ResumeTicket(_ context.Context, r *pb.ResumeTicketRequest) (*pb.ResumeTicketResponse, error) {
	return once(h.fakeHall, r.RequestId, func(*pb.ResumeTicketResponse) *pb.ResumeTicketResponse {
		return &pb.ResumeTicketResponse{Ticket: clone(h.byID[r.Ticket]), Replayed: true, Sequence: h.sequence}
	}, func() (*pb.ResumeTicketResponse, error) {
		t, err := h.verb(r.SessionToken, r.Ticket, pb.TicketState_TICKET_STATE_CALLED, pb.TicketState_TICKET_STATE_HELD)
		return &pb.ResumeTicketResponse{Ticket: t, Sequence: h.sequence}, err
	})
}

func (h fakeBranch) GetBranch(context.Context, *pb.GetBranchRequest) (*pb.GetBranchResponse, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	b := &pb.Branch{Epoch: "fake", Sequence: h.sequence, BusinessDay: fakeDay, Categories: h.categories()}
	for n := range h.counters {
		b.Counters = append(b.Counters, h.view(n))
	}
	return &pb.GetBranchResponse{Branch: b}, nil
}

func (h fakeBranch) ListTickets(_ context.Context, r *pb.ListTicketsRequest) (*pb.ListTicketsResponse, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	a := &pb.ListTicketsResponse{Sequence: h.sequence}
	for _, t := range h.tickets {
		if t.Category == r.Category {
			a.Tickets = append(a.Tickets, clone(t))
		}
	}
	if len(a.Tickets) > 0 && h.cheat == "loses a ticket" {
		a.Tickets = a.Tickets[:len(a.Tickets)-1]
	}
	return a, nil
}
