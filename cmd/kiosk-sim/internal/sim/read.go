package sim

import (
	"context"
	"fmt"
	"strings"

	pb "callerd/proto/callerd/v1"

	"google.golang.org/protobuf/types/known/timestamppb"

	"callerd/cmd/kiosk-sim/internal/history"
)

// read sends what only looks.
func (c *client) read(ctx context.Context, op *history.Op) error {
	switch op.Method {
	case "GetTicket":
		r, err := c.kiosk.GetTicket(ctx, &pb.GetTicketRequest{Ticket: op.Ticket})
		op.Got, op.Ahead, op.Sequence = ticket(r.GetTicket()), r.GetAhead(), r.GetSequence()
		return err
	case "ListCategories":
		r, err := c.kiosk.ListCategories(ctx, &pb.ListCategoriesRequest{})
		op.Sequence = r.GetSequence()
		op.Hall = &history.Hall{Categories: categories(r.GetCategories())}
		return err
	case "GetBranch":
		r, err := c.branch.GetBranch(ctx, &pb.GetBranchRequest{})
		b := r.GetBranch()
		op.Sequence = b.GetSequence()
		op.Hall = &history.Hall{Epoch: b.GetEpoch(), Day: b.GetBusinessDay(), Categories: categories(b.GetCategories())}
		for _, n := range b.GetCounters() {
			op.Hall.Counters = append(op.Hall.Counters, counterOf(n))
		}
		return err
	}
	r, err := c.branch.ListTickets(ctx, &pb.ListTicketsRequest{Category: op.Category, PageSize: 1000, PageToken: op.Page})
	op.Sequence, op.Tickets = r.GetSequence(), nil
	for _, t := range r.GetTickets() {
		op.Tickets = append(op.Tickets, *ticket(t))
	}
	op.NextPage = r.GetNextPageToken()
	return err
}

// readHall records all that the server has: the categories, the hall and every ticket. It is the
// base that the model starts from and the end that it must reach.
func (a *actor) readHall(ctx context.Context) (*history.Hall, error) {
	cats, err := a.look(ctx, history.Op{Method: "ListCategories"})
	if err != nil {
		return nil, err
	}
	hall, err := a.look(ctx, history.Op{Method: "GetBranch"})
	if err != nil {
		return nil, err
	}
	for _, cat := range cats.Hall.Categories {
		for page := ""; ; {
			op, err := a.look(ctx, history.Op{Method: "ListTickets", Category: cat.ID, Page: page})
			if err != nil {
				return nil, err
			}
			if page = op.NextPage; page == "" {
				break
			}
		}
	}
	hall.Hall.Categories = cats.Hall.Categories
	return hall.Hall, nil
}

// look reads what cannot be refused.
func (a *actor) look(ctx context.Context, op history.Op) (history.Op, error) {
	op, err := a.settle(ctx, op, nil)
	if err == nil && op.Outcome != history.OK {
		err = fmt.Errorf("%s: %s: %s", op.Method, op.Code, op.Message)
	}
	return op, err
}

func ticket(t *pb.Ticket) *history.Ticket {
	if t == nil {
		return nil
	}
	return &history.Ticket{
		ID: t.GetId(), Number: t.GetNumber(), Category: t.GetCategory(), State: word(t.GetState(), "TICKET_STATE_"),
		Counter: t.GetCounter(), Calls: t.GetCalls(), Version: t.GetVersion(), Priority: word(t.GetPriority(), "PRIORITY_"),
		Bound: t.GetBoundCounter(), Overtaken: t.GetOvertaken(),
		Issued: nanos(t.GetIssueTime()), Called: nanos(t.GetCallTime()), Deadline: nanos(t.GetDeadline()),
	}
}

// nanos is a time in ns, 0 when it is absent.
func nanos(t *timestamppb.Timestamp) int64 {
	if t == nil {
		return 0
	}
	return t.AsTime().UnixNano()
}

func categories(in []*pb.Category) (out []history.Category) {
	for _, c := range in {
		out = append(out, history.Category{
			ID: c.GetId(), Prefix: c.GetPrefix(), Closed: !c.GetOpen(),
			Issued: c.GetIssued(), Serving: c.GetServing(), Waiting: c.GetWaiting(),
		})
	}
	return out
}

func counterOf(n *pb.Counter) history.Counter {
	return history.Counter{
		Counter: n.GetCounter(), State: word(n.GetState(), "COUNTER_STATE_"), Number: n.GetNumber(),
		Ticket: n.GetTicket(), TicketState: word(n.GetTicketState(), "TICKET_STATE_"),
	}
}

// word turns TICKET_STATE_NO_SHOW into no_show and an unspecified one into nothing.
func word(e interface{ String() string }, prefix string) string {
	w := strings.ToLower(strings.TrimPrefix(e.String(), prefix))
	if w == "unspecified" {
		return ""
	}
	return w
}
