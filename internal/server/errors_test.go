package server

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"

	"callerd/internal/branch"
	"callerd/internal/hub"
)

// wanted is the table of refusals as it was designed, written out once more.
var wanted = map[string]struct {
	err    error
	reason string
	code   codes.Code
	retry  bool
}{
	"ErrUnknownCategory":  {branch.ErrUnknownCategory, "UNKNOWN_CATEGORY", codes.NotFound, false},
	"ErrUnknownTicket":    {branch.ErrUnknownTicket, "UNKNOWN_TICKET", codes.NotFound, false},
	"ErrUnknownCounter":   {branch.ErrUnknownCounter, "UNKNOWN_COUNTER", codes.NotFound, false},
	"ErrUnknownDay":       {branch.ErrUnknownDay, "UNKNOWN_DAY", codes.NotFound, false},
	"ErrWrongTicketState": {branch.ErrWrongTicketState, "WRONG_TICKET_STATE", codes.FailedPrecondition, false},
	"ErrCategoryClosed":   {branch.ErrCategoryClosed, "CATEGORY_CLOSED", codes.FailedPrecondition, false},
	"ErrCounterClosed":    {branch.ErrCounterClosed, "COUNTER_CLOSED", codes.FailedPrecondition, false},
	"ErrCounterBusy":      {branch.ErrCounterBusy, "COUNTER_BUSY", codes.FailedPrecondition, false},
	"ErrCounterTaken":     {branch.ErrCounterTaken, "COUNTER_TAKEN", codes.FailedPrecondition, false},
	"ErrNoCurrentTicket":  {branch.ErrNoCurrentTicket, "NO_CURRENT_TICKET", codes.FailedPrecondition, false},
	"ErrStaleSession":     {branch.ErrStaleSession, "STALE_SESSION", codes.FailedPrecondition, false},
	"ErrTicketMoved":      {branch.ErrTicketMoved, "TICKET_MOVED", codes.Aborted, false},
	"ErrNumbersExhausted": {branch.ErrNumbersExhausted, "NUMBERS_EXHAUSTED", codes.ResourceExhausted, false},
	"ErrQuotaExhausted":   {branch.ErrQuotaExhausted, "QUOTA_EXHAUSTED", codes.ResourceExhausted, false},
	"ErrPersonLimit":      {branch.ErrPersonLimit, "PERSON_LIMIT", codes.ResourceExhausted, false},
	"ErrRequeueTooLate":   {branch.ErrRequeueTooLate, "REQUEUE_TOO_LATE", codes.FailedPrecondition, false},
	"ErrRecallLimit":      {branch.ErrRecallLimit, "RECALL_LIMIT", codes.FailedPrecondition, false},
	"ErrNoShowTooEarly":   {branch.ErrNoShowTooEarly, "NO_SHOW_TOO_EARLY", codes.FailedPrecondition, false},
	"ErrUnknownResource":  {branch.ErrUnknownResource, "UNKNOWN_RESOURCE", codes.NotFound, false},
	"ErrResourceBusy":     {branch.ErrResourceBusy, "RESOURCE_BUSY", codes.FailedPrecondition, false},
	"ErrLeaseLost":        {branch.ErrLeaseLost, "LEASE_LOST", codes.FailedPrecondition, false},
	"ErrRequestReused":    {branch.ErrRequestReused, "REQUEST_REUSED", codes.InvalidArgument, false},
	"ErrJournalBehind":    {branch.ErrJournalBehind, "JOURNAL_BEHIND", codes.Unavailable, true},
	"ErrNoSpace":          {branch.ErrNoSpace, "NO_SPACE", codes.Unavailable, true},
	"ErrStopping":         {branch.ErrStopping, "STOPPING", codes.Unavailable, true},
	"ErrStoreFailed":      {branch.ErrStoreFailed, "STORE_FAILED", codes.Unavailable, true},
	"hub.ErrLagging":      {hub.ErrLagging, "FELL_BEHIND", codes.Aborted, false},
}

