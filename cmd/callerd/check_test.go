package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"callerd/internal/journal"
	"callerd/internal/queue"
	pb "callerd/proto/callerd/v1"
)

func issueOne(t *testing.T, d *daemon, category string) *pb.Ticket {
	t.Helper()
	v, err := pb.NewKioskServiceClient(d.conn).IssueTicket(t.Context(), &pb.IssueTicketRequest{RequestId: uuid(), Category: category})
	if err != nil {
		t.Fatal(err)
	}
	return v.Ticket
}

func TestACheckOfAJournalWhetherItsDaemonRunsOrNot(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	d := start(t, data)
	issueOne(t, d, "personal")
	issueOne(t, d, "corporate")
	report := regexp.MustCompile(`\d+ records, sequences 1 to \d+, 1 business days\n(.*\n)*  issue +2\n(.*\n)*every invariant holds\n$`)
	running := finish(t, data, nil, "check", data, "--grpc-addr", d.gRPC)
	if running.code != 0 || !report.MatchString(running.out) || !strings.Contains(running.out, "asking the daemon") {
		t.Errorf("running: got %d\n%s%s", running.code, running.out, running.errors)
	}
	away := finish(t, data, nil, "check", data, "--grpc-addr", d.http)
	if away.code != 1 || strings.Contains(away.out, "FAULT") || strings.Contains(away.out, "records") || !strings.Contains(away.errors, "--grpc-addr") {
		t.Errorf("asked elsewhere: got %d\n%s%s, want 1 and no word of faults: nothing was looked at", away.code, away.out, away.errors)
	}
	other := start(t, filepath.Join(t.TempDir(), "other"))
	wrong := finish(t, data, nil, "check", data, "--grpc-addr", other.gRPC)
	if wrong.code != 1 || strings.Contains(wrong.out, "holds") || !strings.Contains(wrong.errors, "another journal") {
		t.Errorf("another daemon asked: got %d\n%s%s, want 1 and no judgement", wrong.code, wrong.out, wrong.errors)
	}
	d.end(syscall.SIGTERM)
	stopped := finish(t, data, []string{"CALLERD_DATA=" + data}, "check")
	if stopped.code != 0 || !report.MatchString(stopped.out) || strings.Contains(stopped.out, "asking") {
		t.Errorf("stopped: got %d\n%s%s", stopped.code, stopped.out, stopped.errors)
	}
}

func TestACheckOfWhatIsNoJournalMakesNothing(t *testing.T) {
	t.Parallel()
	empty, foreign, damaged := t.TempDir(), t.TempDir(), t.TempDir()
	write(t, foreign, "journal.db", strings.Repeat("a spreadsheet ", 1000))
	j, err := journal.Open(damaged, journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(j.Path(), 5000); err != nil {
		t.Fatal(err)
	}
	for what, c := range map[string]struct{ dir, want string }{
		"a missing folder": {filepath.Join(empty, "missing"), "no such file"},
		"an empty folder":  {empty, "no such file"},
		"a foreign file":   {foreign, "not a callerd journal"},
		"a damaged file":   {damaged, "damaged"},
	} {
		got := finish(t, empty, nil, "check", c.dir)
		if got.code != 1 || !strings.Contains(got.out+got.errors, c.want) || !strings.Contains(got.out+got.errors, c.dir) {
			t.Errorf("%s: got %d\n%s%s, want 1, the path and %q", what, got.code, got.out, got.errors, c.want)
		}
	}
	if made, _ := os.ReadDir(empty); len(made) != 0 {
		t.Errorf("got %v made", made)
	}
}

func TestACheckFindsARecordThatBreaksAnInvariant(t *testing.T) {
	t.Parallel()
	for what, o := range map[string]*queue.TicketChanged{
		"a number left out":      {Verb: queue.Issue, Number: "A003", To: queue.Waiting, Category: "personal", Ticket: queue.TicketID{Category: "personal", N: 3}},
		"a number twice":         {Verb: queue.Issue, Number: "A001", To: queue.Waiting, Category: "personal", Ticket: queue.TicketID{Category: "personal", N: 1}},
		"a verb out of its life": {Verb: queue.Complete, Number: "A001", From: queue.Waiting, To: queue.Completed, Category: "personal", Ticket: queue.TicketID{Category: "personal", N: 1}},
		"an unknown category":    {Verb: queue.Issue, Number: "X001", To: queue.Waiting, Category: "x", Ticket: queue.TicketID{Category: "x", N: 1}},
	} {
		data := filepath.Join(t.TempDir(), "data")
		d := start(t, data)
		ticket := issueOne(t, d, "personal")
		d.end(syscall.SIGTERM)
		id, err := queue.ParseTicketID(ticket.Id)
		if err != nil {
			t.Fatal(err)
		}
		o.Ticket.Day = id.Day
		j, err := journal.Open(data, journal.Options{})
		if err != nil {
			t.Fatal(err)
		}
		before := records(t, copied(t, j.Path()))
		last := before[len(before)-1]
		if err := j.Append([]*queue.Record{{Sequence: last.Sequence + 1, At: last.At, Outcomes: []queue.Outcome{o}}}); err != nil {
			t.Fatal(err)
		}
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
		got := finish(t, data, nil, "check", data)
		if want := "record " + uintText(last.Sequence+1); got.code != 1 || !strings.Contains(got.out, "FAULT") || !strings.Contains(got.out, want) {
			t.Errorf("%s: got %d\n%s%s, want 1 and %s", what, got.code, got.out, got.errors, want)
		}
	}
}
