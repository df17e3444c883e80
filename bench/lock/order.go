package lock

import (
	"bytes"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// order counts overtakings of a line that was seen; the package comment says how and why. Waiting and the counts are guarded by lock.
type order struct {
	crowd  crowd
	slice  *slice
	lock   sync.Locker
	called atomic.Int64
	dumped []byte // used again by the next dump; the measurer's

	waiting   [2]int // of the halves
	sections  int64
	overtaken int64
}

// later is the group of every call but the first of a goroutine.
const later = 2

// overtakings makes a line, once, and counts. Without a line, for the lock got nowhere, sections is 0.
func (c crowd) overtakings(k kind, d time.Duration) (overtaken, sections int64) {
	s := newSlice(d)
	o := &order{crowd: c, slice: s, lock: k.make(s)}
	n := c.row.Goroutines
	o.waiting = [2]int{n / 2, n - n/2}
	var wg sync.WaitGroup
	o.lock.Lock()
	seen := true
	for half, members := range o.waiting {
		for range members {
			wg.Go(func() { o.work(half) })
		}
		seen = seen && o.see(members+half*o.waiting[0])
	}
	if !seen {
		s.finish()
	}
	o.lock.Unlock()
	wg.Wait()
	if !seen {
		return 0, 0
	}
	return o.overtaken, o.sections
}

// work is what one goroutine does: it calls once as a member of its half, and goes on calling.
func (o *order) work(group int) {
	o.called.Add(1)
	for {
		o.call()
		if o.slice.stop.Load() {
			o.lock.Unlock()
			return
		}
		o.enter(group)
		spend(o.crowd.section)
		o.lock.Unlock()
		spend(o.crowd.outside)
		if o.crowd.row.Yielding {
			runtime.Gosched()
		}
		group = later
	}
}

// call is Lock, in a frame that can be found in a dump.
//
//go:noinline
func (o *order) call() { o.lock.Lock() }

// enter counts one section.
func (o *order) enter(group int) {
	o.sections++
	switch {
	case group == 1 && o.waiting[0] > 0, group == later && o.waiting[0]+o.waiting[1] > 0:
		o.overtaken++
	}
	if group != later {
		o.waiting[group]--
	}
	if o.waiting[0]+o.waiting[1] == 0 || o.slice.past() {
		o.slice.finish()
	}
}

// see waits until n goroutines stand in line, and says whether they came to.
func (o *order) see(n int) bool {
	for !o.slice.over(1000) {
		if o.called.Load() >= int64(n) && o.inLine() >= n {
			return true
		}
		runtime.Gosched()
	}
	return false
}

// inLine counts those who certainly are in the line.
func (o *order) inLine() (n int) {
	if l, ok := o.lock.(lined); ok {
		return l.inLine()
	}
	for g := range bytes.SplitSeq(o.dump(), []byte("\n\n")) {
		head, _, _ := bytes.Cut(g, []byte("\n"))
		if asleep(head) && bytes.Contains(g, []byte("(*order).call(")) {
			n++
		}
	}
	return n
}

// asleep says whether a goroutine, by the first line of its dump, waits for a mutex or a channel.
func asleep(head []byte) bool {
	for _, state := range []string{"[sync.Mutex.Lock", "[chan send", "[chan receive", "[select"} {
		if bytes.Contains(head, []byte(state)) {
			return true
		}
	}
	return false
}

// dump stops the world and returns the stacks of all goroutines.
func (o *order) dump() []byte {
	for {
		if n := runtime.Stack(o.dumped, true); n < len(o.dumped) {
			return o.dumped[:n]
		}
		o.dumped = make([]byte, max(1<<20, 2*len(o.dumped)))
	}
}
