package branch

import (
	"context"
	"fmt"
	"slices"
	"time"

	"callerd/internal/counter"
	"callerd/internal/queue"
)

// RenewResources lets a grant live for another ttl.
func (b *Branch) RenewResources(ctx context.Context, r Request, sessionToken string, fence uint64, ttl time.Duration) (Grant, error) {
	return b.grantVerb(ctx, r, sessionToken, "RenewResources", fence, ttl, func(o *operation, e queue.Resource) queue.Outcome {
		return &queue.ResourceChanged{Verb: queue.RenewResources, Names: []queue.ResourceName{e.Name}, Counter: e.Counter, Fence: e.Fence,
			Until: o.at + int64(ttl), TTL: int64(ttl)}
	})
}

// ReleaseResources gives a grant back.
func (b *Branch) ReleaseResources(ctx context.Context, r Request, sessionToken string, fence uint64) (Grant, error) {
	return b.grantVerb(ctx, r, sessionToken, "ReleaseResources", fence, 0, func(_ *operation, e queue.Resource) queue.Outcome {
		return released(e, queue.Asked)
	})
}

func released(e queue.Resource, cause queue.Cause) *queue.ResourceChanged {
	return &queue.ResourceChanged{Verb: queue.ReleaseResources, Names: []queue.ResourceName{e.Name}, Counter: e.Counter, Fence: e.Fence, Cause: cause}
}

func (b *Branch) grantVerb(ctx context.Context, r Request, sessionToken, method string, fence uint64, ttl time.Duration, each func(*operation, queue.Resource) queue.Outcome) (Grant, error) {
	s := b.session(sessionToken)
	req := &request{r, fingerprint(method, s.token.counter, fmt.Sprint(fence), ttl.String())}
	g := Grant{Fence: fence}
	o, err := b.do(ctx, req, s.lock, func(o *operation) error {
		o.actAs(s.counter)
		held := o.lockResources().held(s.counter.ID(), fence)
		since, _ := b.pipe.admittedSince()
		ended := func(e queue.Resource) bool { return b.grantEnd(e, since, o.at) <= o.at }
		if fence == 0 || len(held) == 0 || slices.ContainsFunc(held, ended) {
			return fmt.Errorf("%w: counter %d holds nothing under the fencing token %d any more", ErrLeaseLost, s.counter.ID(), fence)
		}
		for _, e := range held {
			o.emit(each(o, e))
		}
		if ttl != 0 {
			g.Until = time.Unix(0, o.at+int64(ttl))
		}
		return nil
	}, func(o *operation) {
		if o.seen == nil {
			return
		}
		if g.Replayed = true; o.seen.until != 0 {
			g.Until = time.Unix(0, o.seen.until)
		}
	})
	if err != nil {
		return Grant{}, err
	}
	g.Sequence = o.sequence
	b.deadlineChanged()
	return g, nil
}

// ResourceReply is a resource as it is, and how many wait for it.
type ResourceReply struct {
	queue.Resource
	Waiting int
}

// ListResources tells who has what.
func (b *Branch) ListResources(ctx context.Context) (out []ResourceReply, sequence uint64, err error) {
	o, err := b.do(ctx, nil, func(o *operation) error {
		desk := o.lockResources()
		for _, e := range desk.all() {
			r := ResourceReply{Resource: e}
			for _, w := range desk.waiters {
				for _, n := range w.names {
					if n == e.Name {
						r.Waiting++
					}
				}
			}
			out = append(out, r)
		}
		return nil
	}, nil, nil)
	if err != nil {
		return nil, 0, err
	}
	return out, o.sequence, nil
}

// nextResource returns when the next grant ends, 0 when none does. Grants run only while commands are admitted.
func (b *Branch) nextResource(since int64) (at int64) {
	for _, e := range b.state.resources.all() {
		if end := b.grantEnd(e, since, b.now()); e.Counter != 0 && (at == 0 || end < at) {
			at = end
		}
	}
	return at
}

// grantEnd is when a grant ends, Unix ns, since being when admission opened.
func (b *Branch) grantEnd(e queue.Resource, since, now int64) int64 {
	return max(e.Until, now+since+e.TTL-b.mono())
}

// expireResources takes back what was not renewed.
func (b *Branch) expireResources(ctx context.Context) error {
	since, ok := b.pipe.admittedSince()
	if !ok {
		return b.pipe.admitting()
	}
	if at := b.nextResource(since); at == 0 || at > b.now() {
		return nil
	}
	_, err := b.do(ctx, nil, func(o *operation) error {
		sets := b.state.sets.Load()
		var holders []*counter.Counter
		for _, e := range b.state.resources.all() {
			if e.Counter != 0 {
				holders = append(holders, sets.byCounter[e.Counter])
			}
		}
		o.lockCounters(holders...)
		return nil
	}, func(o *operation) error {
		for _, e := range o.lockResources().all() {
			// Whose counter's lock is not held has it since a moment, and not yet too long.
			ours := slices.ContainsFunc(o.counters, func(c *counter.Counter) bool { return c.ID() == e.Counter })
			if ours && b.grantEnd(e, since, o.at) <= o.at {
				o.emit(released(e, queue.TimeUp))
			}
		}
		return nil
	}, nil)
	return err
}
