package server

import (
	"encoding/binary"
	"math/rand/v2"
	"sync"
	"sync/atomic"
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
	now      atomic.Int64 // Unix ns; the branch reads it from several goroutines
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

// pass lets time go by.
func (w *walk) pass(d time.Duration) { w.now.Add(int64(d)) }

func (w *walk) step() {
	if w.sessions == nil {
		w.sessions, w.current = map[queue.CounterID]string{}, map[queue.CounterID]queue.TicketID{}
	}
	w.pass(time.Duration(w.rand.IntN(2000)) * time.Millisecond)
	switch n := w.rand.IntN(100); {
	case n < 3:
		w.hallStep()
	case n < 18:
		w.moveStep()
	default:
		w.counterStep()
	}
}

func (w *walk) category() queue.CategoryID {
	return []queue.CategoryID{"personal", "corporate", "vip"}[w.rand.IntN(3)]
}

func (w *walk) anyCounter() queue.CounterID { return []queue.CounterID{1, 2, 3, 4, 9}[w.rand.IntN(5)] }

func (w *walk) anyTicket() queue.TicketID {
	if len(w.issued) == 0 {
		return queue.TicketID{}
	}
	return w.issued[len(w.issued)-1-w.rand.IntN(min(len(w.issued), 20))]
}

// counterStep is the common trade: numbers are taken and called.
func (w *walk) counterStep() {
	ctx, b, c := w.t.Context(), w.b, w.anyCounter()
	token, current := w.sessions[c], w.current[c]
	switch n := w.rand.IntN(90); {
	case n < 25:
		v, err := b.IssueTicket(ctx, branch.IssueRequest{Request: w.request(), Category: w.category(), Priority: queue.PriorityReason(w.rand.IntN(2)), Reserve: w.rand.IntN(4) == 0})
		if err == nil {
			w.issued = append(w.issued, v.Ticket.ID)
		}
	case n < 35:
		q := branch.OpenRequest{Request: w.request(), Counter: c, Teller: "t"}
		if w.rand.IntN(8) == 0 {
			q.TakeOver = "t is away"
		}
		if v, err := b.OpenCounter(ctx, q); err == nil {
			w.sessions[c], w.current[c] = v.Token, queue.TicketID{}
			if v.Current != nil {
				w.current[c] = v.Current.ID
			}
		}
	case n < 55:
		complete := queue.TicketID{}
		if w.rand.IntN(2) == 0 {
			complete = current
		}
		if v, err := b.CallNext(ctx, w.request(), token, complete); err == nil && v.Ticket != nil {
			w.current[c] = v.Ticket.ID
		}
	case n < 60:
		_, _ = b.RecallTicket(ctx, w.request(), token, current)
	case n < 67:
		_, _ = b.StartTicket(ctx, w.request(), token, current)
	case n < 71:
		_, _ = b.CompleteTicket(ctx, w.request(), token, current)
	case n < 74:
		_, _ = b.MarkNoShow(ctx, w.request(), token, current)
	case n < 78:
		if v, err := b.HoldTicket(ctx, w.request(), token, current); err == nil {
			w.held = append(w.held, v.Ticket.ID)
		}
	case n < 83:
		if v, err := b.ResumeTicket(ctx, w.request(), token, last(w.held)); err == nil {
			w.current[c] = v.Ticket.ID
		}
	case n < 85:
		_, _ = b.PauseCounter(ctx, w.request(), token, "")
	case n < 88:
		_, _ = b.ResumeCounter(ctx, w.request(), token)
	default:
		_, _ = b.CloseCounter(ctx, w.request(), token, []queue.Verb{0, queue.Requeue, queue.Hold}[w.rand.IntN(3)])
	}
}

// moveStep is the exceptions: a ticket goes somewhere else than the next counter.
func (w *walk) moveStep() {
	ctx, b, c := w.t.Context(), w.b, w.anyCounter()
	token, ticket := w.sessions[c], w.anyTicket()
	if w.rand.IntN(2) == 0 {
		ticket = w.current[c]
	}
	place := branch.Place{Where: []queue.Where{0, queue.Back, queue.Front, queue.After, queue.ByIssue}[w.rand.IntN(5)], After: uint32(w.rand.IntN(4))}
	switch w.rand.IntN(8) {
	case 0:
		_, _ = b.RequeueTicket(ctx, w.request(), token, ticket, place)
	case 1, 2:
		q := branch.TransferRequest{Request: w.request(), Ticket: ticket, Place: place, Category: w.category()}
		_, _ = b.TransferTicket(ctx, q, token)
	case 3, 4:
		q := branch.TransferRequest{Request: w.request(), Ticket: ticket, Place: place, Counter: w.anyCounter()}
		_, _ = b.TransferTicket(ctx, q, token)
	case 5:
		if v, err := b.CallTicket(ctx, w.request(), token, ticket, queue.TicketID{}); err == nil {
			w.current[c] = v.Ticket.ID
		}
	case 6:
		_, _ = b.CheckInTicket(ctx, w.request(), ticket)
	default:
		_, _ = b.CancelTicket(ctx, w.request(), ticket, "")
	}
}

// hallStep is what concerns all: a notice, a reset, consoles that are silent, the night.
func (w *walk) hallStep() {
	ctx, b := w.t.Context(), w.b
	switch w.rand.IntN(6) {
	case 0:
		_, _ = b.PublishNotice(ctx, w.request(), queue.Names{En: time.Duration(w.requests).String()})
	case 1:
		_, _ = b.ResetCategory(ctx, w.request(), w.category(), "test")
	case 2, 3: // every console is silent for longer than its lease
		w.pass(2 * branch.DefaultLease)
		w.expire()
	case 4: // long enough for what has a deadline
		w.pass(20 * time.Minute)
		w.expire()
	default:
		w.pass(time.Duration(w.rand.IntN(30)) * time.Hour)
		w.expire()
	}
}

func (w *walk) expire() {
	if err := w.b.Expire(w.t.Context()); err != nil {
		w.t.Error(err)
	}
}
