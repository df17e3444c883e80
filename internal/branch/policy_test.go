package branch

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"callerd/internal/queue"
)

// tried asks for a number.
func (h *hall) tried(r IssueRequest) (queue.Ticket, error) {
	r.Request = h.request()
	reply, err := h.IssueTicket(h.tb.Context(), r)
	return reply.Ticket, err
}

// Case 6, a thousand times: ten kiosks race for the last place of the quota.
func TestTheLastPlaceOfAQuotaIsOne(t *testing.T) {
	rounds := 1000
	if testing.Short() || raceEnabled {
		rounds = 50
	}
	h := with(t, Policy{MaxPerDay: 1}, func(c *Config) { c.Policies["personal"] = Policy{MaxPerDay: 10} })
	for range rounds {
		for range 9 {
			h.issue("personal")
		}
		var got, refusals atomic.Int32
		var wg sync.WaitGroup
		start := make(chan struct{})
		for range 10 {
			wg.Go(func() {
				<-start
				if _, err := h.tried(IssueRequest{Category: "personal"}); err == nil {
					got.Add(1)
				} else if errors.Is(err, ErrQuotaExhausted) {
					refusals.Add(1)
				}
			})
		}
		close(start)
		wg.Wait()
		if got.Load() != 1 || refusals.Load() != 9 {
			t.Fatalf("got %d numbers and %d refusals, want 1 and 9", got.Load(), refusals.Load())
		}
		h.clock.step(24 * time.Hour)
	}
}

func TestAReservationGivesItsPlaceBack(t *testing.T) {
	h := with(t, Policy{MaxPerDay: 2, CheckInWithin: 10 * time.Minute})
	reserve := func() (queue.Ticket, error) { return h.tried(IssueRequest{Category: "personal", Reserve: true}) }
	a1 := ok(reserve())(t)
	a2 := ok(reserve())(t)
	if a1.State != queue.Reserved || a1.Deadline != morning.Add(10*time.Minute).UnixNano() {
		t.Fatalf("got %+v, want it reserved for ten minutes", a1)
	}
	_, err := reserve()
	refused(t, err, ErrQuotaExhausted)
	in := ok(h.CheckInTicket(t.Context(), h.request(), a1.ID))(t)
	if in.Ticket.State != queue.Waiting || in.Ticket.Deadline != 0 {
		t.Errorf("got %+v, want it waiting", in.Ticket)
	}
	h.clock.step(10*time.Minute - 1)
	h.expire()
	if got := h.ticket(a2.ID).State; got != queue.Reserved {
		t.Errorf("got %v before its time", got)
	}
	h.clock.step(1)
	_, err = h.CheckInTicket(t.Context(), h.request(), a2.ID)
	refused(t, err, ErrWrongTicketState)
	h.restart()
	h.expire()
	if got := h.ticket(a2.ID).State; got != queue.Expired {
		t.Errorf("got %v, want EXPIRED", got)
	}
	if got := h.issue("personal"); got.Number != "A003" {
		t.Errorf("got %s, want A003: the place comes back, the number does not", got.Number)
	}
	_, err = reserve()
	refused(t, err, ErrQuotaExhausted)
}

