package growth

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"callerd/internal/queue"
)

// Memory is what the hall keeps of each, in bytes of live heap.
type Memory struct {
	Tickets  int     `json:"tickets"`
	Waiting  float64 `json:"bytes_per_waiting_ticket"`
	Finished float64 `json:"bytes_per_finished_ticket"`
	Request  float64 `json:"bytes_per_request_id"` // apart: every changing call leaves one, for a day
}

// MeasureMemory fills a hall with n tickets and empties it again. What a request id takes is seen on calls that leave nothing else
// behind: a counter that is paused and resumed. The ids lie in a map that doubles, so they are counted at n, 2 n and 4 n of them, where it
// is equally full.
func MeasureMemory(ctx context.Context, n int) (m Memory, err error) {
	h, err := open(ctx, free{}, false)
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, h.close()) }()
	if err := h.openCounters(ctx); err != nil {
		return m, err
	}
	m.Tickets = n
	ours := make([]queue.TicketID, 0, n) // our own books are made before: they do not count
	h.waiting, h.place = ours, make(map[queue.TicketID]int, n)
	base := heap()
	if err := h.fill(ctx, n); err != nil {
		return m, err
	}
	full := heap()
	if err := h.shrink(ctx, 0); err != nil {
		return m, err
	}
	empty := heap()
	if err := spread(ctx, n, tellers, func(ctx context.Context, t int) error {
		if _, err := h.PauseCounter(ctx, h.request(), h.tellers[t].token, ""); err != nil {
			return fmt.Errorf("pause: %w", err)
		}
		if _, err := h.ResumeCounter(ctx, h.request(), h.tellers[t].token); err != nil {
			return fmt.Errorf("resume: %w", err)
		}
		return nil
	}); err != nil {
		return m, err
	}
	m.Request = (heap() - empty) / float64(2*n)
	m.Waiting = (full-base)/float64(n) - m.Request
	m.Finished = (empty-base)/float64(n) - 2*m.Request // one of the issue, one of the call that followed
	return m, nil
}

// heap is how many bytes are alive.
func heap() float64 {
	runtime.GC()
	runtime.GC() // what finalizers held
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	return float64(s.HeapAlloc)
}
