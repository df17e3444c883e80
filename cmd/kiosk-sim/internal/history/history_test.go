package history

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// write records a small run and returns what is in the file at that moment.
func write(t *testing.T, out *bytes.Buffer) {
	t.Helper()
	r := NewRecorder(out, 7, "--seed 7", nil)
	op := &Op{Client: "kiosk-1", Method: "IssueTicket", RequestID: "a", Outcome: Unknown, End: Never}
	r.Sent(op)
	op.Outcome, op.End, op.Sequence, op.Got = OK, r.Now(), 3, &Ticket{ID: "2026-11-30/personal/1", Number: "A001"}
	r.Done(op)
	r.Link(&Link{Display: "d", Stream: "hall", State: Up})
	r.Frame(&Frame{Display: "d", Stream: "hall", Sequence: 3, Calls: []Call{{Number: "A001"}}})
	r.Sent(&Op{Client: "kiosk-2", Method: "IssueTicket", RequestID: "b", Outcome: Unknown, End: Never})
	r.Done(&Op{Client: "clerk", Method: "GetBranch", Outcome: OK})
}

// read puts the bytes into a file and reads it.
func read(t *testing.T, raw []byte) (*History, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "h.jsonl")
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	return Read(path)
}

func TestWhatWasRecordedIsReadAgain(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	write(t, &out)
	h, err := read(t, out.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if len(h.Runs) != 1 || h.Runs[0].Seed != 7 || len(h.Ops) != 3 {
		t.Fatalf("got %d runs, %d ops", len(h.Runs), len(h.Ops))
	}
	if op := h.Ops[0]; op.Got == nil || op.Got.Number != "A001" || op.Outcome != OK || op.Sequence != 3 || op.Attempt != 1 {
		t.Errorf("got %+v", op)
	}
	if op := h.Ops[2]; op.RequestID != "b" || op.Outcome != Unknown || op.End != Never {
		t.Errorf("an attempt without an answer: got %+v", op)
	}
	if got := h.Displays[h.Runs[0].ID+"/d"]; len(got) != 2 || got[0].Link == nil || got[1].Frame == nil {
		t.Errorf("got the entries %v", got)
	}
	if open := h.Unsettled(); len(open) != 1 || open["kiosk-2"][0].RequestID != "b" {
		t.Errorf("unsettled: got %v", open)
	}
}

// A kill may cut the file anywhere: what stands before is kept, and a later run appends to it.
func TestAHistoryCutAnywhereIsRead(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	write(t, &out)
	head := bytes.IndexByte(out.Bytes()[1:], '\n') + 2
	for cut := head; cut < out.Len(); cut += 7 {
		raw := bytes.Clone(out.Bytes()[:cut])
		h, err := read(t, raw)
		if err != nil {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		var later bytes.Buffer
		write(t, &later)
		both, err := read(t, append(raw, later.Bytes()...))
		if err != nil {
			t.Fatalf("cut at %d, appended: %v", cut, err)
		}
		if got, want := len(both.Ops), len(h.Ops)+3; got < want || len(both.Runs) != 2 {
			t.Fatalf("cut at %d, appended: got %d ops in %d runs, want at least %d in 2", cut, got, len(both.Runs), want)
		}
	}
}

func TestAnotherFileIsRefused(t *testing.T) {
	t.Parallel()
	for _, raw := range []string{"hello\nthere\n", `{"op":{"method":"CallNext"}}` + "\n"} {
		if _, err := read(t, []byte(raw)); !errors.Is(err, ErrNotHistory) {
			t.Errorf("%q: got %v, want %v", raw, err, ErrNotHistory)
		}
	}
	if _, err := Read(filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing file: got %v", err)
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestAnUnwrittenHistoryIsAnError(t *testing.T) {
	t.Parallel()
	r := NewRecorder(full{}, 1, "", nil)
	r.Done(&Op{Method: "GetBranch"})
	if _, err := r.History(); err == nil {
		t.Error("a history that was not written was handed over as whole")
	}
}

func TestSessionsLeftOpen(t *testing.T) {
	t.Parallel()
	h := History{Ops: []Op{
		{Method: "OpenCounter", Counter: 1, Epoch: 1, Outcome: OK, RequestID: "a"},
		{Method: "CloseCounter", Counter: 1, Epoch: 1, Outcome: OK},
		{Method: "OpenCounter", Counter: 1, Epoch: 2, Outcome: OK, RequestID: "b"},
		{Method: "OpenCounter", Counter: 2, Epoch: 1, Outcome: OK, RequestID: "c"},
		{Method: "CloseCounter", Counter: 2, Epoch: 1, Outcome: OK},
		{Method: "OpenCounter", Counter: 3, Epoch: 1, Outcome: Refused},
	}}
	if open := h.LeftOpen(); len(open) != 1 || open[1].RequestID != "b" {
		t.Errorf("got %v, want the second session of counter 1", open)
	}
}