// neverServed are exported errors that no call can meet, each with the reason.
var neverServed = map[string]string{
	"ErrPrefixUsed":  "Open and Reload return it, to whoever starts or reloads the daemon",
	"ErrConfigTaken": "Reload returns it, to whoever reloads the daemon",
	"ErrClockBehind": "Open returns it, and then there is nothing to serve",
}

func TestEveryRefusalOfTheBranchHasARow(t *testing.T) {
	t.Parallel()
	found := 0
	files, err := filepath.Glob("../branch/*.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("got %d files, %v", len(files), err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, source, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if _, inside := n.(*ast.FuncDecl); inside {
				return false
			}
			spec, ok := n.(*ast.ValueSpec)
			if !ok {
				return true
			}
			for _, name := range spec.Names {
				if !strings.HasPrefix(name.Name, "Err") || neverServed[name.Name] != "" {
					continue
				}
				found++
				if _, ok := wanted[name.Name]; !ok {
					t.Errorf("%s: %s has no row in the table of this test", file, name.Name)
				}
			}
			return true
		})
	}
	if want := len(wanted) - 1; found != want { // the hub's is not of the branch
		t.Errorf("got %d errors in internal/branch, want the %d of the table", found, want)
	}
}

func TestTheTableIsTheOneThatWasDesigned(t *testing.T) {
	t.Parallel()
	if len(errorTable) != len(wanted) {
		t.Errorf("got %d rows, want %d", len(errorTable), len(wanted))
	}
	s := unserved(t, Options{})
	for name, w := range wanted {
		wrapped := fmt.Errorf("%w: /var/lib/callerd/journal.db", w.err)
		got := refused(s.convert(fmt.Errorf("outer: %w", wrapped), "/m"))
		if got.code != w.code || got.info.Reason != w.reason || got.info.Domain != "callerd" || (got.retry > 0) != w.retry {
			t.Errorf("%s: got %v %v retry %v, want %v %s retry %t", name, got.code, got.info, got.retry, w.code, w.reason, w.retry)
		}
		if got.localized == "" {
			t.Errorf("%s: no words in Chinese", name)
		}
		if inside := strings.Contains(got.message, "/var/lib"); inside == w.retry {
			t.Errorf("%s: message %q: particulars are for refusals, and those of a store for the log", name, got.message)
		}
	}
}

func TestWhatNoRowHasIsInternalAndItsTextStaysInTheLog(t *testing.T) {
	t.Parallel()
	r := start(t, Options{})
	got := refused(r.convert(errors.New("open /etc/shadow: denied"), "/callerd.v1.X/Y"))
	if got.code != codes.Internal || strings.Contains(got.message, "shadow") {
		t.Errorf("got %v %q, want Internal without particulars", got.code, got.message)
	}
	if !strings.Contains(r.log.String(), "shadow") || !strings.Contains(r.log.String(), "/callerd.v1.X/Y") {
		t.Errorf("got log %s, want the error and the method", r.log)
	}
}

func TestARefusalReachesARealCallerWhole(t *testing.T) {
	t.Parallel()
	r := start(t, Options{})
	r.issue(t, 1, "personal")
	token := r.open(t, 2, 3)
	called := r.call(t, 3, token)
	_, err := callNext(t, r, 4, token)
	got := refused(err)
	if got.code != codes.FailedPrecondition || got.info.Reason != "COUNTER_BUSY" || got.localized != "窗口有未办结的号票" {
		t.Errorf("got %v %v %q", got.code, got.info, got.localized)
	}
	if want := called.Ticket.Id; got.info.Metadata["current_ticket"] != want {
		t.Errorf("got current_ticket %q, want %q", got.info.Metadata["current_ticket"], want)
	}
	if want := fmt.Sprint(r.b.Sequence()); got.info.Metadata["sequence"] != want {
		t.Errorf("got sequence %q, want %q", got.info.Metadata["sequence"], want)
	}
	if !strings.Contains(got.message, "A001") || got.retry != 0*time.Second {
		t.Errorf("got %q retry %v, want A001 named and no retry", got.message, got.retry)
	}
}
