package branch

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"callerd/internal/queue"
)

// refusals are what a command may be answered in a hall where everybody does everything at once.
var refusals = []error{ErrUnknownTicket, ErrWrongTicketState, ErrCounterClosed, ErrCounterBusy, ErrCounterTaken, ErrNoCurrentTicket,
	ErrStaleSession, ErrTicketMoved, ErrRequestReused, context.DeadlineExceeded, ErrJournalBehind,
	ErrRequeueTooLate, ErrRecallLimit, ErrNoShowTooEarly, ErrResourceBusy, ErrLeaseLost, ErrUnknownResource}

// crowd is many goroutines that do random verbs in one hall.
type crowd struct {
	*hall
	t       *testing.T
	mu      sync.Mutex
	tokens  []string
	tickets []queue.TicketID
	used    []Request
}

// TestACrowdDoesEverythingAtOnce has more goroutines than processors do random verbs over turns of the day and ends of leases,
// with verify on. Run it with -race, and with -tags lockrank,lockyield.
func TestACrowdDoesEverythingAtOnce(t *testing.T) {
	people, verbs := 24, 3000
	if testing.Short() || raceEnabled {
		verbs = 250
	}
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	var published atomic.Uint64
	h := open(t, func(o *Options) {
		o.Permits, o.Lease = 16, 5*time.Second
		o.Config = policies[1]()
		for id, p := range o.Config.Policies {
			p.MaxPerDay, p.MaxPerPerson = 0, 0
			p.NoShowAfter, p.HeldWithin, p.CheckInWithin, p.MinWait = 3*time.Second, 20*time.Second, 10*time.Second, time.Second
			o.Config.Policies[id] = p
		}
		o.Publish = func(batch []*queue.Record) {
			for _, r := range batch {
				if last := published.Swap(r.Sequence); last+1 != r.Sequence {
					t.Errorf("record %d was published after %d", r.Sequence, last)
				}
			}
		}
	})
	c := &crowd{hall: h, t: t}
	var wg sync.WaitGroup
	start := make(chan struct{})
	for n := range people {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(seed, uint64(n)))
			<-start
			for range verbs {
				c.act(r)
			}
		})
	}
	close(start)
	wg.Wait()
	h.settle()
	noGap(t, h.records())
	if got, want := published.Load(), h.journal.durable(); got != want {
		t.Errorf("%d is published, %d is durable", got, want)
	}
	made := NewState()
	if err := h.journal.Replay(made.Apply); err != nil {
		t.Fatal(err)
	}
	live, again := h.state.Dump(), made.Dump()
	live.Requests, again.Requests = nil, nil // the days passed quickly: compared by verify, which saw them all
	equal(t, again, live)
}

