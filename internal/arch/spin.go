package arch

import (
	"runtime"
	"sync/atomic"
)

// The spin budget before [Calibrate]: right for a PAUSE of some 40 cycles. Where
// a round is cheaper, waiters park sooner than would be best.
const (
	defaultBudget = 80 // rounds of Pause that a waiter spins at most
	defaultStep   = 1  // rounds of Pause between two polls, for each ticket ahead
)

// machine is what waiters need to know of the machine. It is the one state of
// this package that is not in a lock, for there is one machine.
var machine struct {
	// tuned is budget<<32 | step, and 0 before Calibrate.
	tuned atomic.Uint64
	// processors is GOMAXPROCS as seen lately. Asking for it takes a lock of the
	// scheduler, so it is asked for now and then: see glance.
	processors atomic.Int64
}

// setSpin sets the most rounds that a waiter spins, and those between two polls
// for each ticket ahead.
func setSpin(budget, step uint32) {
	machine.tuned.Store(uint64(budget)<<32 | uint64(step))
}

// spinRounds returns what setSpin set, or the default.
func spinRounds() (budget, step uint64) {
	if v := machine.tuned.Load(); v != 0 {
		return v >> 32, v & (1<<32 - 1)
	}
	return defaultBudget, defaultStep
}

// glance refreshes the number of processors, and returns it.
func glance() uint64 {
	n := runtime.GOMAXPROCS(0)
	machine.processors.Store(int64(n))
	return uint64(n)
}

// spin polls for the turn of ticket t while that is near and the budget lasts,
// and says whether the turn came.
//
// Near means that the holder and all waiters between may be running at this
// moment: the distance is below the number of processors. The pause between two
// polls grows with the distance, so that the last in line do not take the cache
// line from those whose turn it is. The loop counts rounds and looks at no clock: it
// ends also where time stands still.
func (l *TicketLock) spin(t uint64) bool {
	processors := uint64(machine.processors.Load())
	if processors == 0 {
		processors = glance()
	}
	budget, step := spinRounds()
	for {
		d := t - atomic.LoadUint64(&l.serving)
		if d == 0 {
			return true
		}
		if int64(d) < 0 {
			panic("arch: TicketLock was unlocked more often than locked")
		}
		if d >= processors || budget == 0 {
			return false
		}
		rounds := min(d*step, budget)
		budget -= rounds
		Pause(uint32(rounds))
		yieldPoint()
	}
}
