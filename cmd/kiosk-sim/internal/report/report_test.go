package report

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"callerd/cmd/kiosk-sim/internal/history"
	"callerd/cmd/kiosk-sim/internal/judge"
)

const ms = int64(time.Millisecond)

// small is a run of two tickets; the first number is due at 0 and comes 90 ms later than it should.
func small() *history.History {
	ticket := func(n, state string) *history.Ticket {
		return &history.Ticket{ID: "2026-11-30/personal/" + n, Number: "A00" + n, State: state, Counter: 1}
	}
	return &history.History{Runs: []history.Run{{Seed: 7}}, Ops: []history.Op{
		{Method: "IssueTicket", RequestID: "a", Intended: 1, Start: 90 * ms, End: 100 * ms, Outcome: history.OK, Sequence: 2, Got: ticket("1", "waiting"), Try: 1},
		{Method: "IssueTicket", RequestID: "b", Intended: 110 * ms, Start: 110 * ms, End: history.Never, Outcome: history.Unknown, Code: "Unavailable", Try: 1},
		{Method: "IssueTicket", RequestID: "b", Intended: 110 * ms, Start: 120 * ms, End: 130 * ms, Outcome: history.OK, Replayed: true, Sequence: 4, Got: ticket("2", "waiting"), Try: 2},
		{Method: "CallNext", RequestID: "c", Intended: 140 * ms, Start: 140 * ms, End: 150 * ms, Outcome: history.OK, Sequence: 5, Counter: 1, Got: ticket("1", "called"), Try: 1},
		{Method: "CallNext", RequestID: "d", Intended: 160 * ms, Start: 160 * ms, End: 170 * ms, Outcome: history.OK, Sequence: 6, Counter: 1, Completed: ticket("1", "completed"), Got: ticket("2", "called"), Try: 1},
		{Method: "MarkNoShow", RequestID: "e", Intended: 180 * ms, Start: 180 * ms, End: 190 * ms, Outcome: history.OK, Sequence: 7, Got: ticket("2", "no_show"), Try: 1},
		{Method: "CallNext", RequestID: "f", Intended: 190 * ms, Start: 190 * ms, End: 191 * ms, Outcome: history.OK, Sequence: 7, Try: 1},
		{Method: "IssueTicket", RequestID: "g", Intended: 190 * ms, Start: 190 * ms, End: history.Never, Outcome: history.Unknown, Try: 1},
	}, Displays: map[string][]history.Entry{"r/d": {
		{Link: &history.Link{State: history.Up}}, {Link: &history.Link{State: history.Up}},
		{Frame: &history.Frame{Sequence: 5, At: 155 * ms, Calls: []history.Call{{Number: "A001"}}}},
	}}}
}

func TestASummaryCounts(t *testing.T) {
	t.Parallel()
	s := Summarise(small(), 10)
	want := Counts{Issued: 2, Called: 2, Served: 1, NoShows: 1, Empty: 1, Requests: 7, Retries: 1, Replays: 1, Unavailable: 1, Unknown: 2, Open: 1, Frames: 1, Reconnects: 1}
	if s.Counts != want {
		t.Errorf("got  %+v\nwant %+v", s.Counts, want)
	}
	// 50 ms and 40 ms of real time at speed 10.
	if s.Wait.N != 2 || s.Wait.Max/1000 != 500 {
		t.Errorf("waits: got %+v", s.Wait)
	}
	if s.Display.N != 1 || s.Display.Max/1000 != 15 {
		t.Errorf("call to display: got %+v", s.Display)
	}
	for _, m := range s.Methods {
		// The late number waited 100 ms from the moment it was due, and 10 ms from the moment it was sent.
		if m.Name == "IssueTicket" && (m.Service.Max/1000 != 10 || m.Intended.Max/1000 != 100) {
			t.Errorf("a late request hides its lateness: %+v", m)
		}
	}
}

func TestASummaryIsPrinted(t *testing.T) {
	t.Parallel()
	s := Summarise(small(), 1)
	s.Verdicts = []judge.Verdict{{Check: "no number twice", Status: judge.Fail, Judged: 2, Count: 1, Faults: []judge.Fault{{What: "twice A001", Ops: []string{"kiosk-1 IssueTicket"}}}}}
	var text, raw bytes.Buffer
	s.Print(&text)
	for _, want := range []string{"2 issued", "FAIL  no number twice", "twice A001", "kiosk-1 IssueTicket", "AN INVARIANT IS BROKEN"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in\n%s", want, &text)
		}
	}
	if err := s.WriteJSON(&raw); err != nil {
		t.Fatal(err)
	}
	var back Summary
	if err := json.Unmarshal(raw.Bytes(), &back); err != nil || back.Counts != s.Counts || back.Verdicts[0].Faults[0].What != "twice A001" {
		t.Errorf("the JSON does not say the same: %v\n%s", err, &raw)
	}
}
