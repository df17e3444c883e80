//go:build lockrank

package arch

import (
	"context"
	"slices"
	"strconv"
	"strings"
)

// Held is the chain of locks that one operation holds. This is the build that
// keeps and checks it; rank_off.go says what the methods promise.
type Held struct {
	locks []*RankedLock // in the order in which they were taken
}

// AssertNone panics if the operation holds a lock.
func (h *Held) AssertNone() {
	h.mustExist("AssertNone")
	if len(h.locks) != 0 {
		violated("about to wait while holding " + h.names())
	}
}

// AssertHeld panics unless the operation holds l.
func (h *Held) AssertHeld(l *RankedLock) {
	h.mustExist("AssertHeld")
	if !slices.Contains(h.locks, l) {
		violated(l.name() + " must be held here, holding " + h.names())
	}
}

// mayTry panics if l is no lock to take: not ready, or held by h already.
func (h *Held) mayTry(l *RankedLock, verb string) {
	h.mustExist(verb)
	l.mustBeReady(verb)
	if slices.Contains(h.locks, l) {
		violated(verb + " of " + l.name() + " a second time, holding " + h.names())
	}
}

// mayWait panics if l is no lock to take, or if it is not its turn in the global
// order.
func (h *Held) mayWait(l *RankedLock, verb string) {
	h.mayTry(l, verb)
	for _, held := range h.locks {
		switch {
		case held.rank > l.rank:
			violated(verb + " of " + l.name() + " while holding " + held.name() +
				": the smaller rank is taken first")
		case held.rank == l.rank && held.id >= l.id:
			violated(verb + " of " + l.name() + " while holding " + held.name() +
				": within a rank the smaller id is taken first")
		}
	}
}

// mustExist panics if there is no chain.
func (h *Held) mustExist(verb string) {
	if h == nil {
		violated(verb + " with a nil *Held")
	}
}

// add puts l, just locked, at the end of the chain.
func (h *Held) add(l *RankedLock) { h.locks = append(h.locks, l) }

// remove takes l, about to be unlocked, out of the chain.
func (h *Held) remove(l *RankedLock) {
	h.mustExist("Unlock")
	l.mustBeReady("Unlock")
	i := slices.Index(h.locks, l)
	if i < 0 {
		violated("Unlock of " + l.name() + ", which is not held, holding " + h.names())
	}
	h.locks = slices.Delete(h.locks, i, i+1)
}

// names lists the chain in the order in which it was taken.
func (h *Held) names() string {
	if len(h.locks) == 0 {
		return "nothing"
	}
	var names []string
	for _, l := range h.locks {
		names = append(names, l.name())
	}
	return strings.Join(names, ", ")
}

// violated reports a broken order. It is a mistake in the program, found in a
// test: nothing to handle.
func violated(what string) {
	panic("arch: lock order: " + what)
}

// RankedLock is a [TicketLock] with a place in the global order of locks. This is
// the build that checks the order; rank_off.go says what the methods promise.
type RankedLock struct {
	lock TicketLock
	rank Rank // 0 before Init
	id   uint64
}

// Init gives l its place in the global order.
func (l *RankedLock) Init(rank Rank, id uint64) {
	if rank < RankCounter || rank > RankJournal {
		violated("Init with " + rank.String())
	}
	if l.rank != 0 {
		violated("Init of " + l.name() + " a second time")
	}
	l.rank, l.id = rank, id
}

// name is the lock's name in messages, such as "line 2".
func (l *RankedLock) name() string {
	return l.rank.String() + " " + strconv.FormatUint(l.id, 10)
}

// mustBeReady panics if l has no place in the order yet.
func (l *RankedLock) mustBeReady(verb string) {
	if l.rank == 0 {
		violated(verb + " before Init")
	}
}

// Lock locks l if it is its turn in the global order.
func (l *RankedLock) Lock(h *Held) {
	h.mayWait(l, "Lock")
	l.lock.Lock()
	h.add(l)
}

// TryLock locks l if that needs no waiting, in any order.
func (l *RankedLock) TryLock(h *Held) bool {
	h.mayTry(l, "TryLock")
	if !l.lock.TryLock() {
		return false
	}
	h.add(l)
	return true
}

// LockContext locks l if it is its turn in the global order and ctx is not done.
func (l *RankedLock) LockContext(ctx context.Context, h *Held) error {
	h.mayWait(l, "LockContext")
	if err := l.lock.LockContext(ctx); err != nil {
		return err
	}
	h.add(l)
	return nil
}

// TryLockContext locks l, trying again and again, if it is its turn in the global
// order.
func (l *RankedLock) TryLockContext(ctx context.Context, backoff Backoff, h *Held) error {
	h.mayWait(l, "TryLockContext")
	if err := l.lock.TryLockContext(ctx, backoff); err != nil {
		return err
	}
	h.add(l)
	return nil
}

// Unlock takes l out of the chain and unlocks it.
func (l *RankedLock) Unlock(h *Held) {
	h.remove(l)
	l.lock.Unlock()
}
