// Package counter holds a counter (窗口): a teller's desk with at most one current ticket, the session that
// is the teller's lease on it, and the rule by which it chooses among its lines.
//
// # Caveats
//
// Methods of Counter want its lock held, except where they say otherwise; those that touch a ticket
// say so. None of them does I/O, waits or logs.
package counter

import (
	"fmt"
	"slices"

	"callerd/internal/arch"
	"callerd/internal/queue"
)

// Counter is one counter. Lock guards all of it, and the tickets at it.
type Counter struct {
	lock arch.RankedLock
	id   queue.CounterID

	def     queue.CounterDefined
	epoch   uint64 // of the newest session
	session *queue.Session
	paused  bool
	current *queue.Live
	held    []*queue.Live // in the order in which they were set aside
	own     queue.Line    // tickets that wait for this very counter

	// Lease is when the session ends by itself, on the branch's monotonic clock in ns. It is in memory only.
	Lease int64
}

// New makes an undefined, closed counter.
func New(id queue.CounterID) *Counter {
	c := &Counter{id: id}
	c.lock.Init(arch.RankCounter, uint64(id))
	return c
}

// Lock takes the counter's lock.
func (c *Counter) Lock(h *arch.Held) { c.lock.Lock(h) }

// Unlock lets the counter's lock go.
func (c *Counter) Unlock(h *arch.Held) { c.lock.Unlock(h) }

// ID returns the counter's number; it needs no lock.
func (c *Counter) ID() queue.CounterID { return c.id }

// Define replaces the definition. The caller holds all locks.
func (c *Counter) Define(d queue.CounterDefined) { c.def = d }

// Definition returns the definition.
func (c *Counter) Definition() queue.CounterDefined { return c.def }

// Session returns the session, nil when the counter is closed. It must not be changed.
func (c *Counter) Session() *queue.Session { return c.session }

// Epoch returns the epoch of the newest session, 0 before the first.
func (c *Counter) Epoch() uint64 { return c.epoch }

// Paused reports whether the session calls nobody.
func (c *Counter) Paused() bool { return c.paused }

// Current returns the ticket called or served here, or nil.
func (c *Counter) Current() *queue.Live { return c.current }

// Held returns the tickets set aside here, oldest first. It must not be changed.
func (c *Counter) Held() []*queue.Live { return c.held }

// Own returns the line of the tickets that wait for this very counter.
func (c *Counter) Own() *queue.Line { return &c.own }

// Weights returns the weights of the rule Ratio beside Categories, nil when there are none.
func (c *Counter) Weights() []uint32 {
	if c.session != nil {
		return c.session.Weights
	}
	return c.def.Weights
}

// Categories returns what the counter serves: the session's list, or the configured one when it is closed.
func (c *Counter) Categories() []queue.CategoryID {
	if c.session != nil {
		return c.session.Categories
	}
	return c.def.Categories
}

// Calls reports whether the counter may call: a session is on and not paused.
func (c *Counter) Calls() bool { return c.session != nil && !c.paused }

// Apply does one verb to the counter; an error means that the record is impossible.
func (c *Counter) Apply(o *queue.CounterChanged) error {
	open := c.session != nil
	switch {
	case o.Verb == queue.OpenCounter && (!open || o.Cause == queue.TakenOver) && o.Session.Epoch == c.epoch+1:
		s := o.Session
		c.epoch, c.session, c.paused = s.Epoch, &s, false
	case o.Verb == queue.PauseCounter && open && !c.paused:
		c.paused = true
	case o.Verb == queue.ResumeCounter && open && c.paused:
		c.paused = false
	case o.Verb == queue.CloseCounter && open && c.current == nil && c.own.Len() == 0:
		c.session, c.paused = nil, false
	default:
		return fmt.Errorf("counter %d: verb %d does not fit (epoch %d, open %t, paused %t)", c.id, o.Verb, c.epoch, open, c.paused)
	}
	return nil
}

// Take gives the counter a ticket in its new state: called or served it is the current one, held it is set
// aside.
func (c *Counter) Take(t *queue.Live, to queue.State) error {
	switch {
	case to == queue.Held:
		c.held = append(c.held, t)
	case c.current != nil:
		return fmt.Errorf("counter %d: %s while %s is current", c.id, t.Number, c.current.Number)
	default:
		c.current = t
	}
	return nil
}

// Release takes a ticket in its old state from the counter.
func (c *Counter) Release(t *queue.Live, from queue.State) error {
	if from == queue.Held {
		i := slices.Index(c.held, t)
		if i < 0 {
			return fmt.Errorf("counter %d: %s is not held here", c.id, t.Number)
		}
		c.held = slices.Delete(c.held, i, i+1)
		return nil
	}
	if c.current != t {
		return fmt.Errorf("counter %d: %s is not current here", c.id, t.Number)
	}
	c.current = nil
	return nil
}

// OpenDay takes the counter into a new day: what the record names stays, all else has ended. The caller
// holds all locks; current is the live ticket that d.Current names.
func (c *Counter) OpenDay(d queue.DayCounter, current *queue.Live) {
	c.def, c.epoch, c.session, c.paused = d.CounterDefined, d.Epoch, d.Session, d.Paused
	c.current, c.held, c.own = current, nil, queue.Line{}
}
