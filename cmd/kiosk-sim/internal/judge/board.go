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
		if int(w.Issued) != l.issued() || int(w.Waiting) != l.total() || int(w.Serving) != l.serving {
			s.lines = []*line{l}
			m.fault(check, s, what, "%s at %d has issued %d, waiting %d, serving %d; told was %d %d %d",
				l.category, s.at, l.issued(), l.total(), l.serving, w.Issued, w.Waiting, w.Serving)
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
		m.left(c.current, nil)
	}
	c.vague = false
	c.open, c.paused = told.State != "closed", told.State == "paused"
	if t := m.find(told.Ticket); t != nil {
		m.put(t, told.TicketState, 0, c.number)
		t.due = -1
	}
}
