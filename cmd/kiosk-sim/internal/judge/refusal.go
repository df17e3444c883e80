package judge

import (
	"slices"

	"callerd/cmd/kiosk-sim/internal/history"
)

// refusal: the reason must be one that the model has too.
func (m *model) refusal(op *history.Op) {
	s := &scope{at: op.Sequence, end: op.End}
	c := m.counter(op.Counter)
	if op.Counter != 0 {
		s.counters = []uint32{op.Counter, op.To}
	}
	t := m.find(op.Ticket)
	if day, category, n := parseID(op.Ticket); t == nil && n > 0 && day == m.day && op.Reason != "UNKNOWN_TICKET" {
		m.upTo(m.today(category), n, op.Sequence, op) // its own answer is still out
		t = m.find(op.Ticket)
	}
	if t != nil {
		s.tickets = []*ticket{t}
	}
	var due, may []string
	switch op.Method {
	case "OpenCounter":
		if op.Reason == "UNKNOWN_COUNTER" {
			return
		}
		if c.open && op.TakeOver == "" {
			due = []string{"COUNTER_TAKEN"}
		}
	case "IssueTicket":
		m.noRoom(op)
		return
	case "CancelTicket", "GetTicket", "CheckInTicket":
		due, may = m.refuses(op, t)
	default:
		if !c.known {
			return
		}
		if !c.open || c.epoch != op.Epoch {
			due = []string{"STALE_SESSION"}
			break
		}
		m.touch(op)
		if op.OnResources() && op.Reason != "STALE_SESSION" {
			m.deskRefusal(op, s)
			return
		}
		due, may = m.refuses(op, t)
	}
	if slices.Contains(may, op.Reason) || slices.Contains(due, op.Reason) {
		return
	}
	state := "none"
	if t != nil {
		state = t.state
		s.lines = append(s.lines, t.in)
	}
	m.fault(Explained, s, describeAll(op), "at %d %v was due (counter %d: open %v, paused %v, current %s; the ticket: %s)",
		op.Sequence, due, c.number, c.open, c.paused, c.now(), state)
}

// reasons for which a verb is refused: due ones surely, the others perhaps, by the clocks.
type reasons struct{ due, may []string }

func (r *reasons) add(when bool, reason string) {
	if when {
		r.due = append(r.due, reason)
	}
}

func (r *reasons) maybe(when bool, reason string) {
	if when {
		r.may = append(r.may, reason)
	}
}

// refuses lists the reasons for which the hall would refuse; no due one: it would not, and for none it must not.
func (m *model) refuses(op *history.Op, t *ticket) (due, may []string) {
	r := &reasons{}
	c := m.counter(op.Counter)
	switch op.Method {
	case "CallNext", "CallTicket":
		m.refusesCall(r, op, c, t)
	case "CloseCounter":
		r.add(c.current != nil && op.Current == "", "COUNTER_BUSY")
	case "RecallTicket", "StartTicket", "CompleteTicket", "MarkNoShow", "HoldTicket":
		m.refusesCurrent(r, op, c, t)
	case "ResumeTicket":
		r.add(c.current != nil, "COUNTER_BUSY")
		r.add(c.paused, "COUNTER_CLOSED")
		m.refusesState(r, op, t)
	case "RequeueTicket":
		m.refusesState(r, op, t)
		m.refusesLate(r, op, t)
		m.refusesElsewhere(r, op, t)
	case "TransferTicket":
		m.refusesState(r, op, t)
		if t != nil && t.state != "waiting" {
			m.refusesElsewhere(r, op, t)
		}
		r.add(op.To != 0 && !m.counter(op.To).open, "COUNTER_CLOSED")
		r.maybe(op.To != 0, "UNKNOWN_COUNTER")
	case "CancelTicket":
		m.refusesState(r, op, t)
	case "CheckInTicket":
		m.refusesState(r, op, t)
		if t != nil && t.state == "reserved" {
			r.add(t.dated && t.due > 0 && op.Start-slack > t.due, "WRONG_TICKET_STATE")
		}
	case "GetTicket":
		r.add(t == nil, "UNKNOWN_TICKET")
	}
	return r.due, r.may
}

