package judge

import "callerd/cmd/kiosk-sim/internal/history"

// point judges what changed nothing: a read, a refusal, an empty line. It must be true after the
// record at its sequence.
func (m *model) point(op *history.Op) {
	m.verdicts[Explained].Judged++
	if op.Outcome == history.Refused {
		m.refusal(op)
		return
	}
	s := &scope{at: op.Sequence, end: op.End}
	switch op.Method {
	case "CallNext":
		c := m.counter(op.Counter)
		s.counters = []uint32{op.Counter}
		m.touch(op)
		m.live(c, op, s)
		if c.current != nil {
			m.fault(Explained, s, describeAll(op), "counter %d had %s at %d, and called", op.Counter, c.current.id, op.Sequence)
		}
		m.empty(c, op, op.Sequence, true)
	case "RenewSession":
		c := m.counter(op.Counter)
		s.counters = []uint32{op.Counter}
		m.touch(op)
		m.live(c, op, s)
	case "GetTicket":
		if day, category, n := parseID(op.Ticket); n > 0 && day == m.day && n > m.today(category).issued() {
			m.upTo(m.today(category), n, op.Sequence, op) // its own answer is still out
		}
		t := m.find(op.Ticket)
		if t == nil {
			m.fault(Explained, s, describeAll(op), "%s is not known at %d", op.Ticket, op.Sequence)
			return
		}
		m.compare(op, op.Got, t, s)
		m.aheadOf(op, t, s)
	case "ListResources":
		m.deskList(op, s)
	case "ListTickets":
		m.list(op, s)
	case "ListCategories", "GetBranch":
		m.hall(Explained, op.Hall, s, describeAll(op))
	}
}

// list compares a page of tickets. The first list of a category is where the model begins.
func (m *model) list(op *history.Op, s *scope) {
	for i := range op.Tickets {
		got := &op.Tickets[i]
		day, category, n := parseID(got.ID)
		l := m.line(day, category)
		if t := l.find(n); t != nil {
			m.compare(op, got, t, s)
			continue
		}
		if l.based || n != l.issued()+1 {
			s.lines = []*line{l}
			m.fault(Explained, s, describeAll(op)[:1], "%s is in the list and nobody asked for it", got.ID)
			continue
		}
		t := &ticket{id: got.ID, n: n, key: key{entry: int64(got.Version)}, entered: moment{0, history.Never}}
		l.add(t)
		l.old++
		m.adopt(t, got)
		if t.fuzzy = got.Calls > 0 || t.in != l; !t.fuzzy {
			t.first = int64(got.Version)
		}
		if got.Calls > 0 {
			l.serving = max(l.serving, n)
		}
	}
	if op.NextPage == "" && m.day != "" {
		m.today(op.Category).based = true
	}
}
