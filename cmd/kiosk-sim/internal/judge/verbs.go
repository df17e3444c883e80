package judge

import (
	"callerd/cmd/kiosk-sim/internal/history"
)

// after is the state that a verb leads to, and from where.
var after = map[string]struct {
	to   string
	from []string
}{
	"RecallTicket":   {"called", []string{"called"}},
	"StartTicket":    {"serving", []string{"called"}},
	"CompleteTicket": {"completed", []string{"called", "serving", "held"}},
	"MarkNoShow":     {"no_show", []string{"called"}},
	"HoldTicket":     {"held", []string{"called", "serving"}},
	"ResumeTicket":   {"called", []string{"held"}},
	"CancelTicket":   {"cancelled", []string{"waiting", "called", "held"}},
}

// verb is what a console or a kiosk does with one ticket.
func (m *model) verb(op *history.Op, at uint64, exact, placed bool) {
	t := m.ensure(op.Ticket, at, op)
	if t == nil {
		return
	}
	s := &scope{at: at, end: op.End, counters: []uint32{op.Counter}, tickets: []*ticket{t}}
	if op.Counter != 0 {
		m.live(m.counter(op.Counter), op, s)
	}
	if reasons := m.refuses(op, t); len(reasons) > 0 && !t.vague && (placed || t.state != after[op.Method].to) {
		m.fault(Explained, s, describeAll(op), "%s was %s at counter %d at %d: %v was due, and it was done", t.id, t.state, t.counter, at, reasons)
	}
	m.put(t, after[op.Method].to, at, op.Counter)
	if op.Method == "RecallTicket" || op.Method == "ResumeTicket" {
		t.calls++
	}
	if exact {
		m.compare(op, op.Got, t, s)
	}
}

// openCounter begins a session. One that was on has run out; its console was not heard of.
func (m *model) openCounter(op *history.Op, at uint64) {
	c := m.counter(op.Counter)
	s := &scope{at: at, end: op.End, counters: []uint32{op.Counter}}
	if c.known && op.Epoch <= c.epoch {
		m.verdicts[Explained].fault(describeAll(op), "session %d of counter %d after session %d", op.Epoch, op.Counter, c.epoch)
	}
	if c.open {
		if !m.lapsed(c, op.End) {
			m.fault(Explained, s, describeAll(op), "counter %d was taken (epoch %d), and was opened", op.Counter, c.epoch)
		}
		m.lapse(c)
	}
	c.known, c.open, c.paused = true, true, false
	c.epoch, c.categories, c.rule, c.used, c.lease = op.Epoch, op.Categories, op.Rule, op.Start, op.LeaseMS*1e6
	if c.rule == "" {
		c.rule = "oldest"
	}
	m.verdicts[Explained].Judged += len(op.Tickets)
	if !op.Replayed && !c.unsure && len(op.Tickets) != len(c.held) {
		m.fault(Explained, s, describeAll(op), "%d were held at counter %d at %d, the answer says %d", len(c.held), op.Counter, at, len(op.Tickets))
	}
}

// shift pauses, resumes or closes a counter.
func (m *model) shift(op *history.Op, at uint64) {
	c := m.counter(op.Counter)
	s := &scope{at: at, end: op.End, counters: []uint32{op.Counter}}
	m.live(c, op, s)
	switch op.Method {
	case "PauseCounter":
		c.paused = true
	case "ResumeCounter":
		c.paused = false
	case "CloseCounter":
		if c.current != nil {
			m.fault(Explained, s, describeAll(op), "counter %d had %s at %d, and was closed", op.Counter, c.current.id, at)
			m.left(c.current)
		}
		c.open, c.paused = false, false
	}
}

// compare holds a ticket of an answer against the model's.
func (m *model) compare(op *history.Op, got *history.Ticket, t *ticket, s *scope) {
	if got == nil || t == nil {
		if got != nil || t != nil {
			m.fault(Explained, s, describeAll(op), "a ticket that the answer has and the hall has not, or the other way round")
		}
		return
	}
	if t.vague {
		m.verdicts[Explained].doubt(describeAll(op), "%s had been taken away by an unseen step", t.id)
		m.adopt(t, got)
		return
	}
	at := t.counter
	if got.State != t.state || got.Counter != at || t.number != "" && got.Number != t.number || got.Calls != t.calls ||
		t.version != 0 && t.hi != 0 && got.Version != t.version {
		s.tickets, s.lines = append(s.tickets, t), append(s.lines, t.line)
		m.fault(Explained, s, describeAll(op), "%s is %s, counter %d, number %s, calls %d, version %d; the answer has %s %d %s %d %d",
			t.id, t.state, at, t.number, t.calls, t.version, got.State, got.Counter, got.Number, got.Calls, got.Version)
		m.adopt(t, got)
	}
}

// adopt takes a ticket as the server has it.
func (m *model) adopt(t *ticket, got *history.Ticket) {
	m.put(t, got.State, got.Version, got.Counter)
	t.number, t.calls, t.counter, t.vague = got.Number, got.Calls, got.Counter, false
}
