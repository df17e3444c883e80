package judge

import (
	"compress/gzip"
	"encoding/json"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"callerd/cmd/kiosk-sim/internal/history"
)

// recorded are histories of a hundred customers in a real hall of six counters with short leases and deadlines, played by --mix wild
// at full speed; some with displays, some without.
var recorded = []string{"oldest", "ratio-no-displays", "priority-no-displays"}

// wild reads one of them.
func wild(t *testing.T, name string) *history.History {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", name+".jsonl.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	plain := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(plain, text, 0o600); err != nil {
		t.Fatal(err)
	}
	h, err := history.Read(plain)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// without is the history with a share of its answers lost: who asked was never told, and it may or may not have happened.
func without(h *history.History, rng *rand.Rand, share float64) *history.History {
	out := *h
	out.Ops = nil
	for _, op := range h.Ops {
		lists := op.Method == "ListTickets" || op.Method == "GetBranch" || op.Method == "ListCategories" // where the judge begins
		switch {
		case op.Outcome != history.OK || lists || rng.Float64() >= share:
			out.Ops = append(out.Ops, op)
		case op.Changes():
			out.Ops = append(out.Ops, history.Op{Attempt: op.Attempt, Client: op.Client, Method: op.Method, RequestID: op.RequestID,
				Category: op.Category, Ticket: op.Ticket, Complete: op.Complete, Counter: op.Counter, Page: op.Page, Ask: op.Ask, Epoch: op.Epoch,
				Intended: op.Intended, Start: op.Start, End: history.Never, Try: op.Try, Outcome: history.Unknown})
		}
	}
	return &out
}

// Of an honest hall nobody is blamed for what no client was told, one answer in a hundred or in twenty.
func TestLostAnswersBlameNobody(t *testing.T) {
	t.Parallel()
	seeds := 20
	if testing.Short() {
		seeds = 4
	}
	for _, name := range recorded {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h, seed := wild(t, name), rand.Uint64()
			doubts := 0
			for i := range uint64(seeds) {
				share := []float64{0, 0.01, 0.01, 0.05}[i%4]
				for _, v := range Judge(without(h, rand.New(rand.NewPCG(seed, i)), share)) {
					if v.Status == Fail {
						t.Errorf("seed %d, %d: %s: %d faults, the first: %s\n%s", seed, i, v.Check, v.Count, v.Faults[0].What, strings.Join(v.Faults[0].Ops, "\n"))
					}
					doubts += v.Doubtful
				}
			}
			t.Logf("seed %d: %d histories, %d answers left in doubt", seed, seeds, doubts)
		})
	}
}

// A real fault is found all the same. A number that is given twice and a ticket that is lost are always found. Who is called before his turn
// can hide behind an answer that nobody has: where no display tells what happened, some do.
func TestLostAnswersHideNoFault(t *testing.T) {
	t.Parallel()
	seeds := 8
	if testing.Short() {
		seeds = 3
	}
	for _, c := range []struct {
		fault string
		share float64 // of answers that are lost
		check string  // that must find it; "": any
		spoil func(*rand.Rand, *history.History) bool
		least map[string]int // of a hundred, by history
	}{
		{"a number is given twice", 0.01, NoNumberTwice, givenTwice, map[string]int{"oldest": 100, "ratio-no-displays": 100, "priority-no-displays": 100}},
		{"a ticket is lost", 0.01, NoneLost, ticketLost, map[string]int{"oldest": 100, "ratio-no-displays": 100, "priority-no-displays": 100}},
		{"one is called before its turn", 0, "", calledOutOfTurn, map[string]int{"oldest": 75, "ratio-no-displays": 75, "priority-no-displays": 75}},
		{"one is called before its turn, and answers are lost", 0.01, "", calledOutOfTurn, map[string]int{"oldest": 33}},
	} {
		t.Run(c.fault, func(t *testing.T) {
			t.Parallel()
			seed := rand.Uint64()
			all := 0
			for _, name := range recorded {
				h := wild(t, name)
				tried, found := 0, 0
				for i := range uint64(seeds) {
					rng := rand.New(rand.NewPCG(seed, i))
					s := without(h, rng, c.share)
					if !c.spoil(rng, s) {
						continue
					}
					tried++
					if slices.ContainsFunc(Judge(s), func(v Verdict) bool { return v.Status == Fail && (c.check == "" || v.Check == c.check) }) {
						found++
					}
				}
				t.Logf("%s: seed %d: found %d of %d", name, seed, found, tried)
				all += tried
				if tried >= 4 && found*100 < tried*c.least[name] {
					t.Errorf("%s: seed %d: found %d of %d, want %d in a hundred", name, seed, found, tried, c.least[name])
				}
			}
			if all == 0 {
				t.Error("no history was spoiled")
			}
		})
	}
}

