package judge

import (
	"slices"

	"callerd/cmd/kiosk-sim/internal/history"
)

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
		t := m.find(op.Ticket)
		if t == nil {
			m.fault(Explained, s, describeAll(op), "%s is not known at %d", op.Ticket, op.Sequence)
			return
		}
		m.compare(op, op.Got, t, s)
		ahead := 0
		if t.state == "waiting" {
			ahead = t.line.ahead(t.n)
		}
		if int(op.Ahead) != ahead {
			s.lines = []*line{t.line}
			m.fault(Explained, s, describeAll(op), "%d were ahead of %s at %d, the answer says %d", ahead, t.id, op.Sequence, op.Ahead)
		}
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
		t := &ticket{id: got.ID, line: l, n: n, hi: op.Sequence}
		if got.State == "waiting" && got.Calls == 0 {
			t.lo, t.hi = got.Version-1, got.Version
		}
		l.add(t)
		m.adopt(t, got)
		if got.Calls > 0 {
			l.serving = max(l.serving, n)
		}
	}
	if op.NextPage == "" && m.day != "" {
		m.today(op.Category).based = true
	}
}

// refusal: the reason must be one that the model has too.
func (m *model) refusal(op *history.Op) {
	s := &scope{at: op.Sequence, end: op.End}
	var reasons []string
	c := m.counter(op.Counter)
	if op.Counter != 0 {
		s.counters = []uint32{op.Counter}
	}
	t := m.find(op.Ticket)
	if t != nil {
		s.tickets = []*ticket{t}
	}
	switch op.Method {
	case "OpenCounter":
		if op.Reason == "UNKNOWN_COUNTER" {
			return
		}
		if c.open {
			reasons = []string{"COUNTER_TAKEN"}
		}
	case "IssueTicket":
		return // exhausted or closed: the clients cannot know
	case "CancelTicket", "GetTicket":
		reasons = m.refuses(op, t)
	default:
		if !c.known {
			return
		}
		if !c.open || c.epoch != op.Epoch {
			reasons = []string{"STALE_SESSION"}
			break
		}
		m.touch(op)
		reasons = m.refuses(op, t)
	}
	if !slices.Contains(reasons, op.Reason) {
		m.fault(Explained, s, describeAll(op), "at %d %v was due (counter %d: open %v, paused %v, current %s)", op.Sequence, reasons, c.number, c.open, c.paused, c.now())
	}
}

// refuses lists the reasons for which the hall would refuse; none: it would not.
func (m *model) refuses(op *history.Op, t *ticket) (reasons []string) {
	var c *counter
	if op.Counter != 0 {
		c = m.counter(op.Counter)
	}
	add := func(when bool, reason string) {
		if when {
			reasons = append(reasons, reason)
		}
	}
	switch op.Method {
	case "CallNext":
		add(op.Complete == "" && c.current != nil, "COUNTER_BUSY")
		add(op.Complete != "" && c.now() != op.Complete, "TICKET_MOVED")
		add(op.Complete != "" && m.find(op.Complete) == nil, "UNKNOWN_TICKET")
		add(c.paused, "COUNTER_CLOSED")
	case "CloseCounter":
		add(c.current != nil, "COUNTER_BUSY")
	case "RecallTicket", "StartTicket", "CompleteTicket", "MarkNoShow", "HoldTicket":
		add(t == nil, "UNKNOWN_TICKET")
		if op.Method == "CompleteTicket" && t != nil && t.state == "held" && t.counter == op.Counter {
			return reasons
		}
		add(c.current == nil, "NO_CURRENT_TICKET")
		add(c.current != nil && c.current != t, "TICKET_MOVED")
		add(c.current != nil && c.current == t && !slices.Contains(after[op.Method].from, t.state), "WRONG_TICKET_STATE")
	case "ResumeTicket":
		add(c.current != nil, "COUNTER_BUSY")
		add(c.paused, "COUNTER_CLOSED")
		add(t != nil && t.state != "held", "WRONG_TICKET_STATE")
		add(t == nil, "UNKNOWN_TICKET")
	case "CancelTicket":
		add(t == nil, "UNKNOWN_TICKET")
		add(t != nil && !slices.Contains(after[op.Method].from, t.state), "WRONG_TICKET_STATE")
	case "GetTicket":
		add(t == nil, "UNKNOWN_TICKET")
	}
	return reasons
}

func (c *counter) now() string {
	if c.current == nil {
		return ""
	}
	return c.current.id
}
