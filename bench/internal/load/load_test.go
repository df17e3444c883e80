package load

import (
	"context"
	"errors"
	"math"
	"testing"
	"testing/synctest"
	"time"
)

// hold is an operation that takes d.
func hold(d time.Duration) Op {
	return func(ctx context.Context, _ int) error {
		wait(ctx, d)
		return nil
	}
}

func TestAClosedLoopOfCallersThatEachWait10msDoes100ASecondEach(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, err := Run(t.Context(), Options{Callers: 4, Warm: 105 * time.Millisecond, Measure: time.Second}, hold(10*time.Millisecond))
		if err != nil {
			t.Fatal(err)
		}
		if f.Ops != 400 || f.PerSec != 400 {
			t.Errorf("got %d operations, %.1f a second, want 400", f.Ops, f.PerSec)
		}
		for name, got := range map[string]float64{"p50": f.P50, "p99": f.P99, "max": f.Max} {
			if math.Abs(got-10) > 0.02 {
				t.Errorf("got %s %.3f ms, want 10", name, got)
			}
		}
	})
}

func TestTheFirstErrorEndsTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broken := errors.New("broken")
		began := time.Now()
		_, err := Run(t.Context(), Options{Callers: 8, Measure: time.Hour}, func(ctx context.Context, caller int) error {
			wait(ctx, time.Millisecond)
			if caller == 5 {
				return broken
			}
			return nil
		})
		if !errors.Is(err, broken) {
			t.Errorf("got %v, want %v", err, broken)
		}
		if took := time.Since(began); took > time.Second {
			t.Errorf("it went on for %v", took)
		}
	})
}

func TestARunInWhichNothingEndsGivesNoFigures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		if _, err := Run(t.Context(), Options{Callers: 1, Measure: time.Second}, hold(2*time.Second)); !errors.Is(err, ErrNothing) {
			t.Errorf("got %v, want %v", err, ErrNothing)
		}
	})
}

func TestTheMeasuredTimeIsFramedByBeginAndEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var begin, end time.Time
		began := time.Now()
		o := Options{Callers: 1, Warm: time.Second, Measure: 2 * time.Second, Begin: func() { begin = time.Now() }, End: func() { end = time.Now() }}
		if _, err := Run(t.Context(), o, hold(10*time.Millisecond)); err != nil {
			t.Fatal(err)
		}
		if got := begin.Sub(began); got != time.Second {
			t.Errorf("it began after %v, want 1s", got)
		}
		if got := end.Sub(begin); got != 2*time.Second {
			t.Errorf("it measured %v, want 2s", got)
		}
	})
}
