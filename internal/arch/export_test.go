package arch

import (
	"sync/atomic"
	"testing"
	"time"
	"unsafe"
)

// Yields says whether the build yields between the atomic steps of the lock.
const Yields = yields

// The distances that keep words which different processors write apart.
const (
	NextToServing = unsafe.Offsetof(TicketLock{}.serving) - unsafe.Offsetof(TicketLock{}.next)
	ServingToEnd  = unsafe.Sizeof(TicketLock{}) - unsafe.Offsetof(TicketLock{}.serving)
)

// StartAt makes l, which is unlocked, give out ticket t next.
func StartAt(l *TicketLock, t uint64) {
	l.next, l.serving = t, t
}

// Overrun leaves l as an Unlock too many leaves it.
func Overrun(l *TicketLock) { l.serving = l.next + 1 }

// UseLot gives l, which is unused, a lot with size buckets.
func UseLot(l *TicketLock, size int) { l.lot.Store(newLot(size)) }

// SetSpin sets the spin budget for the length of the test.
func SetSpin(tb testing.TB, budget, step uint32) {
	was := machine.tuned.Load()
	setSpin(budget, step)
	tb.Cleanup(func() { machine.tuned.Store(was) })
}

// SpinRounds returns the spin budget and step.
func SpinRounds() (budget, step uint64) { return spinRounds() }

// Glance makes the locks see a new GOMAXPROCS at once.
func Glance() { glance() }

// Drawn returns the ticket that is drawn next.
func Drawn(l *TicketLock) uint64 { return atomic.LoadUint64(&l.next) }

// Serving returns the ticket that is being served.
func Serving(l *TicketLock) uint64 { return atomic.LoadUint64(&l.serving) }

// Parked returns the number of nodes in the lot, sleeping or given up.
func Parked(l *TicketLock) int { return int(l.parked.Load()) }

// LockTicket is Lock that tells the ticket it drew.
func LockTicket(l *TicketLock) uint64 {
	t := atomic.AddUint64(&l.next, 1) - 1
	yieldPoint()
	if atomic.LoadUint64(&l.serving) != t {
		l.lockSlow(t)
	}
	return t
}

// BackoffBound returns the longest pause after the n'th failed try.
func BackoffBound(b Backoff, n int) time.Duration { return b.bound(n) }
