package branch

import (
	"testing"
	"time"

	"callerd/internal/queue"
)

// Case 4.
func TestTheServerWasOffOverTheEndOfTheDay(t *testing.T) {
	h := open(t)
	var last queue.Ticket
	for range 57 {
		last = h.issue("personal")
	}
	if last.Number != "A057" {
		t.Fatalf("got %s, want A057", last.Number)
	}
	s := h.counter(1)
	called := h.next(s).Ticket
	h.close()
	h.clock.set(morning.Add(24 * time.Hour))
	h.open()

	a1 := h.issue("personal")
	if a1.Number != "A001" || a1.ID.Day != queue.DayOf(2026, 12, 1) {
		t.Errorf("got %s of %v, want A001 of the new day", a1.Number, a1.ID.Day)
	}
	for _, id := range []queue.TicketID{last.ID, called.ID} {
		if got := h.ticket(id); got.State != queue.Expired || got.ID.Day != queue.DayOf(2026, 11, 30) {
			t.Errorf("%v: got %v, want yesterday's ticket EXPIRED", id, got.State)
		}
	}
	if got := h.next(h.reopened(s, 1)).Ticket; got == nil || got.ID != a1.ID {
		t.Errorf("got %+v called, want today's A001", got)
	}
	if got := h.next(h.counter(2)).Ticket; got != nil {
		t.Errorf("got %v called, want nobody: yesterday's are not callable", got.ID)
	}
	reply, err := h.ListTickets(t.Context(), ListRequest{Day: last.ID.Day, Size: 100})
	if err != nil || len(reply.Tickets) != 57 {
		t.Errorf("got %d of yesterday's tickets, %v, want 57", len(reply.Tickets), err)
	}
}

// reopened returns a token for the counter: the one it has, if its session is still on.
func (h *hall) reopened(token string, n queue.CounterID) string {
	h.tb.Helper()
	if _, err := h.RenewSession(h.tb.Context(), token); err != nil {
		return h.counter(n)
	}
	return token
}

func TestATicketBeingServedOverTheTurnIsCompletedInItsOldDay(t *testing.T) {
	h := open(t)
	held, served := h.issue("personal"), h.issue("personal")
	s := h.counter(1)
	h.next(s)
	h.verb((*Branch).HoldTicket, s, held.ID)
	h.next(s)
	h.verb((*Branch).StartTicket, s, served.ID)

	// Two turns in a row, the second over a restart, and still at the counter.
	h.clock.step(24 * time.Hour)
	if got := h.issue("personal").Number; got != "A001" {
		t.Fatalf("got %s, want A001", got)
	}
	if got := h.ticket(served.ID); got.State != queue.Serving || got.Counter != 1 {
		t.Fatalf("after one turn: got %v at %d, want SERVING at 1", got.State, got.Counter)
	}
	if got := h.ticket(held.ID).State; got != queue.Expired {
		t.Errorf("a held ticket over the turn: got %v, want EXPIRED", got)
	}
	h.close()
	h.clock.step(24 * time.Hour)
	h.open()
	if got := h.ticket(served.ID).State; got != queue.Serving {
		t.Fatalf("after two turns: got %v, want SERVING", got)
	}
	if got := h.verb((*Branch).CompleteTicket, s, served.ID); got.State != queue.Completed || got.ID.Day != queue.DayOf(2026, 11, 30) || got.Number != "A002" {
		t.Errorf("got %s of %v %v, want A002 of its old day COMPLETED", got.Number, got.ID.Day, got.State)
	}
	if got := h.issue("personal").Number; got != "A001" {
		t.Errorf("got %s, want A001", got)
	}
	h.restart()
	if got := h.ticket(served.ID).State; got != queue.Completed {
		t.Errorf("after a restart: got %v, want COMPLETED", got)
	}
	h.clock.step(24 * time.Hour)
	h.issue("personal")
	_, err := h.GetTicket(t.Context(), served.ID)
	refused(t, err, ErrUnknownTicket)
}

// What was served over one turn and then set aside or called again is an ordinary open ticket, which the next turn ends.
func TestATicketSetAsideAfterTheTurnExpiresAtTheNext(t *testing.T) {
	for _, called := range []bool{false, true} {
		h := open(t)
		served := h.issue("personal")
		s := h.counter(1)
		h.next(s)
		h.verb((*Branch).StartTicket, s, served.ID)
		h.clock.step(24 * time.Hour)
		if got := h.verb((*Branch).HoldTicket, s, served.ID).State; got != queue.Held {
			t.Fatalf("got %v, want HELD", got)
		}
		if called {
			if got := h.verb((*Branch).ResumeTicket, h.counter(2), served.ID); got.State != queue.Called || got.Counter != 2 {
				t.Fatalf("got %v at %d, want CALLED at 2", got.State, got.Counter)
			}
		}
		h.restart()
		if got := h.ticket(served.ID).State; got == queue.Expired {
			t.Fatalf("got %v before the turn", got)
		}
		live := (*h.state.carried.Load())[served.ID]
		h.clock.step(24 * time.Hour)
		h.issue("personal")
		if live.State != queue.Expired {
			t.Errorf("called %t: got %v, want EXPIRED", called, live.State)
		}
		h.restart()
	}
}

