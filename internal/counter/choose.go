package counter

import "callerd/internal/queue"

// Choose returns the ticket that a counter calls next from its lines by the rule, nil when nobody waits.
// Lines are in the order of the session's list. The caller holds the locks of all of them.
func Choose(rule queue.Rule, lines []*queue.Category) *queue.Live {
	var chosen *queue.Live
	for _, l := range lines {
		t := l.First()
		switch {
		case t == nil:
		case rule == queue.Priority:
			return t
		case chosen == nil || t.Key.Before(chosen.Key):
			chosen = t
		}
	}
	return chosen
}
