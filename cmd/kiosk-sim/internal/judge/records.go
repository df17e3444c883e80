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
		t = &ticket{id: op.Got.ID, n: n}
		l.add(t)
	case t == nil || t.number != "":
		m.fault(Explained, s, describeAll(op), "number %d of %s was due at %d, %d was given", l.issued()+1, category, at, n)
		return
	}
	t.number, t.priority = op.Got.Number, op.Priority != ""
	t.fuzzy = r.at == 0
	m.quota(op, l, s, placedAt(r))
	if op.Person != "" {
		l.persons[op.Person]++
	}
	if op.Reserve {
		m.put(t, "reserved", at, 0)
	} else {
		m.enter(t, key{entry: int64(at)}, at, op)
		if op.Got.Issued != 0 {
			t.entered = moment{op.Got.Issued, op.Got.Issued}
		}
	}
	if digits := strings.TrimLeft(op.Got.Number, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"); !same(digits, n) || op.Got.Category != category {
		m.verdicts[Explained].fault(describeAll(op), "ticket %s has the number %s", op.Got.ID, op.Got.Number)
	}
	if !exact {
		return
	}
	m.compare(op, op.Got, t, s)
	m.aheadOf(op, t, s)
}

func placedAt(r *request) bool { return r.at != 0 }

// aheadOf compares how many are ahead of a ticket.
func (m *model) aheadOf(op *history.Op, t *ticket, s *scope) {
	if ahead := m.ahead(t); int(op.Ahead) != ahead {
		s.lines, s.counters = append(s.lines, t.in), append(s.counters, t.bound)
		m.fault(Explained, s, describeAll(op), "%d were ahead of %s at %d, the answer says %d", ahead, t.id, s.at, op.Ahead)
	}
}

// enter puts a ticket into its line as a new one.
func (m *model) enter(t *ticket, k key, at uint64, op *history.Op) {
	if t.state == "waiting" {
		m.set(t, "moving")
	}
	t.key, t.overtaken, t.byRule, t.blur = k, 0, 0, false
	t.entered = moment{m.clock - slack, history.Never}
	if op != nil && op.End != history.Never {
		t.entered = moment{op.Start - slack, op.End + slack}
	}
	if t.first == 0 {
		t.first = int64(at)
	}
	m.set(t, "waiting")
	t.version, t.due = at, 0
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
		t := &ticket{n: next, id: l.day + "/" + l.category + "/" + strconv.Itoa(next)}
		l.add(t)
		t.fuzzy = by != nil // a frame shows it, and where
		if from == nil {
			m.enter(t, key{entry: int64(at)}, at, nil)
			t.blur = t.fuzzy
			continue
		}
		from.used = true
		asked := from.ops[0]
		t.priority = asked.Priority != ""
		for _, r := range m.open { // another one of them may have been it, also one that was taken for another number
			if r.lo >= at {
				continue
			}
			o := r.ops[0]
			t.vague = t.vague || r.method() == "IssueTicket" && o.Category == l.category && (o.Priority != asked.Priority || o.Reserve != asked.Reserve)
		}
		t.fuzzy = t.fuzzy || t.vague
		if asked.Person != "" {
			l.persons[asked.Person]++
		}
		if asked.Reserve {
			m.put(t, "reserved", at, 0)
		} else {
			m.enter(t, key{entry: int64(at)}, at, asked)
			t.blur = t.fuzzy // it may have waited for long
		}
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
	if t.state == "waiting" && op.Method != "CancelTicket" && op.Method != "TransferTicket" {
		m.taken(t, at, op.Counter)
	}
	return t
}

// callNext is one customer completed and the next one called, in one record.
func (m *model) callNext(r *request, op *history.Op, at uint64, exact, placed bool) {
	c := m.counter(op.Counter)
	s := &scope{at: at, end: op.End, counters: []uint32{op.Counter}}
	m.live(c, op, s)
	if c.paused {
		m.fault(Explained, s, describeAll(op), "counter %d was paused at %d, and called", op.Counter, at)
	}
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
		m.left(c.current, nil)
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
