package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	pb "callerd/proto/callerd/v1"
)

// hangup writes another configuration, sends SIGHUP and waits until the daemon has said a word.
func (d *daemon) hangup(path, text, word string) {
	d.t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		d.t.Fatal(err)
	}
	before := len(d.err.String())
	if err := d.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		d.t.Fatal(err)
	}
	eventually(d.t, word, func() error {
		if said := d.err.String()[before:]; !strings.Contains(said, word) {
			return os.ErrNotExist
		}
		return nil
	})
}

func TestAHangupReloadsWhatCanChangeAndTellsWhatCannot(t *testing.T) {
	t.Parallel()
	data, zone := filepath.Join(t.TempDir(), "data"), ""
	if text, err := os.ReadFile(configFile(t)); err != nil {
		t.Fatal(err)
	} else {
		zone = string(text)
	}
	const categories = "categories: [{id: personal, prefix: A}, {id: corporate, prefix: B}]\n"
	file := write(t, t.TempDir(), "hall.yaml", zone+categories+"keep_days: 5\n")
	d := start(t, data, "--config", file)
	kiosk := pb.NewKioskServiceClient(d.conn)
	issueOne(t, d, "personal")

	// A policy acts, a new category and counter are there, at once; a prefix that is out stays, and it is told.
	d.hangup(file, zone+"categories: [{id: personal, prefix: P, max_per_day: 1}, {id: loans, prefix: L}]\ncounters: [{counter: 8}]\n", "configuration reloaded")
	_, err := kiosk.IssueTicket(t.Context(), &pb.IssueTicketRequest{RequestId: uuid(), Category: "personal"})
	if got := why(err); got != "QUOTA_EXHAUSTED" {
		t.Errorf("got %s, want QUOTA_EXHAUSTED", got)
	}
	if got := issueOne(t, d, "loans"); got.Number != "L001" {
		t.Errorf("got %s, want L001", got.Number)
	}
	_, err = kiosk.IssueTicket(t.Context(), &pb.IssueTicketRequest{RequestId: uuid(), Category: "corporate"})
	if got := why(err); got != "CATEGORY_CLOSED" {
		t.Errorf("got %s, want CATEGORY_CLOSED", got)
	}
	openConsole(t, d, 8)
	if !strings.Contains(d.err.String(), `"closed, as the file no longer names them" categories=[corporate] counters="[1 2 3 4]"`) {
		t.Errorf("got %s, want told what is closed", d.err.String())
	}
	if !strings.Contains(d.err.String(), "key=categories.personal.prefix value=A wanted=P") {
		t.Errorf("got %s, want told that the prefix stays", d.err.String())
	}

	// A file with faults: all are named, the old values go on.
	d.hangup(file, zone+"categories: [{id: personal, prefix: A, max_per_day: -1}]\nresorces: []\n", "has faults")
	said := d.err.String()
	for _, want := range []string{"2 faults", "categories[0].max_per_day", "resorces"} {
		if !strings.Contains(said, want) {
			t.Errorf("got %s, want %q", said, want)
		}
	}
	issueOne(t, d, "loans")

	// A file that somebody is just writing, or wrote on a full disk, has nothing in it: that is no wish for the default hall.
	for _, nothing := range []string{"", "# a comment\n"} {
		d.hangup(file, nothing, "there is nothing in it")
	}

	// A prefix that another category has out: refused whole.
	d.hangup(file, zone+"categories: [{id: vip, prefix: L}]\n", "cannot be taken now")
	if said := d.err.String(); !strings.Contains(said, "loans has handed out numbers") {
		t.Errorf("got %s, want who uses the prefix", said)
	}
	if got := issueOne(t, d, "loans"); got.Number != "L003" {
		t.Errorf("got %s, want L003: the old configuration goes on", got.Number)
	}

	// What cannot change while it runs is told and kept; the rest is taken.
	d.hangup(file, zone+"grpc_addr: 127.0.0.1:1\ndata: elsewhere\nsession: {lease: 30s}\ncategories: [{id: loans, prefix: L, max_per_day: 4}]\n", "configuration reloaded")
	for _, key := range []string{"grpc_addr", "data", "session.lease"} {
		if !strings.Contains(d.err.String(), "kept as it was\" key="+key) {
			t.Errorf("got %s, want told that %s stays", d.err.String(), key)
		}
	}
	issueOne(t, d, "loans")
	_, err = kiosk.IssueTicket(t.Context(), &pb.IssueTicketRequest{RequestId: uuid(), Category: "loans"})
	if got := why(err); got != "QUOTA_EXHAUSTED" {
		t.Errorf("got %s, want the new limit of 4", got)
	}
	if code := d.end(syscall.SIGTERM); code != 0 {
		t.Errorf("got exit code %d", code)
	}
	check(t, data)
}

func TestAHangupWithoutAFileEndsNothing(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	d := start(t, data, "--config", "")
	if err := d.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	<-d.err.said("nothing to reload")
	issueOne(t, d, "personal")
	if code := d.end(syscall.SIGTERM); code != 0 {
		t.Errorf("got exit code %d", code)
	}
}
