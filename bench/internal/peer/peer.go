// Package peer is the systems that are compared: callerd itself, a call that does nothing, and what one would build the same
// with from known parts. All hand out the same thing: a number that is the one after the last and is on disk before it is told, and
// the oldest waiting ticket to a counter, the one before completed in the same step.
package peer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
)

// Env is what a system is started with.
type Env struct {
	Dir      string    // a folder of its own on the disk that is measured
	Sockets  string    // a folder of its own with a short name, for Unix sockets
	Self     string    // this program, whose hidden commands are the front ends
	Callerd  string    // the daemon's binary
	Counters int       // how many counters there are
	Conns    int       // client connections at most, for all gRPC systems alike
	Log      io.Writer // gets the daemon's log; nil: nobody reads it
	Vars     []string  // more of the daemon's environment, NAME=value
}

// System is one way to do the work.
type System struct {
	Name  string
	About string // how it is set up, for whoever judges the comparison
	// Start starts it empty. ErrAbsent says that it is not installed.
	Start func(ctx context.Context, e Env) (Instance, error)
	Limit bool // it does nothing: its numbers are not checked
	// IssueOnly says that it calls as another system does.
	IssueOnly bool
	// OneCaller says that it is made for one at a time.
	OneCaller bool
}

// ErrAbsent is returned when a system is not on this machine; it is wrapped with the remedy.
var ErrAbsent = errors.New("not installed")

// Instance is a system that runs. Issue and CallNext are called by many goroutines, for one caller by one at a time.
type Instance interface {
	// Issue hands out the next number.
	Issue(ctx context.Context, caller int) (number uint64, err error)
	// Open opens the counters of the callers.
	Open(ctx context.Context, callers int) error
	// CallNext completes the caller's current ticket and calls the oldest that waits. ErrEmpty says that none does.
	CallNext(ctx context.Context, caller int) (number uint64, err error)
	// Pids are the server's processes; none, if it runs in ours.
	Pids() []int
	// Version is what was measured.
	Version() string
	// Stop ends it and all its processes.
	Stop() error
}

// ErrEmpty is returned by CallNext when nobody waits.
var ErrEmpty = errors.New("nobody waits")

// Systems returns all that are compared; the limits of a call and callerd come first.
func Systems() []System {
	return []System{noop(), twoSyncs(), callerd(), callerdStream(), postgres(), postgresEach(), redis(), redisPooled(), redisBare(), etcd(), sqlite()}
}

// Tally counts the numbers that a system gave, whoever got them. Each of 1 to n once is what it is for.
type Tally struct{ count, sum, most atomic.Uint64 }

// Add counts one.
func (t *Tally) Add(number uint64) {
	t.count.Add(1)
	t.sum.Add(number)
	for m := t.most.Load(); number > m && !t.most.CompareAndSwap(m, number); m = t.most.Load() {
	}
}

// Count is how many there were.
func (t *Tally) Count() uint64 { return t.count.Load() }

// Check reports numbers that are not each of 1 to n once. (It sees their count, sum and maximum: what it lets pass is no accident.)
func (t *Tally) Check() error {
	n, sum, most := t.count.Load(), t.sum.Load(), t.most.Load()
	if most != n || sum != n*(n+1)/2 {
		return fmt.Errorf("%d numbers were given, the highest is %d, their sum %d: they are not 1 to %d, each once", n, most, sum, n)
	}
	return nil
}
