package branch

import (
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"callerd/internal/queue"
)

func (h *hall) expire() {
	h.tb.Helper()
	if err := h.Expire(h.tb.Context()); err != nil {
		h.tb.Fatal(err)
	}
}

// Case 16, for both orders in which the leases end.
func TestTheTicketsOfTwoDeadConsolesGoBackToTheirPlaces(t *testing.T) {
	for _, restart := range []bool{false, true} {
		for _, firstDies := range []bool{false, true} {
			h := open(t)
			var tickets []queue.Ticket
			for range 9 {
				tickets = append(tickets, h.issue("personal"))
			}
			a7, a8, a9 := tickets[6], tickets[7], tickets[8]
			for _, v := range tickets[:6] {
				ok(h.CancelTicket(t.Context(), h.request(), v.ID, ""))(t)
			}
			s1, s2 := h.counter(1), h.counter(2)
			h.next(s1)
			h.next(s2)
			h.clock.step(time.Second)
			if renewed := map[bool]string{true: s2, false: s1}[firstDies]; !restart {
				ok(h.RenewSession(t.Context(), renewed))(t)
			}
			if restart {
				h.restart()
			}
			for range 2 { // the first lease, then the other
				h.clock.step(DefaultLease - time.Second)
				h.expire()
				h.clock.step(time.Second)
				h.expire()
			}
			for _, id := range []queue.TicketID{a7.ID, a8.ID} {
				if got := h.ticket(id); got.State != queue.Waiting || got.Calls != 1 || got.Called == 0 {
					t.Errorf("got %s %v after %d calls, want it WAITING with its first call", got.Number, got.State, got.Calls)
				}
			}
			s := h.counter(3)
			first := h.next(s)
			second := h.next(s, first.Ticket.ID)
			third := h.next(s, second.Ticket.ID)
			if first.Ticket.ID != a7.ID || second.Ticket.ID != a8.ID || third.Ticket.ID != a9.ID {
				t.Errorf("restart %t: got %s, %s, %s, want A007, A008, A009", restart, first.Ticket.Number, second.Ticket.Number, third.Ticket.Number)
			}
			if first.Ticket.Key != a7.Key || first.Ticket.Calls != 2 {
				t.Errorf("got key %v after %d calls, want %v after 2", first.Ticket.Key, first.Ticket.Calls, a7.Key)
			}
			for _, token := range []string{s1, s2} {
				_, err := h.RenewSession(t.Context(), token)
				refused(t, err, ErrStaleSession)
			}
		}
	}
}

func TestAServedTicketOfADeadConsoleIsHeldForTheNext(t *testing.T) {
	h := open(t)
	a1 := h.issue("personal")
	s := h.counter(1)
	h.next(s)
	h.verb((*Branch).StartTicket, s, a1.ID)
	h.clock.step(DefaultLease)
	h.expire()
	if got := h.ticket(a1.ID); got.State != queue.Held || got.Counter != 1 {
		t.Fatalf("got %v at %d, want HELD at 1", got.State, got.Counter)
	}
	o := ok(h.OpenCounter(t.Context(), OpenRequest{Request: h.request(), Counter: 1, Teller: "u"}))(t)
	if len(o.Held) != 1 || o.Held[0].ID != a1.ID {
		t.Fatalf("the next session is told of %v, want A001", o.Held)
	}
	if got := h.verb((*Branch).ResumeTicket, o.Token, a1.ID); got.State != queue.Called || got.Calls != 2 {
		t.Errorf("got %v after %d calls, want CALLED after 2", got.State, got.Calls)
	}
}

