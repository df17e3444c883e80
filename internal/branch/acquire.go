package branch

import (
	"context"
	"fmt"
	"slices"
	"time"

	"callerd/internal/queue"
)

// waiter is somebody who waits for resources. All of them stand in one list, so each resource's line is in the order of
// coming, and the first of all is first in every line that he stands in: nobody waits in a circle.
type waiter struct {
	names   []queue.ResourceName
	counter queue.CounterID
	request queue.RequestID
	call    chan struct{} // one slot: it is your turn, look again
}

// tell lets a waiter look again.
func (w *waiter) tell() {
	select {
	case w.call <- struct{}{}:
	default: // he knows already
	}
}

// turn reports whether nobody before w (all, if w is nil) waits for one of the names. The caller holds lock.
func (r *resources) turn(w *waiter, names []queue.ResourceName) bool {
	for _, x := range r.waiters {
		if x == w {
			return true
		}
		if slices.ContainsFunc(x.names, func(n queue.ResourceName) bool { return slices.Contains(names, n) }) {
			return false
		}
	}
	return true
}

// free reports whether nobody holds one of the names, else who does.
func (r *resources) free(names []queue.ResourceName) (holder queue.Resource, ok bool) {
	for _, n := range names {
		if e, _ := r.get(n); e.Counter != 0 {
			return e, false
		}
	}
	return queue.Resource{}, true
}

// call tells those whose turn it is, and those who wait for what is not there any more. The caller holds lock.
func (r *resources) call() {
	for _, w := range r.waiters {
		if _, free := r.free(w.names); free && r.turn(w, w.names) || r.missing(w.names) != "" {
			w.tell()
		}
	}
}

// circle reports whether w, who holds something already, would wait for himself: for who holds what he wants, or waits for
// it before him, and so on. Who asks for all at once never does. The caller holds lock.
func (r *resources) circle(w *waiter) bool {
	seen := map[queue.CounterID]bool{}
	var waitsFor func(x *waiter, before []*waiter) bool
	leads := func(c queue.CounterID) bool {
		if c == w.counter {
			return true
		}
		if c == 0 || seen[c] {
			return false
		}
		seen[c] = true
		for i, x := range r.waiters {
			if x.counter == c && waitsFor(x, r.waiters[:i]) {
				return true
			}
		}
		return false
	}
	waitsFor = func(x *waiter, before []*waiter) bool {
		for _, n := range x.names {
			if e, _ := r.get(n); leads(e.Counter) {
				return true
			}
			for _, y := range before {
				if y.counter != x.counter && slices.Contains(y.names, n) && leads(y.counter) {
					return true
				}
			}
		}
		return false
	}
	return waitsFor(w, r.waiters[:r.place(w)])
}

// place is where w stands in the list, or would: last, or right behind the same request asked before, for that is one wish, in
// line since it was first asked. The caller holds lock.
func (r *resources) place(w *waiter) int {
	last := len(r.waiters)
	for i, x := range r.waiters {
		if x == w {
			return i
		}
		if x.request == w.request && x.counter == w.counter && slices.Equal(x.names, w.names) {
			last = i + 1
		}
	}
	return last
}

// leave tells those who wait for a counter that is closed. The caller holds lock.
func (r *resources) leave(c queue.CounterID) {
	for _, w := range r.waiters {
		if w.counter == c {
			w.tell()
		}
	}
}

// missing returns the first of the names that is granted to nobody, "" if there is none.
func (r *resources) missing(names []queue.ResourceName) queue.ResourceName {
	for _, n := range names {
		if e, ok := r.get(n); !ok || !e.Configured {
			return n
		}
	}
	return ""
}

// AcquireRequest asks for resources, all or none.
type AcquireRequest struct {
	Request
	Names []queue.ResourceName
	TTL   time.Duration // how long the grant lives without a renewal
	Wait  time.Duration // at most; 0: not at all
}

// Grant is a lease on resources.
type Grant struct {
	Fence    uint64
	Until    time.Time
	Replayed bool
	Sequence uint64
}

