package judge

import (
	"slices"

	"callerd/cmd/kiosk-sim/internal/history"
)

// follow carries out a step that only the displays were told of: a request whose answer never came,
// or something that the server did by itself.
func (m *model) follow(f *history.Frame) {
	for _, w := range f.Waiting {
		if l := m.today(w.ID); int(w.Issued) > l.issued() {
			m.upTo(l, int(w.Issued), f.Sequence, nil)
		}
	}
	for _, call := range f.Calls {
		if t := m.find(call.Ticket); t != nil {
			m.followCall(t, call, f)
		}
	}
	for _, shown := range f.Counters {
		m.followCounter(shown, f)
	}
	for _, w := range f.Waiting {
		l := m.today(w.ID)
		for int(w.Waiting) != l.total() && m.moved(l, int(w.Waiting) > l.total(), f.Sequence) {
		}
	}
}

func (m *model) followCall(t *ticket, call history.Call, f *history.Frame) {
	c, at := m.counter(call.Counter), f.Sequence
	if t.state == "called" && t.counter == call.Counter && call.Recall {
		m.consume(announces(call))
		t.calls, t.version = t.calls+1, at
		if t.told >= 0 {
			t.told++
		}
		t.due = m.dueOf(t)
		return
	}
	rule, saved := "", []int64(nil)
	op := m.consume(announces(call))
	if op != nil && c.current != nil && c.current.id == op.Complete {
		m.put(c.current, "completed", at, 0)
	}
	switch {
	case op == nil:
	case op.Method == "CallNext":
		if want := m.choose(c, moment{m.clock, f.At + slack}); want.t == t && !want.unsure && !m.blurred(m.serves(c)) {
			rule, saved = want.rule, want.saved
		}
	case op.Method == "CallTicket":
		rule = "given"
	}
	if t.state != "waiting" && op != nil && op.Method == "ResumeTicket" {
		m.put(t, "called", at, call.Counter)
		t.calls++
		t.told, t.summoned = 1, moment{m.clock, history.Never}
		return
	}
	if c.current != nil && c.current != t {
		m.left(c.current, nil)
	}
	m.take(t, c, at, rule, saved, true, op)
}

func (m *model) followCounter(shown history.Counter, f *history.Frame) {
	c := m.counter(shown.Counter)
	if shown.State == "closed" && c.open {
		op := m.consume(session(c.number, "CloseCounter"))
		if t := c.current; t != nil && op != nil && op.Current == "hold" {
			m.put(t, "held", f.Sequence, c.number)
		} else if t != nil && op != nil && op.Current == "requeue" {
			m.sendBack(t, f.Sequence)
		}
		m.lapse(c, f.Sequence)
		return
	}
	if shown.State != "closed" && !c.open {
		m.consume(session(c.number, "OpenCounter"))
		c.open = true
		m.stranger(c)
	}
	c.paused = shown.State == "paused"
	t := c.current
	switch {
	case t == nil || shown.Ticket == t.id && shown.TicketState == t.state:
	case shown.Ticket != t.id:
		m.left(t, f)
	default:
		m.consume(func(op *history.Op) bool { return op.Ticket == t.id && after[op.Method].to == shown.TicketState })
		m.put(t, shown.TicketState, f.Sequence, c.number)
	}
}

// consume marks the first open request that what was shown fits: it has happened.
func (m *model) consume(fits func(*history.Op) bool) *history.Op {
	for _, r := range m.open {
		if !r.used && fits(r.ops[0]) {
			r.used = true
			return r.ops[0]
		}
	}
	return nil
}

// announces fits the open requests that may have made this call.
func announces(call history.Call) func(*history.Op) bool {
	return func(op *history.Op) bool {
		return op.Counter == call.Counter && (op.Method == "CallNext" && !call.Recall ||
			(op.Method == "ResumeTicket" || op.Method == "RecallTicket" || op.Method == "CallTicket") && op.Ticket == call.Ticket)
	}
}

// left says that a ticket has left its counter by an unseen step: a request that names it, the end of its time, or else
// nobody knows how. f is the frame that shows it, nil when none does.
func (m *model) left(t *ticket, f *history.Frame) {
	if c := m.counters[t.counter]; c != nil {
		c.unsure = true
	}
	was, counter := *t, t.counter
	m.put(t, "gone", 0, 0)
	for _, r := range slices.Concat(m.open, m.floating) {
		op := r.ops[0]
		switch to := after[op.Method].to; {
		case r.used, f != nil && r.lo >= f.Sequence:
		case op.Complete == t.id:
			m.set(t, "completed") // whom it called is still open
			return
		case op.Ticket != t.id || to == "called" || to == "serving":
		case op.Method == "RequeueTicket" || op.Method == "TransferTicket":
			r.used = true
			at := uint64(0)
			if f != nil {
				at = f.Sequence
			}
			m.moveTo(t, op, at, f != nil)
			return
		default:
			r.used = true
			m.put(t, to, 0, counter)
			return
		}
	}
	if f == nil || was.state != "called" || was.due == 0 && m.policy(t.in.category).NoShowAfter == 0 {
		return
	}
	// Nobody asked: its time was over.
	if c := m.counters[counter]; c != nil {
		c.unsure = false
	}
	m.put(t, "called", was.version, counter)
	t.vague, t.due = was.vague, was.due
	m.endedSo(t, "called", "no_show", f.Sequence, f.At, []string{describeFrame(f)})
}

// session fits the open requests of this method at the counter.
func session(counter uint32, method string) func(*history.Op) bool {
	return func(op *history.Op) bool { return op.Counter == counter && op.Method == method }
}

// moved carries out one request that was not placed and that made a line shorter or longer.
func (m *model) moved(l *line, longer bool, at uint64) bool {
	for _, r := range m.pending(at) {
		op := r.ops[0]
		t := m.find(op.Ticket)
		if t == nil {
			continue
		}
		out := t.state == "waiting" && t.in == l && t.bound == 0
		into := op.Into == l.category || op.Into == "" && op.To == 0 && t.in == l
		switch {
		case op.Method == "CancelTicket" && !longer && out:
			m.put(t, "cancelled", at, 0)
		case (op.Method == "TransferTicket" || op.Method == "RequeueTicket" || op.Method == "CheckInTicket") && (longer && into && !out || !longer && out && !into):
			m.moveTo(t, op, at, true)
		default:
			continue
		}
		l.guessed, t.in.guessed, r.used = l.guessed || r.done == nil, t.in.guessed || r.done == nil, true
		return true
	}
	return false
}
