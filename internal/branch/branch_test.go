package branch

import (
	"context"
	"sync"
	"testing"
	"time"

	"callerd/internal/queue"
)

// memory is a journal in memory.
type memory struct {
	mu      sync.Mutex
	records []*queue.Record
}

func (m *memory) Append(batch []*queue.Record) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.records = append(m.records, batch...)
	return nil
}

func (m *memory) Replay(f func(*queue.Record) error) error {
	for _, r := range m.records {
		if err := f(r); err != nil {
			return err
		}
	}
	return nil
}

func config() Config {
	both := []queue.CategoryID{"personal", "corporate"}
	c := Config{Name: queue.Names{En: "Branch"}}
	c.Categories = []queue.CategoryDefined{
		{ID: "personal", Prefix: "A", Width: 3}, {ID: "corporate", Prefix: "B", Width: 3}}
	for n := queue.CounterID(1); n <= 4; n++ {
		c.Counters = append(c.Counters, queue.CounterDefined{ID: n, Categories: both, Rule: queue.Oldest})
	}
	return c
}

func open(t *testing.T, j Journal) *Branch {
	t.Helper()
	b, err := Open(t.Context(), Options{Journal: j, Secret: make([]byte, 32), Config: config(), Verify: true})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func id(n int) Request {
	return Request{ID: queue.RequestID{0: 1, 14: byte(n >> 8), 15: byte(n)}}
}

func TestATicketGoesFromTheKioskToTheCounter(t *testing.T) {
	ctx := t.Context()
	j := &memory{}
	b := open(t, j)
	a1, err := b.IssueTicket(ctx, id(1), "personal")
	if err != nil || a1.Ticket.Number != "A001" {
		t.Fatalf("got %+v, %v, want A001", a1, err)
	}
	again, err := b.IssueTicket(ctx, id(1), "personal")
	if err != nil || again.Ticket != a1.Ticket || !again.Replayed {
		t.Fatalf("got %+v, %v, want A001 replayed", again, err)
	}
	s, err := b.OpenCounter(ctx, OpenRequest{Request: id(2), Counter: 3, Teller: "t"})
	if err != nil {
		t.Fatal(err)
	}
	c, err := b.CallNext(ctx, id(3), s.Token, queue.TicketID{})
	if err != nil || c.Ticket.Number != "A001" {
		t.Fatalf("got %+v, %v, want A001", c, err)
	}
	if _, err = b.StartTicket(ctx, id(4), s.Token, c.Ticket.ID); err != nil {
		t.Fatal(err)
	}
	c, err = b.CallNext(ctx, id(5), s.Token, c.Ticket.ID)
	if err != nil || c.Ticket != nil || c.Completed.State != queue.Completed {
		t.Fatalf("got %+v, %v, want A001 completed and nobody called", c, err)
	}
	closeCtx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	if err := b.Close(closeCtx); err != nil {
		t.Fatal(err)
	}
	if err := open(t, j).Close(closeCtx); err != nil {
		t.Fatal(err)
	}
}
