// Package arch holds what is close to the machine: the hint for spin loops and
// the lock that guards the counters and the lines of a branch.
//
// # Nouns
//
// A [TicketLock] is a lock that is strictly first come, first served. Who calls
// Lock draws a ticket; Unlock calls the next ticket; the lock is held by the
// ticket that is being served. It is the hall's own rule, applied to
// goroutines.
//
// A waiter that is near its turn spins: it polls the ticket being served. A
// waiter that is far from it, or has spun for long enough, parks: it sleeps on
// a channel of its own in the lock's lot, where Unlock finds it by its ticket.
//
// A [RankedLock] is a TicketLock with a place in the one global order of locks,
// and [Held] is the chain of locks that one operation holds. The build tag
// lockrank makes every operation check the order; without it both cost nothing.
//
// A [Backoff] is how work that nobody waits for comes again until it finds the
// lock free: TryLockContext, which is never in line and in nobody's way.
//
// [Pause] is the processor's hint for spin loops and the only assembly here.
// Everything else is sync/atomic, so that the race detector sees it.
//
// # Build tags
//
//   - lockrank checks the order of the locks and panics where it is broken.
//   - lockyield yields the processor at pseudo-random points between the atomic
//     steps of the lock, for tests.
//
// # Caveats
//
//   - Main calls [Calibrate] once. Until then the spin budget is a guess.
//   - YIELD, the hint on arm64, does nothing on many cores, and PAUSE takes ten
//     times as long on some processors as on others: only a measurement says
//     how many rounds make a microsecond.
//   - Unlock gives up the processor once when it wakes a sleeper: see
//     [TicketLock.Unlock].
//   - A lock that is used in a testing/synctest bubble is created in it and is
//     not used outside: the channels of its sleepers belong to the bubble.
//
// DESIGN.md, beside this file, says why the lock is built this way, what was
// tried, and what was measured.
package arch
