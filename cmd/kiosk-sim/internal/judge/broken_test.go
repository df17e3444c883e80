package judge

import (
	"testing"
	"time"

	"callerd/cmd/kiosk-sim/internal/history"
)

// limited is a hall with quotas: three numbers a day, two a person.
func limited() *tale {
	t := newTale(history.Policy{MaxPerDay: 3, MaxPerPerson: 2}, "oldest")
	t.issue("A1", 0, history.Ask{Person: "p"})
	t.issue("A2", 1, history.Ask{Person: "p"})
	t.refused(history.Op{Method: "IssueTicket", Category: "personal", Ask: history.Ask{Person: "p"}}, "PERSON_LIMIT")
	t.issue("A3", 2, history.Ask{})
	t.refused(history.Op{Method: "IssueTicket", Category: "personal"}, "QUOTA_EXHAUSTED")
	return t
}

// timed is a hall in which a reservation is held for a second, and expires.
func timed() *tale {
	t := newTale(history.Policy{CheckInWithin: time.Second}, "oldest")
	a := t.issue("A1", 0, history.Ask{Reserve: true})
	a.Got.Deadline = a.End + int64(time.Second)
	t.now += int64(2 * time.Second)
	got := t.ticketOf("A1", "expired")
	got.Version, t.seq = t.seq+1, t.seq+1
	t.add(history.Op{Method: "GetTicket", Ticket: got.ID, Got: got})
	return t
}

// lent is a hall in which counter 1 has the seal and the cash machine, gives them back, and counter 2 has the seal.
func lent() *tale {
	t := newTale(history.Policy{}, "oldest")
	acquire := func(counter uint32, fence uint64, names ...string) {
		op := t.own(history.Op{Method: "AcquireResources", Counter: counter, Ask: history.Ask{Names: names, TTL: 1e9, Wait: 1e9}})
		op.Granted, op.Until = fence, op.End+1e9
	}
	acquire(1, 1, "seal", "cash")
	t.refused(history.Op{Method: "AcquireResources", Counter: 2, Ask: history.Ask{Names: []string{"cash"}, TTL: 1e9}}, "RESOURCE_BUSY")
	t.add(history.Op{Method: "ListResources", Told: history.Told{Resources: []history.Resource{
		{Name: "seal", Counter: 1, Fence: 1, Waiting: 1}, {Name: "cash", Counter: 1, Fence: 1}}}})
	t.own(history.Op{Method: "ReleaseResources", Counter: 1, Ask: history.Ask{Fence: 1}})
	acquire(2, 2, "seal")
	acquire(1, 3, "cash")
	t.refused(history.Op{Method: "ReleaseResources", Counter: 1, Ask: history.Ask{Fence: 1}}, "LEASE_LOST")
	return t
}

// nth returns the n-th op of a method, from 0.
func (t *tale) nth(method string, n int) *history.Op {
	for i := range t.h.Ops {
		if t.h.Ops[i].Method == method {
			if n--; n < 0 {
				return &t.h.Ops[i]
			}
		}
	}
	return &history.Op{}
}

func (t *tale) last() *history.Op { return &t.h.Ops[len(t.h.Ops)-1] }

