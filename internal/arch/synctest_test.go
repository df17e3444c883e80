package arch_test

import (
	"context"
	"errors"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"callerd/internal/arch"
)

// In a bubble time stands still until all its goroutines sleep. So the waiters
// must get there on their own: also those whose spin budget is large, and those
// whose deadline is the next thing to happen.
func TestWaitersInABubble(t *testing.T) {
	for _, c := range []struct {
		name   string
		budget uint32
	}{
		{"that park at once", 0},
		{"with the usual budget", 80},
		{"with a thousand times the usual budget", 80_000},
	} {
		t.Run(c.name, func(t *testing.T) {
			arch.SetSpin(t, c.budget, 1)
			synctest.Test(t, func(t *testing.T) { waitInABubble(t) })
		})
	}
}

func waitInABubble(t *testing.T) {
	const stay, leave = 8, 8
	var l arch.TicketLock
	arch.StartAt(&l, math.MaxUint64-4)
	l.Lock()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	left := make(chan error, leave) // one slot for each who leaves
	served := 0
	for range max(stay, leave) {
		go func() { left <- l.LockContext(ctx) }()
		go func() {
			l.Lock()
			served++
			l.Unlock()
		}()
	}
	synctest.Wait()
	if got, want := arch.Parked(&l), stay+leave; got != want {
		t.Errorf("parked %d, want %d", got, want)
	}
	<-ctx.Done() // the minute passes
	for range leave {
		if err := <-left; !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, want %v", err, context.DeadlineExceeded)
		}
	}
	l.Unlock()
	synctest.Wait()
	if served != stay {
		t.Errorf("served %d, want %d", served, stay)
	}
	checkFree(t, &l)
}

func TestCalibrateInABubbleChangesNothing(t *testing.T) {
	arch.SetSpin(t, 7, 3)
	synctest.Test(t, func(t *testing.T) { arch.Calibrate() })
	if budget, step := arch.SpinRounds(); budget != 7 || step != 3 {
		t.Errorf("budget %d, step %d, want 7, 3", budget, step)
	}
}
