package arch_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"callerd/internal/arch"
)

// Two tellers transfer between two lines, one from A to B and one from B to A, at the same moment. docs/what-if.md tells the
// story. Time in a bubble passes only when everybody in it waits: so the deadline below passes if and only if they are
// deadlocked, on any machine.
func TestWhatIfTwoTellersTakeTwoLinesCrosswise(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var a, b arch.TicketLock
		errs := transferAtOnce(t.Context(), [2]*arch.TicketLock{&a, &b}, [2]*arch.TicketLock{&b, &a})
		for i, err := range errs {
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("teller %d: got %v, want a wait that never ends", i+1, err)
			}
		}
	})
}

func TestTheSameTwoTellersInTheGlobalOrderBothGetThrough(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var a, b arch.TicketLock
		order := [2]*arch.TicketLock{&a, &b} // whichever way the ticket goes
		for i, err := range transferAtOnce(t.Context(), order, order) {
			if err != nil {
				t.Errorf("teller %d: got %v, want both lines", i+1, err)
			}
		}
	})
}

// transferAtOnce lets two tellers each take two lines in the order given, the second not before both have tried for their
// first, and wait an hour at most.
func transferAtOnce(ctx context.Context, orders ...[2]*arch.TicketLock) []error {
	ctx, cancel := context.WithTimeout(ctx, time.Hour)
	defer cancel()
	errs := make([]error, len(orders))
	var tried, done sync.WaitGroup
	tried.Add(len(orders))
	for i, order := range orders {
		done.Go(func() {
			first := order[0].TryLock()
			tried.Done()
			tried.Wait()
			if !first {
				if errs[i] = order[0].LockContext(ctx); errs[i] != nil {
					return
				}
			}
			defer order[0].Unlock()
			if errs[i] = order[1].LockContext(ctx); errs[i] == nil {
				order[1].Unlock()
			}
		})
	}
	done.Wait()
	return errs
}
