package branch

import (
	"testing"
	"time"

	"callerd/internal/queue"
)

// without is a configuration that no longer names a category.
func without(c Config, gone queue.CategoryID) Config {
	left := c
	left.Categories, left.Counters, left.Policies = nil, nil, map[queue.CategoryID]Policy{}
	for _, d := range c.Categories {
		if d.ID != gone {
			left.Categories = append(left.Categories, d)
			left.Policies[d.ID] = c.Policies[d.ID]
		}
	}
	for _, d := range c.Counters {
		var serves []queue.CategoryID
		for _, id := range d.Categories {
			if id != gone {
				serves = append(serves, id)
			}
		}
		d.Categories = serves
		left.Counters = append(left.Counters, d)
	}
	return left
}

// Whoever waits in a category that the configuration no longer names is called by every session that is opened from then on, also who was
// transferred there and also who comes back on a day on which it has handed out nothing.
func TestWhoWaitsInACategoryThatIsGoneIsStillCalled(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		wait func(h *hall) queue.TicketID // makes somebody wait in corporate, which is gone by then or goes now
	}{
		{"who took a number of it", func(h *hall) queue.TicketID {
			return h.issue("corporate").ID
		}},
		{"who was transferred there", func(h *hall) queue.TicketID {
			id := h.issue("personal").ID
			ok(h.TransferTicket(h.tb.Context(), TransferRequest{Request: h.request(), Ticket: id, Category: "corporate"}, h.counter(1)))(h.tb)
			return id
		}},
		{"who is sent back after the turn of the day", func(h *hall) queue.TicketID {
			id, token := h.issue("corporate").ID, h.counter(1)
			h.next(token)
			h.verb((*Branch).StartTicket, token, id)
			h.clock.step(24 * time.Hour)
			ok(h.RequeueTicket(h.tb.Context(), h.request(), token, id, Place{}))(h.tb)
			return id
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			h := open(t)
			id := test.wait(h)
			if err := h.Reload(t.Context(), without(h.opts.Config, "corporate")); err != nil {
				t.Fatal(err)
			}
			if got := h.next(h.counter(2)).Ticket; got == nil || got.ID != id {
				t.Errorf("got %+v, want %v", got, id)
			}
		})
	}
}

// The bound over all rules holds for a category that the configuration no longer names, too: by what the configuration says of those.
func TestWhoWaitsInACategoryThatIsGoneIsNotStarved(t *testing.T) {
	t.Parallel()
	p := Policy{MaxWait: time.Hour, MaxOvertakes: 2}
	h := with(t, p, func(c *Config) {
		c.Unnamed = p
		for i := range c.Counters {
			c.Counters[i].Rule = queue.Priority
		}
	})
	late := h.issue("corporate").ID
	if err := h.Reload(t.Context(), without(h.opts.Config, "corporate")); err != nil {
		t.Fatal(err)
	}
	token := h.counter(1)
	for n := range 3 {
		h.issue("personal")
		got := h.next(token)
		if gone := n == 2; gone != (got.Ticket.ID == late) || gone != (got.Rule == queue.Overdue) {
			t.Fatalf("call %d: got %s by rule %d, want it overdue after it was passed over twice", n+1, got.Ticket.Number, got.Rule)
		}
		h.verb((*Branch).CompleteTicket, token, got.Ticket.ID)
	}
}
