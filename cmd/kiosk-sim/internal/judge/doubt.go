package judge

import (
	"slices"

	"callerd/cmd/kiosk-sim/internal/history"
)

// scope is what an answer depends on: an unseen step outside it explains nothing.
type scope struct {
	at       uint64 // the sequence of the answer
	end      int64  // when it was there
	lines    []*line
	counters []uint32
	tickets  []*ticket
}

func (s *scope) has(c uint32, t *ticket, category string) bool {
	return c != 0 && slices.Contains(s.counters, c) || t != nil && slices.Contains(s.tickets, t) ||
		category != "" && slices.ContainsFunc(s.lines, func(l *line) bool { return l.category == category })
}

// unseen says whether some step that nobody placed may explain an answer.
func (m *model) unseen(s *scope) bool {
	for _, n := range s.counters {
		if c := m.counters[n]; c != nil && c.vague {
			return true
		}
	}
	if slices.ContainsFunc(s.tickets, func(t *ticket) bool { return t != nil && t.vague }) {
		return true
	}
	for _, r := range m.pending(s.at) {
		op := r.ops[0]
		t := m.find(op.Ticket)
		category := op.Category
		if t != nil {
			category = t.line.category
		}
		if s.has(op.Counter, t, category) {
			return true
		}
		if c := m.counters[op.Counter]; op.Method == "CallNext" && c != nil {
			for _, id := range c.categories {
				if s.has(0, nil, id) {
					return true
				}
			}
		}
	}
	for _, c := range m.counters {
		if !m.lapsed(c, s.end) {
			continue
		}
		if s.has(c.number, c.current, "") || c.current != nil && s.has(0, nil, c.current.line.category) {
			return true
		}
	}
	return false
}

// pending lists the requests that may have taken effect by sequence at and are not placed.
func (m *model) pending(at uint64) (out []*request) {
	for _, list := range [][]*request{m.floating, m.open} {
		for _, r := range list {
			if !r.used && r.lo < at {
				out = append(out, r)
			}
		}
	}
	return out
}

// lapsed says whether a counter's session may have run out by a moment.
func (m *model) lapsed(c *counter, now int64) bool {
	return c.open && (!c.known || c.lease > 0 && now != history.Never && now > c.used+c.lease)
}

// lapse ends a session as the server does.
func (m *model) lapse(c *counter) {
	if t := c.current; t != nil {
		if t.state == "called" {
			m.put(t, "waiting", 0, 0)
		} else {
			m.put(t, "held", 0, c.number)
		}
	}
	c.open, c.paused = false, false
}

// fault notes what an answer has that the model has not, unless an unseen step may explain it.
func (m *model) fault(check string, s *scope, ops []string, format string, args ...any) {
	v := m.verdicts[check]
	if m.unseen(s) {
		v.doubt(ops, format, args...)
		return
	}
	v.fault(ops, format, args...)
}
