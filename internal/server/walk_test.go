package server

import (
	"encoding/binary"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"callerd/internal/branch"
	"callerd/internal/queue"
)

// memoryJournal keeps records as they are.
type memoryJournal struct {
	mu      sync.Mutex
	records []*queue.Record
}

func (j *memoryJournal) Append(batch []*queue.Record) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.records = append(j.records, batch...)
	return nil
}

func (j *memoryJournal) Replay(f func(*queue.Record) error) error {
	for _, r := range j.records {
		if err := f(r); err != nil {
			return err
		}
	}
	return nil
}

// walk does random things to a branch; most that is refused is refused for a reason that the next step mends.
type walk struct {
	t        *testing.T
	b        *branch.Branch
	rand     *rand.Rand
	now      *time.Time
	requests uint64
	sessions map[queue.CounterID]string
	current  map[queue.CounterID]queue.TicketID
	issued   []queue.TicketID
	held     []queue.TicketID
}

func (w *walk) request() branch.Request {
	w.requests++
	r := branch.Request{ID: queue.RequestID{0: 1}}
	binary.BigEndian.PutUint64(r.ID[8:], w.requests)
	return r
}

func last(ids []queue.TicketID) queue.TicketID {
	if len(ids) == 0 {
		return queue.TicketID{}
	}
	return ids[len(ids)-1]
}

func (w *walk) step() {
	if w.sessions == nil {
		w.sessions, w.current = map[queue.CounterID]string{}, map[queue.CounterID]queue.TicketID{}
	}
	ctx, b := w.t.Context(), w.b
	*w.now = w.now.Add(time.Duration(w.rand.IntN(2000)) * time.Millisecond)
	c := []queue.CounterID{1, 2, 3, 4, 9}[w.rand.IntN(5)]
	token, current := w.sessions[c], w.current[c]
	switch n := w.rand.IntN(100); {
	case n < 25:
		v, err := b.IssueTicket(ctx, w.request(), []queue.CategoryID{"personal", "corporate", "vip"}[w.rand.IntN(3)])
		if err == nil {
			w.issued = append(w.issued, v.Ticket.ID)
		}
	case n < 35:
		v, err := b.OpenCounter(ctx, branch.OpenRequest{Request: w.request(), Counter: c, Teller: "t"})
		if err == nil {
			w.sessions[c], w.current[c] = v.Token, queue.TicketID{}
		}
	case n < 55:
		complete := queue.TicketID{}
		if w.rand.IntN(2) == 0 {
			complete = current
		}
		if v, err := b.CallNext(ctx, w.request(), token, complete); err == nil && v.Ticket != nil {
			w.current[c] = v.Ticket.ID
		}
	case n < 62:
		_, _ = b.RecallTicket(ctx, w.request(), token, current)
	case n < 69:
		_, _ = b.StartTicket(ctx, w.request(), token, current)
	case n < 74:
		_, _ = b.CompleteTicket(ctx, w.request(), token, current)
	case n < 77:
		_, _ = b.MarkNoShow(ctx, w.request(), token, current)
	case n < 81:
		if v, err := b.HoldTicket(ctx, w.request(), token, current); err == nil {
			w.held = append(w.held, v.Ticket.ID)
		}
	case n < 87:
		if v, err := b.ResumeTicket(ctx, w.request(), token, last(w.held)); err == nil {
			w.current[c] = v.Ticket.ID
		}
	case n < 89:
		_, _ = b.CancelTicket(ctx, w.request(), last(w.issued), "")
	case n < 91:
		_, _ = b.PauseCounter(ctx, w.request(), token, "")
	case n < 94:
		_, _ = b.ResumeCounter(ctx, w.request(), token)
	case n < 96:
		_, _ = b.CloseCounter(ctx, w.request(), token)
	case n < 97:
		_, _ = b.PublishNotice(ctx, w.request(), queue.Names{En: time.Duration(w.requests).String()})
	case n < 99: // every console is silent for longer than its lease
		*w.now = w.now.Add(2 * branch.DefaultLease)
		w.expire()
	default:
		*w.now = w.now.Add(time.Duration(w.rand.IntN(30)) * time.Hour)
		w.expire()
	}
}

func (w *walk) expire() {
	if err := w.b.Expire(w.t.Context()); err != nil {
		w.t.Error(err)
	}
}
