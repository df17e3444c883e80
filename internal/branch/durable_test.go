package branch

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"callerd/internal/queue"
)

// A reply of any kind tells something that an uncommitted fact may have made true, so it waits for that.
func TestEveryReplyWaitsForWhatItTells(t *testing.T) {
	replies := []struct {
		name string
		call func(h *hall, ctx context.Context, token string, id queue.TicketID, used Request) error
	}{
		{"an issue", func(h *hall, ctx context.Context, _ string, _ queue.TicketID, _ Request) error {
			_, err := h.IssueTicket(ctx, IssueRequest{Request: h.request(), Category: "corporate"})
			return err
		}},
		{"a read of the ticket", func(h *hall, ctx context.Context, _ string, id queue.TicketID, _ Request) error {
			_, err := h.GetTicket(ctx, id)
			return err
		}},
		{"a list", func(h *hall, ctx context.Context, _ string, _ queue.TicketID, _ Request) error {
			_, err := h.ListTickets(ctx, ListRequest{Size: 10})
			return err
		}},
		{"a replay", func(h *hall, ctx context.Context, _ string, _ queue.TicketID, used Request) error {
			_, err := h.IssueTicket(ctx, IssueRequest{Request: used, Category: "personal"})
			return err
		}},
		{"a refusal of a reused request", func(h *hall, ctx context.Context, _ string, _ queue.TicketID, used Request) error {
			_, err := h.IssueTicket(ctx, IssueRequest{Request: used, Category: "corporate"})
			return err
		}},
		{"a refusal by the ticket's state", func(h *hall, ctx context.Context, token string, id queue.TicketID, _ Request) error {
			_, err := h.ResumeTicket(ctx, h.request(), token, id)
			return err
		}},
		{"a refusal of an unknown ticket", func(h *hall, ctx context.Context, _ string, id queue.TicketID, _ Request) error {
			id.N++
			_, err := h.CancelTicket(ctx, h.request(), id, "")
			return err
		}},
		{"a refusal of an unknown category", func(h *hall, ctx context.Context, _ string, _ queue.TicketID, _ Request) error {
			_, err := h.IssueTicket(ctx, IssueRequest{Request: h.request(), Category: "vip"})
			return err
		}},
		{"a stale session", func(h *hall, ctx context.Context, _ string, _ queue.TicketID, _ Request) error {
			_, err := h.RenewSession(ctx, "no token")
			return err
		}},
		{"a heartbeat", func(h *hall, ctx context.Context, token string, _ queue.TicketID, _ Request) error {
			_, err := h.RenewSession(ctx, token)
			return err
		}},
		{"a pause that changes nothing", func(h *hall, ctx context.Context, token string, _ queue.TicketID, _ Request) error {
			_, err := h.ResumeCounter(ctx, h.request(), token)
			return err
		}},
	}
	for _, test := range replies {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := open(t)
				token := h.counter(1)
				g := h.journal.gate()
				used := h.request()
				go h.IssueTicket(t.Context(), IssueRequest{Request: used, Category: "personal"})
				synctest.Wait() // A001 is claimed, and its batch at the disk
				id := queue.TicketID{Day: queue.DayOf(2026, 11, 30), Category: "personal", N: 1}
				var replied atomic.Bool
				go func() {
					err := test.call(h, t.Context(), token, id, used)
					replied.Store(true)
					if at := RefusedAt(err); at > h.journal.durable() {
						t.Errorf("got a refusal at %d while %d is durable", at, h.journal.durable())
					}
				}()
				synctest.Wait()
				if replied.Load() {
					t.Error("replied before the disk had what it tells")
				}
				g.open(h.journal)
				synctest.Wait()
				if !replied.Load() {
					t.Error("no reply after the commit")
				}
			})
		})
	}
}

// An empty line is empty because another counter's uncommitted call took the last ticket.
func TestAnEmptyLineWaitsForTheCallThatEmptiedIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := open(t)
		h.issue("personal")
		s1, s2 := h.counter(1), h.counter(2)
		g := h.journal.gate()
		go h.CallNext(t.Context(), h.request(), s1, queue.TicketID{})
		synctest.Wait()
		var empty, replied atomic.Bool
		go func() {
			c, err := h.CallNext(t.Context(), h.request(), s2, queue.TicketID{})
			empty.Store(err == nil && c.Ticket == nil)
			replied.Store(true)
		}()
		synctest.Wait()
		if replied.Load() {
			t.Error("told of an empty line before the call that emptied it was durable")
		}
		g.open(h.journal)
		synctest.Wait()
		if !empty.Load() {
			t.Error("got no empty line after the commit")
		}
	})
}

// What a replayed request is told is what is true now, and that may be newer than what the request did.
func TestAReplayWaitsForAllThatItTells(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := open(t)
		req := OpenRequest{Request: h.request(), Counter: 1, Teller: "t1"}
		s := ok(h.OpenCounter(t.Context(), req))(t)
		g := h.journal.gate()
		go h.PauseCounter(t.Context(), h.request(), s.Token, "lunch")
		synctest.Wait()
		var replied, paused atomic.Bool
		go func() {
			r, err := h.OpenCounter(t.Context(), req)
			paused.Store(err == nil && r.Replayed && r.Paused)
			replied.Store(true)
		}()
		synctest.Wait()
		if replied.Load() {
			t.Error("told of a pause before it was durable")
		}
		g.open(h.journal)
		synctest.Wait()
		if !paused.Load() {
			t.Error("got no replay that tells of the pause")
		}
	})
}

// The displays know no later than the teller, and each record once, in order.
func TestTheDisplaysAreToldBeforeTheReply(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		last, shown := uint64(0), make(chan struct{})
		h := open(t, func(o *Options) {
			o.Publish = func(batch []*queue.Record) {
				for _, r := range batch {
					if last++; r.Sequence != last {
						t.Errorf("record %d was published in place %d", r.Sequence, last)
					}
				}
				if last > 2 { // after the start
					<-shown
				}
			}
		})
		c := issues(h, h.request())
		synctest.Wait()
		select {
		case <-c:
			t.Error("replied before the displays were told")
		default:
		}
		close(shown)
		if got := <-c; got.err != nil || got.reply.Sequence != 3 {
			t.Errorf("got %+v, %v, want number 1 at sequence 3", got.reply, got.err)
		}
	})
}