// refusesState: the lifecycle has it not, or the state may have ended by itself.
func (m *model) refusesState(r *reasons, op *history.Op, t *ticket) {
	r.add(t == nil, "UNKNOWN_TICKET")
	r.add(t != nil && !slices.Contains(after[op.Method].from, t.state), "WRONG_TICKET_STATE")
	r.maybe(t != nil && ended[t.state] != "" && t.due != 0 && t.over(op.End), "WRONG_TICKET_STATE")
}

// refusesElsewhere: the ticket is at another counter, or bound to it.
func (m *model) refusesElsewhere(r *reasons, op *history.Op, t *ticket) {
	if t == nil {
		return
	}
	at := t.state == "called" || t.state == "serving" || t.state == "held"
	r.add(at && t.counter != op.Counter || t.bound != 0 && t.bound != op.Counter, "TICKET_MOVED")
}

func (m *model) refusesCall(r *reasons, op *history.Op, c *counter, t *ticket) {
	r.add(op.Complete == "" && c.current != nil, "COUNTER_BUSY")
	r.add(op.Complete != "" && c.now() != op.Complete, "TICKET_MOVED")
	r.add(op.Complete != "" && m.find(op.Complete) == nil, "UNKNOWN_TICKET")
	r.add(c.paused, "COUNTER_CLOSED")
	if op.Method == "CallTicket" {
		m.refusesState(r, op, t)
		r.add(t != nil && t.bound != 0 && t.bound != op.Counter, "TICKET_MOVED")
	}
}

func (m *model) refusesCurrent(r *reasons, op *history.Op, c *counter, t *ticket) {
	r.add(t == nil, "UNKNOWN_TICKET")
	if op.Method == "CompleteTicket" && t != nil && t.state == "held" && t.counter == op.Counter {
		r.maybe(t.due != 0 && t.over(op.End), "NO_CURRENT_TICKET")
		r.maybe(t.due != 0 && t.over(op.End) && c.current != nil, "TICKET_MOVED")
		return
	}
	r.add(c.current == nil, "NO_CURRENT_TICKET")
	r.add(c.current != nil && c.current != t, "TICKET_MOVED")
	if c.current == nil || c.current != t {
		return
	}
	r.add(!slices.Contains(after[op.Method].from, t.state), "WRONG_TICKET_STATE")
	r.maybe(t.state == "called" && t.due != 0 && t.over(op.End), "NO_CURRENT_TICKET")
	p := m.policy(t.in.category)
	switch op.Method {
	case "RecallTicket":
		r.add(p.MaxRecalls > 0 && t.told > p.MaxRecalls && !p.NoShowAtLimit, "RECALL_LIMIT")
		r.maybe(t.told < 0, "RECALL_LIMIT")
	case "MarkNoShow":
		wait := int64(p.MinWait)
		r.add(t.told >= 0 && t.told < p.MinCalls || wait > 0 && op.End+slack < t.summoned.lo+wait, "NO_SHOW_TOO_EARLY")
		r.maybe(t.told < 0 || wait > 0 && (t.summoned.hi == history.Never || op.Start-slack < t.summoned.hi+wait), "NO_SHOW_TOO_EARLY")
	}
}

// refusesLate: a no-show may come back for a while, and while not too many were called after it.
func (m *model) refusesLate(r *reasons, op *history.Op, t *ticket) {
	if t == nil || t.state != "no_show" {
		return
	}
	r.add(t.dated && t.due > 0 && op.Start-slack > t.due, "REQUEUE_TOO_LATE")
	r.maybe(t.due != 0 && t.over(op.End), "REQUEUE_TOO_LATE")
	n := m.policy(t.in.category).RequeueNumbers
	r.add(n > 0 && t.home == t.in && t.home.serving > t.n+n, "REQUEUE_TOO_LATE")
}

func (c *counter) now() string {
	if c.current == nil {
		return ""
	}
	return c.current.id
}
