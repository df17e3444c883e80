package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	pb "callerd/proto/callerd/v1"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
)

type fakeKiosk struct {
	pb.UnimplementedKioskServiceServer
	*fakeHall
}

type fakeConsole struct {
	pb.UnimplementedCounterServiceServer
	*fakeHall
}

type fakeBranch struct {
	pb.UnimplementedBranchServiceServer
	*fakeHall
}

func (h fakeKiosk) ListCategories(context.Context, *pb.ListCategoriesRequest) (*pb.ListCategoriesResponse, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return &pb.ListCategoriesResponse{Categories: h.categories(), Sequence: h.sequence}, nil
}

func (h fakeKiosk) IssueTicket(_ context.Context, r *pb.IssueTicketRequest) (*pb.IssueTicketResponse, error) {
	return once(h.fakeHall, r.RequestId, func(a *pb.IssueTicketResponse) *pb.IssueTicketResponse {
		t := h.byID[a.Ticket.Id]
		return &pb.IssueTicketResponse{Ticket: clone(t), Ahead: h.ahead(t), Replayed: true, Sequence: h.sequence}
	}, func() (*pb.IssueTicketResponse, error) {
		if fakePrefix[r.Category] == "" {
			return nil, h.refuse(codes.NotFound, "UNKNOWN_CATEGORY")
		}
		t := h.issue(r.Category)
		a := &pb.IssueTicketResponse{Ticket: clone(t), Ahead: h.ahead(t), Sequence: h.sequence}
		if h.due("counts wrong") {
			a.Ahead++
		}
		if h.due("answers out of order") {
			a.Sequence, a.Ticket.Version = 1, 1
		}
		return a, nil
	})
}

func (h fakeKiosk) GetTicket(_ context.Context, r *pb.GetTicketRequest) (*pb.GetTicketResponse, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	t := h.byID[r.Ticket]
	return &pb.GetTicketResponse{Ticket: clone(t), Ahead: h.ahead(t), Sequence: h.sequence}, nil
}

func (h fakeKiosk) CancelTicket(_ context.Context, r *pb.CancelTicketRequest) (*pb.CancelTicketResponse, error) {
	return once(h.fakeHall, r.RequestId, func(a *pb.CancelTicketResponse) *pb.CancelTicketResponse {
		return &pb.CancelTicketResponse{Ticket: clone(h.byID[r.Ticket]), Replayed: true, Sequence: h.sequence}
	}, func() (*pb.CancelTicketResponse, error) {
		t := h.byID[r.Ticket]
		switch t.State {
		case pb.TicketState_TICKET_STATE_WAITING, pb.TicketState_TICKET_STATE_CALLED, pb.TicketState_TICKET_STATE_HELD:
		default:
			return nil, h.refuse(codes.FailedPrecondition, "WRONG_TICKET_STATE")
		}
		h.sequence++
		var at []uint32
		for n, c := range h.counters {
			if c.current == t {
				at = []uint32{n}
			}
		}
		line := ""
		if t.State == pb.TicketState_TICKET_STATE_WAITING {
			line = t.Category
		}
		h.set(t, pb.TicketState_TICKET_STATE_CANCELLED, 0)
		h.publish(nil, at, line)
		return &pb.CancelTicketResponse{Ticket: clone(t), Sequence: h.sequence}, nil
	})
}

func clone(t *pb.Ticket) *pb.Ticket {
	if t == nil {
		return nil
	}
	return proto.Clone(t).(*pb.Ticket)
}

func (h fakeConsole) OpenCounter(_ context.Context, r *pb.OpenCounterRequest) (*pb.OpenCounterResponse, error) {
	a, err := h.open(r)
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.cheat == "loses the first openings" && err == nil && h.cheats < 8 {
		h.cheats++
		return nil, status.Error(codes.Unavailable, "the answer is lost")
	}
	return a, err
}

