package arch

import "time"

const (
	// spinTime is how long a near waiter spins before it parks. It is not only what
	// parking and being woken costs, about 400 ns, but enough to ride out a holder
	// that an interrupt has delayed: while the waiter spins, its processor runs
	// nobody else who would join the line, and a long line takes long to shrink.
	spinTime = 1600 * time.Nanosecond

	// stepTime is the pause between two polls for each ticket ahead: about what
	// it costs to move a cache line from one core to another.
	stepTime = 25 * time.Nanosecond
)

// Calibrate measures how long a round of [Pause] takes on this machine and sets
// the spin budget of all locks accordingly. Main calls it once, before it starts
// anything; it takes under a millisecond. A second call measures again, and a call while
// locks are in use is allowed.
//
// Without it the locks are as correct, with a constant budget. They never
// calibrate on their own: in a testing/synctest bubble, where time stands still,
// such a loop would not end. There Calibrate changes nothing.
func Calibrate() {
	const rounds = 1000
	best := time.Duration(0)
	for range 7 { // the shortest of several: others may have had the processor
		start := time.Now() // measuring time is what Calibrate is for
		Pause(rounds)
		if d := time.Since(start); d > 0 && (best == 0 || d < best) {
			best = d
		}
	}
	if best == 0 {
		return
	}
	per := func(d time.Duration) uint32 { return uint32(max(1, d*rounds/best)) }
	setSpin(per(spinTime), per(stepTime))
}
