package arch_test

import (
	"testing"
	"time"

	"callerd/internal/arch"
)

func TestPauseReturns(t *testing.T) {
	for _, n := range []uint32{0, 1, 2, 1000} {
		arch.Pause(n)
	}
}

// A round takes from a fraction of a nanosecond to about a hundred; Calibrate
// has to come out with a budget that is neither nothing nor endless.
func TestCalibrate(t *testing.T) {
	arch.SetSpin(t, 0, 0) // for the cleanup
	arch.Calibrate()
	budget, step := arch.SpinRounds()
	if budget < 1 || budget > 100_000 {
		t.Errorf("budget %d rounds, want 1 to 100,000", budget)
	}
	if step < 1 || step > budget {
		t.Errorf("step %d rounds, want 1 to the budget, %d", step, budget)
	}
	start := time.Now()
	arch.Pause(uint32(budget))
	t.Logf("budget %d rounds, %v; step %d", budget, time.Since(start), step)
}

func BenchmarkPause(b *testing.B) {
	for b.Loop() {
		arch.Pause(1)
	}
}
