package judge

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/anishathalye/porcupine"

	"callerd/cmd/kiosk-sim/internal/history"
)

// hallState is the porcupine model's hall: immutable, so that a search may go back.
type hallState struct {
	a, b int
	line string // "A1 B1 A2"
	at   [4]string
}

func (h hallState) next(category string) (hallState, string) {
	if category == "personal" {
		h.a++
		return h, fmt.Sprintf("A%d", h.a)
	}
	h.b++
	return h, fmt.Sprintf("B%d", h.b)
}

// short turns 2026-11-30/personal/3 into A3.
func short(id string) string {
	if id == "" {
		return ""
	}
	_, category, n := parseID(id)
	return fmt.Sprintf("%s%d", prefix[category], n)
}

// hallModel knows issue, call and cancel: enough to hold the judge's idea of order against another one,
// which never looks at a sequence.
var hallModel = porcupine.Model{
	Init:  func() any { return hallState{} },
	Equal: func(a, b any) bool { return a == b },
	Step: func(state, _, output any) (bool, any) {
		h, op := state.(hallState), output.(*history.Op)
		waits := strings.Fields(h.line)
		switch op.Method {
		case "IssueTicket":
			ahead := 0
			for _, w := range waits {
				if w[0] == prefix[op.Category][0] {
					ahead++
				}
			}
			next, number := h.next(op.Category)
			next.line = strings.Join(append(waits, number), " ")
			return short(op.Got.ID) == number && int(op.Ahead) == ahead, next
		case "CallNext":
			if op.Outcome == history.Refused {
				return h.at[op.Counter] != "", h
			}
			if h.at[op.Counter] != short(op.Complete) {
				return false, h
			}
			h.at[op.Counter] = ""
			if op.Got == nil {
				return len(waits) == 0, h
			}
			h.at[op.Counter] = short(op.Got.ID)
			if len(waits) == 0 || waits[0] != h.at[op.Counter] || int(op.Waiting) != len(waits)-1 {
				return false, h
			}
			h.line = strings.Join(waits[1:], " ")
			return true, h
		case "CancelTicket":
			i := slices.Index(waits, short(op.Ticket))
			if i < 0 {
				return false, h
			}
			h.line = strings.Join(slices.Delete(waits, i, i+1), " ")
			return true, h
		}
		return true, h
	},
}

// porcupineSays searches for an order of the history's issues and calls.
func porcupineSays(h *history.History) bool {
	var ops []porcupine.Operation
	for i := range h.Ops {
		op := &h.Ops[i]
		if op.Method == "IssueTicket" || op.Method == "CallNext" || op.Method == "CancelTicket" {
			ops = append(ops, porcupine.Operation{ClientId: int(op.Start % 1000), Input: op.Method, Call: op.Start, Output: op, Return: op.End})
		}
	}
	return porcupine.CheckOperations(hallModel, ops)
}

// randomScene is a short honest history whose ops overlap: the effect of each lies somewhere between its
// start and its end, and no client has two at once.
func randomScene(rng *rand.Rand, verbs bool) *scene {
	s := newScene(3)
	first := len(s.h.Ops)
	for range 5 + rng.IntN(75) {
		switch n := uint32(rng.IntN(3)) + 1; {
		case rng.IntN(10) < 5:
			s.issue([]string{"personal", "corporate"}[rng.IntN(2)])
		case rng.IntN(10) == 0 && len(s.line) > 0:
			s.cancel(rng.IntN(len(s.line)))
		case verbs && s.at[n] != nil && rng.IntN(3) > 0:
			s.verb(n, verbsOf[s.at[n].State][rng.IntN(len(verbsOf[s.at[n].State]))])
		case verbs && s.at[n] == nil && len(s.held[n]) > 0 && rng.IntN(3) == 0:
			s.verb(n, "ResumeTicket")
		case rng.IntN(8) == 0 && s.at[n] != nil:
			s.refused(history.Op{Client: console(n), Method: "CallNext", Counter: n, Epoch: 1}, "COUNTER_BUSY")
		default:
			s.call(n)
		}
	}
	for i := first; i < len(s.h.Ops); i++ {
		op := &s.h.Ops[i]
		op.Start -= rng.Int64N(15e5)
		op.End += rng.Int64N(15e5)
	}
	return s
}

var verbsOf = map[string][]string{
	"called":  {"RecallTicket", "StartTicket", "StartTicket", "MarkNoShow", "HoldTicket", "CompleteTicket"},
	"serving": {"CompleteTicket", "HoldTicket"},
}

// cancel takes the i-th who waits out of the line.
func (s *scene) cancel(i int) {
	t := s.line[i]
	s.line = slices.Delete(s.line, i, i+1)
	s.seq++
	t.State, t.Version = "cancelled", s.seq
	s.told(s.add(history.Op{Client: "kiosk", Method: "CancelTicket", Ticket: t.ID, Got: copied(t)}), nil)
}

// The judge and porcupine look at the same small histories, honest ones and spoiled ones. Both accept the
// honest ones; nothing that the judge accepts may be impossible for porcupine.
func TestPorcupineAgrees(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	spoiled, impossible, caught := 0, 0, 0
	for range 150 {
		s := randomScene(rng, false)
		if len(s.h.Ops) > 200 {
			t.Fatalf("%d ops are too many for porcupine", len(s.h.Ops))
		}
		if vs := s.all(t); !Holds(vs) || !porcupineSays(s.h) {
			t.Fatalf("an honest history: the judge says %+v, porcupine %v", vs, porcupineSays(s.h))
		}
		if !spoil(rng, s) {
			continue
		}
		spoiled++
		says, judged := porcupineSays(s.h), Holds(Judge(s.h))
		if !says {
			impossible++
		}
		if !judged {
			caught++
		}
		if !says && judged {
			t.Fatalf("porcupine finds no order, and the judge accepts")
		}
	}
	t.Logf("%d spoiled, %d of them impossible for porcupine, %d refused by the judge", spoiled, impossible, caught)
	if impossible == 0 {
		t.Error("no spoiled history was impossible: the comparison says nothing")
	}
}

// spoil breaks one answer, or the time of one.
func spoil(rng *rand.Rand, s *scene) bool {
	var some []*history.Op
	for i := range s.h.Ops {
		if op := &s.h.Ops[i]; op.Got != nil && op.Method != "CancelTicket" {
			some = append(some, op)
		}
	}
	if len(some) < 4 {
		return false
	}
	a, b := some[rng.IntN(len(some))], some[rng.IntN(len(some))]
	if a == b {
		return false
	}
	switch rng.IntN(4) {
	case 0:
		a.Got, b.Got = b.Got, a.Got
	case 1:
		a.Ahead, a.Waiting = a.Ahead+1, a.Waiting+1
	case 2:
		a.Start, a.End, b.Start, b.End = b.Start, b.End, a.Start, a.End
	case 3:
		a.Got = nil
		if a.Method == "IssueTicket" {
			a.Got = copied(b.Got)
		}
	}
	return true
}
