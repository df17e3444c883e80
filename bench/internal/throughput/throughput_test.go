package throughput

import (
	"testing"

	"callerd/bench/internal/load"
	"callerd/bench/internal/peer"
)

func TestTheHallIsFilledByAsManyAsASystemWasFastestWith(t *testing.T) {
	row := func(system, work string, callers int, perSec ...float64) *Row {
		r := &Row{System: system, Work: work, Callers: callers}
		for _, p := range perSec {
			r.Samples = append(r.Samples, Sample{Figures: load.Figures{PerSec: p}})
		}
		return r
	}
	r := &runner{Options: Options{Env: peer.Env{Counters: 512}}, out: &Outcome{Rows: []*Row{row("a", Issue, 8, 50, 200), row("a", Issue, 64, 100), row("a", Call, 512, 1000), row("b", Issue, 512, 1000)}}}
	if got := r.fillers(row("a", Call, 64)); got != 8 {
		t.Errorf("got %d, want 8", got)
	}
	if got := r.fillers(row("c", Call, 64)); got != 256 {
		t.Errorf("got %d of a system that was not measured, want 256", got)
	}
}
