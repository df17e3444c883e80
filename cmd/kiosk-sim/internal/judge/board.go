package judge

import (
	"fmt"

	"callerd/cmd/kiosk-sim/internal/history"
)

// frame judges what the hall displays were told at a sequence. When no answer has that sequence,
// it is a step that nobody saw, and the model takes it from here.
func (m *model) frame(f *history.Frame, answered bool) {
	if f.Day > m.day {
		m.turn(f.Day)
	}
	m.verdicts[Board].Judged++
	s := &scope{at: f.Sequence, end: f.At}
	if !answered {
		m.follow(f)
	}
	m.hall(Board, &history.Hall{Categories: f.Waiting, Counters: f.Counters}, s, []string{describeFrame(f)})
}

// snapshot judges a whole board at its sequence.
func (m *model) snapshot(f *history.Frame) {
	m.verdicts[Board].Judged++
	m.hall(Board, &history.Hall{Day: f.Day, Categories: f.Waiting, Counters: f.Counters}, &scope{at: f.Sequence, end: f.At}, []string{describeFrame(f)})
}

func describeFrame(f *history.Frame) string {
	kind := "frame"
	if f.Snapshot {
		kind = "snapshot"
	}
	return fmt.Sprintf("%s %s %s %d after %d at %s: calls %v waiting %v counters %v", f.Display, f.Stream, kind, f.Sequence, f.Previous, stamp(f.At), f.Calls, f.Waiting, f.Counters)
}

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
			m.consume(announces(call))
			if !call.Recall {
				m.put(t, "called", f.Sequence, call.Counter)
			}
			t.calls++
			t.version = f.Sequence
			t.line.serving = max(t.line.serving, t.n)
		}
	}
	for _, shown := range f.Counters {
		c := m.counter(shown.Counter)
		if shown.State == "closed" && c.open {
			m.consume(session(c.number, "CloseCounter"))
			m.lapse(c)
			continue
		}
		if shown.State != "closed" && !c.open {
			m.consume(session(c.number, "OpenCounter"))
			c.open, c.known = true, false
		}
		c.paused = shown.State == "paused"
		if t := c.current; t != nil && shown.Ticket != t.id {
			m.left(t)
		} else if t != nil && shown.TicketState != t.state {
			m.consume(func(op *history.Op) bool { return op.Ticket == t.id && after[op.Method].to == shown.TicketState })
			m.put(t, shown.TicketState, f.Sequence, c.number)
		}
	}
	for _, w := range f.Waiting {
		// Someone left the line unseen: a number given up.
		for l := m.today(w.ID); int(w.Waiting) < l.total; {
			if !m.cancelled(l, f.Sequence) {
				break
			}
		}
	}
}

// consume marks the first open request that what was shown fits: it has happened.
func (m *model) consume(fits func(*history.Op) bool) {
	for _, r := range m.open {
		if !r.used && fits(r.ops[0]) {
			r.used = true
			return
		}
	}
}

// announces fits the open requests that may have made this call.
func announces(call history.Call) func(*history.Op) bool {
	return func(op *history.Op) bool {
		return op.Counter == call.Counter && (op.Method == "CallNext" && !call.Recall ||
			(op.Method == "ResumeTicket" || op.Method == "RecallTicket") && op.Ticket == call.Ticket)
	}
}

// left says that a ticket has left its counter by an unseen step: an open request that names it, or
// else nobody knows how.
func (m *model) left(t *ticket) {
	if c := m.counters[t.counter]; c != nil {
		c.unsure = true
	}
	m.put(t, "gone", 0, 0)
	for _, r := range m.open {
		op := r.ops[0]
		switch to := after[op.Method].to; {
		case r.used:
		case op.Complete == t.id:
			t.line.set(t, "completed") // whom it called is still open
			return
		case op.Ticket == t.id && to != "called" && to != "serving":
			r.used = true
			m.put(t, to, 0, t.counter)
			return
		}
	}
}

// session fits the open requests of this method at the counter.
func session(counter uint32, method string) func(*history.Op) bool {
	return func(op *history.Op) bool { return op.Counter == counter && op.Method == method }
}

// cancelled carries out one cancellation in a line that was not placed.
func (m *model) cancelled(l *line, at uint64) bool {
	for _, r := range m.pending(at) {
		op := r.ops[0]
		t := m.find(op.Ticket)
		if op.Method != "CancelTicket" || t == nil || t.line != l || t.state != "waiting" {
			continue
		}
		r.used = true
		m.put(t, "cancelled", at, 0)
		return true
	}
	return false
}

// hall compares counts and counters.
func (m *model) hall(check string, h *history.Hall, s *scope, what []string) {
	if h == nil {
		return
	}
	if h.Day > m.day {
		m.turn(h.Day)
	}
	for _, w := range h.Categories {
		if m.day == "" {
			break
		}
		l := m.today(w.ID)
		if l.issued() == 0 && !l.based {
			continue // before the first list
		}
		if int(w.Issued) != l.issued() || int(w.Waiting) != l.total || int(w.Serving) != l.serving {
			s.lines = []*line{l}
			m.fault(check, s, what, "%s at %d has issued %d, waiting %d, serving %d; told was %d %d %d",
				l.category, s.at, l.issued(), l.total, l.serving, w.Issued, w.Waiting, w.Serving)
			l.serving = int(w.Serving) // one difference is told once
		}
	}
	for _, n := range h.Counters {
		c := m.counters[n.Counter]
		if c == nil {
			m.counters[n.Counter] = &counter{number: n.Counter, open: n.State != "closed", paused: n.State == "paused"}
			continue
		}
		state, ticketState := "closed", ""
		if c.open {
			state = "open"
		}
		if c.open && c.paused {
			state = "paused"
		}
		if c.current != nil {
			ticketState = c.current.state
		}
		if n.State != state || n.Ticket != c.now() || n.TicketState != ticketState {
			s.counters = []uint32{n.Counter}
			m.fault(check, s, what, "counter %d at %d is %s with %q %s; told was %s with %q %s", n.Counter, s.at, state, c.now(), ticketState, n.State, n.Ticket, n.TicketState)
			m.adoptCounter(c, n, s.at)
		}
	}
}

// adoptCounter takes a counter as it was told.
func (m *model) adoptCounter(c *counter, told history.Counter, at uint64) {
	if c.current != nil && c.now() != told.Ticket {
		m.left(c.current)
	}
	c.vague = false
	c.open, c.paused = told.State != "closed", told.State == "paused"
	if t := m.find(told.Ticket); t != nil {
		m.put(t, told.TicketState, 0, c.number)
	}
}
