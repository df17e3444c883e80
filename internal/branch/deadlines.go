package branch

import (
	"container/heap"
	"sync"

	"callerd/internal/queue"
)

// deadlines are the times at which tickets' states end by themselves, the next first; each ticket is there once at most.
// The ticket's own Deadline, under its lock, is the truth: a time here is when to look at it.
type deadlines struct {
	mu   sync.Mutex // a leaf
	heap dueHeap    // guarded by mu, as are the tickets' places in it

	nearer func() // called when the next deadline is nearer than it was; nil: nobody waits for it
}

// due is one entry.
type due struct {
	at     int64 // Unix ns
	ticket *queue.Live
}

type dueHeap []due

func (h dueHeap) Len() int           { return len(h) }
func (h dueHeap) Less(i, j int) bool { return h[i].at < h[j].at }
func (h dueHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].ticket.Due, h[j].ticket.Due = int32(i+1), int32(j+1)
}

// Push implements heap.Interface.
func (h *dueHeap) Push(x any) {
	d := x.(due)
	*h = append(*h, d)
	d.ticket.Due = int32(len(*h))
}

// Pop implements heap.Interface.
func (h *dueHeap) Pop() any {
	old := *h
	x := old[len(old)-1]
	old[len(old)-1] = due{}
	*h = old[:len(old)-1]
	x.ticket.Due = 0
	return x
}

// set says when to look at a ticket; 0: never. The caller holds the ticket's lock.
func (d *deadlines) set(t *queue.Live, at int64) {
	if d.move(t, at) && d.nearer != nil {
		d.nearer()
	}
}

// move does what set says, and reports whether the next deadline is nearer now.
func (d *deadlines) move(t *queue.Live, at int64) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	first := len(d.heap) == 0 || at < d.heap[0].at
	switch i := int(t.Due) - 1; {
	case i < 0 && at != 0:
		heap.Push(&d.heap, due{at, t})
	case i >= 0 && at == 0:
		heap.Remove(&d.heap, i)
	case i >= 0:
		d.heap[i].at = at
		heap.Fix(&d.heap, i)
	}
	return first && at != 0
}

// next returns the ticket to look at next, and when; nil when there is none.
func (d *deadlines) next() (t *queue.Live, at int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.heap) == 0 {
		return nil, 0
	}
	return d.heap[0].ticket, d.heap[0].at
}

// clear forgets all: a new business day begins with none.
func (d *deadlines) clear() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, x := range d.heap {
		x.ticket.Due = 0
	}
	d.heap = nil
}

// has reports whether a ticket is there.
func (d *deadlines) has(t *queue.Live) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return t.Due > 0 && int(t.Due) <= len(d.heap) && d.heap[t.Due-1].ticket == t
}
