package judge

import (
	"fmt"
	"testing"
	"time"

	"callerd/cmd/kiosk-sim/internal/history"
)

// tale is the history of a hall of one counter told op by op, with answers written by hand: independent of the model.
type tale struct {
	h   *history.History
	seq uint64
	now int64
}

func newTale(p history.Policy, rule string, weights ...uint32) *tale {
	t := &tale{h: &history.History{Runs: []history.Run{{ID: "r", Policies: &history.Policies{Default: p}}}, Displays: map[string][]history.Entry{}}, seq: 1, now: int64(time.Hour)}
	t.add(history.Op{Method: "GetBranch", Hall: &history.Hall{Day: day}})
	for _, c := range []string{"personal", "corporate"} {
		t.add(history.Op{Method: "ListTickets", Category: c})
	}
	for n := uint32(1); n <= 2; n++ {
		t.own(history.Op{Method: "OpenCounter", Counter: n, Epoch: 1, Categories: []string{"personal", "corporate"}, Rule: rule, LeaseMS: 3_600_000, Ask: history.Ask{Weights: weights}})
	}
	return t
}

func (t *tale) add(op history.Op) *history.Op {
	t.now += 1e6
	op.Start, op.End, op.Sequence, op.Try = t.now-5e5, t.now, t.seq, 1
	if op.Outcome == "" {
		op.Outcome = history.OK
	}
	if op.RequestID = fmt.Sprint(len(t.h.Ops)); !op.Changes() {
		op.RequestID = ""
	}
	if op.Counter != 0 {
		op.Epoch = 1
	}
	t.h.Ops = append(t.h.Ops, op)
	return &t.h.Ops[len(t.h.Ops)-1]
}

// own adds an op that is a record.
func (t *tale) own(op history.Op) *history.Op {
	t.seq++
	return t.add(op)
}

func (t *tale) refused(op history.Op, reason string) {
	op.Outcome, op.Reason = history.Refused, reason
	t.add(op)
}

// ticketOf is a ticket by its number, A1 or B1, as it is now.
func (t *tale) ticketOf(number, state string) *history.Ticket {
	category := map[byte]string{'A': "personal", 'B': "corporate"}[number[0]]
	return &history.Ticket{ID: day + "/" + category + "/" + number[1:], Number: number, Category: category, State: state, Version: t.seq + 1}
}

func (t *tale) issue(number string, ahead uint32, ask history.Ask) *history.Op {
	got := t.ticketOf(number, "waiting")
	got.Priority, got.Issued = ask.Priority, t.now+7e5
	if ask.Reserve {
		got.State = "reserved"
	}
	return t.own(history.Op{Method: "IssueTicket", Category: got.Category, Got: got, Ahead: ahead, Ask: ask})
}

// call calls at counter 1 and completes at once; waiting is how many still wait.
func (t *tale) call(number string, waiting uint32, why history.Reason) *history.Op {
	got := t.ticketOf(number, "called")
	got.Counter, got.Calls, got.Overtaken, got.Called = 1, 1, why.Overtaken, t.now+7e5
	op := t.own(history.Op{Method: "CallNext", Counter: 1, Got: got, Waiting: waiting, Told: history.Told{Why: &why}})
	i := len(t.h.Ops) - 1
	done := t.ticketOf(number, "completed")
	done.Counter, done.Calls, done.Overtaken = 1, 1, why.Overtaken
	_ = op
	t.own(history.Op{Method: "CompleteTicket", Counter: 1, Ticket: got.ID, Got: done})
	return &t.h.Ops[i]
}

func (t *tale) verdict(check string) Verdict {
	for _, v := range Judge(t.h) {
		if v.Check == check {
			return v
		}
	}
	return Verdict{}
}

func over(category string, count uint32, first string) []history.PassedOver {
	return []history.PassedOver{{Category: category, Count: count, First: day + "/" + category + "/" + first}}
}

