package arch

import (
	"context"
	"sync/atomic"
)

// TicketLock is a mutual exclusion lock that is strictly first come, first
// served: the lock goes to its callers in the order in which they drew their
// tickets, and nobody barges, not even a TryLock.
//
// The zero value is an unlocked lock. A TicketLock must not be copied after its
// first use; go vet finds copies. Like a [sync.Mutex] it belongs to no
// goroutine: one may lock it and another unlock it. It is not reentrant.
//
// In the terminology of the Go memory model, the n'th call of Unlock
// synchronizes before the m'th successful Lock, TryLock or LockContext returns,
// for any n < m. A failed TryLock and a LockContext that returns an error
// establish no such relation.
//
// Misuse: Unlock of a lock that is not locked panics, in the caller or, when a
// Lock came between, in that Lock. After it the lock is in no defined state, as
// nobody can tell whose section was broken: the panic is not for recovering.
//
// It takes 256 bytes, and with its first sleeper another KiB for the lot, so
// it is a lock for the few places that many meet at, not for every small thing.
type TicketLock struct {
	_ [0]atomic.Uint64 // aligns the counters to 8 bytes, also on 32-bit machines

	// next is the ticket that the next caller draws. Callers write here, on a
	// line that the holder and the waiters need not look at.
	next uint64
	_    [cacheLines - 8]byte

	// serving is the ticket that holds the lock; it equals next when nobody
	// does. Only the holder moves it. Near waiters poll this line.
	//
	// The counters are plain words under atomic functions: the methods of
	// atomic.Uint64 cost the inliner so much that Lock would not be inlined.
	serving uint64

	// parked counts the nodes in the lot. It lies beside serving because Unlock
	// has that line anyway.
	parked atomic.Int64

	lot atomic.Pointer[lot] // made by the first waiter that parks
	_   [cacheLines - 3*8]byte
}

// cacheLines is the distance between words that different processors write: two
// cache lines of 64 bytes, which many processors fetch as a pair, or one of 128.
const cacheLines = 128

// Lock locks l. If it is locked, the caller waits for all those who called
// before, and for nobody else.
func (l *TicketLock) Lock() {
	t := atomic.AddUint64(&l.next, 1) - 1
	if yields {
		yieldPoint()
	}
	if atomic.LoadUint64(&l.serving) != t {
		l.lockSlow(t)
	}
}

// lockSlow is the part of Lock that is not inlined.
func (l *TicketLock) lockSlow(t uint64) {
	if !l.spin(t) {
		l.park(t, nil)
	}
}

// TryLock locks l if that needs no waiting at all, and says whether it did. It
// never waits and never overtakes: while anybody waits it fails.
func (l *TicketLock) TryLock() bool {
	t := atomic.LoadUint64(&l.next)
	yieldPoint()
	// If next is still t when the swap looks at it, then nobody drew a ticket
	// meanwhile, and the lock that was free in between is free.
	return atomic.LoadUint64(&l.serving) == t && atomic.CompareAndSwapUint64(&l.next, t, t+1)
}

// LockContext is Lock for a caller that may give up: it returns nil once it has
// locked l, and the error of ctx if ctx is done first. The lock is held if and
// only if the result is nil.
//
// With a ctx that is done already it returns at once, also if l is unlocked, and
// draws no ticket. A caller that gives up leaves its ticket behind, some 150
// bytes until its turn comes and Unlock skips it. If the lock is granted at the
// moment of giving up, it is released at once.
//
// ctx is looked at before the wait and while parked. The spinning in between,
// less than a microsecond, is not interrupted.
func (l *TicketLock) LockContext(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	t := atomic.AddUint64(&l.next, 1) - 1
	yieldPoint()
	if !l.spin(t) && !l.park(t, ctx.Done()) {
		return ctx.Err()
	}
	return nil
}

// Unlock unlocks l: the lock is given to the one who waits longest. It panics if
// l is not locked.
//
// If that waiter is parked, Unlock wakes it and then lets it have the processor
// (one runtime.Gosched), which is several times cheaper than to let it wait for
// one. So a caller that holds other locks too lets go of the most wanted first.
func (l *TicketLock) Unlock() {
	// Only the caller, who holds the lock, writes serving, so it need not be added
	// to; and a store is what costs least that also keeps the loads behind it.
	atomic.StoreUint64(&l.serving, l.serving+1)
	if yields {
		yieldPoint()
	}
	if atomic.LoadUint64(&l.next) != atomic.LoadUint64(&l.serving) {
		l.unlockSlow()
	}
}

// unlockSlow is the part of Unlock that is not inlined: ticket s is being served
// and somebody drew it, or nobody has and this is misuse. If others have unlocked
// meanwhile, then s is a ticket further on, and it does no harm to look after its
// owner, as the last of them does too.
func (l *TicketLock) unlockSlow() {
	s := atomic.LoadUint64(&l.serving)
	if int64(atomic.LoadUint64(&l.next)-s) < 0 {
		panic("arch: Unlock of unlocked TicketLock")
	}
	yieldPoint()
	if l.parked.Load() != 0 {
		l.wake(s)
	}
}
