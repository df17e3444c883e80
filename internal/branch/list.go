package branch

import (
	"context"
	"fmt"
	"slices"

	"callerd/internal/queue"
)

// ListRequest asks for tickets by category and number.
type ListRequest struct {
	Category queue.CategoryID // "": all
	States   []queue.State    // nil: all
	Day      queue.Day        // zero: the current one
	Size     int              // at most so many
	// After is the last ticket of the page before; zero: from the beginning.
	After queue.TicketID
}

// ListReply is one page.
type ListReply struct {
	Tickets  []queue.Ticket
	More     bool           // there may be a next page
	Last     queue.TicketID // the last that was looked at: After of the next page
	Sequence uint64
}

// ListTickets lists the tickets of this or the last business day. A page is true at one sequence: it holds every lock while
// it copies, so its size should be modest.
func (b *Branch) ListTickets(ctx context.Context, r ListRequest) (ListReply, error) {
	var reply ListReply
	o, err := b.do(ctx, nil, func(o *operation) error {
		if err := lockAll(o); err != nil {
			return err
		}
		if r.Category != "" && b.state.sets.Load().byCategory[r.Category] == nil {
			return fmt.Errorf("%w: %q", ErrUnknownCategory, r.Category)
		}
		day := r.Day
		if day.IsZero() {
			day = b.state.day.Load().Day
		}
		var known bool
		if reply, known = b.list(r, day); !known {
			return fmt.Errorf("%w: %v is neither the current one (%v) nor the one before", ErrUnknownDay, day, b.state.day.Load().Day)
		}
		return nil
	}, nil, nil)
	if err != nil {
		return ListReply{}, err
	}
	reply.Sequence = o.sequence
	return reply, nil
}

// scanAtMost bounds how many tickets a page looks at: it holds all locks, and a page of a rare state may be short, or empty
// with more behind it.
const scanAtMost = 5000

// list makes a page. The caller holds all locks.
func (b *Branch) list(r ListRequest, day queue.Day) (reply ListReply, known bool) {
	started, scanned := r.After.IsZero(), 0
	for _, c := range b.state.ordered() {
		n := uint32(1)
		if !started {
			if c.ID() != r.After.Category {
				known = c.Each(day, queue.MaxNumber+1, nil) || known
				continue
			}
			started, n = true, min(r.After.N, queue.MaxNumber)+1
		}
		if r.Category != "" && c.ID() != r.Category {
			known = c.Each(day, queue.MaxNumber+1, nil) || known
			continue
		}
		known = c.Each(day, n, func(t *queue.Live) bool {
			if len(reply.Tickets) == r.Size || scanned == scanAtMost {
				reply.More = true
				return false
			}
			scanned++
			reply.Last = t.ID
			if len(r.States) == 0 || slices.Contains(r.States, t.State) {
				b.settle(t)
				reply.Tickets = append(reply.Tickets, t.Ticket())
			}
			return true
		}) || known
	}
	return reply, known
}

// ordered returns the categories in the order of the configuration. The caller holds all locks.
func (s *State) ordered() []*queue.Category {
	cs := slices.Clone(s.sets.Load().categories)
	slices.SortStableFunc(cs, func(a, b *queue.Category) int { return a.Definition().Order - b.Definition().Order })
	return cs
}
