package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// refuses runs callerd where it must not start, and returns what it says.
func refuses(t *testing.T, data string, also ...string) string {
	t.Helper()
	args := append([]string{"--data", data, "--grpc-addr", "127.0.0.1:0", "--http-addr", "127.0.0.1:0"}, also...)
	out, err := callerd(t, args...).CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 1 {
		t.Fatalf("got %v, want exit code 1; it said\n%s", err, out)
	}
	return string(out)
}

// Case 41: a second daemon on the same data refuses at once and says who holds it; the first one notices nothing.
func TestASecondDaemonIsToldWhoHoldsTheJournal(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	d := start(t, data)
	h := newHall(t, newRand(t), 1, 1)
	said := refuses(t, data)
	for _, want := range []string{data, fmt.Sprintf("pid %d since", d.cmd.Process.Pid)} {
		if !strings.Contains(said, want) {
			t.Errorf("it said %q, want %q in it", said, want)
		}
	}
	h.work(d.conn, 10, d.kill)
	d = start(t, data) // the lock of a killed daemon is no lock
	h.settle(d.conn)
	h.verify(d.conn)
}

// Case 42: a damaged or foreign journal is refused with its path and what to do, and left as it is.
func TestADamagedOrForeignJournalIsRefused(t *testing.T) {
	t.Parallel()
	sound := filepath.Join(t.TempDir(), "data")
	d := start(t, sound)
	newHall(t, newRand(t), 2, 2).work(d.conn, 100, d.kill)
	journal, err := os.ReadFile(filepath.Join(sound, "journal.db"))
	if err != nil {
		t.Fatal(err)
	}
	number := bytes.LastIndex(journal, []byte("A001"))
	if number < 0 {
		t.Fatal("A001 is not in the journal")
	}
	wrongNumber := bytes.Clone(journal)
	for at := bytes.Index(wrongNumber, []byte("A001")); at >= 0; at = bytes.Index(wrongNumber, []byte("A001")) {
		wrongNumber[at+3] = '7' // also where it stood before bbolt moved the page
	}
	files := map[string][]byte{
		"a wrong number":  wrongNumber,
		"cut short":       journal[:len(journal)/1000],
		"a list of names": []byte("王芳\n李伟\n"),
		"empty":           {},
	}
	for name, content := range files {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data := t.TempDir()
			path := filepath.Join(data, "journal.db")
			if err := os.WriteFile(path, content, 0o600); err != nil {
				t.Fatal(err)
			}
			said := refuses(t, data)
			for _, want := range []string{path, "move it away"} {
				if !strings.Contains(said, want) {
					t.Errorf("it said %q, want %q in it", said, want)
				}
			}
			out, err := callerd(t, "check", data).CombinedOutput()
			if err == nil || !strings.Contains(string(out), "FAULT") || !strings.Contains(string(out), path) {
				t.Errorf("callerd check: %v\n%s", err, out)
			}
			if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, content) {
				t.Errorf("the file was changed (%v)", err)
			}
		})
	}
}
