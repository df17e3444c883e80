package lock

import (
	"runtime"
	"sync"
	"sync/atomic"

	"callerd/internal/arch"
)

// kind is a lock to be measured.
type kind struct {
	name string
	// make returns a new lock for one slice. One that spins looks while it does whether the slice is over: then Lock returns
	// without the lock, so that a lock which gets nowhere can be measured at all.
	make func(*slice) sync.Locker
}

// mutex is the name of the lock to which all are compared; ticket that of ours.
const (
	mutex  = "sync.Mutex"
	ticket = "ticket"
)

// kinds are the locks, sync.Mutex first.
var kinds = []kind{
	{mutex, func(*slice) sync.Locker { return new(sync.Mutex) }},
	{ticket, func(*slice) sync.Locker { return new(arch.TicketLock) }},
	{"channel", func(*slice) sync.Locker { return make(channel, 1) }},
	{"spin + Gosched", func(s *slice) sync.Locker { return &spinning{slice: s, yields: true} }},
	{"spin", func(s *slice) sync.Locker { return &spinning{slice: s} }},
	{"MCS", func(s *slice) sync.Locker { return &mcs{slice: s} }},
}

// channel is a lock whose holder has the one slot.
type channel chan struct{}

func (c channel) Lock()   { c <- struct{}{} }
func (c channel) Unlock() { <-c }

// lined is a lock that knows how many wait for it.
type lined interface{ inLine() int }

// spinning is the ticket lock of the books: draw a number, poll until it is served.
type spinning struct {
	next    atomic.Uint64
	_       [120]byte
	serving atomic.Uint64
	_       [120]byte
	slice   *slice
	yields  bool // now and then, while it waits
}

func (l *spinning) Lock() {
	t := l.next.Add(1) - 1
	for i := 1; l.serving.Load() != t && !l.slice.over(i); i++ {
		arch.Pause(1)
		if l.yields && i%20 == 0 {
			runtime.Gosched()
		}
	}
}

func (l *spinning) Unlock() { l.serving.Add(1) }

func (l *spinning) inLine() int { return int(l.next.Load()-l.serving.Load()) - 1 }

// mcs is the queue lock of Mellor-Crummey and Scott: each waiter polls a word of its own, and the one before writes it.
type mcs struct {
	tail   atomic.Pointer[mcsNode]
	_      [120]byte
	holder *mcsNode // guarded by the lock itself
	drawn  uint64   // guarded by the lock itself
	_      [112]byte
	calls  atomic.Uint64 // who is in the queue, or has been
	_      [120]byte
	slice  *slice
}

type mcsNode struct {
	next atomic.Pointer[mcsNode]
	turn atomic.Bool
	_    [112]byte
}

var mcsNodes = sync.Pool{New: func() any { return new(mcsNode) }}

func (l *mcs) Lock() {
	n := mcsNodes.Get().(*mcsNode)
	n.next.Store(nil)
	n.turn.Store(false)
	if before := l.tail.Swap(n); before != nil {
		before.next.Store(n)
		l.calls.Add(1)
		for i := 1; !n.turn.Load(); i++ {
			if l.slice.over(i) {
				return // the node stays in the queue, which nobody uses again
			}
			arch.Pause(1)
		}
	} else {
		l.calls.Add(1)
	}
	l.holder = n
	l.drawn++
}

func (l *mcs) Unlock() {
	if l.slice.stop.Load() {
		return
	}
	n := l.holder
	if n.next.Load() == nil {
		if l.tail.CompareAndSwap(n, nil) {
			mcsNodes.Put(n)
			return
		}
		for i := 1; n.next.Load() == nil && !l.slice.over(i); i++ {
			arch.Pause(1)
		}
	}
	if next := n.next.Load(); next != nil {
		next.turn.Store(true)
		mcsNodes.Put(n)
	}
}

func (l *mcs) inLine() int { return int(l.calls.Load() - l.drawn) }
