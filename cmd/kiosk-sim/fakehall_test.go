package main

import (
	"fmt"
	"slices"
	"sync"

	pb "callerd/proto/callerd/v1"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

// fakeHall is a hall in memory under one mutex, as simple as can be, so that the simulator can be tried
// without a daemon, and with one that cheats: break names what it does wrong.
type fakeHall struct {
	mu       sync.Mutex
	cheat    string
	sequence uint64
	tickets  []*pb.Ticket // by entry
	byID     map[string]*pb.Ticket
	issued   map[string]uint32
	serving  map[string]uint32
	counters map[uint32]*fakeCounter
	replies  map[string]proto.Message
	frames   []fakeFrame // the hall's stream
	changed  chan struct{}
	cheats   int
}

type fakeCounter struct {
	open, paused bool
	epoch        uint64
	categories   []string
	current      *pb.Ticket
	held         []*pb.Ticket
}

const fakeDay = "2026-11-30"

func newFakeHall(counters uint32, cheat string) *fakeHall {
	h := &fakeHall{cheat: cheat, sequence: 1, byID: map[string]*pb.Ticket{}, issued: map[string]uint32{}, serving: map[string]uint32{},
		counters: map[uint32]*fakeCounter{}, replies: map[string]proto.Message{}, changed: make(chan struct{})}
	for n := range counters {
		h.counters[n+1] = &fakeCounter{}
	}
	return h
}

var fakePrefix = map[string]string{"personal": "A", "corporate": "B"}

func (h *fakeHall) categories() (out []*pb.Category) {
	for _, id := range []string{"personal", "corporate"} {
		c := &pb.Category{Id: id, Prefix: fakePrefix[id], Open: true, Issued: h.issued[id], Serving: h.serving[id]}
		for _, t := range h.tickets {
			if t.Category == id && t.State == pb.TicketState_TICKET_STATE_WAITING {
				c.Waiting++
			}
		}
		out = append(out, c)
	}
	return out
}

// once returns what the request did before, or does it and remembers it.
func once[R proto.Message](h *fakeHall, id string, again func(R) R, do func() (R, error)) (R, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if r, ok := h.replies[id]; ok && h.cheat != "forgets requests" {
		return again(proto.Clone(r).(R)), nil
	}
	before := h.sequence
	r, err := do()
	if err == nil && h.sequence > before {
		h.replies[id] = proto.Clone(r)
	}
	if h.due("loses answers") {
		return r, status.Error(codes.Unavailable, "the answer is lost")
	}
	return r, err
}

func (h *fakeHall) refuse(code codes.Code, reason string) error {
	st, err := status.New(code, reason).WithDetails(&errdetails.ErrorInfo{Reason: reason, Domain: "callerd", Metadata: map[string]string{"sequence": fmt.Sprint(h.sequence)}})
	if err != nil {
		panic(err)
	}
	return st.Err()
}

// once in a while a cheat is due.
func (h *fakeHall) due(cheat string) bool {
	if h.cheat != cheat {
		return false
	}
	h.cheats++
	return h.cheats%20 == 19
}

func (h *fakeHall) issue(category string) *pb.Ticket {
	h.sequence++
	h.issued[category]++
	n := h.issued[category]
	if h.due("skips a number") {
		h.issued[category]++
		n++
	}
	t := &pb.Ticket{Id: fmt.Sprintf("%s/%s/%d", fakeDay, category, n), Number: fmt.Sprintf("%s%03d", fakePrefix[category], n), Category: category, OriginCategory: category, State: pb.TicketState_TICKET_STATE_WAITING, Version: h.sequence}
	if h.due("gives a number twice") {
		t.Number = fmt.Sprintf("%s%03d", fakePrefix[category], n-1)
	}
	h.tickets = append(h.tickets, t)
	h.byID[t.Id] = t
	h.publish(nil, nil, category)
	return t
}

func (h *fakeHall) ahead(t *pb.Ticket) (n uint32) {
	for _, o := range h.tickets {
		if o == t || t.State != pb.TicketState_TICKET_STATE_WAITING {
			return n
		}
		if o.Category == t.Category && o.State == pb.TicketState_TICKET_STATE_WAITING {
			n++
		}
	}
	return n
}

// next takes the oldest waiting ticket of the counter's categories.
func (h *fakeHall) next(c *fakeCounter) *pb.Ticket {
	var found []*pb.Ticket
	for _, t := range h.tickets {
		if t.State == pb.TicketState_TICKET_STATE_WAITING && slices.Contains(c.categories, t.Category) {
			if found = append(found, t); len(found) == 2 {
				break
			}
		}
	}
	switch {
	case len(found) == 0:
		return nil
	case len(found) == 2 && h.due("overtakes"):
		return found[1]
	}
	return found[0]
}

// set changes a ticket in a record of its own or in the one just begun.
func (h *fakeHall) set(t *pb.Ticket, state pb.TicketState, counter uint32) {
	for _, c := range h.counters {
		if c.current == t {
			c.current = nil
		}
		c.held = slices.DeleteFunc(c.held, func(o *pb.Ticket) bool { return o == t })
	}
	t.State, t.Version = state, h.sequence
	switch state {
	case pb.TicketState_TICKET_STATE_CALLED, pb.TicketState_TICKET_STATE_SERVING:
		t.Counter, h.counters[counter].current = counter, t
	case pb.TicketState_TICKET_STATE_HELD:
		h.counters[counter].held = append(h.counters[counter].held, t)
	}
}
