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
	"CancelTicket":   {"cancelled", []string{"waiting", "called", "held", "reserved"}},
	"RequeueTicket":  {"waiting", []string{"called", "serving", "held", "no_show"}},
	"TransferTicket": {"waiting", []string{"waiting", "called", "serving", "held"}},
	"CheckInTicket":  {"waiting", []string{"reserved"}},
	"CallTicket":     {"called", []string{"waiting"}},
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
	m.allowed(op, t, s, placed)
	to := after[op.Method].to
	if op.Method == "RecallTicket" && op.Got != nil && op.Got.State == "no_show" {
		p := m.policy(t.in.category)
		if m.policies != nil && (!p.NoShowAtLimit || p.MaxRecalls == 0 || t.told >= 0 && t.told <= p.MaxRecalls) && !op.Replayed {
			m.fault(Explained, s, describeAll(op), "%s was announced %d times by %d, and its recall made a no-show of it", t.id, t.told, at)
		}
		to = "no_show"
	}
	m.put(t, to, at, op.Counter)
	if to == "called" {
		t.calls++
		if t.told >= 0 {
			t.told++
		}
	}
	if op.Method == "ResumeTicket" {
		t.told, t.summoned = 1, moment{op.Start - slack, op.End + slack}
	}
	if exact {
		m.compare(op, op.Got, t, s)
	}
}

// allowed: what was done, the hall must not have had a reason to refuse.
func (m *model) allowed(op *history.Op, t *ticket, s *scope, placed bool) {
	due, _ := m.refuses(op, t)
	if len(due) > 0 && !t.vague && (placed || t.state != after[op.Method].to) {
		m.fault(Explained, s, describeAll(op), "%s was %s at counter %d at %d: %v was due, and it was done", t.id, t.state, t.counter, s.at, due)
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
	if got.State != t.state {
		m.endedSo(t, t.state, got.State, got.Version, op.End, describeAll(op))
	}
	at := t.counter
	if got.State != t.state || got.Counter != at || t.number != "" && got.Number != t.number || got.Calls != t.calls ||
		t.version != 0 && !t.fuzzy && got.Version != t.version || got.Bound != t.bound || got.Category != "" && got.Category != t.in.category ||
		(got.Priority != "") != t.priority {
		s.tickets, s.lines = append(s.tickets, t), append(s.lines, t.in)
		m.fault(Explained, s, describeAll(op), "%s is %s, counter %d, number %s, calls %d, version %d, in %s, bound to %d, priority %v; the answer has %s %d %s %d %d %s %d %q",
			t.id, t.state, at, t.number, t.calls, t.version, t.in.category, t.bound, t.priority,
			got.State, got.Counter, got.Number, got.Calls, got.Version, got.Category, got.Bound, got.Priority)
		m.adopt(t, got)
		return
	}
	if got.Overtaken != t.overtaken {
		if s.lines = append(s.lines, t.in); !t.blur {
			m.fault(Explained, s, describeAll(op), "%s was passed over %d times at %d, the answer says %d", t.id, t.overtaken, op.Sequence, got.Overtaken)
		}
		t.overtaken = got.Overtaken
	}
	t.blur = false
	if !op.Replayed {
		m.deadline(op, t, got)
	}
}

// adopt takes a ticket as the server has it.
func (m *model) adopt(t *ticket, got *history.Ticket) {
	m.release(t)
	m.set(t, "moving")
	if got.Category != "" {
		t.in = m.line(t.home.day, got.Category)
	}
	t.priority, t.bound, t.fuzzy = got.Priority != "", got.Bound, t.fuzzy || got.State == "waiting"
	bound := t.bound
	m.put(t, got.State, got.Version, got.Counter)
	t.number, t.calls, t.counter, t.vague, t.bound = got.Number, got.Calls, got.Counter, false, bound
	t.told, t.due, t.dated, t.overtaken, t.blur = -1, got.Deadline, true, got.Overtaken, false
}
