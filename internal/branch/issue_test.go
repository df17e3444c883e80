package branch

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"callerd/internal/queue"
)

// Case 1.
func TestEightKiosksIssueTwoHundredNumbersAtOnce(t *testing.T) {
	h := open(t)
	var mu sync.Mutex
	var numbers []string
	var wg sync.WaitGroup
	start := make(chan struct{})
	for range 8 {
		for range 25 {
			wg.Go(func() {
				<-start
				reply, err := h.IssueTicket(t.Context(), IssueRequest{Request: h.request(), Category: "personal"})
				mu.Lock()
				defer mu.Unlock()
				if err != nil {
					t.Error(err)
				}
				numbers = append(numbers, reply.Ticket.Number)
			})
		}
	}
	close(start)
	wg.Wait()
	slices.Sort(numbers)
	for i, got := range numbers {
		if want := fmt.Sprintf("A%03d", i+1); got != want {
			t.Fatalf("place %d: got %s, want %s", i, got, want)
		}
	}
	if len(numbers) != 200 {
		t.Errorf("got %d numbers, want 200", len(numbers))
	}
}

// Case 10, through the branch.
func TestTheThousandthNumberIsA1000(t *testing.T) {
	h := open(t)
	var last queue.Ticket
	for range 1000 {
		last = h.issue("personal")
	}
	if before := h.ticket(queue.TicketID{Day: last.ID.Day, Category: "personal", N: 999}); before.Number != "A999" || last.Number != "A1000" {
		t.Errorf("got %s, then %s, want A999, then A1000", before.Number, last.Number)
	}
}

func TestAheadAndEstimateAreOfOneLine(t *testing.T) {
	h := open(t)
	h.issue("corporate")
	a := make([]queue.Ticket, 5)
	for i := range a {
		reply := ok(h.IssueTicket(t.Context(), IssueRequest{Request: h.request(), Category: "personal"}))(t)
		if reply.Ahead != i || reply.Estimate != nil {
			t.Errorf("%s: got %d ahead, estimate %v, want %d and none: no counter is open", reply.Ticket.Number, reply.Ahead, reply.Estimate, i)
		}
		a[i] = reply.Ticket
	}
	ok(h.CancelTicket(t.Context(), h.request(), a[1].ID, "tired"))(t)
	if got := ok(h.GetTicket(t.Context(), a[4].ID))(t).Ahead; got != 3 {
		t.Errorf("after a cancel in front: got %d ahead, want 3", got)
	}
}

func TestAPageListsTheTicketsOfADay(t *testing.T) {
	h := open(t)
	for range 7 {
		h.issue("personal")
		h.issue("corporate")
	}
	h.next(h.counter(1))
	ctx := t.Context()
	var all []queue.TicketID
	for r := (ListRequest{Size: 3}); ; {
		page := ok(h.ListTickets(ctx, r))(t)
		for _, v := range page.Tickets {
			all = append(all, v.ID)
		}
		if !page.More {
			break
		}
		r.After = page.Last
	}
	if len(all) != 14 || all[0].Category != "personal" || all[6].N != 7 || all[7].Category != "corporate" || all[13].N != 7 {
		t.Errorf("got %v, want the 7 of personal and then the 7 of corporate", all)
	}
	if got := len(ok(h.ListTickets(ctx, ListRequest{Category: "personal", States: []queue.State{queue.Waiting}, Size: 100}))(t).Tickets); got != 6 {
		t.Errorf("got %d waiting in personal, want 6", got)
	}
	_, err := h.ListTickets(ctx, ListRequest{Category: "vip", Size: 1})
	refused(t, err, ErrUnknownCategory)
	_, err = h.ListTickets(ctx, ListRequest{Day: queue.DayOf(2026, 11, 29), Size: 1})
	refused(t, err, ErrUnknownDay)
}

func TestACategoryMissingFromTheConfigurationIssuesNoMore(t *testing.T) {
	h := open(t)
	b1 := h.issue("corporate")
	h.restart(func(o *Options) { o.Config.Categories = o.Config.Categories[:1] })
	_, err := h.IssueTicket(t.Context(), IssueRequest{Request: h.request(), Category: "corporate"})
	refused(t, err, ErrCategoryClosed)
	if got := h.next(h.counter(1)).Ticket; got == nil || got.ID != b1.ID {
		t.Errorf("got %+v called, want B001: who holds a number is still served", got)
	}
	h.restart(func(o *Options) { o.Config = config() })
	if got := h.issue("corporate").Number; got != "B002" {
		t.Errorf("back in the configuration: got %s, want B002", got)
	}
}
