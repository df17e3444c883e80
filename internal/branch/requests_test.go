package branch

import (
	"context"
	"sync"
	"testing"
	"time"

	"callerd/internal/queue"
)

// Case 2.
func TestTheSameRequestIsOneTicket(t *testing.T) {
	h := open(t)
	ctx, r := t.Context(), h.request()
	first := ok(h.IssueTicket(ctx, IssueRequest{Request: r, Category: "personal"}))(t)
	again := ok(h.IssueTicket(ctx, IssueRequest{Request: r, Category: "personal"}))(t)
	if first.Replayed || !again.Replayed || again.Ticket != first.Ticket {
		t.Errorf("in sequence: got %+v, then %+v, want the second replayed", first, again)
	}
	_, err := h.IssueTicket(ctx, IssueRequest{Request: r, Category: "corporate"})
	refused(t, err, ErrRequestReused)

	r = h.request()
	var mu sync.Mutex
	fresh, ids := 0, map[queue.TicketID]bool{}
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			reply, err := h.IssueTicket(ctx, IssueRequest{Request: r, Category: "personal"})
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				t.Error(err)
			}
			if ids[reply.Ticket.ID] = true; !reply.Replayed {
				fresh++
			}
		})
	}
	wg.Wait()
	if fresh != 1 || len(ids) != 1 {
		t.Errorf("in parallel: got %d tickets, %d not replayed, want one of each", len(ids), fresh)
	}

	h.restart()
	again = ok(h.IssueTicket(ctx, IssueRequest{Request: r, Category: "personal"}))(t)
	if !again.Replayed || !ids[again.Ticket.ID] {
		t.Errorf("after a restart: got %+v, want the same ticket replayed", again)
	}
	_, err = h.IssueTicket(ctx, IssueRequest{Request: r, Category: "corporate"})
	refused(t, err, ErrRequestReused)
}