// Case 7.
func TestNumbersAreHandedOutInTheOpeningHours(t *testing.T) {
	var hours Hours
	for d := time.Monday; d <= time.Friday; d++ {
		hours.Week[d] = []Window{{9 * time.Hour, 12 * time.Hour}, {13*time.Hour + 30*time.Minute, 17 * time.Hour}}
	}
	hours.Holidays = map[string][]Window{"2026-12-01": {}, "2026-12-05": {{10 * time.Hour, 11 * time.Hour}}}
	h := with(t, Policy{Hours: hours})
	at := func(s string) time.Time {
		v, err := time.ParseInLocation("2006-01-02 15:04", s, shanghai)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	early := h.issue("personal") // Monday at nine
	for _, test := range []struct{ at, next string }{
		{"2026-11-30 12:00", "2026-11-30 13:30"}, {"2026-11-30 17:00", "2026-12-02 09:00"}, {"2026-12-01 10:00", "2026-12-02 09:00"},
		{"2026-12-04 18:00", "2026-12-05 10:00"}, {"2026-12-05 10:30", ""}, {"2026-12-05 11:00", "2026-12-07 09:00"},
	} {
		h.clock.set(at(test.at))
		_, err := h.tried(IssueRequest{Category: "personal"})
		if test.next == "" {
			if err != nil {
				t.Errorf("%s: got %v, want a number", test.at, err)
			}
			continue
		}
		refused(t, err, ErrCategoryClosed)
		if next, known := NextOpening(err); !known || !next.Equal(at(test.next)) {
			t.Errorf("%s: got open again at %v, want %s", test.at, next, test.next)
		}
		if test.at == "2026-11-30 12:00" {
			if got := h.next(h.counter(1)); got.Ticket == nil || got.Ticket.ID != early.ID {
				t.Errorf("got %+v, want who holds a number served", got.Ticket)
			}
		}
	}
}

// Case 8.
func TestOnePersonMayTakeTwoNumbers(t *testing.T) {
	h := with(t, Policy{MaxPerPerson: 2})
	take := func(key string) error {
		_, err := h.tried(IssueRequest{Category: "personal", Person: key})
		return err
	}
	for range 2 {
		if err := errors.Join(take("p"), take("q"), take("")); err != nil {
			t.Fatal(err)
		}
	}
	refused(t, take("p"), ErrPersonLimit)
	h.restart()
	refused(t, take("p"), ErrPersonLimit)
	if err := errors.Join(take(""), take("r")); err != nil {
		t.Error(err)
	}
	h.clock.step(24 * time.Hour)
	if err := take("p"); err != nil {
		t.Errorf("the next day: got %v", err)
	}
}

// Case 9.
func TestAResetExpiresWhatIsOpenAndNumbersGoOn(t *testing.T) {
	h := with(t, Policy{})
	s1, s2, s3 := h.counter(1), h.counter(2), h.counter(3)
	var ts []queue.Ticket
	for range 5 {
		ts = append(ts, h.issue("personal"))
	}
	b1 := h.issue("corporate")
	h.next(s1)
	h.next(s2)
	h.next(s3)
	h.verb((*Branch).StartTicket, s1, ts[0].ID)
	h.verb((*Branch).HoldTicket, s2, ts[1].ID)
	h.transfer(s2, TransferRequest{Ticket: ts[3].ID, Counter: 2})
	r := h.request()
	r.Actor = queue.Actor{Kind: queue.Staff, Name: "Wang"}
	ok(h.ResetCategory(t.Context(), r, "personal", "fire drill"))(t)
	if again := ok(h.ResetCategory(t.Context(), r, "personal", "fire drill"))(t); !again.Replayed {
		t.Error("the same request reset twice")
	}
	for i, want := range []queue.State{queue.Serving, queue.Expired, queue.Expired, queue.Expired, queue.Expired} {
		if got := h.ticket(ts[i].ID).State; got != want {
			t.Errorf("%s: got %v, want %v", ts[i].Number, got, want)
		}
	}
	if got := h.ticket(b1.ID).State; got != queue.Waiting {
		t.Errorf("got %v of another category, want WAITING", got)
	}
	records := h.records()
	last := records[len(records)-1]
	if o := last.Outcomes[0].(*queue.CategoryReset); o.Why != "fire drill" || last.Actor.Name != "Wang" {
		t.Errorf("got %+v by %+v, want who and why", o, last.Actor)
	}
	if got := h.issue("personal"); got.Number != "A006" {
		t.Errorf("got %s, want A006", got.Number)
	}
	h.restart()
	h.verb((*Branch).CompleteTicket, s1, ts[0].ID)
}

// Case 13.
func TestATakeOverEndsTheFirstSession(t *testing.T) {
	h := with(t, Policy{})
	a1 := h.issue("personal")
	s1 := h.counter(1)
	h.next(s1)
	again := OpenRequest{Request: h.request(), Counter: 1, Teller: "second"}
	_, err := h.OpenCounter(t.Context(), again)
	refused(t, err, ErrCounterTaken)
	again.TakeOver = "the console is broken"
	r := ok(h.OpenCounter(t.Context(), again))(t)
	if r.Current == nil || r.Current.ID != a1.ID {
		t.Errorf("got %+v, want the customer at the counter", r.Current)
	}
	_, err = h.StartTicket(t.Context(), h.request(), s1, a1.ID)
	refused(t, err, ErrStaleSession)
	h.restart()
	h.verb((*Branch).StartTicket, r.Token, a1.ID)
}
