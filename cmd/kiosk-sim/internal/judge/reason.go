package judge

import (
	"slices"

	"callerd/cmd/kiosk-sim/internal/history"
)

// passes are the lines in which a call may pass somebody over: those of the counter, and that of a ticket given from another.
func (m *model) passes(c *counter, t *ticket) []*line {
	lines := m.serves(c)
	if t.bound == 0 && !slices.Contains(lines, t.in) {
		lines = append(lines, t.in)
	}
	return lines
}

// passedOver are the lanes of a counter in which earlier tickets stay behind when t is called.
func (m *model) passedOver(c *counter, t *ticket) (out []history.PassedOver) {
	for _, l := range m.passes(c, t) {
		for i, lane := range l.lanes {
			if n := lane.ahead(t.key); n > 0 {
				out = append(out, history.PassedOver{Category: l.category, Priority: i == 1, Count: uint32(n), First: lane[0].id})
			}
		}
	}
	return out
}

// passOver counts an overtake for all whom the call of t passes over. A rule must pass over nobody who is overdue by that
// bound; a teller may, by name.
func (m *model) passOver(c *counter, t *ticket, at uint64, rule string, op *history.Op) {
	v := m.verdicts[Bound]
	away := m.mayMove(t, at)
	for _, l := range m.passes(c, t) {
		limit := m.policy(l.category).MaxOvertakes
		for _, lane := range l.lanes {
			ahead := lane.ahead(t.key)
			for i, o := range lane {
				o.blur = o.blur || away || m.mayMove(o, at)
				if i >= ahead {
					continue
				}
				o.overtaken++
				if rule != "oldest" && rule != "priority" && rule != "ratio" && rule != "overdue" || away || m.mayMove(o, at) {
					continue // at least: of a place that is not known it is not known whom it passed over
				}
				o.byRule++
				if v.Judged++; limit > 0 && o.byRule > limit {
					s := &scope{at: at, end: m.clock, lines: []*line{l, t.in}, counters: []uint32{c.number}, tickets: []*ticket{o}, hazy: o.blur}
					m.fault(Bound, s, describeAll(op), "%s was passed over by rule %d times, now by %s; %s has the bound %d", o.id, o.byRule, t.id, l.category, limit)
				}
			}
		}
	}
}

// mayMove says whether it is not known where in its line a ticket stands: that may also be because of a request that names
// it and was never answered.
func (m *model) mayMove(t *ticket, at uint64) bool {
	return t.fuzzy || slices.ContainsFunc(m.pending(at), func(r *request) bool { return r.ops[0].Ticket == t.id })
}

// why compares the reason that an answer gives with the model's.
func (m *model) why(op *history.Op, c *counter, t *ticket, want choice, overtaken uint32, passed []history.PassedOver) {
	told := op.Why
	if told == nil {
		return // an old history
	}
	m.verdicts[Reasons].Judged++
	s := &scope{at: op.Sequence, end: op.End, lines: m.serves(c), counters: []uint32{c.number}, tickets: []*ticket{t}}
	s.hazy = want.unsure || m.blurred(s.lines) || t.blur
	if m.policies == nil && told.Rule == "overdue" {
		s.hazy = true
	}
	if told.Rule != want.rule {
		m.fault(Reasons, s, describeAll(op), "%s was called by the rule %q at %d, told was %q", t.id, want.rule, op.Sequence, told.Rule)
		return
	}
	s.hazy = t.blur
	if told.Overtaken != overtaken {
		m.fault(Reasons, s, describeAll(op), "%s was passed over %d times by %d, told was %d", t.id, overtaken, op.Sequence, told.Overtaken)
	}
	if !slices.Equal(told.PassedOver, passed) {
		m.fault(Reasons, s, describeAll(op), "%s passed over %v at %d, told was %v", t.id, passed, op.Sequence, told.PassedOver)
	}
}

func (m *model) blurred(lines []*line) bool {
	return slices.ContainsFunc(lines, (*line).blurred)
}
