package arch

import (
	"runtime"
	"sync/atomic"
)

// lotSize is the number of buckets of a lot: enough for neighbours in the order
// to lie in different ones, so that a waiter which parks and the Unlock which
// wakes another do not meet.
const lotSize = 16

// lot is where the waiters of one lock sleep: a small table of lists, in which a
// waiter is found by its ticket. It belongs to its lock, with all its nodes, for
// the channels of a synctest bubble must not get out of it.
//
// It grows to as many nodes as ever slept at once (about 150 bytes each) and
// keeps them.
type lot struct {
	buckets []bucket // a power of two of them
}

// bucket is the list of those sleepers whose tickets are equal modulo the size
// of the lot, longest waiting first, and of the nodes they left behind.
type bucket struct {
	lock atomic.Uint32 // 1 while somebody works on the bucket; never for long
	head *node         // guarded by lock, as all below
	tail *node
	free *node
	_    [64 - 8 - 3*8]byte
}

// node is one sleeper. Its fields are guarded by its bucket's lock.
type node struct {
	ticket uint64
	next   *node
	linked bool // in the list of sleepers: nobody has called the ticket yet
	gone   bool // the waiter gave up; who calls the ticket skips it

	// wake has one slot, so that the one who wakes never waits.
	wake chan struct{}
}

func newLot(size int) *lot { return &lot{buckets: make([]bucket, size)} }

// bucketOf returns the bucket of ticket t, which stays the same when the
// counters wrap around, for the size divides 2^64.
func (p *lot) bucketOf(t uint64) *bucket {
	return &p.buckets[t&uint64(len(p.buckets)-1)]
}

// acquire takes the bucket's lock. Those who hold it do a few steps and never
// wait, so a try or two suffice, unless the holder has lost its processor:
// hence Gosched, and no sleeping.
func (b *bucket) acquire() {
	for i := 0; !b.lock.CompareAndSwap(0, 1); i++ {
		if i < 3 {
			Pause(4)
		} else {
			runtime.Gosched()
		}
	}
	yieldPoint()
}

func (b *bucket) release() {
	yieldPoint()
	b.lock.Store(0)
}

// take returns an unused node, which it makes if none is left. It lets go of the
// bucket's lock meanwhile, as the allocator may be busy for long.
// b.lock must be held.
func (b *bucket) take() *node {
	n := b.free
	if n == nil {
		b.release()
		n = &node{wake: make(chan struct{}, 1)}
		b.acquire()
		return n
	}
	b.free, n.next = n.next, nil
	return n
}

// put keeps n, which is not linked, for the next one. b.lock must be held.
func (b *bucket) put(n *node) {
	n.next, b.free = b.free, n
}

// link puts n at the end of the sleepers, as the sleeper with ticket t.
// b.lock must be held.
func (b *bucket) link(n *node, t uint64) {
	n.ticket, n.linked, n.gone = t, true, false
	if b.head == nil {
		b.head = n
	} else {
		b.tail.next = n
	}
	b.tail = n
}

// unlink takes the sleeper with ticket t out of the list and returns it, or nil
// if there is none. It is nearly always the first. b.lock must be held.
func (b *bucket) unlink(t uint64) *node {
	var before *node
	for n := b.head; n != nil; before, n = n, n.next {
		if n.ticket != t {
			continue
		}
		if before == nil {
			b.head = n.next
		} else {
			before.next = n.next
		}
		if b.tail == n {
			b.tail = before
		}
		n.next, n.linked = nil, false
		return n
	}
	return nil
}
