package branch

import (
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"callerd/internal/queue"
)

// Case 18: tellers transfer tickets crosswise, between two lines and between counters, beside issues, calls, cancels and
// shared resources: no deadlock, no lost ticket.
func TestTransfersCrosswise(t *testing.T) {
	transfers := int64(100_000)
	if testing.Short() || raceEnabled {
		transfers = 3000
	}
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	h := with(t, Policy{MaxOvertakes: 5, NoShowAfter: time.Minute}, func(c *Config) { *c = withResources(*c, "seal", "cash") })
	c := &crowd{hall: h, t: t}
	for n := queue.CounterID(1); n <= 4; n++ {
		c.tokens = append(c.tokens, h.rule(n, queue.Rule(n%3+1), nil, "personal", "corporate"))
	}
	for range 40 {
		c.tickets = append(c.tickets, h.issue("personal").ID, h.issue("corporate").ID)
	}
	var done, issued, ended atomic.Int64
	var wg sync.WaitGroup
	for n := range 8 {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(seed, uint64(n)))
			for done.Load() < transfers {
				c.storm(r, n%4, &done, &issued, &ended)
			}
		})
	}
	wg.Wait()
	open := int64(0)
	for page := (ListReply{More: true}); page.More; {
		page = ok(h.ListTickets(t.Context(), ListRequest{Size: 1000, After: page.Last}))(t)
		for _, v := range page.Tickets {
			if !v.State.Final() {
				open++
			}
		}
	}
	if want := 80 + issued.Load() - ended.Load(); open != want {
		t.Errorf("got %d open tickets, want %d", open, want)
	}
	t.Logf("%d transfers, %d issued, %d ended", done.Load(), issued.Load(), ended.Load())
}

// storm does one thing at a teller's counter.
func (c *crowd) storm(r *rand.Rand, teller int, done, issued, ended *atomic.Int64) {
	ctx, token := c.t.Context(), c.tokens[teller]
	id := draw(c, r, &c.tickets)
	unexpected := func(err error) {
		if err != nil && !errors.Is(err, ErrTicketMoved) && !errors.Is(err, ErrWrongTicketState) && !errors.Is(err, ErrCounterBusy) && !errors.Is(err, ErrNoCurrentTicket) && !errors.Is(err, ErrResourceBusy) {
			c.t.Error(err)
		}
	}
	switch n := r.IntN(20); {
	case n < 14:
		to := TransferRequest{Request: c.request(), Ticket: id, Category: [...]queue.CategoryID{"personal", "corporate"}[r.IntN(2)],
			Place: Place{Where: queue.Where(1 + r.IntN(4)), After: r.Uint32N(4)}}
		if r.IntN(4) == 0 {
			to.Counter = queue.CounterID(1 + r.IntN(4))
		}
		_, err := c.TransferTicket(ctx, to, token)
		if unexpected(err); err == nil {
			done.Add(1)
		}
	case n < 16:
		var err error
		if r.IntN(2) == 0 {
			_, err = c.CallNext(ctx, c.request(), token, queue.TicketID{})
		} else {
			_, err = c.CallTicket(ctx, c.request(), token, id, queue.TicketID{})
		}
		if cur, busy := CurrentTicket(err); busy {
			switch r.IntN(3) {
			case 0:
				var reply CallReply
				if reply, err = c.CallNext(ctx, c.request(), token, cur); err == nil && reply.Completed != nil {
					ended.Add(1)
					keep(c, &c.tickets, c.issue("personal").ID, nil)
					issued.Add(1)
				}
			case 1:
				_, err = c.RequeueTicket(ctx, c.request(), token, cur, Place{Where: queue.Front})
			default:
				_, err = c.HoldTicket(ctx, c.request(), token, cur)
			}
		}
		unexpected(err)
	case n == 16:
		_, err := c.CancelTicket(ctx, c.request(), id, "")
		if unexpected(err); err == nil {
			ended.Add(1)
			keep(c, &c.tickets, c.issue("corporate").ID, nil)
			issued.Add(1)
		}
	case n == 17:
		_, err := c.GetTicket(ctx, id)
		unexpected(err)
	case n == 18:
		_, err := c.ResumeTicket(ctx, c.request(), token, id)
		unexpected(err)
	default:
		names := []queue.ResourceName{"seal", "cash"}
		if r.IntN(2) == 0 {
			names = names[r.IntN(2):][:1]
		}
		g, err := c.AcquireResources(ctx, c.acquireRequest(10*time.Second, names...), token)
		if unexpected(err); err == nil {
			_, err = c.ReleaseResources(ctx, c.request(), token, g.Fence)
			unexpected(err)
		}
	}
}
