package judge

import (
	"slices"

	"callerd/cmd/kiosk-sim/internal/history"
)

// move is a ticket that goes (back) into a line: requeued, transferred, or checked in.
func (m *model) move(op *history.Op, at uint64, exact, placed bool) {
	t := m.ensure(op.Ticket, at, op)
	if t == nil {
		return
	}
	s := &scope{at: at, end: op.End, counters: []uint32{op.Counter, op.To}, tickets: []*ticket{t}, lines: []*line{t.in}}
	if op.Counter != 0 {
		m.live(m.counter(op.Counter), op, s)
	}
	m.allowed(op, t, s, placed)
	m.moveTo(t, op, at, placed)
	if exact {
		s.lines = append(s.lines, t.in)
		m.compare(op, op.Got, t, s)
		m.aheadOf(op, t, s)
	}
}

// moveTo puts a ticket where a request wants it.
func (m *model) moveTo(t *ticket, op *history.Op, at uint64, placed bool) {
	where, after := op.Where, int(op.After)
	if op.Method == "RequeueTicket" && where == "" {
		p := m.policy(t.in.category)
		where, after = p.RequeueTo, p.RequeueAfter
		t.fuzzy = t.fuzzy || m.policies == nil
	}
	m.release(t)
	m.set(t, "moving") // out of its line
	if op.Into != "" {
		t.in = m.line(t.home.day, op.Into)
	}
	t.bound = op.To
	l := *m.laneOf(t)
	if where != history.ByIssue || t.first == 0 {
		// Of a place beside others it is known what is known of theirs.
		t.fuzzy = !placed || where != "" && where != history.Back && slices.ContainsFunc(l, func(o *ticket) bool { return o.fuzzy || o.vague })
	}
	m.enter(t, l.place(where, after, key{entry: t.first}, key{}, at), at, op)
}
