package judge

import (
	"strconv"
	"strings"

	"callerd/cmd/kiosk-sim/internal/history"
)

// issue is the next number of a series.
func (m *model) issue(r *request, op *history.Op, at uint64, exact bool) {
	day, category, n := parseID(op.Got.ID)
	l := m.line(day, category)
	s := &scope{at: at, end: op.End, lines: []*line{l}}
	m.upTo(l, n-1, at, op)
	t := l.find(n)
	switch {
	case n == l.issued()+1:
		t = &ticket{id: op.Got.ID, line: l, n: n}
		l.add(t)
	case t == nil || t.number != "":
		m.fault(Explained, s, describeAll(op), "number %d of %s was due at %d, %d was given", l.issued()+1, category, at, n)
		return
	}
	ahead := l.total
	t.number, t.hi, t.lo = op.Got.Number, at, at-1
	if r.at == 0 {
		t.lo = r.lo
	}
	l.set(t, "waiting")
	t.version = at
	if digits := strings.TrimLeft(op.Got.Number, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"); !same(digits, n) || op.Got.Category != category {
		m.verdicts[Explained].fault(describeAll(op), "ticket %s has the number %s", op.Got.ID, op.Got.Number)
	}
	if !exact {
		return
	}
	m.compare(op, op.Got, t, s)
	if int(op.Ahead) != ahead {
		m.fault(Explained, s, describeAll(op), "%d were ahead of %s at %d, the answer says %d", ahead, op.Got.ID, at, op.Ahead)
	}
}

func same(digits string, n int) bool {
	v, err := strconv.Atoi(digits)
	return err == nil && v == n
}

// upTo makes the series reach n: numbers in between belong to requests whose answer never came.
func (m *model) upTo(l *line, n int, at uint64, by *history.Op) {
	for l.issued() < n {
		next := l.issued() + 1
		var from *request
		for _, r := range m.pending(at) {
			if r.method() != "IssueTicket" || r.ops[0].Category != l.category {
				continue
			}
			if r.done != nil {
				if _, _, k := parseID(r.done.Got.ID); k != next {
					continue
				}
			}
			if from == nil || r.done != nil || from.done == nil && r.lo < from.lo {
				from = r // of the open ones the earliest: whoever it was, it is not before that one's beginning
			}
		}
		if from == nil {
			m.verdicts[Explained].fault(describeAll(by), "%s/%s/%d: nobody asked for this number by %d", l.day, l.category, next, at)
		} else if from.done != nil {
			m.carryOut(from, at)
			continue
		}
		t := &ticket{line: l, n: next, hi: at, id: l.day + "/" + l.category + "/" + strconv.Itoa(next)}
		if from != nil {
			from.used, t.lo = true, from.lo
		}
		if by == nil {
			t.lo = at - 1 // a frame shows it, and where
		}
		l.add(t)
		l.set(t, "waiting")
	}
}

// ensure finds a ticket that an answer names as one at a counter: it has been issued and called, told or
// not.
func (m *model) ensure(id string, at uint64, op *history.Op) *ticket {
	day, category, n := parseID(id)
	if n == 0 {
		m.verdicts[Explained].fault(describeAll(op), "%q is no ticket's id", id)
		return nil
	}
	l := m.line(day, category)
	m.upTo(l, n, at, op)
	t := l.find(n)
	if t.state == "waiting" && op.Method != "CancelTicket" {
		m.taken(t, at, op.Counter)
	}
	return t
}

// callNext is one customer completed and the next one called, in one record.
func (m *model) callNext(r *request, op *history.Op, at uint64, exact, placed bool) {
	c := m.counter(op.Counter)
	s := &scope{at: at, end: op.End, counters: []uint32{op.Counter}}
	m.live(c, op, s)
	if op.Complete != "" {
		t := m.ensure(op.Complete, at, op)
		if t == nil || c.current != t && !t.vague {
			m.fault(Explained, s, describeAll(op), "%s was not at counter %d at %d, and was completed there", op.Complete, op.Counter, at)
		}
		if t != nil {
			m.put(t, "completed", at, 0)
			if exact && op.Completed != nil {
				m.compare(op, op.Completed, t, s)
			}
		}
	} else if c.current != nil {
		m.fault(OneCounter, s, describeAll(op), "counter %d had %s when it called at %d", op.Counter, c.current.id, at)
		m.left(c.current)
	}
	if op.Got == nil {
		m.empty(c, op, at, exact)
		return
	}
	t := m.call(op, c, at, placed)
	if t == nil || !exact {
		return
	}
	m.compare(op, op.Got, t, s)
	m.counts(op, c, at)
}

// counts compares who still waits for a counter and who is held there.
func (m *model) counts(op *history.Op, c *counter, at uint64) {
	waiting, lines := 0, m.serves(c)
	for _, l := range lines {
		waiting += l.total
	}
	s := &scope{at: at, end: op.End, counters: []uint32{op.Counter}, lines: lines}
	if int(op.Waiting) != waiting {
		m.fault(Explained, s, describeAll(op), "%d waited for counter %d at %d, the answer says %d", waiting, op.Counter, at, op.Waiting)
	}
	if int(op.Held) != len(c.held) && c.unsure {
		m.verdicts[Explained].doubt(describeAll(op), "a ticket left counter %d by an unseen step: it may be held there", op.Counter)
	} else if int(op.Held) != len(c.held) {
		m.fault(Explained, s, describeAll(op), "%d were held at counter %d at %d, the answer says %d", len(c.held), op.Counter, at, op.Held)
	}
}

// empty is a call that found nobody.
func (m *model) empty(c *counter, op *history.Op, at uint64, exact bool) {
	if !exact {
		return
	}
	for _, l := range m.serves(c) {
		if h := l.head(); h != nil {
			s := &scope{at: at, end: op.End, counters: []uint32{op.Counter}, lines: []*line{l}}
			m.fault(FIFO, s, describeAll(op), "%s waited at %d, and the answer is that nobody does", h.id, at)
			return
		}
	}
	m.counts(op, c, at)
}

// live: a command that was carried out had a session that was on.
func (m *model) live(c *counter, op *history.Op, s *scope) {
	if c.known && (!c.open || c.epoch != op.Epoch) {
		m.fault(Explained, s, describeAll(op), "counter %d had no session %d (open %v, epoch %d), and its command was carried out", op.Counter, op.Epoch, c.open, c.epoch)
		c.open, c.epoch, c.used = true, op.Epoch, op.Start
	}
}
