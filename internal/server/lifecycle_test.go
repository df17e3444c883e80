package server

import (
	"fmt"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"callerd/internal/branch"
	pb "callerd/proto/callerd/v1"
)

// lives are the rows of the table: how a ticket gets into each state, at counter 1 if at one. The names are those of the
// public states.
var lives = []struct {
	state string
	reach func(*life)
}{
	{"RESERVED", func(l *life) { l.issue(true) }},
	{"WAITING", func(l *life) { l.issue(false) }},
	{"CALLED", func(l *life) { l.issue(false); l.must("call") }},
	{"SERVING", func(l *life) { l.issue(false); l.must("call", "start") }},
	{"HELD", func(l *life) { l.issue(false); l.must("call", "hold") }},
	{"NO_SHOW", func(l *life) { l.issue(false); l.must("call", "no-show") }},
	{"COMPLETED", func(l *life) { l.issue(false); l.must("call", "complete") }},
	{"CANCELLED", func(l *life) { l.issue(false); l.must("cancel") }},
	{"EXPIRED", func(l *life) { l.issue(true); l.must("expire") }},
}

// verbs are the columns of the table.
var verbs = []string{"call", "recall", "start", "complete", "no-show", "requeue", "hold", "resume", "transfer", "cancel", "check in", "expire"}

const none = "NO_CURRENT_TICKET"

// cells is the table of the design: what each verb leads to. "-" is refused with WRONG_TICKET_STATE; a reason of its own is
// what the order of refusal puts before it: a verb on the current ticket finds none.
var cells = map[string][]string{
	"RESERVED":  {"-", none, none, none, none, "-", none, "-", "-", "CANCELLED", "WAITING", "EXPIRED"},
	"WAITING":   {"CALLED", none, none, none, none, "-", none, "-", "WAITING", "CANCELLED", "-", "EXPIRED"},
	"CALLED":    {"COUNTER_BUSY", "CALLED", "SERVING", "COMPLETED", "NO_SHOW", "WAITING", "HELD", "COUNTER_BUSY", "WAITING", "CANCELLED", "-", "EXPIRED"},
	"SERVING":   {"COUNTER_BUSY", "-", "-", "COMPLETED", "-", "WAITING", "HELD", "COUNTER_BUSY", "WAITING", "-", "-", "SERVING"},
	"HELD":      {"-", none, none, "COMPLETED", none, "WAITING", none, "CALLED", "WAITING", "CANCELLED", "-", "EXPIRED"},
	"NO_SHOW":   {"-", none, none, none, none, "WAITING", none, "-", "-", "-", "-", "EXPIRED"},
	"COMPLETED": {"-", none, none, none, none, "-", none, "-", "-", "-", "-", "COMPLETED"},
	"CANCELLED": {"-", none, none, none, none, "-", none, "-", "-", "-", "-", "CANCELLED"},
	"EXPIRED":   {"-", none, none, none, none, "-", none, "-", "-", "-", "-", "EXPIRED"},
}

// life is one ticket and the console of counter 1.
type life struct {
	t      *testing.T
	r      *rig
	n      *int
	token  string
	ticket string
}

func (l *life) id() string { *l.n++; return requestID(*l.n) }

func (l *life) issue(reserve bool) {
	l.t.Helper()
	v, err := l.r.kiosk.IssueTicket(l.t.Context(), &pb.IssueTicketRequest{RequestId: l.id(), Category: "personal", Reserve: reserve})
	if err != nil {
		l.t.Fatal(err)
	}
	l.ticket = v.Ticket.Id
}

func (l *life) must(verbs ...string) {
	l.t.Helper()
	for _, verb := range verbs {
		if _, err := l.do(verb); err != nil {
			l.t.Fatalf("%s: %v", verb, err)
		}
	}
}

