package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	pb "callerd/proto/callerd/v1"
)

func uintText(n uint64) string { return strconv.FormatUint(n, 10) }

// copied copies a journal into a folder of its own.
func copied(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write(t, dir, "journal.db", string(b))
	return dir
}

// changed stops a daemon and starts it with other categories and counters, in the same zone.
func changed(t *testing.T, d *daemon, data, categories, counters string) *daemon {
	t.Helper()
	if d != nil {
		if code := d.end(syscall.SIGTERM); code != 0 {
			t.Fatalf("got exit code %d: %s", code, d.err.String())
		}
	}
	return start(t, data, "--config", hallFile(t, categories, counters))
}

func hallFile(t *testing.T, categories, counters string) string {
	t.Helper()
	zone, err := os.ReadFile(configFile(t))
	if err != nil {
		t.Fatal(err)
	}
	return write(t, t.TempDir(), "hall.yaml", fmt.Sprintf("%scategories: [%s]\ncounters: [%s]\n", zone, categories, counters))
}

// console is a teller's.
type console struct {
	pb.CounterServiceClient
	token string
}

func openConsole(t *testing.T, d *daemon, counter uint32) *console {
	t.Helper()
	c := &console{CounterServiceClient: pb.NewCounterServiceClient(d.conn)}
	v, err := c.OpenCounter(t.Context(), &pb.OpenCounterRequest{RequestId: uuid(), Counter: counter, Teller: "t"})
	if err != nil {
		t.Fatal(err)
	}
	c.token = v.SessionToken
	return c
}

func (c *console) next(ctx context.Context, complete string) (*pb.CallNextResponse, error) {
	return c.CallNext(ctx, &pb.CallNextRequest{RequestId: uuid(), SessionToken: c.token, CompleteTicket: complete})
}

// why is the reason of a refusal.
func why(err error) string {
	for _, d := range status.Convert(err).Details() {
		if info, ok := d.(*errdetails.ErrorInfo); ok {
			return info.Reason
		}
	}
	return fmt.Sprint(err)
}

func TestACategoryThatIsTakenOutIsClosedAndItsTicketsAreStillCalled(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	const a, b, c = "{id: personal, prefix: A}", "{id: corporate, prefix: B}", "{id: loans, prefix: L}"
	d := changed(t, nil, data, a+", "+b, "{counter: 1}")
	issueOne(t, d, "corporate")
	teller := openConsole(t, d, 1) // serves both
	d = changed(t, d, data, a+", "+c, "{counter: 1}")
	_, err := pb.NewKioskServiceClient(d.conn).IssueTicket(t.Context(), &pb.IssueTicketRequest{RequestId: uuid(), Category: "corporate"})
	if got := why(err); got != "CATEGORY_CLOSED" {
		t.Errorf("got %s, want CATEGORY_CLOSED", got)
	}
	if got := issueOne(t, d, "loans"); got.Number != "L001" {
		t.Errorf("got %s of the new category, want L001", got.Number)
	}
	teller.CounterServiceClient = pb.NewCounterServiceClient(d.conn) // the session outlives a restart
	if v, err := teller.next(t.Context(), ""); err != nil || v.Ticket.GetNumber() != "B001" {
		t.Errorf("got %v, %v, want B001 called", v, err)
	}
	d = changed(t, d, data, b+", "+a, "{counter: 1}")
	if got := issueOne(t, d, "corporate"); got.Number != "B002" {
		t.Errorf("got %s, want B002: numbers go on", got.Number)
	}
	v, err := pb.NewKioskServiceClient(d.conn).ListCategories(t.Context(), &pb.ListCategoriesRequest{})
	if err != nil || v.Categories[0].Id != "corporate" || v.Categories[1].Id != "personal" || v.Categories[2].Open {
		t.Errorf("got %v, %v, want the order of the file, and what it does not name closed and last", v, err)
	}
	d.end(syscall.SIGTERM)
	check(t, data)
}

func TestAPrefixStaysWhileItsNumbersAreOut(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	d := changed(t, nil, data, "{id: personal, prefix: A}, {id: corporate, prefix: B}", "{counter: 1}")
	issueOne(t, d, "personal")
	d = changed(t, d, data, "{id: personal, prefix: P}, {id: corporate, prefix: C}", "{counter: 1}")
	if got := issueOne(t, d, "personal"); got.Number != "A002" {
		t.Errorf("got %s, want A002: A001 is out", got.Number)
	}
	if got := issueOne(t, d, "corporate"); got.Number != "C001" {
		t.Errorf("got %s, want C001: no B was out", got.Number)
	}
	// A hall must open: what cannot be taken today waits for the next day.
	d = changed(t, d, data, "{id: vip, prefix: A}", "{counter: 1}")
	_, err := pb.NewKioskServiceClient(d.conn).IssueTicket(t.Context(), &pb.IssueTicketRequest{RequestId: uuid(), Category: "vip"})
	if status.Code(err) != codes.FailedPrecondition {
		t.Errorf("got %v, want vip closed: personal has handed out numbers with A today", err)
	}
}

func TestACounterThatIsTakenOutFinishesItsSession(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	const a = "{id: personal, prefix: A}"
	d := changed(t, nil, data, a, "{counter: 1}, {counter: 2}")
	issueOne(t, d, "personal")
	teller := openConsole(t, d, 2)
	called, err := teller.next(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	d = changed(t, d, data, a, "{counter: 1}")
	teller.CounterServiceClient = pb.NewCounterServiceClient(d.conn)
	v := hallOf(t, d.conn)
	if len(v.Counters) != 2 || v.Counters[1].Number != "A001" {
		t.Errorf("got %v, want the open counter still shown with A001", v.Counters)
	}
	if _, err := teller.CompleteTicket(t.Context(), &pb.CompleteTicketRequest{RequestId: uuid(), SessionToken: teller.token, Ticket: called.Ticket.Id}); err != nil {
		t.Error(err)
	}
	if _, err := teller.CloseCounter(t.Context(), &pb.CloseCounterRequest{RequestId: uuid(), SessionToken: teller.token}); err != nil {
		t.Error(err)
	}
	if v := hallOf(t, d.conn); len(v.Counters) != 1 {
		t.Errorf("got %v, want the closed counter gone", v.Counters)
	}
	_, err = teller.OpenCounter(t.Context(), &pb.OpenCounterRequest{RequestId: uuid(), Counter: 2, Teller: "t"})
	if got := why(err); got != "COUNTER_CLOSED" {
		t.Errorf("got %s, want COUNTER_CLOSED", got)
	}
}