func TestEveryCommandRenewsTheLease(t *testing.T) {
	h := open(t)
	ctx := t.Context()
	s := h.counter(1)
	commands := []func(){
		func() { ok(h.RenewSession(ctx, s))(t) },
		func() { ok(h.PauseCounter(ctx, h.request(), s, ""))(t) },
		func() { ok(h.ResumeCounter(ctx, h.request(), s))(t) },
		func() { h.next(s) },
		func() { h.issue("personal"); h.next(s) },
		func() { // also one that is refused
			_, err := h.StartTicket(ctx, h.request(), s, queue.TicketID{})
			refused(t, err, ErrUnknownTicket)
		},
		func() {
			_, err := h.ResumeTicket(ctx, h.request(), s, queue.TicketID{Day: queue.DayOf(2026, 11, 30), Category: "personal", N: 1})
			refused(t, err, ErrCounterBusy)
		},
	}
	for i, command := range commands {
		h.clock.step(DefaultLease - 1)
		h.expire()
		command()
		if got := h.NextDeadline(); got != DefaultLease {
			t.Errorf("command %d: got %v to the next deadline, want %v", i, got, DefaultLease)
		}
	}
	h.clock.step(DefaultLease)
	if got := h.NextDeadline(); got != 0 {
		t.Errorf("got %v to the next deadline, want 0: it is due", got)
	}
	h.expire()
	_, err := h.RenewSession(ctx, s)
	refused(t, err, ErrStaleSession)
}

func TestALeaseBeginsAnewAfterARestart(t *testing.T) {
	h := open(t)
	s := h.counter(1)
	h.close()
	h.clock.step(time.Hour)
	h.open()
	if got := h.NextDeadline(); got != DefaultLease {
		t.Errorf("got %v to the next deadline, want %v", got, DefaultLease)
	}
	h.clock.step(DefaultLease - 1)
	h.expire()
	ok(h.RenewSession(t.Context(), s))(t)
}

func TestANearerDeadlineIsTold(t *testing.T) {
	h := open(t)
	select {
	case <-h.DeadlineChanged():
		t.Error("told of a deadline before there was one")
	default:
	}
	h.counter(1)
	h.counter(2) // the slot is full: nobody waits
	select {
	case <-h.DeadlineChanged():
	default:
		t.Error("not told of a session's lease")
	}
}

// The driver of a daemon, in virtual time: a session opened during a long sleep ends on time, and so does one whose lease
// stood still while there was no space.
func TestTheDriverMeetsEveryDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := open(t, func(o *Options) { o.Now = nil })
		stop, stopped := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(stopped)
			for {
				timer := time.NewTimer(h.NextDeadline())
				select {
				case <-timer.C:
					h.Expire(t.Context()) // its error: no space, and it is asked again
				case <-h.DeadlineChanged():
				case <-stop:
					return
				}
			}
		}()
		defer func() { close(stop); <-stopped }()
		open := func(n queue.CounterID) bool {
			synctest.Wait()
			_, open := h.leaseEnd(h.state.sets.Load().byCounter[n], 0)
			return open
		}
		h.counter(1)
		time.Sleep(DefaultLease - time.Millisecond)
		if !open(1) {
			t.Error("the lease ended early")
		}
		time.Sleep(2 * time.Millisecond)
		if open(1) {
			t.Error("the lease did not end")
		}

		h.counter(2)
		time.Sleep(time.Second)
		h.journal.hook(func([]*queue.Record) error { return syscall.ENOSPC })
		_, err := h.IssueTicket(t.Context(), IssueRequest{Request: h.request(), Category: "personal"})
		refused(t, err, ErrNoSpace)
		time.Sleep(10 * DefaultLease)
		if !open(2) {
			t.Error("a lease ended while nobody could renew it")
		}
		h.journal.hook(nil)
		time.Sleep(retryEvery + DefaultLease - time.Millisecond)
		if !open(2) {
			t.Error("the lease did not begin anew when admission opened")
		}
		time.Sleep(retryEvery + 2*time.Millisecond)
		if open(2) {
			t.Error("the lease did not end after admission opened again")
		}
	})
}

// A process that stood still could hear nobody: a session does not end for that.
func TestALeaseBeginsAnewAfterTheProcessStoodStill(t *testing.T) {
	t.Parallel()
	h := open(t)
	token := h.counter(1)
	h.NextDeadline()
	h.clock.step(DefaultLease + 10*time.Second) // stopped and continued
	h.expire()
	ok(h.RenewSession(t.Context(), token))(t)
	h.NextDeadline()
	h.clock.step(DefaultLease) // in time, and nobody was heard
	h.expire()
	_, err := h.RenewSession(t.Context(), token)
	refused(t, err, ErrStaleSession)
}
