package judge

import (
	"math/rand/v2"
	"testing"

	"callerd/cmd/kiosk-sim/internal/history"
)

// Whatever clients do not know about an honest hall, the judge finds no fault with it.
func TestNoHonestHistoryIsBlamed(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	doubts := 0
	for range 400 {
		s := randomScene(rng, true)
		s.forget(rng)
		if rng.IntN(2) == 0 {
			s.h.Displays = map[string][]history.Entry{}
		}
		for _, v := range Judge(s.h) {
			if v.Status == Fail {
				for i := range s.h.Ops {
					t.Logf("%d %d %s", s.h.Ops[i].Start, s.h.Ops[i].End, describe(&s.h.Ops[i]))
				}
				t.Fatalf("%s: %d faults, the first: %s %q", v.Check, v.Count, v.Faults[0].What, v.Faults[0].Ops)
			}
			doubts += v.Doubtful
		}
	}
	t.Logf("%d answers were left in doubt", doubts)
}

// forget takes answers away, or replaces them by those that a retry would have had later.
func (s *scene) forget(rng *rand.Rand) {
	last := s.h.Ops[len(s.h.Ops)-1].Sequence
	for i := range s.h.Ops {
		op := &s.h.Ops[i]
		if !op.Own() || op.Method == "OpenCounter" || rng.IntN(6) > 0 {
			continue
		}
		if rng.IntN(3) == 0 {
			op.Outcome, op.Sequence, op.Got, op.Completed, op.Ahead, op.Waiting = history.Unknown, 0, nil, nil, 0, 0
			continue
		}
		later := min(op.Sequence+uint64(rng.IntN(4)), last)
		for j := i + 1; j < len(s.h.Ops) && op.Counter != 0; j++ {
			if next := &s.h.Ops[j]; next.Client == op.Client { // a console has its answer before it goes on
				later = min(later, max(next.Sequence-1, op.Sequence))
				break
			}
		}
		op.Replayed, op.Ahead = true, 0
		op.Got, op.Completed = s.asOf(op.Got, later), s.asOf(op.Completed, later)
		op.Sequence = later
		for j := range s.h.Ops { // it was told when that moment had come
			if s.h.Ops[j].Sequence == later {
				op.End = max(op.End, s.h.Ops[j].End)
			}
		}
	}
}

// asOf is a ticket as the honest hall had it after a record.
func (s *scene) asOf(t *history.Ticket, at uint64) *history.Ticket {
	if t == nil {
		return nil
	}
	found := copied(t)
	for i := range s.h.Ops {
		op := &s.h.Ops[i]
		for _, got := range []*history.Ticket{op.Got, op.Completed} {
			if got != nil && got.ID == t.ID && got.Version <= at && got.Version > found.Version {
				found = copied(got)
			}
		}
	}
	return found
}
