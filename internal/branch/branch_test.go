package branch

import (
	"testing"

	"callerd/internal/queue"
)

func TestATicketGoesFromTheKioskToTheCounter(t *testing.T) {
	h := open(t)
	a1 := h.issue("personal")
	if a1.Number != "A001" || a1.State != queue.Waiting {
		t.Fatalf("got %+v, want A001 waiting", a1)
	}
	s := h.counter(3)
	c := h.next(s)
	if c.Ticket == nil || c.Ticket.Number != "A001" || c.Ticket.State != queue.Called || c.Ticket.Counter != 3 {
		t.Fatalf("got %+v, want A001 called to counter 3", c.Ticket)
	}
	if got := h.verb((*Branch).StartTicket, s, a1.ID).State; got != queue.Serving {
		t.Fatalf("got %v, want SERVING", got)
	}
	c = h.next(s, a1.ID)
	if c.Ticket != nil || c.Completed == nil || c.Completed.State != queue.Completed {
		t.Fatalf("got %+v, want A001 completed and nobody called", c)
	}
	h.restart()
	if got := h.ticket(a1.ID).State; got != queue.Completed {
		t.Fatalf("after a restart: got %v, want COMPLETED", got)
	}
}
