package judge

import (
	"slices"
	"strings"
	"testing"

	"callerd/cmd/kiosk-sim/internal/history"
)

func TestAnHonestHistoryHolds(t *testing.T) {
	t.Parallel()
	rare := []string{SameAnswer, Little, Reasons, Bound, Quota, Deadlines, Desk, InTurn} // no such thing happens in this scene
	for _, v := range busyScene().all(t) {
		if v.Status == Fail || v.Doubtful > 0 || v.Judged == 0 && !slices.Contains(rare, v.Check) {
			t.Errorf("%+v", v)
		}
	}
}

// Every check must be able to fail: each row breaks an honest history in one way.
func TestABrokenHistoryFails(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		check string
		spoil func(*scene)
	}{
		{"a number was given to two requests", NoNumberTwice, func(s *scene) {
			a, b := s.nth("IssueTicket", 3), s.nth("IssueTicket", 4)
			b.Got = copied(a.Got)
		}},
		{"two tickets carry one number", NoNumberTwice, func(s *scene) {
			s.nth("IssueTicket", 3).Got.Number = s.nth("IssueTicket", 4).Got.Number
		}},
		{"a number is missing in the series", NoneLost, func(s *scene) { s.drop(s.nth("IssueTicket", 5)) }},
		{"the list lacks an acknowledged ticket", NoneLost, func(s *scene) {
			s.add(history.Op{Client: "clerk", Method: "ListTickets", Category: "personal", Tickets: []history.Ticket{*s.nth("IssueTicket", 0).Got}})
		}},
		{"the list has another number", NoneLost, func(s *scene) {
			got := *s.nth("IssueTicket", 0).Got
			got.Number = "A999"
			s.add(history.Op{Client: "clerk", Method: "ListTickets", Category: "personal", Tickets: []history.Ticket{got}})
		}},
		{"a ticket overtook another in its line", FIFO, func(s *scene) {
			a, b := s.nth("CallNext", 26), s.nth("CallNext", 28)
			a.Got.ID, a.Got.Number, b.Got.ID, b.Got.Number = b.Got.ID, b.Got.Number, a.Got.ID, a.Got.Number
		}},
		{"someone waited and the line was said to be empty", FIFO, func(s *scene) {
			s.issue("personal")
			s.add(history.Op{Client: console(2), Method: "CallNext", Counter: 2, Epoch: 1})
		}},
		{"a number of another line that entered later was called first", FIFO, func(s *scene) {
			s.issue("personal")
			s.issue("corporate")
			op := s.call(1) // all that waits is called in turn
			for op.Got.ID != s.nth("IssueTicket", 30).Got.ID {
				op = s.call(1)
			}
			later := s.nth("IssueTicket", 31).Got
			op.Got.ID, op.Got.Number, op.Got.Category = later.ID, later.Number, later.Category
		}},
		{"the count of those ahead is wrong", Explained, func(s *scene) { s.nth("IssueTicket", 7).Ahead++ }},
		{"the count of those who wait is wrong", Explained, func(s *scene) { s.nth("CallNext", 7).Waiting++ }},
		{"a refusal was not true", Explained, func(s *scene) {
			s.refused(history.Op{Client: console(1), Method: "CompleteTicket", Counter: 1, Epoch: 1, Ticket: s.at[1].ID}, "NO_CURRENT_TICKET")
		}},
		{"a stale session was obeyed", Explained, func(s *scene) { s.nth("CallNext", 9).Epoch = 7 }},
		{"a ticket's version is not its record's", Explained, func(s *scene) { s.nth("CallNext", 9).Got.Version-- }},
		{"a read tells another state", Explained, func(s *scene) {
			got := copied(s.at[1])
			got.State = "serving"
			s.add(history.Op{Client: "kiosk", Method: "GetTicket", Ticket: got.ID, Got: got})
		}},
		{"the larger sequence ended first", RealTime, func(s *scene) {
			a, b := s.nth("IssueTicket", 10), s.nth("IssueTicket", 12)
			a.Start, a.End, b.Start, b.End = b.Start, b.End, a.Start, a.End
		}},
		{"a read is older than what was known", RealTime, func(s *scene) {
			s.add(history.Op{Client: "kiosk", Method: "GetTicket", Ticket: s.at[1].ID, Got: s.at[1]}).Sequence = 5
		}},
		{"a display showed it before it was decided", RealTime, func(s *scene) { s.calls()[20].At = s.nth("CallNext", 18).Start - 1 }},
		{"two records share a sequence", RealTime, func(s *scene) { s.nth("IssueTicket", 10).Sequence = s.nth("IssueTicket", 11).Sequence }},
		{"one ticket was called to two counters", OneCounter, func(s *scene) {
			a, b := s.nth("CallNext", 10), s.nth("CallNext", 11)
			b.Got.ID, b.Got.Number, b.Got.Category = a.Got.ID, a.Got.Number, a.Got.Category
		}},
		{"a request gave two tickets", SameAnswer, func(s *scene) { s.nth("IssueTicket", 1).RequestID = s.nth("IssueTicket", 0).RequestID }},
		{"a replay tells another ticket", SameAnswer, func(s *scene) {
			again := *s.nth("IssueTicket", 0)
			again.Replayed, again.Got = true, s.nth("IssueTicket", 1).Got
			s.add(again)
		}},
		{"a call never reached the display", Displays, func(s *scene) {
			lost := s.calls()[4]
			for i, e := range s.h.Displays["r/d"] {
				if e.Frame == lost {
					s.h.Displays["r/d"] = slices.Delete(s.h.Displays["r/d"], i, i+1)
					s.h.Displays["r/d"][i].Frame.Previous = lost.Previous // a chain that hides it
					break
				}
			}
		}},
		{"a frame is missing in the chain", Displays, func(s *scene) { s.calls()[4].Previous-- }},
		{"a call was repeated", Displays, func(s *scene) { s.put(history.Entry{Frame: s.calls()[4]}) }},
		{"a frame announces a call twice", Displays, func(s *scene) {
			f := s.calls()[4]
			f.Calls = append(f.Calls, f.Calls[0])
		}},
		{"the display shows another counter", Displays, func(s *scene) { s.calls()[4].Calls[0].Counter++ }},
		{"the last call did not come", Displays, func(s *scene) { s.last += 5 }},
		{"another history", Displays, func(s *scene) { s.calls()[4].Epoch = "other" }},
		{"a heartbeat advances", Displays, func(s *scene) {
			s.put(history.Entry{Frame: &history.Frame{Display: "d", Stream: "hall", Epoch: "e", Sequence: s.last + 1, Heartbeat: true}})
		}},
		{"two displays of one stream were told different things", Displays, func(s *scene) {
			other := *s.calls()[4]
			other.Hash = 42
			first := history.Frame{Stream: "hall", Epoch: "e", Sequence: other.Previous, Snapshot: true}
			s.h.Displays["r/d2"] = []history.Entry{{Frame: &first}, {Frame: &other}}
		}},
		{"a display counts wrong", Board, func(s *scene) { s.calls()[4].Waiting[0].Waiting++ }},
		{"a display shows another ticket at a counter", Board, func(s *scene) { s.calls()[4].Counters[0].Ticket = day + "/personal/1" }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := busyScene()
			c.spoil(s)
			v := s.verdict(c.check)
			if v.Status != Fail {
				t.Fatalf("%s: got %s, want %s", c.check, v.Status, Fail)
			}
			if len(v.Faults) == 0 || len(v.Faults[0].Ops) == 0 {
				t.Errorf("no evidence: %+v", v.Faults)
			}
		})
	}
}

