package server

import (
	"strings"
	"sync"
	"testing"
	"time"

	"callerd/internal/branch"
	"callerd/internal/queue"
	pb "callerd/proto/callerd/v1"
)

// ruled serves the test's branch with a policy for personal, in a time of its own.
func ruled(t *testing.T, p branch.Policy) (*rig, *testClock) {
	t.Helper()
	clock := newTestClock()
	r := startWith(t, Options{}, func(o *branch.Options) {
		o.Now = clock.now
		o.Config.Policies = map[queue.CategoryID]branch.Policy{"personal": p}
	})
	return r, clock
}

func reasonOf(err error) string { return refused(err).info.Reason }

// Case 6: max_per_day 10, 9 issued, 5 parallel issues: 1 succeeds.
func TestTheLastPlaceOfAQuotaIsGivenOnce(t *testing.T) {
	t.Parallel()
	r, _ := ruled(t, branch.Policy{MaxPerDay: 10})
	for n := range 9 {
		r.issue(t, n, "personal")
	}
	var mu sync.Mutex
	got := map[string]int{}
	var all sync.WaitGroup
	for n := range 5 {
		all.Go(func() {
			v, err := r.kiosk.IssueTicket(t.Context(), &pb.IssueTicketRequest{RequestId: requestID(100 + n), Category: "personal"})
			mu.Lock()
			defer mu.Unlock()
			got[v.GetTicket().GetNumber()+reasonOf(err)]++
		})
	}
	all.Wait()
	if got["A010"] != 1 || got["QUOTA_EXHAUSTED"] != 4 {
		t.Errorf("got %v, want A010 once and QUOTA_EXHAUSTED four times", got)
	}
}

// Case 7: outside the opening hours: CATEGORY_CLOSED with the next opening; who holds a number is still called.
func TestOutsideTheHoursNoNumberIsGivenAndNumbersAreStillCalled(t *testing.T) {
	t.Parallel()
	var h branch.Hours
	h.Week[time.Monday] = []branch.Window{{From: 9 * time.Hour, Until: 12 * time.Hour}}
	h.Week[time.Tuesday] = []branch.Window{{From: 10 * time.Hour, Until: 12 * time.Hour}}
	r, clock := ruled(t, branch.Policy{Hours: h})
	r.issue(t, 1, "personal")
	clock.step(3 * time.Hour) // 12:00 is outside
	_, err := r.kiosk.IssueTicket(t.Context(), &pb.IssueTicketRequest{RequestId: requestID(2), Category: "personal"})
	if got := refused(err); got.info.Reason != "CATEGORY_CLOSED" || got.info.Metadata["next_opening"] != "2026-12-01T10:00:00Z" {
		t.Errorf("got %v %v, want CATEGORY_CLOSED until 2026-12-01T10:00:00Z", err, got.info)
	}
	if got := r.call(t, 3, r.open(t, 4, 1)); got.Ticket.GetNumber() != "A001" {
		t.Errorf("got %v, want A001 called", got)
	}
}

// Case 8: one person three times, limit 2: the third is refused; without a key there is no limit.
func TestAPersonTakesSoManyNumbersAndNoMore(t *testing.T) {
	t.Parallel()
	r, _ := ruled(t, branch.Policy{MaxPerPerson: 2})
	for n, want := range []string{"", "", "PERSON_LIMIT"} {
		_, err := r.kiosk.IssueTicket(t.Context(), &pb.IssueTicketRequest{RequestId: requestID(n), Category: "personal", PersonKey: "hash"})
		if got := reasonOf(err); got != want {
			t.Errorf("number %d: got %q, want %q", n+1, got, want)
		}
		if strings.Contains(refused(err).message, "hash") {
			t.Errorf("got %v, want no word of the key", err)
		}
		r.issue(t, 100+n, "personal")
	}
}