// Every check of the trade must be able to fail: each row breaks an honest tale in one way.
func TestABrokenTaleFails(t *testing.T) {
	t.Parallel()
	swap := func(a, b *history.Op) { a.Got, b.Got = b.Got, a.Got }
	for _, c := range []struct {
		name  string
		check string
		tell  func() *tale
		spoil func(*tale)
	}{
		{"the overdue one is passed over once more", FIFO, bounded, func(s *tale) { swap(s.nth("CallNext", 2), s.nth("CallNext", 3)) }},
		{"a call by rule overtakes beyond the bound", Bound, bounded, func(s *tale) { s.h.Runs[0].Policies.Default.MaxOvertakes = 1 }},
		{"the reason names another rule", Reasons, bounded, func(s *tale) { s.nth("CallNext", 2).Why.Rule = "priority" }},
		{"the reason counts other overtakes", Reasons, bounded, func(s *tale) { s.nth("CallNext", 2).Why.Overtaken = 1 }},
		{"the reason hides whom it passed over", Reasons, bounded, func(s *tale) { s.nth("CallNext", 1).Why.PassedOver = nil }},
		{"the reason names another first one", Reasons, weighted, func(s *tale) { s.nth("CallNext", 2).Why.PassedOver[0].First += "7" }},
		{"a ticket counts other overtakes", Explained, bounded, func(s *tale) { s.nth("CallNext", 2).Got.Overtaken = 5 }},
		{"a category is called more often than its weight", FIFO, weighted, func(s *tale) { swap(s.nth("CallNext", 1), s.nth("CallNext", 2)) }},
		{"the regular lane goes first", FIFO, lanes, func(s *tale) { swap(s.nth("CallNext", 0), s.nth("CallNext", 1)) }},
		{"a priority ticket counts the regular lane ahead", Explained, lanes, func(s *tale) { s.nth("IssueTicket", 2).Ahead = 2 }},
		{"after one is after none", Explained, moved, func(s *tale) { s.nth("TransferTicket", 0).Ahead = 0 }},
		{"front is not the front", FIFO, moved, func(s *tale) { swap(s.nth("CallNext", 0), s.nth("CallNext", 1)) }},
		{"a transfer changes the number", Explained, moved, func(s *tale) { s.nth("TransferTicket", 0).Got.Number = "B3" }},
		{"a quota is oversold", Quota, limited, func(s *tale) { s.issue("A4", 3, history.Ask{}) }},
		{"a quota is exhausted early", Quota, limited, func(s *tale) { s.h.Runs[0].Policies.Default.MaxPerDay = 4 }},
		{"a person has one too many", Quota, limited, func(s *tale) { s.h.Runs[0].Policies.Default.MaxPerPerson = 1 }},
		{"a person is refused early", Quota, limited, func(s *tale) { s.h.Runs[0].Policies.Default.MaxPerPerson = 3 }},
		{"a reservation expires early", Deadlines, timed, func(s *tale) {
			s.last().Start, s.last().End = s.last().Start-int64(1500*time.Millisecond), s.last().End-int64(1500*time.Millisecond)
		}},
		{"a deadline is not that of the policy", Deadlines, timed, func(s *tale) { s.nth("IssueTicket", 0).Got.Deadline += int64(time.Second) }},
		{"a state that lasts for the day ends", Explained, timed, func(s *tale) {
			s.h.Runs[0].Policies.Default.CheckInWithin, s.nth("IssueTicket", 0).Got.Deadline = 0, 0
		}},
		{"two counters have one resource", Desk, lent, func(s *tale) { s.nth("AcquireResources", 2).Names = []string{"cash", "seal"} }},
		{"a fencing token does not grow", Desk, lent, func(s *tale) { s.nth("AcquireResources", 2).Granted = 1 }},
		{"some of a grant is held, and some not", Desk, lent, func(s *tale) {
			s.nth("AcquireResources", 0).Names = append(s.nth("AcquireResources", 0).Names, "printer")
		}},
		{"a grant is lost before its time", Desk, lent, func(s *tale) { s.last().Fence = 3 }},
		{"a late release is carried out", Desk, lent, func(s *tale) { s.own(history.Op{Method: "ReleaseResources", Counter: 1, Ask: history.Ask{Fence: 1}}) }},
		{"who came later has it first", InTurn, lent, func(s *tale) {
			first, later := s.nth("AcquireResources", 2), s.nth("AcquireResources", 3)
			first.Start = s.nth("ListResources", 0).Start - 1
			later.Names = []string{"seal"}
			first.Sequence, later.Sequence = later.Sequence, first.Sequence
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := c.tell()
			c.spoil(s)
			v := s.verdict(c.check)
			if v.Status != Fail {
				t.Fatalf("%s: got %+v, want %s", c.check, v, Fail)
			}
			if len(v.Faults[0].Ops) == 0 {
				t.Errorf("no evidence: %+v", v.Faults)
			}
		})
	}
}
