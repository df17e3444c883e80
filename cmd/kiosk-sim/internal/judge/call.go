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
	s := &scope{at: at, end: op.End, lines: []*line{l, t.in}, tickets: []*ticket{t}, counters: []uint32{op.Counter}}
	m.verdicts[OneCounter].Judged++
	m.verdicts[FIFO].Judged++
	if t.state != "waiting" {
		m.back(t, s)
	}
	want := choice{t: t, rule: "given"}
	switch t.state {
	case "waiting":
		if op.Method == "CallTicket" {
			if t.bound != 0 && t.bound != op.Counter {
				m.fault(Explained, s, describeAll(op), "%s waits for counter %d, and counter %d called it at %d", t.id, t.bound, op.Counter, at)
			}
		} else if placed {
			want = m.turnOf(op, c, t, at)
		}
	case "called", "serving", "held":
		m.fault(OneCounter, s, describeAll(op), "%s was %s at counter %d when counter %d called it at %d", t.id, t.state, t.counter, op.Counter, at)
	case "gone":
		m.verdicts[FIFO].doubt(describeAll(op), "%s had been taken away by an unseen step", t.id)
	default:
		m.fault(OneCounter, s, describeAll(op), "%s was %s when counter %d called it at %d", t.id, t.state, op.Counter, at)
	}
	if t.state == "waiting" && placed {
		m.why(op, c, t, want, t.overtaken, m.passedOver(c, t))
	}
	rule := "given"
	if op.Method == "CallNext" {
		rule = want.rule
	}
	m.take(t, c, at, rule, want.saved, placed, op)
	if t.number == "" {
		t.number = op.Got.Number
	}
	return t
}

// take is one ticket called to a counter. Of an unplaced call it is not known whom it passed over.
func (m *model) take(t *ticket, c *counter, at uint64, rule string, saved []int64, placed bool, op *history.Op) {
	if placed && t.state == "waiting" {
		m.passOver(c, t, at, rule, op)
	} else {
		m.blurLines(c)
	}
	switch e := m.creditOf(c); {
	case !c.known:
		m.blurLines(c)
		m.blurCredits(c)
	case saved != nil:
		e.saved = saved
		e.blur = e.blur || m.unseen(&scope{at: at, end: m.clock, lines: m.serves(c)}) // who waited is not known for sure
	case c.rule == "ratio" && (!placed || rule == ""):
		e.blur = true
	}
	m.put(t, "called", at, c.number)
	t.calls++
	t.told, t.summoned = 1, moment{m.clock, history.Never}
	if op != nil && op.Outcome == history.OK {
		t.summoned = callTime(op)
	}
	t.home.serving = max(t.home.serving, t.n)
}

// turnOf: it was this ticket's turn, and by this rule.
func (m *model) turnOf(op *history.Op, c *counter, t *ticket, at uint64) choice {
	lines := m.serves(c)
	if len(lines) == 0 || !c.known {
		out := choice{t: t, unsure: true}
		if op.Why != nil {
			out.rule = op.Why.Rule
		}
		return out
	}
	if t.bound == 0 && !slices.Contains(lines, t.in) {
		m.verdicts[Explained].fault(describeAll(op), "counter %d does not serve %s", op.Counter, t.in.category)
		return choice{t: t}
	}
	want := m.choose(c, callTime(op))
	hazy := func() bool {
		return want.unsure || m.blurred(lines) || c.rule == "ratio" && m.creditOf(c).blur
	}
	for want.t != t && want.t != nil && m.stands(want.t, t) && (want.t.in == t.in || !hazy()) && m.taken(want.t, at, 0) {
		want = m.choose(c, callTime(op))
	}
	if want.t == t {
		return want
	}
	s := &scope{at: at, end: op.End, lines: lines, tickets: []*ticket{t}, counters: []uint32{op.Counter}}
	s.hazy = hazy() || m.policies == nil && op.Why != nil && op.Why.Rule == "overdue"
	if want.t != nil {
		m.fault(FIFO, s, describeAll(op), "%s (entered at %d) was called at %d while %s (entered at %d) was before it by the rule %q",
			t.id, t.key.entry, at, want.t.id, want.t.key.entry, want.rule)
	}
	want = choice{t: t, rule: c.rule, unsure: true}
	if op.Why != nil {
		want.rule = op.Why.Rule
	}
	m.creditOf(c).blur = true
	return want
}

// stands says whether it is known that a stands before b: the places of both are, or the numbers of one line tell.
func (m *model) stands(a, b *ticket) bool {
	return !a.fuzzy && !b.fuzzy || a.home == b.home && a.in == b.in && a.priority == b.priority && a.bound == b.bound
}

// taken looks for a request that took a ticket out of its line without telling where, and carries
// it out; it was made at counter by, when that is known.
func (m *model) taken(t *ticket, at uint64, by uint32) bool {
	pending := m.pending(at)
	for _, r := range pending {
		op := r.ops[0]
		names := r.done != nil && (op.Method == "CallNext" && r.done.Got != nil && r.done.Got.ID == t.id || op.Method != "CallNext" && op.Ticket == t.id)
		switch {
		case names:
			m.carryOut(r, at)
			return true
		case r.done == nil && op.Ticket == t.id && (op.Method == "CancelTicket" || op.Method == "TransferTicket" || op.Method == "CallTicket"):
			r.used = true
			if op.Method == "CallTicket" {
				if done := m.find(op.Complete); done != nil {
					m.left(done, nil)
				}
				m.guess(m.counter(op.Counter))
			}
			t.in.guessed = true // it may also do so later
			if op.Method == "TransferTicket" {
				m.moveTo(t, op, at, false)
				t.in.guessed = true
				return true
			}
			m.put(t, "gone", 0, 0)
			return true
		}
	}
	slices.SortStableFunc(pending, func(a, b *request) int { return cmp.Compare(off(a, by), off(b, by)) })
	for _, r := range pending {
		op := r.ops[0]
		c := m.counter(op.Counter)
		if r.done == nil && op.Method == "CallNext" && (slices.Contains(m.mayServe(c), t.in) || t.bound == c.number) {
			r.used, c.vague = true, true
			if done := m.find(op.Complete); done != nil {
				m.left(done, nil)
			}
			m.guess(c)
			m.put(t, "gone", 0, 0)
			return true
		}
	}
	return false
}

// guess notes an unseen call of a counter: whom it called and passed over is not known.
func (m *model) guess(c *counter) {
	for _, l := range m.mayServe(c) {
		l.guessed = true
	}
	m.blurLines(c)
	m.blurCredits(c)
}

// mayServe returns the lines that a counter may serve: any of today, if it is not known what its session was opened for.
func (m *model) mayServe(c *counter) []*line {
	if c.known {
		return m.serves(c)
	}
	var all []*line
	for _, l := range m.lines {
		if l.day == m.day {
			all = append(all, l)
		}
	}
	return all
}

// blurLines says that an unseen call of a counter may have passed over anybody.
func (m *model) blurLines(c *counter) {
	for _, l := range m.mayServe(c) {
		l.blur()
	}
}

// blurCredits says that an unseen call of a counter may have changed what its categories have saved up.
func (m *model) blurCredits(c *counter) {
	if c.known {
		m.creditOf(c).blur = true
		return
	}
	for _, e := range m.credits {
		e.blur = true
	}
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
		m.lapse(c, 0)
	}
}