// act does one thing.
func (c *crowd) act(r *rand.Rand) {
	ctx, req := c.t.Context(), c.drawRequest(r)
	if r.IntN(40) == 0 { // a caller with little patience
		short, cancel := context.WithTimeout(ctx, time.Duration(r.IntN(50))*time.Microsecond)
		defer cancel()
		ctx = short
	}
	id, token := draw(c, r, &c.tickets), draw(c, r, &c.tokens)
	category := []queue.CategoryID{"personal", "corporate"}[r.IntN(2)]
	switch r.IntN(28) {
	case 0, 1, 2, 3, 4:
		reply, err := c.IssueTicket(ctx, IssueRequest{Request: req, Category: category, Reserve: r.IntN(8) == 0, Priority: queue.PriorityReason(r.IntN(2))})
		c.told(reply.Sequence, err)
		keep(c, &c.tickets, reply.Ticket.ID, err)
	case 5, 6, 7, 8, 9:
		reply, err := c.CallNext(ctx, req, token, queue.TicketID{})
		if current, busy := CurrentTicket(err); busy {
			reply, err = c.CallNext(ctx, c.request(), token, current)
		}
		c.told(reply.Sequence, err)
	case 10, 11, 12:
		current := id
		if _, err := c.CallNext(ctx, c.request(), token, queue.TicketID{}); err != nil {
			if met, busy := CurrentTicket(err); busy {
				current = met
			}
		}
		v := []verb{(*Branch).StartTicket, (*Branch).HoldTicket, (*Branch).CompleteTicket, (*Branch).RecallTicket, (*Branch).MarkNoShow}[r.IntN(5)]
		reply, err := v(c.Branch, ctx, req, token, current)
		c.told(reply.Sequence, err)
	case 13:
		reply, err := c.ResumeTicket(ctx, req, token, id)
		c.told(reply.Sequence, err)
	case 14:
		reply, err := c.CancelTicket(ctx, req, id, "")
		c.told(reply.Sequence, err)
	case 15:
		reply, err := c.OpenCounter(ctx, OpenRequest{Request: req, Counter: queue.CounterID(1 + r.IntN(4)), Rule: queue.Rule(r.IntN(4)), TakeOver: []string{"", "", "x"}[r.IntN(3)], Categories: []queue.CategoryID{category, "personal"}[:1+r.IntN(2)]})
		c.told(reply.Sequence, err)
		keep(c, &c.tokens, reply.Token, err)
	case 16:
		verb := []string{"pause", "resume", "resume", "close", "close and hold", "close and requeue"}[r.IntN(6)]
		reply, err := counterVerbs[verb](c.Branch, ctx, req, token)
		c.told(reply.Sequence, err)
	case 17:
		reply, err := c.GetTicket(ctx, id)
		c.told(reply.Sequence, err)
	case 18:
		reply, err := c.ListTickets(ctx, ListRequest{Size: 5})
		c.told(reply.Sequence, err)
	case 19:
		reply, err := c.CheckInTicket(ctx, req, id)
		c.told(reply.Sequence, err)
	case 20:
		reply, err := c.CallTicket(ctx, req, token, id, queue.TicketID{})
		if current, busy := CurrentTicket(err); busy {
			reply, err = c.CallTicket(ctx, c.request(), token, id, current)
		}
		c.told(reply.Sequence, err)
	case 21:
		reply, err := c.RequeueTicket(ctx, req, token, id, Place{Where: queue.Where(r.IntN(5)), After: 1})
		c.told(reply.Sequence, err)
	case 22, 23:
		to := TransferRequest{Request: req, Ticket: id, Category: category, Place: Place{Where: queue.Where(r.IntN(5)), After: 2}}
		if r.IntN(3) == 0 {
			to.Counter = queue.CounterID(1 + r.IntN(4))
		}
		reply, err := c.TransferTicket(ctx, to, token)
		c.told(reply.Sequence, err)
	case 24:
		g, err := c.AcquireResources(ctx, AcquireRequest{Request: req, Names: []queue.ResourceName{"seal", "cash"}[:1+r.IntN(2)], TTL: 3 * time.Second,
			Wait: time.Duration(r.IntN(int(time.Millisecond)))}, token)
		if c.told(g.Sequence, err); err == nil && r.IntN(2) == 0 {
			g, err = c.RenewResources(ctx, c.request(), token, g.Fence, time.Second)
			c.told(g.Sequence, err)
		}
		if err == nil && r.IntN(2) == 0 {
			g, err = c.ReleaseResources(ctx, c.request(), token, g.Fence)
			c.told(g.Sequence, err)
		}
	case 25:
		_, at, err := c.ListResources(ctx)
		c.told(at, err)
	case 26:
		if r.IntN(20) == 0 {
			reply, err := c.ResetCategory(ctx, req, category, "why")
			c.told(reply.Sequence, err)
			c.told(0, c.Reload(ctx, [...]Config{c.opts.Config, withResources(c.opts.Config, "boss")}[r.IntN(2)]))
		}
	default:
		c.clock.step(time.Duration(r.IntN(int(4 * time.Second))))
		if r.IntN(30) == 0 {
			c.clock.step(13 * time.Hour)
		}
		c.NextDeadline()
		c.told(0, c.Expire(ctx))
	}
}

// told checks a reply as it arrives: it is of a known kind, and what it tells is durable.
func (c *crowd) told(sequence uint64, err error) {
	if at := max(sequence, RefusedAt(err)); at > c.journal.durable() {
		c.t.Errorf("replied at %d while %d is durable", at, c.journal.durable())
	}
	if err == nil {
		return
	}
	for _, want := range refusals {
		if errors.Is(err, want) {
			return
		}
	}
	c.t.Errorf("got %v, which is no refusal of these verbs", err)
}

func (c *crowd) drawRequest(r *rand.Rand) Request {
	if used := draw(c, r, &c.used); r.IntN(10) == 0 && used != (Request{}) {
		return used
	}
	req := c.request()
	keep(c, &c.used, req, nil)
	return req
}

// draw takes one of the things known to all, mostly one of the newest.
func draw[T any](c *crowd, r *rand.Rand, from *[]T) (v T) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := len(*from)
	if n == 0 {
		return v
	}
	if r.IntN(4) > 0 {
		return (*from)[n-1-r.IntN(min(n, 6))]
	}
	return (*from)[r.IntN(n)]
}

func keep[T any](c *crowd, to *[]T, v T, err error) {
	if err != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	*to = append(*to, v)
}