// Case 3: the operation happens though its caller has gone, and the retry tells it.
func TestACallerThatGaveUpIsToldWhenItAsksAgain(t *testing.T) {
	h := open(t)
	g := h.journal.gate()
	ctx, cancel := context.WithCancel(t.Context())
	r := h.request()
	failed := make(chan error, 1)
	go func() {
		_, err := h.IssueTicket(ctx, IssueRequest{Request: r, Category: "personal"})
		failed <- err
	}()
	<-g.arrived // claimed, and on its way to the disk
	cancel()
	if err := <-failed; err != context.Canceled {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
	retried := make(chan TicketReply, 1)
	go func() { retried <- ok(h.IssueTicket(t.Context(), IssueRequest{Request: r, Category: "personal"}))(t) }()
	g.open(h.journal)
	if got := <-retried; !got.Replayed || got.Ticket.Number != "A001" {
		t.Errorf("got %+v, want A001 replayed", got)
	}
	if got := h.issue("personal").Number; got != "A002" {
		t.Errorf("got %s, want A002", got)
	}
}

func TestARequestIsRememberedFor24Hours(t *testing.T) {
	h := open(t)
	ctx, r := t.Context(), h.request()
	first := ok(h.IssueTicket(ctx, IssueRequest{Request: r, Category: "personal"}))(t)
	h.clock.step(24 * time.Hour) // over midnight, and over a restart
	for range 2 {
		again := ok(h.IssueTicket(ctx, IssueRequest{Request: r, Category: "personal"}))(t)
		if !again.Replayed || again.Ticket.ID != first.Ticket.ID || again.Ticket.State != queue.Expired {
			t.Errorf("after 24 hours: got %+v, want %v replayed as it is now", again, first.Ticket.ID)
		}
		h.restart()
	}
	h.clock.step(1)
	if got := ok(h.IssueTicket(ctx, IssueRequest{Request: r, Category: "corporate"}))(t); got.Replayed || got.Ticket.Number != "B001" {
		t.Errorf("after more than 24 hours: got %+v, want a new ticket", got)
	}
	if got := ok(h.IssueTicket(ctx, IssueRequest{Request: r, Category: "corporate"}))(t); !got.Replayed {
		t.Errorf("used a second time: got %+v, want it replayed", got)
	}
}

// Where the day between has 23 hours, a request of 24 hours ago may name a ticket of two days ago.
func TestARequestIsRememberedOverAShortDay(t *testing.T) {
	h := open(t, func(o *Options) { o.Config.Zone = zone("Europe/Berlin") })
	h.clock.set(time.Date(2027, 3, 27, 23, 45, 0, 0, h.opts.Config.Zone))
	ctx, r := t.Context(), h.request()
	first := ok(h.IssueTicket(ctx, IssueRequest{Request: r, Category: "personal"}))(t)
	h.counter(1)
	h.clock.step(time.Hour)
	h.issue("personal")
	h.clock.set(time.Date(2027, 3, 29, 0, 15, 0, 0, h.opts.Config.Zone))
	h.issue("personal")
	_, err := h.GetTicket(ctx, first.Ticket.ID)
	refused(t, err, ErrUnknownTicket)
	again := ok(h.IssueTicket(ctx, IssueRequest{Request: r, Category: "personal"}))(t)
	if !again.Replayed || again.Ticket.ID != first.Ticket.ID || again.Ticket.State != queue.Expired {
		t.Errorf("after %v: got %+v, want %v replayed", 23*time.Hour+30*time.Minute, again, first.Ticket.ID)
	}
}

func TestOldRequestsAreForgotten(t *testing.T) {
	s := &newRequests().shards[0]
	key := func(n int) queue.RequestID { return queue.RequestID{byte(n >> 16), byte(n >> 8), byte(n)} }
	const n, step = 5000, int64(time.Minute)
	for i := range n {
		s.add(key(i), seen{sequence: uint64(i + 1), at: int64(i) * step})
		if len(s.seen) > 24*60+2 || len(s.order)-s.next > 24*60+2 || len(s.order) > 2*(24*60+66) {
			t.Fatalf("after %d: got %d remembered, %d of %d in order, want a day's", i, len(s.seen), len(s.order)-s.next, len(s.order))
		}
	}
	now := int64(n-1) * step
	for i := range n {
		e, found := s.find(key(i), now)
		if want := now-int64(i)*step <= int64(24*time.Hour); found != want || found && e.sequence != uint64(i+1) {
			t.Fatalf("request %d: got %+v, %t, want it found: %t", i, e, found, want)
		}
	}
}

// One shard's times may cross by the length of a section: eviction may then be late, never early.
func TestARequestIsNotForgottenEarlyWhenTimesCross(t *testing.T) {
	s := &newRequests().shards[0]
	day := int64(honoured)
	s.add(queue.RequestID{1}, seen{at: 10})
	s.add(queue.RequestID{2}, seen{at: 5})
	s.add(queue.RequestID{3}, seen{at: day + 8})
	for n, want := range map[byte]bool{1: true, 2: false, 3: true} {
		if _, got := s.find(queue.RequestID{n}, day+8); got != want {
			t.Errorf("request %d: found %t, want %t", n, got, want)
		}
	}
	s.add(queue.RequestID{2}, seen{at: day + 9, sequence: 4}) // too old, so used again
	s.add(queue.RequestID{4}, seen{at: day + 30})
	if e, found := s.find(queue.RequestID{2}, day+30); !found || e.sequence != 4 {
		t.Errorf("used again: got %+v, %t, want it found", e, found)
	}
}

func TestARefusalLeavesNothingBehind(t *testing.T) {
	h := open(t)
	ctx, r := t.Context(), h.request()
	_, err := h.IssueTicket(ctx, IssueRequest{Request: r, Category: "vip"})
	refused(t, err, ErrUnknownCategory)
	_, err = h.CancelTicket(ctx, r, queue.TicketID{Day: queue.DayOf(2026, 11, 30), Category: "personal", N: 1}, "")
	refused(t, err, ErrUnknownTicket)
	_, err = h.CallNext(ctx, r, "", queue.TicketID{})
	refused(t, err, ErrStaleSession)
	if got := ok(h.IssueTicket(ctx, IssueRequest{Request: r, Category: "personal"}))(t); got.Replayed || got.Ticket.Number != "A001" {
		t.Errorf("got %+v, want A001, not replayed", got)
	}
}

func TestARequestIsAnsweredAgainAfterItsSessionEnded(t *testing.T) {
	h := open(t)
	ctx, a1 := t.Context(), h.issue("personal")
	opened := OpenRequest{Request: h.request(), Counter: 1, Teller: "t"}
	s := ok(h.OpenCounter(ctx, opened))(t)
	call, complete, shut := h.request(), h.request(), h.request()
	ok(h.CallNext(ctx, call, s.Token, queue.TicketID{}))(t)
	ok(h.CompleteTicket(ctx, complete, s.Token, a1.ID))(t)
	ok(h.CloseCounter(ctx, shut, s.Token, 0))(t)
	other := h.counter(1)
	h.issue("personal")
	h.next(other)

	for range 2 {
		if got := ok(h.CallNext(ctx, call, s.Token, queue.TicketID{}))(t); !got.Replayed || got.Ticket == nil || got.Ticket.ID != a1.ID || got.Ticket.State != queue.Completed {
			t.Errorf("call: got %+v, want A001 as it is now", got)
		}
		if got := ok(h.CompleteTicket(ctx, complete, s.Token, a1.ID))(t); !got.Replayed || got.Ticket.State != queue.Completed {
			t.Errorf("complete: got %+v, want it replayed", got)
		}
		if got := ok(h.CloseCounter(ctx, shut, s.Token, 0))(t); !got.Replayed {
			t.Errorf("close: got %+v, want it replayed", got)
		}
		if got := ok(h.OpenCounter(ctx, opened))(t); !got.Replayed || !got.Closed || got.Token != s.Token || got.Epoch != s.Epoch || got.Current != nil {
			t.Errorf("open: got %+v, want the first session, said to be closed, and nothing of the second", got)
		}
		_, err := h.CallNext(ctx, h.request(), s.Token, queue.TicketID{})
		refused(t, err, ErrStaleSession)
		h.restart()
	}
	// The fingerprint has the token's counter, so another counter's token, or none, asks for something else.
	for _, token := range []string{h.counter(2), "", "1.1.00.00"} {
		_, err := h.CallNext(ctx, call, token, queue.TicketID{})
		refused(t, err, ErrRequestReused)
	}
	// Another session of the same counter asks for the same.
	if got := ok(h.CompleteTicket(ctx, complete, other, a1.ID))(t); !got.Replayed {
		t.Errorf("another session of the counter: got %+v, want it replayed", got)
	}
}

func TestCompleteOverAnEmptyLineIsAnsweredAgain(t *testing.T) {
	h := open(t)
	ctx, a1, s := t.Context(), h.issue("personal"), h.counter(1)
	h.next(s)
	r := h.request()
	first := ok(h.CallNext(ctx, r, s, a1.ID))(t)
	h.issue("personal")
	for range 2 {
		again := ok(h.CallNext(ctx, r, s, a1.ID))(t)
		if !again.Replayed || again.Ticket != nil || again.Completed == nil || *again.Completed != *first.Completed || again.Waiting != 1 {
			t.Errorf("got %+v, want A001 completed, nobody called, and one waiting by now", again)
		}
		h.restart()
	}
}

func TestOneIDIsForOneMethod(t *testing.T) {
	h := open(t)
	ctx, a1, s := t.Context(), h.issue("personal"), h.counter(1)
	h.next(s)
	r := h.request()
	ok(h.RecallTicket(ctx, r, s, a1.ID))(t)
	for name, v := range currentVerbs {
		_, err := v(h.Branch, ctx, r, s, a1.ID)
		if name == "recall" {
			refused(t, err, nil)
			continue
		}
		refused(t, err, ErrRequestReused)
	}
	if got := h.ticket(a1.ID); got.State != queue.Called || got.Calls != 2 {
		t.Errorf("got %v after %d calls, want CALLED after 2", got.State, got.Calls)
	}
}
