package journal

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Case 41: a second daemon on the same data refuses at once, saying who holds it.
func TestASecondJournalOnTheSameFolderIsToldWhoHasIt(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	j := mustOpen(t, dir)
	for range 2 { // the second refusal must not have lost the name
		_, err := Open(dir, Options{})
		if !errors.Is(err, ErrLocked) {
			t.Fatalf("got %v, want %v", err, ErrLocked)
		}
		for _, want := range []string{dir, fmt.Sprintf("pid %d since 2026-11-30T09:00:00Z", os.Getpid())} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("got %q, want it to name %q", err, want)
			}
		}
		if _, err := OpenReader(dir); !errors.Is(err, ErrLocked) || !strings.Contains(err.Error(), "pid") {
			t.Errorf("a reader: got %v, want %v", err, ErrLocked)
		}
	}
	mustAppend(t, j, issues(1, 1))
	j.Close()
	equal(t, replayed(t, mustOpen(t, dir)), issues(1, 1))
}

func TestAReaderKeepsADaemonOut(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	mustOpen(t, dir).Close()
	r1, err := OpenReader(dir)
	if err != nil {
		t.Fatal(err)
	}
	r2, err := OpenReader(dir)
	if err != nil {
		t.Fatalf("a second reader: %v", err)
	}
	if _, err := Open(dir, Options{}); !errors.Is(err, ErrLocked) || !strings.Contains(err.Error(), "reads it") {
		t.Errorf("got %v, want %v by a reader", err, ErrLocked)
	}
	if err := errors.Join(r1.Close(), r2.Close(), r2.Close()); err != nil {
		t.Fatal(err)
	}
	mustOpen(t, dir)
}

// bbolt's own lock is on the inode, and would let the second one in.
func TestAJournalMovedAwayAndCopiedBackIsStillLocked(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	j := mustOpen(t, dir)
	mustAppend(t, j, issues(1, 1))
	moved := filepath.Join(dir, "moved.db")
	if err := os.Rename(j.Path(), moved); err != nil {
		t.Fatal(err)
	}
	copyFile(t, moved, j.Path())
	if _, err := Open(dir, Options{}); !errors.Is(err, ErrLocked) {
		t.Errorf("got %v, want %v", err, ErrLocked)
	}
}

// The journal's file through another folder: the lock of the folder is free, bbolt's is not.
func TestALinkToAJournalInUseIsRefused(t *testing.T) {
	t.Parallel()
	j, other := mustOpen(t, t.TempDir()), t.TempDir()
	if err := os.Link(j.Path(), filepath.Join(other, fileName)); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(other, Options{}); !errors.Is(err, ErrLocked) {
		t.Errorf("got %v, want %v", err, ErrLocked)
	}
	if _, err := OpenReader(other); !errors.Is(err, ErrLocked) {
		t.Errorf("a reader: got %v, want %v", err, ErrLocked)
	}
}

func copyFile(t testing.TB, from, to string) {
	t.Helper()
	b, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, b, 0o600); err != nil {
		t.Fatal(err)
	}
}
