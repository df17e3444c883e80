package queue

import (
	"strings"
	"testing"
)

// lifecycle is the table of the design, as it stands there. "-" is refused; words after the state say more of the event.
const lifecycle = `
| state \ verb | call | recall | start | complete | no-show | requeue | hold | resume | transfer | cancel | check in | expire |
|---|---|---|---|---|---|---|---|---|---|---|---|---|
| RESERVED | - | - | - | - | - | - | - | - | - | CANCELLED | WAITING | EXPIRED |
| WAITING | CALLED | - | - | - | - | - | - | - | WAITING elsewhere | CANCELLED | - | EXPIRED |
| CALLED | - | CALLED, announced | SERVING | COMPLETED | NO_SHOW | WAITING | HELD | - | WAITING elsewhere | CANCELLED | - | EXPIRED |
| SERVING | - | - | - | COMPLETED | - | WAITING | HELD | - | WAITING elsewhere | - | - | - (completed at its counter, in its old day) |
| HELD | - | - | - | COMPLETED | - | WAITING | - | CALLED | WAITING elsewhere | CANCELLED | - | EXPIRED |
| NO_SHOW | - | - | - | - | - | WAITING | - | - | - | - | - | EXPIRED |
| COMPLETED CANCELLED EXPIRED | - | - | - | - | - | - | - | - | - | - | - | - |
`

type cell struct{ state, verb string }

// parseLifecycle reads the table: what each verb makes of each state, "" where it is refused.
func parseLifecycle(t *testing.T) map[cell]string {
	t.Helper()
	rows := strings.Split(strings.TrimSpace(lifecycle), "\n")
	columns := func(row string) (out []string) {
		for _, c := range strings.Split(strings.Trim(row, "|"), "|") {
			out = append(out, strings.TrimSpace(c))
		}
		return out
	}
	verbs := columns(rows[0])[1:]
	want := map[cell]string{}
	for _, row := range rows[2:] {
		cs := columns(row)
		if len(cs) != len(verbs)+1 {
			t.Fatalf("row %q has %d columns, want %d", row, len(cs), len(verbs)+1)
		}
		for _, state := range strings.Fields(cs[0]) {
			for i, v := range verbs {
				to, _, _ := strings.Cut(cs[i+1], " ")
				to = strings.Trim(to, ",")
				if to == "-" {
					to = ""
				}
				want[cell{state, v}] = to
			}
		}
	}
	return want
}

func TestTheLifecycleIsTheTableOfTheDesign(t *testing.T) {
	want := parseLifecycle(t)
	for _, s := range []string{"call", "recall", "start"} { // the table was read at all
		if _, ok := want[cell{"CALLED", s}]; !ok {
			t.Fatalf("no cell for CALLED %s", s)
		}
	}
	// A ticket comes to be by two verbs, which the table of what may happen to one does not have.
	want[cell{"NONE", "issue"}], want[cell{"NONE", "reserve"}] = "WAITING", "RESERVED"

	for s := State(0); s < numStates; s++ {
		for v := Verb(0); v < numVerbs; v++ {
			next, ok := Next(s, v)
			got := ""
			if ok {
				got = next.String()
			}
			c := cell{s.String(), v.String()}
			if got != want[c] {
				t.Errorf("%s, %s: got %q, want %q", c.state, c.verb, got, want[c])
			}
			delete(want, c)
		}
	}
	for c := range want {
		t.Errorf("%s, %s is in the design's table, not in the program's", c.state, c.verb)
	}
}

func TestWhatIsNoStateAndNoVerbIsRefused(t *testing.T) {
	for s := range 256 {
		for v := range 256 {
			if next, ok := Next(State(s), Verb(v)); ok && (s >= int(numStates) || v >= int(numVerbs) || v == 0) {
				t.Fatalf("state %d, verb %d: got %v, want a refusal", s, v, next)
			}
		}
	}
	if got := numStates.String() + numVerbs.String() + Verb(0).String(); got != "INVALIDINVALIDINVALID" {
		t.Errorf("got %s, want INVALID for each", got)
	}
}

func TestAStateSaysWhereItsTicketIs(t *testing.T) {
	for s := None; s < numStates; s++ {
		name := s.String()
		if got, want := s.Final(), strings.Contains("COMPLETED CANCELLED EXPIRED", name); got != want {
			t.Errorf("%s: final %t, want %t", name, got, want)
		}
		if got, want := s.AtCounter(), strings.Contains("CALLED SERVING HELD", name); got != want {
			t.Errorf("%s: at a counter %t, want %t", name, got, want)
		}
		if got, want := s.Current(), strings.Contains("CALLED SERVING", name); got != want {
			t.Errorf("%s: current %t, want %t", name, got, want)
		}
		for v := Verb(1); v < numVerbs; v++ {
			if next, ok := Next(s, v); ok && s.Final() {
				t.Errorf("%s is final, %v leads to %v", name, v, next)
			}
		}
	}
}