// do does a verb to the ticket over gRPC. Expire is what a supervisor does to all: a reset of the category.
func (l *life) do(verb string) (proto.Message, error) {
	ctx, c := l.t.Context(), l.r.counter
	switch verb {
	case "call":
		return c.CallTicket(ctx, &pb.CallTicketRequest{RequestId: l.id(), SessionToken: l.token, Ticket: l.ticket})
	case "recall":
		return c.RecallTicket(ctx, &pb.RecallTicketRequest{RequestId: l.id(), SessionToken: l.token, Ticket: l.ticket})
	case "start":
		return c.StartTicket(ctx, &pb.StartTicketRequest{RequestId: l.id(), SessionToken: l.token, Ticket: l.ticket})
	case "complete":
		return c.CompleteTicket(ctx, &pb.CompleteTicketRequest{RequestId: l.id(), SessionToken: l.token, Ticket: l.ticket})
	case "no-show":
		return c.MarkNoShow(ctx, &pb.MarkNoShowRequest{RequestId: l.id(), SessionToken: l.token, Ticket: l.ticket})
	case "requeue":
		return c.RequeueTicket(ctx, &pb.RequeueTicketRequest{RequestId: l.id(), SessionToken: l.token, Ticket: l.ticket})
	case "hold":
		return c.HoldTicket(ctx, &pb.HoldTicketRequest{RequestId: l.id(), SessionToken: l.token, Ticket: l.ticket})
	case "resume":
		return c.ResumeTicket(ctx, &pb.ResumeTicketRequest{RequestId: l.id(), SessionToken: l.token, Ticket: l.ticket})
	case "transfer":
		return c.TransferTicket(ctx, &pb.TransferTicketRequest{RequestId: l.id(), SessionToken: l.token, Ticket: l.ticket, To: &pb.TransferTicketRequest_Category{Category: "corporate"}})
	case "cancel":
		return l.r.kiosk.CancelTicket(ctx, &pb.CancelTicketRequest{RequestId: l.id(), Ticket: l.ticket})
	case "check in":
		return l.r.kiosk.CheckInTicket(ctx, &pb.CheckInTicketRequest{RequestId: l.id(), Ticket: l.ticket})
	case "expire":
		return l.r.hall.ResetCategory(ctx, &pb.ResetCategoryRequest{RequestId: l.id(), Category: "personal", Who: "s", Why: "test"})
	}
	l.t.Fatalf("no verb %s", verb)
	return nil, nil
}

// now is the ticket as it is.
func (l *life) now() *pb.Ticket {
	l.t.Helper()
	v, err := l.r.kiosk.GetTicket(l.t.Context(), &pb.GetTicketRequest{Ticket: l.ticket})
	if err != nil {
		l.t.Fatal(err)
	}
	return v.Ticket
}

func TestEveryCellOfTheLifecycleOverGRPC(t *testing.T) {
	t.Parallel()
	r := start(t, Options{})
	n, tried := 0, 0
	l := &life{t: t, r: r, n: &n, token: r.open(t, 999, 1)}
	for _, row := range lives {
		for i, verb := range verbs {
			row.reach(l)
			before := l.now()
			if got := before.State.String(); got != "TICKET_STATE_"+row.state {
				t.Fatalf("got %s, want %s to begin with", got, row.state)
			}
			sequence, want := r.b.Sequence(), cells[row.state][i]
			_, err := l.do(verb)
			after := l.now()
			tried++
			_, isState := pb.TicketState_value["TICKET_STATE_"+want]
			switch {
			case isState && err != nil:
				t.Errorf("%s %s: got %v, want %s", row.state, verb, err, want)
			case isState && after.State.String() != "TICKET_STATE_"+want:
				t.Errorf("%s %s: got %v, want %s", row.state, verb, after.State, want)
			case isState && after.Number != before.Number:
				t.Errorf("%s %s: the number went from %s to %s", row.state, verb, before.Number, after.Number)
			case !isState:
				if want == "-" {
					want = "WRONG_TICKET_STATE"
				}
				if got := refused(err).info; got.GetReason() != want || got.Metadata["sequence"] != fmt.Sprint(sequence) {
					t.Errorf("%s %s: got %v, want %s at %d", row.state, verb, err, want, sequence)
				}
				if got := r.b.Sequence(); got != sequence || !proto.Equal(before, after) {
					t.Errorf("%s %s: a refusal changed something: sequence %d to %d, %v to %v", row.state, verb, sequence, got, before, after)
				}
			}
			l.clear()
		}
	}
	if want := len(cells) * len(verbs); tried != want || len(lives) != len(cells) {
		t.Errorf("got %d cells tried, want %d", tried, want)
	}
}

