package branch

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"callerd/internal/queue"
)

// Ten thousand deadlines, and the process is stopped and started at random moments: each fires once, none early, none lost.
// Virtual time.
func TestTenThousandDeadlinesOverRestarts(t *testing.T) {
	total := 10_000
	if testing.Short() || raceEnabled {
		total = 1000
	}
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	var categories []queue.CategoryID
	h := open(t, func(o *Options) {
		o.Config.Categories, o.Config.Counters = nil, nil
		o.Config.Policies = map[queue.CategoryID]Policy{}
		for n := range 20 {
			id := queue.CategoryID(fmt.Sprintf("c%d", n))
			categories = append(categories, id)
			o.Config.Categories = append(o.Config.Categories, queue.CategoryDefined{ID: id, Prefix: string(rune('A' + n)), Width: 3})
			o.Config.Policies[id] = Policy{CheckInWithin: time.Duration(1+r.IntN(1800)) * time.Second}
		}
	})
	deadline := map[queue.TicketID]int64{}
	down := time.Duration(0)
	lateness := []time.Duration{}
	for len(deadline) < total || h.NextDeadline() < 12*time.Hour {
		switch n := r.IntN(1000); {
		case n < 500 && len(deadline) < total:
			v := ok(h.IssueTicket(t.Context(), IssueRequest{Request: h.request(), Category: categories[r.IntN(20)], Reserve: true}))(t).Ticket
			deadline[v.ID] = v.Deadline
			if r.IntN(5) == 0 {
				ok(h.CheckInTicket(t.Context(), h.request(), v.ID))(t)
				delete(deadline, v.ID)
				deadline[v.ID] = 0
			}
		case n < 502:
			h.close()
			off := time.Duration(r.Int64N(int64(time.Minute)))
			down = max(down, off)
			h.clock.step(off)
			h.open()
			h.expire()
		default: // the driver's timer, or something else before it
			h.clock.step(min(h.NextDeadline(), time.Duration(r.Int64N(int64(2*time.Second)))))
			h.expire()
		}
	}
	fired := map[queue.TicketID]int{}
	for _, rec := range h.records() {
		for _, o := range rec.Outcomes {
			c, is := o.(*queue.TicketChanged)
			if !is || c.Verb != queue.Expire {
				continue
			}
			fired[c.Ticket]++
			late := time.Duration(rec.At - deadline[c.Ticket])
			if deadline[c.Ticket] == 0 || late < 0 || late > down {
				t.Fatalf("%v fired %v after its deadline, the process was away for %v at most", c.Ticket, late, down)
			}
			lateness = append(lateness, late)
		}
	}
	slices.Sort(lateness)
	t.Logf("%d fired, late by p50 %v, p99 %v, max %v", len(lateness), lateness[len(lateness)/2], lateness[len(lateness)*99/100], lateness[len(lateness)-1])
	for id, at := range deadline {
		if want := map[bool]int{true: 1, false: 0}[at != 0]; fired[id] != want {
			t.Errorf("%v fired %d times, want %d", id, fired[id], want)
		}
	}
}

// The heap has each ticket once: a day of recalls does not make it grow.
func TestDeadlinesAreWatchedOnce(t *testing.T) {
	h := open(t, func(o *Options) {
		o.Config.Policies = map[queue.CategoryID]Policy{"personal": {NoShowAfter: time.Hour}}
	})
	a1 := h.issue("personal")
	s := h.counter(1)
	h.next(s)
	for range 100 {
		h.clock.step(time.Second)
		h.verb((*Branch).RecallTicket, s, a1.ID)
	}
	if n := len(h.state.deadlines.heap); n != 1 {
		t.Errorf("got %d entries, want 1", n)
	}
	h.verb((*Branch).StartTicket, s, a1.ID)
	if n := len(h.state.deadlines.heap); n != 0 {
		t.Errorf("got %d entries, want none", n)
	}
}

// Whoever waits for the next deadline is told of a nearer one, else a no-show would be late by a lease.
func TestANearerDeadlineOfATicketIsTold(t *testing.T) {
	h := open(t, func(o *Options) {
		o.Config.Policies = map[queue.CategoryID]Policy{"personal": {NoShowAfter: 10 * time.Second}}
	})
	h.issue("personal")
	s := h.counter(1)
	select {
	case <-h.DeadlineChanged():
	default:
	}
	h.next(s)
	select {
	case <-h.DeadlineChanged():
	default:
		t.Error("got no word of the call's deadline")
	}
	if got := h.NextDeadline(); got != 10*time.Second {
		t.Errorf("got %v, want 10s", got)
	}
}

// A category that is made while the hall is open is found whole, or not at all.
func TestACategoryIsMadeBesideTheIssues(t *testing.T) {
	h := open(t)
	c := config()
	done := make(chan struct{})
	go func() {
		defer close(done)
		for n := range 20 {
			c.Categories = append(slices.Clone(c.Categories), queue.CategoryDefined{ID: queue.CategoryID(fmt.Sprintf("new%d", n)), Prefix: "N" + string(rune('A'+n)), Width: 3})
			c.Counters = append(slices.Clone(c.Counters), queue.CounterDefined{ID: queue.CounterID(5 + n), Rule: queue.Oldest})
			if err := h.Reload(t.Context(), c); err != nil {
				t.Error(err)
			}
		}
	}()
	for n := 0; n < 20; {
		r := IssueRequest{Request: h.request(), Category: queue.CategoryID(fmt.Sprintf("new%d", n))}
		reply, err := h.IssueTicket(t.Context(), r)
		if errors.Is(err, ErrUnknownCategory) {
			continue
		}
		if err != nil || reply.Ticket.Number != "N"+string(rune('A'+n))+"001" {
			t.Errorf("got %s, %v", reply.Ticket.Number, err)
		}
		ok(h.OpenCounter(t.Context(), OpenRequest{Request: h.request(), Counter: queue.CounterID(5 + n)}))(t)
		n++
	}
	<-done
}
