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
	names    []string // resources
	hazy     bool     // something else that it depends on is not known
}

func (s *scope) has(c uint32, t *ticket, category string) bool {
	return c != 0 && slices.Contains(s.counters, c) || t != nil && slices.Contains(s.tickets, t) ||
		category != "" && slices.ContainsFunc(s.lines, func(l *line) bool { return l.category == category })
}

// unseen says whether some step that nobody placed may explain an answer.
func (m *model) unseen(s *scope) bool {
	if s.hazy || slices.ContainsFunc(s.lines, (*line).fuzzy) {
		return true
	}
	for _, n := range s.counters {
		c := m.counters[n]
		if c != nil && (c.vague || slices.ContainsFunc(c.own, func(t *ticket) bool { return t.fuzzy })) {
			return true
		}
	}
	if slices.ContainsFunc(s.tickets, func(t *ticket) bool { return t != nil && (t.vague || t.fuzzy) }) {
		return true
	}
	for _, r := range m.pending(s.at) {
		if m.touches(r.ops[0], s) {
			return true
		}
	}
	for _, c := range m.counters {
		if m.lapsed(c, s.end) && m.closes(c, s) {
			return true
		}
	}
	return false
}

// touches says whether a request may have changed what an answer depends on.
func (m *model) touches(op *history.Op, s *scope) bool {
	t := m.find(op.Ticket)
	if s.has(op.Counter, t, op.Category) || s.has(op.To, nil, op.Into) || t != nil && s.has(t.bound, nil, t.in.category) {
		return true
	}
	if slices.ContainsFunc(op.Names, func(name string) bool { return slices.Contains(s.names, name) }) {
		return true
	}
	c := m.counters[op.Counter]
	calls := op.Method == "CallNext" || op.Method == "CallTicket"
	if c == nil || !c.known && calls {
		return calls && len(s.lines) > 0
	}
	if calls {
		return slices.ContainsFunc(c.categories, func(id string) bool { return s.has(0, nil, id) })
	}
	return op.Method == "CloseCounter" && m.closes(c, s)
}

// closes says whether the end of a counter's session would change what an answer depends on.
func (m *model) closes(c *counter, s *scope) bool {
	leaves := func(t *ticket) bool { return s.has(0, t, t.in.category) }
	return s.has(c.number, nil, "") || c.current != nil && leaves(c.current) || slices.ContainsFunc(c.own, leaves)
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

// fault notes what an answer has that the model has not, unless an unseen step may explain it.
func (m *model) fault(check string, s *scope, ops []string, format string, args ...any) {
	v := m.verdicts[check]
	if m.unseen(s) {
		v.doubt(ops, format, args...)
		return
	}
	v.fault(ops, format, args...)
}