// pick picks an op.
func pick(rng *rand.Rand, h *history.History, fits func(*history.Op) bool) *history.Op {
	var all []*history.Op
	for i := range h.Ops {
		if fits(&h.Ops[i]) {
			all = append(all, &h.Ops[i])
		}
	}
	if len(all) == 0 {
		return nil
	}
	return all[rng.IntN(len(all))]
}

func givenTwice(rng *rand.Rand, h *history.History) bool {
	a := pick(rng, h, func(o *history.Op) bool { return o.Method == "IssueTicket" && o.Own() })
	b := pick(rng, h, func(o *history.Op) bool {
		return o.Method == "IssueTicket" && o.Own() && o.Category == a.Category && o.RequestID != a.RequestID
	})
	b.Got = copied(b.Got)
	b.Got.ID, b.Got.Number = a.Got.ID, a.Got.Number
	return true
}

// ticketLost takes a ticket out of the last list.
func ticketLost(rng *rand.Rand, h *history.History) bool {
	a := pick(rng, h, func(o *history.Op) bool { return o.Method == "IssueTicket" && o.Own() })
	for i := range slices.Backward(h.Ops) {
		o := &h.Ops[i]
		if n := slices.IndexFunc(o.Tickets, func(t history.Ticket) bool { return t.ID == a.Got.ID }); n >= 0 && o.Method == "ListTickets" {
			o.Tickets = slices.Delete(slices.Clone(o.Tickets), n, n+1)
			return true
		}
	}
	return false
}

// calledOutOfTurn lets two tickets of one lane change places: what became of the one since it was issued has become of the other,
// in every answer and on every display.
func calledOutOfTurn(rng *rand.Rand, h *history.History) bool {
	first := map[string]*history.Op{} // call
	for i := range h.Ops {
		if o := &h.Ops[i]; o.Method == "CallNext" && o.Own() && o.Got != nil && o.Got.Calls == 1 && o.Why.Rule != "bound" {
			first[o.Got.ID] = o
		}
	}
	waits := func(o *history.Op) bool {
		return o.Method == "IssueTicket" && o.Own() && !o.Reserve && first[o.Got.ID] != nil && first[o.Got.ID].Got.Category == o.Category
	}
	a := pick(rng, h, waits)
	b := pick(rng, h, func(o *history.Op) bool {
		return waits(o) && o.Category == a.Category && o.Priority == a.Priority && o.Sequence > a.Sequence && o.Sequence < first[a.Got.ID].Sequence &&
			first[o.Got.ID].Sequence > first[a.Got.ID].Sequence
	})
	if b == nil {
		return false
	}
	other := strings.NewReplacer(quoted(a.Got.ID), quoted(b.Got.ID), quoted(b.Got.ID), quoted(a.Got.ID),
		quoted(a.Got.Number), quoted(b.Got.Number), quoted(b.Got.Number), quoted(a.Got.Number))
	issued := map[int]history.Op{}
	for i, o := range h.Ops {
		if o.Method == "IssueTicket" {
			issued[i] = o
		}
	}
	h.Ops = renamed(h.Ops, other)
	for i, o := range issued {
		h.Ops[i] = o
	}
	h.Displays = renamed(h.Displays, other)
	return true
}

func quoted(s string) string { return strconv.Quote(s) }

// renamed replaces in all of a value.
func renamed[T any](v T, r *strings.Replacer) (out T) {
	text, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal([]byte(r.Replace(string(text))), &out)
	}
	if err != nil {
		panic(err)
	}
	return out
}
