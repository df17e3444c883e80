package server

import (
	"errors"
	"net/http"
	"syscall"
	"testing"

	"google.golang.org/grpc/codes"

	pb "callerd/proto/callerd/v1"
)

// reads are the calls that change nothing.
func (r *rig) reads(t *testing.T, ticket string) map[string]func() error {
	ctx := t.Context()
	return map[string]func() error{
		"ListCategories": func() error { _, err := r.kiosk.ListCategories(ctx, &pb.ListCategoriesRequest{}); return err },
		"GetTicket":      func() error { _, err := r.kiosk.GetTicket(ctx, &pb.GetTicketRequest{Ticket: ticket}); return err },
		"ListTickets":    func() error { _, err := r.hall.ListTickets(ctx, &pb.ListTicketsRequest{}); return err },
		"GetBranch":      func() error { _, err := r.hall.GetBranch(ctx, &pb.GetBranchRequest{}); return err },
		"IssueTicket": func() error {
			_, err := r.kiosk.IssueTicket(ctx, &pb.IssueTicketRequest{RequestId: requestID(999), Category: "personal"})
			return err
		},
	}
}

// Case 32 and 40: no room: Unavailable with RetryInfo, also for who reads; displays keep what is true; it ends by itself.
func TestAFullDiskIsUnavailableAndNeverAnEmptyHall(t *testing.T) {
	t.Parallel()
	r := start(t, Options{})
	ticket := r.issue(t, 1, "personal").Ticket.Id
	d := r.display(t, "view=hall")
	before := d.next(t)
	r.gate.fail(syscall.ENOSPC)
	if got := refused(r.reads(t, ticket)["IssueTicket"]()); got.code != codes.Unavailable || got.info.Reason != "NO_SPACE" || got.retry <= 0 {
		t.Errorf("got %v, want NO_SPACE with RetryInfo", got)
	}
	for name, read := range r.reads(t, ticket) {
		if got := refused(read()); got.code != codes.Unavailable || got.info.Reason != "NO_SPACE" || got.retry <= 0 {
			t.Errorf("%s: got %v, want NO_SPACE with RetryInfo", name, got)
		}
	}
	if status, body := r.get(t, "/readyz"); status != http.StatusServiceUnavailable {
		t.Errorf("got %d %q, want 503", status, body)
	}
	if status, _ := r.get(t, "/healthz"); status != http.StatusOK {
		t.Errorf("got %d, want the process to be alive", status)
	}
	second := r.display(t, "view=hall")
	if f := second.next(t); f.Sequence != before.Sequence || snapshotOf(t, r.board, 0)["categories"].([]any)[0].(map[string]any)["issued"] != 1.0 {
		t.Errorf("got %s, want the last good state", f.raw)
	}
	r.gate.open()
	for _, display := range []*display{d, second} { // the ticket that found no room comes by itself
		if f := display.next(t); !f.is("waiting") {
			t.Errorf("got %s, want A002's frame", f.raw)
		}
	}
	// The displays know before anybody is admitted again.
	v, err := r.kiosk.IssueTicket(t.Context(), &pb.IssueTicketRequest{RequestId: requestID(999), Category: "personal"})
	for refused(err).info.GetReason() == "NO_SPACE" {
		v, err = r.kiosk.IssueTicket(t.Context(), &pb.IssueTicketRequest{RequestId: requestID(999), Category: "personal"})
	}
	if err != nil || v.Ticket.Number != "A002" || !v.Replayed {
		t.Errorf("got %v, %v, want A002 replayed", v, err)
	}
	if v := r.issue(t, 3, "personal"); v.Ticket.Number != "A003" || v.Replayed {
		t.Errorf("got %v, want A003", v)
	}
}

func TestAFailedStoreSaysNothingMore(t *testing.T) {
	t.Parallel()
	r := start(t, Options{})
	ticket := r.issue(t, 1, "personal").Ticket.Id
	d := r.display(t, "view=hall")
	before := d.next(t)
	r.gate.fail(errors.New("input/output error on /dev/sda"))
	_ = r.reads(t, ticket)["IssueTicket"]()
	<-r.b.Failed()
	for name, read := range r.reads(t, ticket) {
		got := refused(read())
		if got.code != codes.Unavailable || got.info.Reason != "STORE_FAILED" || got.retry <= 0 {
			t.Errorf("%s: got %v, want STORE_FAILED with RetryInfo", name, got)
		}
		if got.message != "store failed; ask again with the same request_id" {
			t.Errorf("%s: got %q, want no particulars", name, got.message)
		}
	}
	if f := r.display(t, "view=hall").next(t); f.Sequence != before.Sequence {
		t.Errorf("got %s, want the last good state", f.raw)
	}
}