// AcquireResources takes all of the named resources for the session's counter, waiting for them at most so long and not
// beyond ctx. First come, first served for each resource.
func (b *Branch) AcquireResources(ctx context.Context, r AcquireRequest, sessionToken string) (Grant, error) {
	names := slices.Clone(r.Names)
	slices.Sort(names)
	w := &waiter{names: slices.Compact(names), call: make(chan struct{}, 1)}
	if len(w.names) == 0 {
		return Grant{}, fmt.Errorf("%w: none is named", ErrUnknownResource)
	}
	w.request = r.ID
	defer b.giveUp(w)
	timer := time.NewTimer(r.Wait)
	defer timer.Stop()
	for wait := r.Wait > 0; ; {
		g, waits, err := b.acquire(ctx, r, w, sessionToken, wait)
		if !waits {
			return g, err
		}
		select {
		case <-w.call:
		case <-timer.C:
			wait = false
		case <-ctx.Done():
		}
		if ctx.Err() != nil {
			return Grant{}, context.Cause(ctx) // nothing is granted: who would know of it?
		}
	}
}

// acquire tries once; with wait, who finds the resources taken lines up.
func (b *Branch) acquire(ctx context.Context, r AcquireRequest, w *waiter, sessionToken string, wait bool) (g Grant, waits bool, err error) {
	s := b.session(sessionToken)
	parts := []string{r.TTL.String()}
	for _, n := range w.names {
		parts = append(parts, string(n))
	}
	req := &request{r.Request, fingerprint("AcquireResources", s.token.counter, parts...)}
	o, err := b.do(ctx, req, s.lock, func(o *operation) error {
		o.actAs(s.counter)
		waits = false
		desk := o.lockResources()
		if n := desk.missing(w.names); n != "" {
			return fmt.Errorf("%w: %q", ErrUnknownResource, n)
		}
		holder, free := desk.free(w.names)
		if free && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if free && desk.turn(w, w.names) {
			g = Grant{Fence: desk.nextFence(), Until: time.Unix(0, o.at+int64(r.TTL))}
			o.emit(&queue.ResourceChanged{Verb: queue.AcquireResources, Names: w.names, Counter: s.counter.ID(), Fence: g.Fence,
				Until: o.at + int64(r.TTL), TTL: int64(r.TTL)})
			for _, x := range desk.waiters {
				if x.request == w.request { // the same asked again: both get the one grant
					x.tell()
				}
			}
			return nil
		}
		if waits = wait; !waits {
			if free {
				return fmt.Errorf("%w: others wait before you", ErrResourceBusy)
			}
			return fmt.Errorf("%w: %s is at counter %d", ErrResourceBusy, holder.Name, holder.Counter)
		}
		if w.counter = s.counter.ID(); desk.circle(w) {
			waits = false
			if free {
				return fmt.Errorf("%w: others wait before you, and they would wait for you; give back what you have and ask for all together", ErrResourceBusy)
			}
			return fmt.Errorf("%w: %s is at counter %d, and who waits for it would wait for you; give back what you have and ask for all together", ErrResourceBusy, holder.Name, holder.Counter)
		}
		if !slices.Contains(desk.waiters, w) {
			desk.waiters = slices.Insert(desk.waiters, desk.place(w), w)
		}
		return nil
	}, func(o *operation) {
		if o.seen != nil {
			g, waits = Grant{Fence: o.seen.epoch, Until: time.Unix(0, o.seen.until), Replayed: true}, false
		}
	})
	if err != nil {
		return Grant{}, false, err
	}
	g.Sequence = o.sequence
	b.deadlineChanged()
	return g, waits, nil
}

// giveUp takes a waiter out of the line, if he is in it, and lets those behind him look.
func (b *Branch) giveUp(w *waiter) {
	o := operation{b: b}
	defer o.unlock()
	desk := o.lockResources()
	desk.waiters = slices.DeleteFunc(desk.waiters, func(x *waiter) bool { return x == w })
}