// Case 9: a reset by a person with a reason: open tickets expire, history stays, numbers go on, both are in the journal.
func TestAResetExpiresWhatIsOpenAndNumbersGoOn(t *testing.T) {
	t.Parallel()
	r := start(t, Options{})
	token := r.open(t, 1, 1)
	done, open, other := r.issue(t, 2, "personal").Ticket.Id, r.issue(t, 3, "personal").Ticket.Id, r.issue(t, 4, "corporate").Ticket.Id
	r.call(t, 5, token)
	if _, err := r.counter.CompleteTicket(t.Context(), &pb.CompleteTicketRequest{RequestId: requestID(6), SessionToken: token, Ticket: done}); err != nil {
		t.Fatal(err)
	}
	reset := &pb.ResetCategoryRequest{RequestId: requestID(7), Category: "personal", Who: "Li", Why: "fire alarm"}
	v, err := r.hall.ResetCategory(t.Context(), reset)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := r.hall.ResetCategory(t.Context(), reset); err != nil || !again.Replayed {
		t.Errorf("got %v, %v, want it replayed", again, err)
	}
	for id, want := range map[string]string{done: "COMPLETED", open: "EXPIRED", other: "WAITING"} {
		if got, err := r.kiosk.GetTicket(t.Context(), &pb.GetTicketRequest{Ticket: id}); err != nil || got.Ticket.State.String() != "TICKET_STATE_"+want {
			t.Errorf("%s: got %v, %v, want %s", id, got, err, want)
		}
	}
	if got := r.issue(t, 8, "personal").Ticket.Number; got != "A003" {
		t.Errorf("got %s, want A003", got)
	}
	records, _ := r.export(t, 0)
	for _, rec := range records {
		if rec.Sequence != v.Sequence {
			continue
		}
		if c, ok := rec.Outcomes[0].(*queue.CategoryReset); rec.Actor.Name != "Li" || !ok || c.Why != "fire alarm" {
			t.Errorf("got %+v, want who and why", rec)
		}
		return
	}
	t.Errorf("no record %d", v.Sequence)
}

// Case 13: a second teller at a counter: COUNTER_TAKEN; with take_over the first session ends, the ticket stays.
func TestATakeOverEndsTheFirstSessionAndKeepsItsCustomer(t *testing.T) {
	t.Parallel()
	r := start(t, Options{})
	first := r.open(t, 1, 1)
	r.issue(t, 2, "personal")
	called := r.call(t, 3, first).Ticket
	_, err := r.counter.OpenCounter(t.Context(), &pb.OpenCounterRequest{RequestId: requestID(4), Counter: 1, Teller: "t2"})
	if got := reasonOf(err); got != "COUNTER_TAKEN" {
		t.Errorf("got %v, want COUNTER_TAKEN", err)
	}
	v, err := r.counter.OpenCounter(t.Context(), &pb.OpenCounterRequest{RequestId: requestID(5), Counter: 1, Teller: "t2", TakeOver: &pb.TakeOver{Who: "Li", Why: "t1 is ill"}})
	if err != nil || v.Counter.Ticket != called.Id || v.Epoch != 2 {
		t.Fatalf("got %v, %v, want the second session with A001", v, err)
	}
	if _, err := callNext(t, r, 6, first); reasonOf(err) != "STALE_SESSION" {
		t.Errorf("got %v, want STALE_SESSION", err)
	}
	if _, err := r.counter.StartTicket(t.Context(), &pb.StartTicketRequest{RequestId: requestID(7), SessionToken: v.SessionToken, Ticket: called.Id}); err != nil {
		t.Error(err)
	}
	records, _ := r.export(t, v.Sequence)
	found := false
	for _, rec := range records {
		if rec.Sequence == v.Sequence {
			c := rec.Outcomes[0].(*queue.CounterChanged)
			found = rec.Actor.Name == "Li" && c.Note == "t1 is ill" && c.Cause == queue.TakenOver
		}
	}
	if !found {
		t.Errorf("got %v, want who and why in record %d", records, v.Sequence)
	}
}
