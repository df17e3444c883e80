package main

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	pb "callerd/proto/callerd/v1"

	"callerd/internal/journal"
	"callerd/internal/queue"
)

// end sends a signal and returns the exit code.
func (d *daemon) end(s syscall.Signal) int {
	d.t.Helper()
	if err := d.cmd.Process.Signal(s); err != nil {
		d.t.Error(err)
	}
	_ = d.wait() // the code says it
	return d.cmd.ProcessState.ExitCode()
}

// records are all of a stopped journal.
func records(t *testing.T, data string) (all []*queue.Record) {
	t.Helper()
	r, err := journal.OpenReader(data)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := r.Replay(func(v *queue.Record) error { all = append(all, v); return nil }); err != nil {
		t.Fatal(err)
	}
	return all
}

func TestWhatItPrintsIsServed(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "a", "data")
	d, out := launch(t, data)
	var said strings.Builder
	for out.Scan() {
		fmt.Fprintln(&said, out.Text())
		if strings.Contains(out.Text(), "journal") {
			break
		}
	}
	for _, want := range []string{"is open (time zone Etc/GMT", "gRPC for kiosks and consoles  127.0.0.1:", "http://127.0.0.1:", "/?counter=1", data} {
		if !strings.Contains(said.String(), want) {
			t.Errorf("got\n%s\nwant %q in it", said.String(), want)
		}
	}
	for _, word := range strings.Fields(said.String()) {
		if strings.HasSuffix(word, ":0") {
			t.Errorf("got %s, want the port that the system chose", word)
		}
		if strings.HasPrefix(word, "http://") {
			resp, err := http.Get(word)
			if err != nil {
				t.Error(err)
				continue
			}
			resp.Body.Close()
			if resp.StatusCode != http.StatusOK {
				t.Errorf("%s: got %s", word, resp.Status)
			}
		}
	}
	if code := d.end(syscall.SIGTERM); code != 0 {
		t.Errorf("got exit code %d, want 0", code)
	}
	info, err := os.Stat(filepath.Join(data, "journal.db"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("got %v, %v, want a journal of mode 0600", info, err)
	}
}

func TestSIGTERMAndSIGINTEndItWithZero(t *testing.T) {
	t.Parallel()
	for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		data := filepath.Join(t.TempDir(), "data")
		d := start(t, data)
		if _, err := pb.NewKioskServiceClient(d.conn).IssueTicket(t.Context(), &pb.IssueTicketRequest{RequestId: uuid(), Category: "personal"}); err != nil {
			t.Fatal(err)
		}
		if code := d.end(s); code != 0 {
			t.Errorf("%v: got exit code %d, want 0: %s", s, code, d.err.String())
		}
		check(t, data)
	}
}

func TestASignalDuringTheStartEndsItWithZero(t *testing.T) {
	t.Parallel()
	for range 5 {
		data := filepath.Join(t.TempDir(), "data")
		d, _ := launch(t, data)
		eventually(t, "its folder", func() error { _, err := os.Stat(filepath.Join(data, "lock")); return err })
		if code := d.end(syscall.SIGTERM); code != 0 {
			t.Errorf("got exit code %d, want 0: %s", code, d.err.String())
		}
	}
}

func TestATakenPortLeavesNoRecord(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, flag := range []string{"--grpc-addr", "--http-addr"} {
		data := filepath.Join(t.TempDir(), "data")
		said := refuses(t, data, flag, l.Addr().String())
		if !strings.Contains(said, flag) || !strings.Contains(said, l.Addr().String()) || !strings.Contains(said, "address already in use") {
			t.Errorf("got %s, want the flag, the address and why", said)
		}
		if got := records(t, data); len(got) != 0 {
			t.Errorf("got %d records, want none", len(got))
		}
	}
}

func TestAnAddressForOthersIsServedOnlyWhenAskedFor(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	d := start(t, data, "--http-addr", "0.0.0.0:0", "--insecure")
	if code := d.end(syscall.SIGTERM); code != 0 {
		t.Errorf("got exit code %d", code)
	}
}
