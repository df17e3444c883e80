package arch_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"callerd/internal/arch"
)

// The pair of a category, issued and serving, under its ticket lock.
func ExampleTicketLock() {
	var line struct {
		lock   arch.TicketLock // the zero value is unlocked
		issued int             // guarded by lock
	}
	var kiosks sync.WaitGroup
	for range 8 {
		kiosks.Go(func() {
			for range 100 {
				line.lock.Lock()
				line.issued++
				line.lock.Unlock()
			}
		})
	}
	kiosks.Wait()
	fmt.Println(line.issued)
	// Output: 800
}

// A request that has a deadline waits no longer than that.
func ExampleTicketLock_LockContext() {
	var lock arch.TicketLock
	lock.Lock() // somebody is slow

	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	if err := lock.LockContext(ctx); err != nil {
		fmt.Println("not locked:", err)
	}

	lock.Unlock()
	if err := lock.LockContext(context.Background()); err == nil {
		fmt.Println("locked")
		lock.Unlock()
	}
	// Output:
	// not locked: context deadline exceeded
	// locked
}

// Work that nobody waits for tries, and comes again later.
func ExampleTicketLock_TryLock() {
	var lock arch.TicketLock
	lock.Lock()
	fmt.Println(lock.TryLock())
	lock.Unlock()
	fmt.Println(lock.TryLock())
	lock.Unlock()
	// Output:
	// false
	// true
}

// Work that nobody waits for, such as dropping old days, comes again when the
// lock is free; work that must be done at last then waits in line.
func ExampleTicketLock_TryLockContext() {
	var lock arch.TicketLock
	ctx := context.Background()

	lock.Lock() // the hall is busy
	err := lock.TryLockContext(ctx, arch.Backoff{Tries: 3})
	fmt.Println(err)
	lock.Unlock()

	if err = lock.TryLockContext(ctx, arch.Backoff{Tries: 3}); errors.Is(err, arch.ErrBusy) {
		err = lock.LockContext(ctx)
	}
	if err == nil {
		fmt.Println("locked")
		lock.Unlock()
	}
	// Output:
	// the lock is busy
	// locked
}

// A transfer takes the locks of both lines, the smaller id first, and lets go of
// them before it waits for the commit. With the build tag lockrank a mistake in
// the order panics here, and not one day in a hall.
func ExampleRankedLock() {
	var personal, corporate arch.RankedLock
	personal.Init(arch.RankLine, 1)
	corporate.Init(arch.RankLine, 2)

	move := func(h *arch.Held) {
		h.AssertHeld(&personal)
		h.AssertHeld(&corporate)
		fmt.Println("moved")
	}

	var h arch.Held // the locks that this operation holds
	personal.Lock(&h)
	corporate.Lock(&h)
	move(&h)
	corporate.Unlock(&h)
	personal.Unlock(&h)
	h.AssertNone()
	// Output: moved
}
