package main

import (
	"context"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"callerd/internal/branch"
	"callerd/internal/journal"
	"callerd/internal/queue"
)

// journalOfDays makes a journal whose records end so long after now, with one business day for each day before.
func journalOfDays(t *testing.T, ahead time.Duration, days int) (data string) {
	t.Helper()
	data = filepath.Join(t.TempDir(), "data")
	j, err := journal.Open(data, journal.Options{NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	c, err := loadConfig(configFile(t))
	if err != nil {
		t.Fatal(err)
	}
	for d := days - 1; d >= 0; d-- {
		now := time.Now().Add(ahead - time.Duration(d)*24*time.Hour)
		b, err := branch.Open(t.Context(), branch.Options{Journal: j, Secret: j.Meta().Secret, Config: c.branch(), Now: func() time.Time { return now }})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := b.IssueTicket(t.Context(), branch.IssueRequest{Request: branch.Request{ID: queue.RequestID{byte(d), 1}}, Category: "personal"}); err != nil {
			t.Fatal(err)
		}
		if err := b.Close(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	return data
}

func TestAClockThatIsFarBehindIsNotServedUntilItIsAccepted(t *testing.T) {
	t.Parallel()
	data := journalOfDays(t, 3*time.Hour, 1)
	config := configFile(t)
	before := len(records(t, data))
	said := refuses(t, data, "--config", config)
	for _, want := range []string{"the clock is behind", "callerd clock accept", "3h0m"} {
		if !strings.Contains(said, want) && !strings.Contains(said, strings.ReplaceAll(want, "3h0m", "2h59m")) {
			t.Errorf("got %s, want %q", said, want)
		}
	}
	if got := len(records(t, data)); got != before {
		t.Errorf("got %d records, want %d: it is not served", got, before)
	}
	got := finish(t, t.TempDir(), nil, "clock", "accept", "--data", data, "--config", config)
	if got.code != 0 || !strings.Contains(got.out, "time goes on from") || !strings.Contains(got.out, "no more from") {
		t.Fatalf("got %d %s%s, want from and to", got.code, got.out, got.errors)
	}
	d := start(t, data)
	if got := issueOne(t, d, "personal"); got.Number != "A001" || !strings.Contains(got.Id, ".2/") && strings.Count(got.Id, "-") < 2 {
		t.Errorf("got %s (%s), want A001 of a new business day", got.Number, got.Id)
	}
	busy := finish(t, t.TempDir(), nil, "clock", "accept", "--data", data, "--config", config)
	if busy.code != 1 || !strings.Contains(busy.errors, "pid") {
		t.Errorf("beside a daemon: got %d %s, want who holds the journal", busy.code, busy.errors)
	}
	d.end(syscall.SIGTERM)
	again := finish(t, t.TempDir(), nil, "clock", "accept", "--data", data, "--config", config)
	if again.code != 1 || !strings.Contains(again.errors, "nothing to accept") {
		t.Errorf("got %d %s, want nothing to accept", again.code, again.errors)
	}
	check(t, data)
}

func TestOldDaysAreDroppedAfterTheStart(t *testing.T) {
	t.Parallel()
	data := journalOfDays(t, 0, 6)
	zone := configFile(t)
	d := start(t, data, "--config", zone)
	issueOne(t, d, "personal")
	d.end(syscall.SIGTERM)
	if n := daysOf(t, data); n != 6 {
		t.Errorf("got %d days, want 6: 90 are kept by default", n)
	}
	file := write(t, t.TempDir(), "hall.yaml", "branch: {time_zone: "+hallZone(t, zone)+"}\nkeep_days: 3\n")
	d = start(t, data, "--config", file)
	<-d.err.said("old days dropped")
	if got := issueOne(t, d, "personal"); got.Number != "A003" {
		t.Errorf("got %s, want A003", got.Number)
	}
	d.end(syscall.SIGTERM)
	if n := daysOf(t, data); n != 3 {
		t.Errorf("got %d days, want 3", n)
	}
	check(t, data)
}

func hallZone(t *testing.T, file string) string {
	t.Helper()
	c, err := loadConfig(file)
	if err != nil {
		t.Fatal(err)
	}
	return c.zone
}

// daysOf counts the business days in a journal.
func daysOf(t *testing.T, data string) int {
	t.Helper()
	out := finish(t, data, nil, "check", data).out
	for _, word := range strings.Split(out, ", ") {
		if n, ok := strings.CutSuffix(strings.SplitN(word, "\n", 2)[0], " business days"); ok {
			return atoi(t, n)
		}
	}
	t.Fatalf("no days in %s", out)
	return 0
}
