package judge

import (
	"cmp"
	"slices"

	"callerd/cmd/kiosk-sim/internal/history"
)

// call takes the ticket that the answer names out of its line, and looks whether it was its turn.
func (m *model) call(op *history.Op, c *counter, at uint64, placed bool) *ticket {
	day, category, n := parseID(op.Got.ID)
	l := m.line(day, category)
	if n == 0 {
		m.verdicts[Explained].fault(describeAll(op), "%q is no ticket's id", op.Got.ID)
		return nil
	}
	m.upTo(l, n, at, op)
	t := l.find(n)
	s := &scope{at: at, end: op.End, lines: []*line{l}, tickets: []*ticket{t}, counters: []uint32{op.Counter}}
	m.verdicts[OneCounter].Judged++
	m.verdicts[FIFO].Judged++
	if t.state != "waiting" {
		m.back(t, s)
	}
	switch t.state {
	case "waiting":
		if placed {
			m.turnOf(op, c, t, at)
		}
	case "called", "serving", "held":
		m.fault(OneCounter, s, describeAll(op), "%s was %s at counter %d when counter %d called it at %d", t.id, t.state, t.counter, op.Counter, at)
	case "gone":
		m.verdicts[FIFO].doubt(describeAll(op), "%s had been taken away by an unseen step", t.id)
	default:
		m.fault(OneCounter, s, describeAll(op), "%s was %s when counter %d called it at %d", t.id, t.state, op.Counter, at)
	}
	m.put(t, "called", at, op.Counter)
	t.calls++
	if t.number == "" {
		t.number = op.Got.Number
	}
	l.serving = max(l.serving, n)
	return t
}

// turnOf: nobody was before it in its line, and by the counter's rule no other line was.
func (m *model) turnOf(op *history.Op, c *counter, t *ticket, at uint64) {
	for h := t.line.head(); h != t; h = t.line.head() {
		if !m.taken(h, at, 0) {
			s := &scope{at: at, end: op.End, lines: []*line{t.line}}
			m.fault(FIFO, s, describeAll(op), "%s was called at %d while %s (entered by %d) was before it", t.id, at, h.id, h.hi)
			break
		}
	}
	lines := m.serves(c)
	if len(lines) == 0 {
		return
	}
	mine := slices.Index(lines, t.line)
	if mine < 0 {
		m.verdicts[Explained].fault(describeAll(op), "counter %d does not serve %s", op.Counter, t.line.category)
		return
	}
	for i, l := range lines {
		if i == mine {
			continue
		}
		for h := l.head(); h != nil; h = l.head() {
			before := h.hi <= t.lo
			if c.rule == "priority" {
				before = i < mine
			}
			if !before {
				break // or that is not known
			}
			if m.taken(h, at, 0) {
				continue
			}
			s := &scope{at: at, end: op.End, lines: []*line{l}}
			m.fault(FIFO, s, describeAll(op), "%s (entered at %d) was called at %d while %s (entered at %d) was before it by the rule %q", t.id, t.hi, at, h.id, h.hi, c.rule)
			break
		}
	}
}

// taken looks for a request that took a ticket out of its line without telling where, and carries
// it out; it was made at counter by, when that is known.
func (m *model) taken(t *ticket, at uint64, by uint32) bool {
	pending := m.pending(at)
	for _, r := range pending {
		op := r.ops[0]
		switch {
		case r.done != nil && op.Method == "CallNext" && r.done.Got != nil && r.done.Got.ID == t.id,
			r.done != nil && op.Method == "CancelTicket" && op.Ticket == t.id:
			m.carryOut(r, at)
			return t.state != "waiting"
		case r.done == nil && op.Method == "CancelTicket" && op.Ticket == t.id:
			r.used = true
			m.put(t, "gone", 0, 0)
			return true
		}
	}
	slices.SortStableFunc(pending, func(a, b *request) int { return cmp.Compare(off(a, by), off(b, by)) })
	for _, r := range pending {
		op := r.ops[0]
		c := m.counter(op.Counter)
		if r.done == nil && op.Method == "CallNext" && slices.Contains(c.categories, t.line.category) {
			r.used, c.vague = true, true
			if done := m.find(op.Complete); done != nil {
				m.left(done)
			}
			m.put(t, "gone", 0, 0)
			return true
		}
	}
	return false
}

// off is 0 for a request of the counter, 1 for another.
func off(r *request, by uint32) int {
	if r.ops[0].Counter == by {
		return 0
	}
	return 1
}

// back looks whether a ticket may have gone back to its line: its counter's session has run out.
func (m *model) back(t *ticket, s *scope) {
	if c := m.counters[t.counter]; c != nil && t.state == "called" && m.lapsed(c, s.end) {
		m.lapse(c)
	}
}
