package counter

import "callerd/internal/queue"

// Source is one line that a counter serves, with the bound over it: nobody in it is passed over by Overtakes later tickets,
// or waits longer than since Entered, while others are called. Zero is no bound.
type Source struct {
	Category  *queue.Category
	Weight    uint32 // for the rule Ratio
	Overtakes uint32
	Entered   int64 // Unix ns: who entered by then is overdue
}

// Choice is the ticket that is called next, and why.
type Choice struct {
	Ticket *queue.Live // nil: nobody waits
	Rule   queue.Rule
	Saved  []int64 // for the rule Ratio: the credits after the call
}

// Choose returns the ticket that a counter calls next from its sources, in the order of the session's list. An overdue
// ticket comes before all, by key; then the priority lane before the regular one, by the rule. saved is the credit of
// each source under the rule Ratio. The caller holds the locks of all.
func Choose(rule queue.Rule, sources []Source, saved []int64) Choice {
	if t := overdue(sources); t != nil {
		return Choice{Ticket: t, Rule: queue.Overdue}
	}
	c := Choice{Rule: rule}
	switch rule {
	case queue.Priority:
		for _, s := range sources {
			if c.Ticket = s.Category.First(); c.Ticket != nil {
				break
			}
		}
	case queue.Ratio:
		c.Ticket, c.Saved = ratio(sources, saved)
	default:
		for _, s := range sources {
			if t := s.Category.First(); t != nil && (c.Ticket == nil || before(t, c.Ticket)) {
				c.Ticket = t
			}
		}
	}
	return c
}

// before orders the first tickets of several categories: those of priority lanes first, then by key.
func before(a, b *queue.Live) bool {
	if la, lb := a.Priority.Lane(), b.Priority.Lane(); la != lb {
		return la == queue.PriorityLane
	}
	return a.Key.Before(b.Key)
}

// overdue returns the overdue ticket with the smallest key, or nil; of two with one key that of the priority lane.
func overdue(sources []Source) *queue.Live {
	var first *queue.Live
	for _, s := range sources {
		for _, l := range [...]queue.Lane{queue.PriorityLane, queue.RegularLane} {
			if t := s.Category.Lane(l).Overdue(s.Overtakes, s.Entered); t != nil && (first == nil || t.Key.Before(first.Key)) {
				first = t
			}
		}
	}
	return first
}

// ratio is a smooth weighted turn: each category in which somebody waits saves up its weight, the richest is called and pays
// what all of them saved. An empty line saves nothing, so it neither idles a counter nor comes in a burst later.
func ratio(sources []Source, saved []int64) (*queue.Live, []int64) {
	next := make([]int64, len(sources))
	copy(next, saved)
	richest, paid := -1, int64(0)
	for i, s := range sources {
		if s.Category.First() == nil {
			next[i] = 0
			continue
		}
		next[i] += int64(s.Weight)
		paid += int64(s.Weight)
		if richest < 0 || next[i] > next[richest] {
			richest = i
		}
	}
	if richest < 0 {
		return nil, nil
	}
	next[richest] -= paid
	return sources[richest].Category.First(), next
}

// PassedOver returns the lanes of the sources from which tickets with earlier keys stay behind when t is called. The caller
// holds the locks of all.
func PassedOver(t *queue.Live, sources []Source) (out []queue.PassedOver) {
	for _, s := range sources {
		for _, l := range [...]queue.Lane{queue.RegularLane, queue.PriorityLane} {
			lane := s.Category.Lane(l)
			n := lane.Ahead(t.Key)
			if first := lane.First(); n > 0 {
				out = append(out, queue.PassedOver{Category: s.Category.ID(), Lane: l, Count: uint32(n), First: first.ID})
			}
		}
	}
	return out
}