// drop takes an op out, as if it had never been.
func (s *scene) drop(op *history.Op) {
	s.h.Ops = slices.DeleteFunc(s.h.Ops, func(o history.Op) bool { return o.RequestID == op.RequestID })
}

// What nobody knows must not count as a fault, and must not hide one.
func TestWhatNobodyKnows(t *testing.T) {
	t.Parallel()
	unknown := func(op *history.Op) {
		op.Outcome, op.End, op.Sequence, op.Got, op.Completed = history.Unknown, history.Never, 0, nil, nil
	}
	for _, c := range []struct {
		name    string
		change  func(*scene)
		fails   []string
		doubted bool
	}{
		{"an issue without an answer holds the missing number", func(s *scene) { unknown(s.nth("IssueTicket", 5)) }, nil, true},
		{"a call without an answer took the ticket", func(s *scene) { unknown(s.nth("CallNext", 5)) }, nil, false},
		{"a replay that names a later moment", func(s *scene) {
			op := s.nth("IssueTicket", 5)
			op.Replayed, op.Sequence, op.End = true, op.Sequence+3, op.End+3e6
		}, nil, false},
		{"an open request for one line does not explain a gap in the other", func(s *scene) {
			unknown(s.nth("IssueTicket", 6)) // personal
			s.drop(s.nth("IssueTicket", 1))  // corporate
		}, []string{NoneLost}, true},
		{"an issue without an answer explains one number, not two", func(s *scene) {
			unknown(s.nth("IssueTicket", 6))
			s.drop(s.nth("IssueTicket", 2))
		}, []string{NoneLost}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for _, displays := range []bool{true, false} {
				s := busyScene()
				c.change(s)
				if !displays {
					s.h.Displays = map[string][]history.Entry{}
				}
				for _, v := range Judge(s.h) {
					if (v.Status == Fail) != slices.Contains(c.fails, v.Check) && !(len(c.fails) > 0 && v.Check == Explained) {
						t.Errorf("displays %v: %s: %+v", displays, v.Check, v)
					}
					if c.doubted && v.Check == NoneLost && v.Status == Pass && v.Doubtful == 0 {
						t.Errorf("displays %v: a missing number is not counted as doubtful", displays)
					}
				}
			}
		})
	}
}