// clear makes the counter free and the lines empty for the next cell.
func (l *life) clear() {
	l.t.Helper()
	if s := l.now().State; s == pb.TicketState_TICKET_STATE_CALLED || s == pb.TicketState_TICKET_STATE_SERVING {
		l.must("complete")
	}
	for _, category := range []string{"personal", "corporate"} {
		if _, err := l.r.hall.ResetCategory(l.t.Context(), &pb.ResetCategoryRequest{RequestId: l.id(), Category: category, Who: "s", Why: "next cell"}); err != nil {
			l.t.Fatal(err)
		}
	}
}

// The order of refusal: the request id, the session, an unknown ticket, the counter's current ticket, the table.
func TestTheOrderOfRefusal(t *testing.T) {
	t.Parallel()
	r := start(t, Options{})
	n := 0
	l := &life{t: t, r: r, n: &n, token: r.open(t, 999, 1)}
	l.issue(false)
	l.must("call", "start")
	serving := l.ticket
	l.issue(false)
	waiting, token := l.ticket, l.token
	unknown := waiting[:len(waiting)-1] + "77"
	for _, verb := range []string{"recall", "start", "complete", "no-show", "hold", "requeue", "resume", "transfer", "call"} {
		current := map[string]string{"recall": "TICKET_MOVED", "start": "TICKET_MOVED", "complete": "TICKET_MOVED", "no-show": "TICKET_MOVED", "hold": "TICKET_MOVED",
			"requeue": "WRONG_TICKET_STATE", "resume": "COUNTER_BUSY", "transfer": "", "call": "COUNTER_BUSY"}[verb]
		for _, c := range []struct{ what, token, ticket, want string }{
			{"a stale session and an unknown ticket", "1.99.00.00", unknown, "STALE_SESSION"},
			{"an unknown ticket", token, unknown, "UNKNOWN_TICKET"},
			{"another ticket than the current one", token, waiting, current},
		} {
			if c.want == "" {
				continue
			}
			l.token, l.ticket = c.token, c.ticket
			sequence := r.b.Sequence()
			_, err := l.do(verb)
			if got := refused(err).info.Reason; got != c.want || r.b.Sequence() != sequence {
				t.Errorf("%s with %s: got %v, want %s and nothing changed", verb, c.what, err, c.want)
			}
		}
	}
	// A request id that was used comes before all.
	used := *l.n + 1
	l.token, l.ticket = token, serving
	l.must("hold")
	*l.n = used - 1
	l.token = "1.99.00.00"
	if _, err := l.do("start"); refused(err).info.Reason != "REQUEST_REUSED" {
		t.Errorf("got %v, want REQUEST_REUSED before STALE_SESSION", err)
	}
}

// A ticket in each state is gone when the day turns, but for the one that is served.
func TestTheTurnOfTheDayExpiresAllButWhatIsServed(t *testing.T) {
	t.Parallel()
	clock := newTestClock()
	r := startWith(t, Options{}, func(o *branch.Options) { o.Now = clock.now; o.Lease = 48 * time.Hour })
	n := 0
	var tickets []string
	for i, row := range lives[:6] {
		l := &life{t: t, r: r, n: &n}
		l.token = mustOpen(t, r, l.id(), []uint32{1, 1, 3, 4, 2, 1}[i])
		row.reach(l)
		tickets = append(tickets, l.ticket)
	}
	clock.step(24 * time.Hour)
	if err := r.b.Expire(t.Context()); err != nil {
		t.Fatal(err)
	}
	for i, id := range tickets {
		l := &life{t: t, r: r, n: &n, ticket: id}
		want := "TICKET_STATE_EXPIRED"
		if lives[i].state == "SERVING" {
			want = "TICKET_STATE_SERVING"
		}
		if got := l.now().State.String(); got != want {
			t.Errorf("%s at the turn of the day: got %s, want %s", lives[i].state, got, want)
		}
	}
}

func mustOpen(t *testing.T, r *rig, id string, counter uint32) string {
	t.Helper()
	v, err := r.counter.OpenCounter(t.Context(), &pb.OpenCounterRequest{RequestId: id, Counter: counter, Teller: "t", TakeOver: &pb.TakeOver{Who: "s", Why: "next"}})
	if err != nil {
		t.Fatal(err)
	}
	return v.SessionToken
}
