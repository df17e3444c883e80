//go:build !lockrank

package arch

import "context"

// Held is the chain of locks that one operation holds. Go gives goroutines no
// identity, so an operation carries its chain along and shows it to each lock.
//
// The zero value holds none. It is passed by pointer and belongs to one
// operation: one goroutine at a time uses it, and it is not copied while it
// holds anything.
//
// The chain is kept and checked only under the build tag lockrank, as the Go
// runtime does with its own locks. Without the tag Held is an empty struct, its
// methods do nothing, and both cost nothing.
type Held struct{}

// AssertNone panics, under the tag, if the operation holds a lock. It is called
// before the operation waits for anything but a lock: a commit, input, output.
func (h *Held) AssertNone() {}

// AssertHeld panics, under the tag, unless the operation holds l. It is the
// comment "l must be held" in a form that is checked.
func (h *Held) AssertHeld(l *RankedLock) {}

// RankedLock is a [TicketLock] with a place in the global order of locks: a rank,
// and an id among the locks of that rank.
//
// It is unlocked at first, but must be given its place by Init before it is used;
// the zero value is not a lock. It must not be copied after Init; go vet finds
// copies. What TicketLock says about order, memory model and misuse holds.
//
// Under the build tag lockrank it panics, with a message that names the locks
// concerned, when it is used before Init or with a nil *Held, when a lock of
// larger rank is held, or one of the same rank with an id not smaller, when it is
// held by the same chain already, and when it is unlocked by a chain that does not
// hold it. It checks before it waits, so that the wrong order shows whenever it is
// tried, not only when it ends in a deadlock. Without the tag nothing is checked
// and the methods are inlined to those of the TicketLock.
type RankedLock struct {
	lock TicketLock
}

// Init gives l its place in the global order. It is called once, before l is
// used and before other goroutines know of it.
func (l *RankedLock) Init(rank Rank, id uint64) {}

// Lock locks l as [TicketLock.Lock] does and adds it to the chain h.
func (l *RankedLock) Lock(h *Held) { l.lock.Lock() }

// TryLock locks l if that needs no waiting, and adds it to the chain h if so.
//
// It may be tried out of order, by choice: a circle of waiting needs everyone in
// it to wait, and who tries does not. Locks taken after it are checked against it
// as usual. Trying a lock that the chain holds is a mistake all the same.
func (l *RankedLock) TryLock(h *Held) bool { return l.lock.TryLock() }

// LockContext locks l as [TicketLock.LockContext] does: it is held, and in the
// chain h, if and only if the result is nil. As it may wait for long, it goes by
// the order.
func (l *RankedLock) LockContext(ctx context.Context, h *Held) error {
	return l.lock.LockContext(ctx)
}

// TryLockContext locks l as [TicketLock.TryLockContext] does: it is held, and in
// the chain h, if and only if the result is nil. It is not in line, but it waits,
// and the locks that the chain holds wait with it: so, unlike TryLock, it goes by
// the order.
func (l *RankedLock) TryLockContext(ctx context.Context, backoff Backoff, h *Held) error {
	return l.lock.TryLockContext(ctx, backoff)
}

// Unlock unlocks l and takes it out of the chain h. The order of release is free.
func (l *RankedLock) Unlock(h *Held) { l.lock.Unlock() }