// bounded is a hall of the rule priority in which B1 is passed over twice, and then its turn.
func bounded() *tale {
	t := newTale(history.Policy{MaxOvertakes: 2}, "priority")
	t.issue("B1", 0, history.Ask{})
	for i, n := range []string{"A1", "A2", "A3"} {
		t.issue(n, uint32(i), history.Ask{})
	}
	t.call("A1", 3, history.Reason{Rule: "priority", PassedOver: over("corporate", 1, "1")})
	t.call("A2", 2, history.Reason{Rule: "priority", PassedOver: over("corporate", 1, "1")})
	t.call("B1", 1, history.Reason{Rule: "overdue", Overtaken: 2})
	t.call("A3", 0, history.Reason{Rule: "priority"})
	return t
}

// weighted is a hall of the rule ratio, 1 A : 2 B.
func weighted() *tale {
	t := newTale(history.Policy{}, "ratio", 1, 2)
	for i, n := range []string{"1", "2", "3"} {
		t.issue("A"+n, uint32(i), history.Ask{})
	}
	for i, n := range []string{"1", "2", "3"} {
		t.issue("B"+n, uint32(i), history.Ask{})
	}
	t.call("B1", 5, history.Reason{Rule: "ratio", PassedOver: over("personal", 3, "1")})
	t.call("A1", 4, history.Reason{Rule: "ratio", Overtaken: 1})
	t.call("B2", 3, history.Reason{Rule: "ratio", PassedOver: over("personal", 2, "2")})
	t.call("B3", 2, history.Reason{Rule: "ratio", PassedOver: over("personal", 2, "2")})
	t.call("A2", 1, history.Reason{Rule: "ratio", Overtaken: 3})
	return t
}

// lanes is a hall with a priority lane.
func lanes() *tale {
	t := newTale(history.Policy{}, "oldest")
	t.issue("A1", 0, history.Ask{})
	t.issue("A2", 1, history.Ask{})
	t.issue("A3", 0, history.Ask{Priority: "elderly"})
	got := t.call("A3", 2, history.Reason{Rule: "oldest", PassedOver: over("personal", 2, "1")})
	got.Got.Priority = "elderly"
	t.h.Ops[len(t.h.Ops)-1].Got.Priority = "elderly"
	t.call("A1", 1, history.Reason{Rule: "oldest", Overtaken: 1})
	return t
}

// moved is a hall in which A2 is transferred behind one of the other line, and A1 before all.
func moved() *tale {
	t := newTale(history.Policy{}, "priority")
	for i, n := range []string{"A1", "A2", "A3"} {
		t.issue(n, uint32(i), history.Ask{})
	}
	t.issue("B1", 0, history.Ask{})
	t.issue("B2", 1, history.Ask{})
	move := func(number string, ask history.Ask, ahead uint32) {
		got := t.ticketOf(number, "waiting")
		got.Category = ask.Into
		t.own(history.Op{Method: "TransferTicket", Counter: 1, Ticket: got.ID, Ask: ask, Got: got, Ahead: ahead})
	}
	move("A2", history.Ask{Into: "corporate", Where: history.After, After: 1}, 1)
	move("A3", history.Ask{Into: "personal", Where: history.Front}, 0)
	t.call("A3", 4, history.Reason{Rule: "priority"})
	t.call("A1", 3, history.Reason{Rule: "priority"})
	t.call("B1", 2, history.Reason{Rule: "priority"})
	for i := len(t.h.Ops) - 2; i < len(t.h.Ops); i++ {
		t.h.Ops[i].Got.Category = "corporate"
	}
	a2 := t.call("A2", 1, history.Reason{Rule: "priority"})
	a2.Got.Category, t.h.Ops[len(t.h.Ops)-1].Got.Category = "corporate", "corporate"
	return t
}

func TestAnHonestTaleHolds(t *testing.T) {
	t.Parallel()
	for name, tell := range map[string]func() *tale{"bounded": bounded, "weighted": weighted, "lanes": lanes, "moved": moved, "limited": limited, "timed": timed, "lent": lent} {
		for _, v := range Judge(tell().h) {
			if v.Status == Fail || v.Doubtful > 0 {
				t.Errorf("%s: %+v", name, v)
			}
		}
	}
}
