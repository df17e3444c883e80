package branch

import (
	"testing"

	"callerd/internal/queue"
)

// A page holds all locks, so it looks at a bounded number of tickets, also when it finds none of the state.
func TestAPageOfARareStateIsShortAndTheNextOnesFindIt(t *testing.T) {
	t.Parallel()
	h := open(t)
	var want queue.Ticket
	for range scanAtMost + 10 {
		want = h.issue("personal")
	}
	ok(h.CancelTicket(t.Context(), h.request(), want.ID, ""))(t)
	r := ListRequest{States: []queue.State{queue.Cancelled}, Size: 10}
	pages := 0
	for {
		l := ok(h.ListTickets(t.Context(), r))(t)
		pages++
		if len(l.Tickets) > 0 {
			if got := l.Tickets[0].ID; got != want.ID {
				t.Errorf("got %v, want %v", got, want.ID)
			}
			break
		}
		if !l.More {
			t.Fatal("got the last page without the ticket")
		}
		r.After = l.Last
	}
	if pages != 2 {
		t.Errorf("got it on page %d, want 2", pages)
	}
}