func TestEveryVerbIsExplained(t *testing.T) {
	t.Parallel()
	s := newScene(1)
	for range 3 {
		s.issue("personal")
	}
	s.call(1)
	for _, verb := range []string{"RecallTicket", "StartTicket", "HoldTicket"} {
		s.verb(1, verb)
	}
	s.call(1)
	s.verb(1, "MarkNoShow")
	s.verb(1, "ResumeTicket")
	s.verb(1, "CompleteTicket")
	s.call(1)
	for _, v := range s.all(t) {
		if v.Status == Fail || v.Doubtful > 0 {
			t.Errorf("%+v", v)
		}
	}
}

func TestALeaseThatEndedPutsTheTicketBack(t *testing.T) {
	t.Parallel()
	again := func(after int64) Verdict {
		s := newScene(2)
		s.h.Displays = map[string][]history.Entry{}
		s.issue("personal")
		s.call(1)
		// The console is never heard of again; another counter calls the same ticket.
		s.now += after
		s.line = append(s.line, s.at[1])
		s.call(2)
		return s.verdict(OneCounter)
	}
	if v := again(61e9); v.Status != Pass {
		t.Errorf("after the lease: got %+v, want %s", v, Pass)
	}
	if v := again(1e9); v.Status != Fail {
		t.Errorf("before the lease's end: got %+v, want %s", v, Fail)
	}
}

func TestASnapshotAfterATooOldResumeIsTheOneGapAllowed(t *testing.T) {
	t.Parallel()
	s := busyScene()
	all := s.h.Displays["r/d"]
	lost := s.calls()[9]
	i := slices.IndexFunc(all, func(e history.Entry) bool { return e.Frame == lost })
	gap := history.Frame{Display: "d", Stream: "hall", Epoch: "e", Sequence: lost.Sequence, Snapshot: true}
	s.h.Displays["r/d"] = slices.Concat(all[:i-3], []history.Entry{{Link: &history.Link{Display: "d", Stream: "hall", State: history.Down}},
		{Link: &history.Link{Display: "d", Stream: "hall", State: history.Up, After: 3}}, {Frame: &gap}}, all[i+1:])
	v := s.verdict(Displays)
	if v.Status != Pass {
		t.Errorf("got %+v, want %s", v, Pass)
	}
	if want := "1 came back to a snapshot"; !strings.Contains(v.Note, want) {
		t.Errorf("got note %q, want it to say %q", v.Note, want)
	}
}