func (h fakeConsole) open(r *pb.OpenCounterRequest) (*pb.OpenCounterResponse, error) {
	return once(h.fakeHall, r.RequestId, func(a *pb.OpenCounterResponse) *pb.OpenCounterResponse {
		a.Replayed, a.Sequence = true, h.sequence
		return a
	}, func() (*pb.OpenCounterResponse, error) {
		c := h.counters[r.Counter]
		if c == nil {
			return nil, h.refuse(codes.NotFound, "UNKNOWN_COUNTER")
		}
		if c.open {
			return nil, h.refuse(codes.FailedPrecondition, "COUNTER_TAKEN")
		}
		h.sequence++
		c.open, c.paused, c.epoch, c.categories = true, false, c.epoch+1, r.Categories
		h.publish(nil, []uint32{r.Counter}, "")
		var held []*pb.Ticket
		for _, t := range c.held {
			held = append(held, clone(t))
		}
		return &pb.OpenCounterResponse{Held: held, Counter: h.view(r.Counter), SessionToken: fmt.Sprintf("%d/%d", r.Counter, c.epoch), Epoch: c.epoch, Lease: durationpb.New(time.Minute), Sequence: h.sequence}, nil
	})
}

// session returns the counter of a token; h.mu must be held.
func (h *fakeHall) session(token string) (*fakeCounter, uint32, error) {
	a, b, _ := strings.Cut(token, "/")
	n, _ := strconv.Atoi(a)
	epoch, _ := strconv.ParseUint(b, 10, 64)
	c := h.counters[uint32(n)]
	if c != nil && c.open && h.due("ends sessions") {
		h.endSession(c, uint32(n))
	}
	if c == nil || !c.open || c.epoch != epoch {
		return nil, 0, h.refuse(codes.FailedPrecondition, "STALE_SESSION")
	}
	return c, uint32(n), nil
}

// endSession is the end of a lease; h.mu must be held.
func (h *fakeHall) endSession(c *fakeCounter, n uint32) {
	h.sequence++
	c.open, c.paused = false, false
	line := ""
	if t := c.current; t != nil {
		if t.State == pb.TicketState_TICKET_STATE_CALLED {
			line = t.Category
			h.set(t, pb.TicketState_TICKET_STATE_WAITING, 0)
		} else {
			h.set(t, pb.TicketState_TICKET_STATE_HELD, n)
		}
	}
	h.publish(nil, []uint32{n}, line)
}

func (h fakeConsole) RenewSession(_ context.Context, r *pb.RenewSessionRequest) (*pb.RenewSessionResponse, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	_, _, err := h.session(r.SessionToken)
	return &pb.RenewSessionResponse{Sequence: h.sequence}, err
}

func (h *fakeHall) pause(token string, paused, open bool) error {
	c, n, err := h.session(token)
	if err != nil {
		return err
	}
	if !open && c.current != nil {
		return h.refuse(codes.FailedPrecondition, "COUNTER_BUSY")
	}
	h.sequence++
	c.paused, c.open = paused, open
	h.publish(nil, []uint32{n}, "")
	return nil
}

func (h fakeConsole) PauseCounter(_ context.Context, r *pb.PauseCounterRequest) (*pb.PauseCounterResponse, error) {
	return once(h.fakeHall, r.RequestId, func(*pb.PauseCounterResponse) *pb.PauseCounterResponse {
		return &pb.PauseCounterResponse{Replayed: true, Sequence: h.sequence}
	}, func() (*pb.PauseCounterResponse, error) {
		err := h.pause(r.SessionToken, true, true)
		return &pb.PauseCounterResponse{Sequence: h.sequence}, err
	})
}

func (h fakeConsole) ResumeCounter(_ context.Context, r *pb.ResumeCounterRequest) (*pb.ResumeCounterResponse, error) {
	return once(h.fakeHall, r.RequestId, func(*pb.ResumeCounterResponse) *pb.ResumeCounterResponse {
		return &pb.ResumeCounterResponse{Replayed: true, Sequence: h.sequence}
	}, func() (*pb.ResumeCounterResponse, error) {
		err := h.pause(r.SessionToken, false, true)
		return &pb.ResumeCounterResponse{Sequence: h.sequence}, err
	})
}

func (h fakeConsole) CloseCounter(_ context.Context, r *pb.CloseCounterRequest) (*pb.CloseCounterResponse, error) {
	return once(h.fakeHall, r.RequestId, func(*pb.CloseCounterResponse) *pb.CloseCounterResponse {
		return &pb.CloseCounterResponse{Replayed: true, Sequence: h.sequence}
	}, func() (*pb.CloseCounterResponse, error) {
		err := h.pause(r.SessionToken, false, false)
		return &pb.CloseCounterResponse{Sequence: h.sequence}, err
	})
}
