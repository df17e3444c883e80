package branch

import (
	"fmt"
	"sync"
	"testing"

	"callerd/internal/queue"
)

// BenchmarkBranch issues and calls with a journal in memory: what the branch itself costs, without a disk. One
// operation is one number taken, or one number called over the one before.
func BenchmarkBranch(b *testing.B) {
	for _, goroutines := range []int{1, 8, 64} {
		b.Run(fmt.Sprintf("issue, %d goroutines", goroutines), func(b *testing.B) {
			h := open(b, unverified)
			spread(b, goroutines, func(int) error {
				_, err := h.IssueTicket(b.Context(), IssueRequest{Request: h.request(), Category: "personal"})
				return err
			})
		})
		b.Run(fmt.Sprintf("call, %d goroutines", goroutines), func(b *testing.B) {
			h := open(b, unverified, func(o *Options) {
				o.Config.Counters = nil
				for n := range goroutines {
					o.Config.Counters = append(o.Config.Counters, queue.CounterDefined{ID: queue.CounterID(n + 1), Categories: []queue.CategoryID{"personal", "corporate"}})
				}
			})
			tokens, current := make([]string, goroutines), make([]queue.TicketID, goroutines)
			for n := range goroutines {
				tokens[n] = h.counter(queue.CounterID(n + 1))
			}
			for range b.N {
				h.issue("personal")
			}
			b.ResetTimer()
			spread(b, goroutines, func(n int) error {
				c, err := h.CallNext(b.Context(), h.request(), tokens[n], current[n])
				if current[n] = (queue.TicketID{}); c.Ticket != nil {
					current[n] = c.Ticket.ID
				}
				return err
			})
		})
	}
}

func unverified(o *Options) { o.Verify = false }

// spread carries out b.N operations from several goroutines.
func spread(b *testing.B, goroutines int, f func(n int) error) {
	var wg sync.WaitGroup
	for n := range goroutines {
		wg.Go(func() {
			for i := n; i < b.N; i += goroutines {
				if err := f(n); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
}
