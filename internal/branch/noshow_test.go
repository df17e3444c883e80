package branch

import (
	"errors"
	"sync"
	"testing"
	"time"

	"callerd/internal/queue"
)

// Case 17.
func TestACalledTicketThatNobodyAnswersIsANoShow(t *testing.T) {
	h := with(t, Policy{NoShowAfter: 2 * time.Minute})
	a1 := h.issue("personal")
	s := h.counter(1)
	renewed := func(d time.Duration) {
		for ; d > 0; d -= 30 * time.Second {
			h.clock.step(min(d, 30*time.Second))
			ok(h.RenewSession(t.Context(), s))(t)
			h.expire()
		}
	}
	h.next(s)
	renewed(2*time.Minute - 1)
	if got := h.ticket(a1.ID).State; got != queue.Called {
		t.Fatalf("got %v before its time", got)
	}
	renewed(1)
	if got := h.ticket(a1.ID).State; got != queue.NoShow {
		t.Fatalf("got %v, want NO_SHOW", got)
	}
	last := h.records()[len(h.records())-1]
	if o := last.Outcomes[0].(*queue.TicketChanged); o.Cause != queue.TimeUp || last.Actor != (queue.Actor{}) {
		t.Errorf("got %+v by %+v, want by the system", o, last.Actor)
	}
	a2 := h.issue("personal")
	if got := h.next(s); got.Ticket.ID != a2.ID {
		t.Errorf("got %+v, want the counter free", got)
	}
	// Whose console was not heard of since the start is the lease's: the customer goes back into the line.
	h.clock.step(time.Minute)
	h.restart()
	h.clock.step(2 * time.Minute)
	h.expire()
	if got := h.ticket(a2.ID); got.State != queue.Waiting {
		t.Errorf("got %v after the console died, want WAITING", got.State)
	}
}

// After a start no_show_after begins anew, and the lease decides until the console is heard of; then the timer is exact again.
func TestANoShowWaitsForTheConsoleAfterAStart(t *testing.T) {
	h := with(t, Policy{NoShowAfter: 10 * time.Second})
	a1 := h.issue("personal")
	s := h.counter(1)
	h.next(s)
	h.restart()
	h.clock.step(9 * time.Second)
	h.expire()
	h.clock.step(20 * time.Second)
	h.expire()
	if got := h.ticket(a1.ID).State; got != queue.Called {
		t.Fatalf("got %v while the console was not heard of, want CALLED", got)
	}
	ok(h.RenewSession(t.Context(), s))(t)
	if next := h.NextDeadline(); next != 0 {
		t.Errorf("got the next deadline in %v, want now", next)
	}
	h.expire()
	if got := h.ticket(a1.ID).State; got != queue.NoShow {
		t.Errorf("got %v, want NO_SHOW", got)
	}
}

// Case 17: the teller's start and the timer at the same instant.
func TestAStartAndTheTimerNeverBothWin(t *testing.T) {
	rounds := 300
	if testing.Short() || raceEnabled {
		rounds = 50
	}
	h := with(t, Policy{NoShowAfter: 10 * time.Second})
	s := h.counter(1)
	for range rounds {
		a := h.issue("personal")
		h.next(s)
		h.clock.step(10 * time.Second)
		var wg sync.WaitGroup
		var err error
		wg.Go(func() { h.expire() })
		wg.Go(func() { _, err = h.StartTicket(t.Context(), h.request(), s, a.ID) })
		wg.Wait()
		switch got := h.ticket(a.ID).State; {
		case err == nil && got == queue.Serving:
			h.verb((*Branch).CompleteTicket, s, a.ID)
		case errors.Is(err, ErrNoCurrentTicket) && got == queue.NoShow:
		default:
			t.Fatalf("got %v after a start that answered %v", got, err)
		}
	}
}

// Case 19.
func TestRecallsAndNoShowsHaveTheirLimits(t *testing.T) {
	for _, noShow := range []bool{false, true} {
		h := with(t, Policy{MaxRecalls: 3, NoShowAtLimit: noShow, MinCalls: 2, MinWait: 30 * time.Second})
		a1 := h.issue("personal")
		s := h.counter(1)
		for range 2 { // after a requeue the counts begin anew
			h.next(s)
			_, err := h.MarkNoShow(t.Context(), h.request(), s, a1.ID)
			refused(t, err, ErrNoShowTooEarly)
			if left, known := TimeLeft(err); !known || left != 30*time.Second {
				t.Errorf("got %v left, want 30s", left)
			}
			for range 3 {
				h.verb((*Branch).RecallTicket, s, a1.ID)
			}
			ok(h.RequeueTicket(t.Context(), h.request(), s, a1.ID, Place{}))(t)
		}
		h.next(s)
		for range 3 {
			h.verb((*Branch).RecallTicket, s, a1.ID)
		}
		r, err := h.RecallTicket(t.Context(), h.request(), s, a1.ID)
		if noShow {
			if err != nil || r.Ticket.State != queue.NoShow {
				t.Errorf("the fourth: got %v, %v, want NO_SHOW", r.Ticket.State, err)
			}
			continue
		}
		refused(t, err, ErrRecallLimit)
		h.clock.step(30 * time.Second)
		h.verb((*Branch).MarkNoShow, s, a1.ID)
	}
}

// Case 20.
func TestALogoutSaysWhatBecomesOfTheCurrentTicket(t *testing.T) {
	h := with(t, Policy{})
	a1, _ := h.issue("personal"), h.issue("personal")
	s := h.counter(1)
	h.next(s)
	_, err := h.CloseCounter(t.Context(), h.request(), s, 0)
	refused(t, err, ErrCounterBusy)
	ok(h.CloseCounter(t.Context(), h.request(), s, queue.Requeue))(t)
	if r := ok(h.GetTicket(t.Context(), a1.ID))(t); r.Ticket.State != queue.Waiting || r.Ahead != 0 {
		t.Errorf("got %+v, want it first in line", r)
	}
	s = h.counter(1)
	h.next(s)
	h.verb((*Branch).StartTicket, s, a1.ID)
	ok(h.CloseCounter(t.Context(), h.request(), s, queue.Hold))(t)
	if got := h.ticket(a1.ID); got.State != queue.Held || got.Counter != 1 {
		t.Errorf("got %+v, want it held", got)
	}
}

// Case 35.
func TestAPausedCounterIsGivenNobody(t *testing.T) {
	h := with(t, Policy{})
	a1 := h.issue("personal")
	s := h.counter(1)
	ok(h.PauseCounter(t.Context(), h.request(), s, "lunch"))(t)
	_, err := h.CallNext(t.Context(), h.request(), s, queue.TicketID{})
	refused(t, err, ErrCounterClosed)
	_, err = h.CallTicket(t.Context(), h.request(), s, a1.ID, queue.TicketID{})
	refused(t, err, ErrCounterClosed)
	if o := h.records()[len(h.records())-1].Outcomes[0].(*queue.CounterChanged); o.Note != "lunch" {
		t.Errorf("got %+v, want the reason in the record", o)
	}
	h.restart()
	_, err = h.CallNext(t.Context(), h.request(), s, queue.TicketID{})
	refused(t, err, ErrCounterClosed)
	ok(h.ResumeCounter(t.Context(), h.request(), s))(t)
	h.next(s)
}
