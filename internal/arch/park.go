package arch

import (
	"runtime"
	"sync/atomic"
)

// park sleeps until ticket t is served and returns true, which means that the
// caller holds the lock; or until done is closed, and returns false: the ticket
// is given up. A nil done is never closed.
//
// No wake-up is lost: the waiter counts itself, links its node, then looks at
// serving; Unlock moves serving, then looks at the count, then for the node.
// If the waiter does not see its ticket served, then Unlock sees the count, and
// finds the node, for the waiter looked at serving while it had the bucket.
func (l *TicketLock) park(t uint64, done <-chan struct{}) bool {
	if t%64 == 0 {
		glance()
	}
	b := l.ownLot().bucketOf(t)
	l.parked.Add(1)
	yieldPoint()
	b.acquire()
	n := b.take()
	b.link(n, t)
	yieldPoint()
	if atomic.LoadUint64(&l.serving) == t {
		b.unlink(t)
		b.put(n)
		b.release()
		l.parked.Add(-1)
		return true
	}
	b.release()

	served := n.sleep(done)
	if !served && n.giveUp(b) {
		return false
	}
	b.acquire()
	b.put(n)
	b.release()
	if !served {
		l.Unlock() // granted and given up in the same moment
	}
	return served
}

// sleep returns true when the node was woken, false when done was closed.
func (n *node) sleep(done <-chan struct{}) bool {
	if done == nil {
		<-n.wake
		return true
	}
	select {
	case <-n.wake:
		return true
	case <-done:
		return false
	}
}

// giveUp leaves the node behind as one to be skipped and returns true; the node
// belongs to the lot from then on. If the ticket has been called meanwhile, it
// takes the wake-up, which has been sent or is about to be, and returns false.
func (n *node) giveUp(b *bucket) bool {
	yieldPoint()
	b.acquire()
	if n.linked {
		n.gone = true
		b.release()
		return true
	}
	b.release()
	<-n.wake
	return false
}

// wake wakes the waiter with ticket s, which is being served, if it sleeps; if
// it has given up, the caller serves the next ticket in its place, and so on. If
// it neither sleeps nor has given up it is about to see that it is served.
func (l *TicketLock) wake(s uint64) {
	for {
		b := l.lot.Load().bucketOf(s) // somebody is counted, so there is a lot
		b.acquire()
		n := b.unlink(s)
		gone := n != nil && n.gone
		if gone {
			b.put(n)
		}
		b.release()
		if n == nil {
			return
		}
		l.parked.Add(-1)
		yieldPoint()
		if !gone {
			n.wake <- struct{}{}
			runtime.Gosched() // let the new holder have this processor
			return
		}
		s = atomic.AddUint64(&l.serving, 1)
		yieldPoint()
		if l.parked.Load() == 0 {
			return
		}
	}
}

// ownLot returns the lock's lot, which the first waiter to park makes.
func (l *TicketLock) ownLot() *lot {
	p := l.lot.Load()
	if p == nil {
		l.lot.CompareAndSwap(nil, newLot(lotSize))
		p = l.lot.Load()
	}
	return p
}
