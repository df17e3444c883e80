package main

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/grpc"

	pb "callerd/proto/callerd/v1"
)

// verify holds what the daemon says against what everybody in the hall knows. Nobody may be waiting for an answer.
func (h *hall) verify(conn *grpc.ClientConn) {
	h.t.Helper()
	tickets := h.list(conn)
	h.complete(tickets)
	r, err := pb.NewBranchServiceClient(conn).GetBranch(h.t.Context(), &pb.GetBranchRequest{})
	if err != nil {
		h.t.Fatal(err)
	}
	if r.Branch.Sequence < h.highest {
		h.t.Errorf("the branch is at sequence %d, a reply was at %d", r.Branch.Sequence, h.highest)
	}
	for _, p := range h.tellers {
		if err := p.verify(r.Branch.Counters[p.counter-1], tickets); err != nil {
			h.t.Errorf("counter %d: %v", p.counter, err)
		}
	}
}

// list asks for all tickets.
func (h *hall) list(conn *grpc.ClientConn) map[string]*pb.Ticket {
	h.t.Helper()
	all := map[string]*pb.Ticket{}
	for page := ""; ; {
		r, err := pb.NewBranchServiceClient(conn).ListTickets(h.t.Context(), &pb.ListTicketsRequest{PageSize: 1000, PageToken: page})
		if err != nil {
			h.t.Fatal(err)
		}
		for _, ticket := range r.Tickets {
			if all[ticket.Id] != nil {
				h.t.Errorf("ticket %s is listed twice", ticket.Id)
			}
			all[ticket.Id] = ticket
		}
		if page = r.NextPageToken; page == "" {
			return all
		}
	}
}

// complete checks that the tickets are exactly those that were handed out, and that no series has a gap.
func (h *hall) complete(tickets map[string]*pb.Ticket) {
	h.t.Helper()
	for id, number := range h.numbers {
		if got := tickets[id]; got == nil {
			h.t.Errorf("ticket %s, %s, was handed out and is gone", id, number)
		} else if got.Number != number {
			h.t.Errorf("ticket %s was handed out as %s and is %s now", id, number, got.Number)
		}
	}
	series := map[string][]int{}
	for id, ticket := range tickets {
		if h.numbers[id] == "" {
			h.t.Errorf("ticket %s, %s, is there and was handed out to nobody", id, ticket.Number)
		}
		slash := strings.LastIndexByte(id, '/')
		n, err := strconv.Atoi(id[slash+1:])
		if err != nil {
			h.t.Fatal(err)
		}
		series[id[:slash]] = append(series[id[:slash]], n)
	}
	for _, name := range slices.Sorted(maps.Keys(series)) {
		ns := series[name]
		slices.Sort(ns)
		for i, n := range ns {
			if n != i+1 {
				h.t.Errorf("%s: number %d is where %d should be", name, n, i+1)
				break
			}
		}
	}
}

// verify checks that the counter and the tickets at it are as the teller left them.
func (p *teller) verify(got *pb.Counter, tickets map[string]*pb.Ticket) error {
	state := pb.CounterState_COUNTER_STATE_OPEN
	switch {
	case p.token == "":
		state = pb.CounterState_COUNTER_STATE_CLOSED
	case p.paused:
		state = pb.CounterState_COUNTER_STATE_PAUSED
	}
	if got.State != state {
		return fmt.Errorf("it is %v, want %v", got.State, state)
	}
	if got.Ticket != p.current.GetId() || got.TicketState != p.current.GetState() {
		return fmt.Errorf("it has %q %v, want %q %v", got.Ticket, got.TicketState, p.current.GetId(), p.current.GetState())
	}
	held := 0
	for _, ticket := range tickets {
		if ticket.State == pb.TicketState_TICKET_STATE_HELD && ticket.Counter == p.counter {
			held++
		}
	}
	for _, id := range p.held {
		if ticket := tickets[id]; ticket.GetState() != pb.TicketState_TICKET_STATE_HELD || ticket.Counter != p.counter {
			return fmt.Errorf("ticket %s is %v at counter %d, want it held here", id, ticket.GetState(), ticket.GetCounter())
		}
	}
	if held != len(p.held) {
		return fmt.Errorf("%d tickets are held, want %d", held, len(p.held))
	}
	return nil
}
