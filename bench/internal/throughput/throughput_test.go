package throughput

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"callerd/bench/internal/load"
	"callerd/bench/internal/peer"
)

// sampled is a row whose samples have these p50s.
func sampled(system string, p50s ...float64) *Row {
	r := &Row{System: system, Work: Issue, Callers: 1}
	for _, p := range p50s {
		r.Samples = append(r.Samples, Sample{Figures: load.Figures{P50: p}})
	}
	return r
}

func TestOneCallerIsComparedWithBothLimitsWithinEachAlternation(t *testing.T) {
	o := Outcome{Rows: []*Row{sampled("no-op RPC", .2, .4, .2), sampled("no-op RPC + two syncs", .4, .8), sampled("callerd", .6, 1.6, .6)},
		Fdatasync: []load.Figures{{P50: .1}, {P50: .2}, {P50: .2}}}
	o.oneCaller()
	same := func(a, b float64) bool { return math.Abs(a-b) < 1e-9 }
	if want := []float64{1.5, 2, 1}; !slices.EqualFunc(o.OneCaller, want, same) {
		t.Errorf("over no-op and syncs: got %v, want %v", o.OneCaller, want)
	}
	if want := []float64{1.5, 2}; !slices.EqualFunc(o.OneCallerSynced, want, same) {
		t.Errorf("over the no-op that syncs: got %v, want %v", o.OneCallerSynced, want)
	}
	o = Outcome{Rows: []*Row{sampled("callerd", .6)}, Fdatasync: []load.Figures{{P50: .1}}}
	if o.oneCaller(); o.OneCaller != nil || o.OneCallerSynced != nil {
		t.Errorf("got %v and %v without a limit, want none", o.OneCaller, o.OneCallerSynced)
	}
}

// counting is a system that counts in memory.
type counting struct {
	peer.Instance
	issued, called atomic.Uint64
}

func (c *counting) Issue(context.Context, int) (uint64, error) {
	time.Sleep(50 * time.Microsecond)
	return c.issued.Add(1), nil
}

func (c *counting) Open(context.Context, int) error { return nil }

func (c *counting) CallNext(context.Context, int) (uint64, error) {
	time.Sleep(50 * time.Microsecond)
	return c.called.Add(1), nil
}

func (c *counting) Pids() []int { return nil }

func (c *counting) Version() string { return "1" }

func (c *counting) Stop() error { return nil }

func TestASystemForOneCallerIsMeasuredWithOneOnly(t *testing.T) {
	start := func(context.Context, peer.Env) (peer.Instance, error) { return &counting{}, nil }
	o := Options{Env: peer.Env{Dir: t.TempDir(), Sockets: t.TempDir(), Counters: 4}, Alternations: 1, Measure: 20 * time.Millisecond, Works: []string{Issue, Call}, Progress: func(int, int, string) {},
		Systems: []peer.System{{Name: "many", Start: start}, {Name: "one", Start: start, OneCaller: true, IssueOnly: true}}, Callers: []int{1, 4}}
	out, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []struct {
		system, work string
		callers      int
		there        bool
	}{{"many", Issue, 1, true}, {"many", Issue, 4, true}, {"many", Call, 4, true}, {"one", Issue, 1, true}, {"one", Issue, 4, false}, {"one", Call, 1, false}} {
		if r := out.Row(want.system, want.work, want.callers); (r != nil) != want.there || want.there && len(r.Samples) != 1 {
			t.Errorf("%s, %s, %d callers: got %+v, want one: %t", want.system, want.work, want.callers, r, want.there)
		}
	}
	o.Callers = []int{4}
	if out, err = Run(t.Context(), o); err != nil || out.Row("one", Issue, 4) != nil || len(out.Faults()) > 0 {
		t.Errorf("without one caller: got %+v, %v, want nothing of it and no fault", out.Faults(), err)
	}
}

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

func TestEachRowIsFramedAndWhatTheFrameRefusesFailsTheRow(t *testing.T) {
	start := func(context.Context, peer.Env) (peer.Instance, error) { return &counting{}, nil }
	var told []string
	broken := errors.New("broken")
	o := Options{Env: peer.Env{Dir: t.TempDir(), Sockets: t.TempDir(), Counters: 2}, Alternations: 1, Measure: 20 * time.Millisecond, Works: []string{Issue}, Progress: func(int, int, string) {}, NoDisk: true,
		Systems: []peer.System{{Name: "many", Start: start}}, Callers: []int{1, 2},
		Begin: func(r *Row) error { told = append(told, fmt.Sprint("begin ", r.Callers)); return nil },
		End: func(r *Row) error {
			told = append(told, fmt.Sprint("end ", r.Callers))
			if r.Callers == 2 {
				return broken
			}
			return nil
		}}
	out, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"begin 1", "end 1", "begin 2", "end 2"}; !slices.Equal(told, want) {
		t.Errorf("got %v, want %v", told, want)
	}
	if r := out.Row("many", Issue, 1); r.Failed != "" || len(r.Samples) != 1 {
		t.Errorf("got %+v, want one sample", r)
	}
	if r := out.Row("many", Issue, 2); !strings.Contains(r.Failed, "broken") || len(r.Samples) != 0 {
		t.Errorf("got %+v, want it to have failed", r)
	}
	if len(out.Fdatasync) != 0 {
		t.Errorf("the disk was measured, %d times", len(out.Fdatasync))
	}
}
