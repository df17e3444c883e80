package branch

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"callerd/internal/arch"
	"callerd/internal/queue"
)

// resources are the shared desk resources. Who decides about them holds lock until the record is claimed; mu, a leaf,
// guards the map for readers.
type resources struct {
	lock    arch.RankedLock
	waiters []*waiter // first come first; guarded by lock

	nearer func() // called when a grant's end may be the next deadline; nil: nobody waits for it

	mu    sync.Mutex
	by    map[queue.ResourceName]*queue.Resource
	fence uint64 // of the newest grant
}

// get returns a resource as it is.
func (r *resources) get(name queue.ResourceName) (queue.Resource, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e := r.by[name]; e != nil {
		return *e, true
	}
	return queue.Resource{}, false
}

// held returns the names that a counter holds under one fence, or (0) all that it holds.
func (r *resources) held(c queue.CounterID, fence uint64) (out []queue.Resource) {
	for _, e := range r.all() {
		if e.Counter == c && c != 0 && (fence == 0 || e.Fence == fence) {
			out = append(out, e)
		}
	}
	return out
}

// nextFence returns the fencing token of the next grant.
func (r *resources) nextFence() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.fence + 1
}

// define makes a resource exist, or changes it.
func (r *resources) define(d queue.ResourceDefined) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.by == nil {
		r.by = map[queue.ResourceName]*queue.Resource{}
	}
	e := r.by[d.Name]
	if e == nil {
		e = &queue.Resource{}
		r.by[d.Name] = e
	}
	e.ResourceDefined = d
}

// apply does one verb; an error means that the record is impossible.
func (r *resources) apply(record *queue.Record, o *queue.ResourceChanged) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, name := range o.Names {
		e := r.by[name]
		switch {
		case e == nil:
			return fmt.Errorf("resource %s does not exist", name)
		case o.Verb == queue.AcquireResources && (e.Counter != 0 || o.Fence <= r.fence):
			return fmt.Errorf("resource %s: granted with fence %d, held by counter %d, newest fence %d", name, o.Fence, e.Counter, r.fence)
		case o.Verb != queue.AcquireResources && (e.Counter != o.Counter || e.Fence != o.Fence):
			return fmt.Errorf("resource %s: verb %d by counter %d with fence %d, held by counter %d with %d", name, o.Verb, o.Counter, o.Fence, e.Counter, e.Fence)
		}
	}
	for _, name := range o.Names {
		e := r.by[name]
		switch o.Verb {
		case queue.ReleaseResources:
			e.Counter, e.Until, e.TTL = 0, 0, 0
		default:
			e.Counter, e.Fence, e.Until, e.TTL = o.Counter, o.Fence, o.Until, o.TTL
		}
	}
	r.fence = max(r.fence, o.Fence)
	if r.nearer != nil && o.Verb != queue.ReleaseResources {
		r.nearer()
	}
	return nil
}

// all returns every resource by name.
func (r *resources) all() (out []queue.Resource) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.by {
		out = append(out, *e)
	}
	slices.SortFunc(out, func(a, b queue.Resource) int { return strings.Compare(string(a.Name), string(b.Name)) })
	return out
}

// reset replaces everything. The caller holds all locks.
func (r *resources) reset(all []queue.Resource) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.by = map[queue.ResourceName]*queue.Resource{}
	for _, e := range all {
		r.by[e.Name] = &e
		r.fence = max(r.fence, e.Fence)
	}
}