func TestAHallWithoutCustomersTurnsItsDayByItself(t *testing.T) {
	h := open(t)
	a := h.issue("personal")
	if got, want := h.NextDeadline(), 15*time.Hour; got != want {
		t.Fatalf("got %v to the next deadline, want %v", got, want)
	}
	h.clock.step(15*time.Hour - 1)
	if err := h.Expire(t.Context()); err != nil || h.ticket(a.ID).State != queue.Waiting {
		t.Fatalf("a nanosecond before midnight: got %v, %v, want WAITING", h.ticket(a.ID).State, err)
	}
	h.clock.step(1)
	for range 2 { // the second finds nothing to do
		if err := h.Expire(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if got := h.ticket(a.ID).State; got != queue.Expired {
		t.Errorf("at midnight: got %v, want EXPIRED", got)
	}
	if got, want := h.NextDeadline(), 24*time.Hour; got != want {
		t.Errorf("got %v to the next deadline, want %v", got, want)
	}
	turns := 0
	for _, r := range h.records() {
		if o, ok := r.Outcomes[0].(*queue.DayOpened); ok && o.Day == queue.DayOf(2026, 12, 1) {
			turns++
		}
	}
	if turns != 1 {
		t.Errorf("got %d turns, want 1", turns)
	}
}

// Case 5, through the branch: one reset on each of the long and short days.
func TestAShortAndALongDayResetOnce(t *testing.T) {
	for _, date := range []time.Time{time.Date(2026, 3, 28, 22, 0, 0, 0, time.UTC), time.Date(2026, 10, 24, 21, 0, 0, 0, time.UTC)} {
		h := open(t, func(o *Options) { o.Config.Zone = zone("Europe/Berlin") })
		h.close()
		h.journal.records = nil
		h.clock.set(date) // an hour or two before the day whose clocks change
		h.open()
		resets := 0
		for last := h.issue("personal"); h.clock.now().Before(date.Add(50 * time.Hour)); {
			h.clock.step(30 * time.Minute)
			a := h.issue("personal")
			switch {
			case a.ID.Day == last.ID.Day && a.ID.N != last.ID.N+1:
				t.Fatalf("%v: got %v after %v", h.clock.now(), a.ID, last.ID)
			case a.ID.Day != last.ID.Day:
				resets++
				if local := h.clock.now().In(h.opts.Config.Zone); a.ID.N != 1 || local.Hour() != 0 || local.Minute() != 0 {
					t.Errorf("got %v at %v, want number 1 at midnight", a.ID, local)
				}
			}
			last = a
		}
		if resets != 3 {
			t.Errorf("from %v: got %d resets in 50 hours, want 3", date, resets)
		}
	}
}

func TestTimeNeverGoesBackAndNeverReopensADay(t *testing.T) {
	h := open(t)
	h.clock.step(16 * time.Hour)
	first := h.issue("personal")
	h.clock.step(-3 * time.Hour)
	second := h.issue("personal")
	if second.ID.Day != first.ID.Day || second.ID.N != 2 || second.Issued < first.Issued {
		t.Errorf("got %v at %d after %v at %d, want the same day and no earlier time", second.ID, second.Issued, first.ID, first.Issued)
	}
	h.clock.step(150 * time.Minute)
	h.restart()
	if got := h.issue("personal").ID; got.Day != first.ID.Day || got.N != 3 {
		t.Errorf("after a restart: got %v, want number 3 of %v", got, first.ID.Day)
	}
}

// A date used before gets a run number: numbers of one id are never given out twice.
func TestAZoneFurtherWestGivesTheDateAnotherRun(t *testing.T) {
	h := open(t)
	h.restart(func(o *Options) { o.Config.Zone = zone("America/New_York") })
	h.clock.step(15 * time.Hour) // midnight in Shanghai, eleven in the morning in New York
	if got, want := h.issue("personal").ID.String(), "2026-11-30.1/personal/1"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	h.clock.step(13 * time.Hour)
	if got, want := h.issue("personal").ID.String(), "2026-12-01/personal/1"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	h.restart()
}
