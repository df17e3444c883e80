package judge

import (
	"slices"

	"callerd/cmd/kiosk-sim/internal/history"
)

// lapsed says whether a counter's session may have run out by a moment.
func (m *model) lapsed(c *counter, now int64) bool {
	return c.open && (!c.known || c.lease > 0 && now != history.Never && now > c.used+c.lease)
}

// lapse ends a session as the server does, at a sequence or (0) nobody knows where: a called ticket goes back to its place, one being served is held.
func (m *model) lapse(c *counter, at uint64) {
	switch t := c.current; {
	case t == nil:
	case t.state != "called":
		m.put(t, "held", at, c.number)
	case at == 0 && t.due != 0:
		// Its own time may have been over before that of the session: then it is a no-show, and does not wait.
		m.put(t, "no_show", 0, 0)
		t.counter, t.vague, t.in.guessed = c.number, true, true
	default:
		m.sendBack(t, at)
	}
	m.shut(c, at)
}

// shut closes a counter: who waited for it goes to the lines, what it borrowed is free.
func (m *model) shut(c *counter, at uint64) {
	for _, t := range slices.Clone(c.own) {
		m.sendBack(t, at)
	}
	m.desk.closed(c.number)
	c.open, c.paused = false, false
}

// sendBack puts a ticket into its category's line at the place that it had.
func (m *model) sendBack(t *ticket, at uint64) {
	m.release(t)
	m.set(t, "moving")
	t.bound = 0
	t.key = m.laneOf(t).place(kept, 0, key{}, t.key, at)
	m.set(t, "waiting")
	t.version, t.due = at, 0
}

// openCounter begins a session. One that was on has run out, or is ended by it.
func (m *model) openCounter(op *history.Op, at uint64) {
	c := m.counter(op.Counter)
	s := &scope{at: at, end: op.End, counters: []uint32{op.Counter}}
	if c.known && op.Epoch <= c.epoch {
		m.verdicts[Explained].fault(describeAll(op), "session %d of counter %d after session %d", op.Epoch, op.Counter, c.epoch)
	}
	if c.open && op.TakeOver == "" {
		if !m.lapsed(c, op.End) {
			m.fault(Explained, s, describeAll(op), "counter %d was taken (epoch %d), and was opened", op.Counter, c.epoch)
		}
		m.lapse(c, 0)
	}
	c.known, c.open, c.paused = true, true, false
	c.epoch, c.categories, c.rule, c.weights, c.used, c.lease = op.Epoch, op.Categories, op.Rule, op.Weights, op.Start, op.LeaseMS*1e6
	if c.rule == "" {
		c.rule = "oldest"
	}
	m.verdicts[Explained].Judged += len(op.Tickets)
	if op.Replayed {
		return
	}
	if !c.unsure {
		m.held(op, c, s, len(op.Tickets))
	}
	for i := range op.Tickets { // what is held here is known now
		if t := m.find(op.Tickets[i].ID); t != nil && !slices.Contains(c.held, t) {
			m.adopt(t, &op.Tickets[i])
		}
	}
}

// held compares how many are held at a counter. Some may have expired unseen.
func (m *model) held(op *history.Op, c *counter, s *scope, told int) {
	least := 0
	for _, t := range c.held {
		if !t.over(op.End) || t.due == 0 {
			least++
		}
	}
	switch {
	case told <= len(c.held) && told >= least:
	case c.unsure:
		m.verdicts[Explained].doubt(describeAll(op), "a ticket left counter %d by an unseen step: it may be held there", op.Counter)
	default:
		m.fault(Explained, s, describeAll(op), "%d were held at counter %d at %d, the answer says %d", len(c.held), op.Counter, s.at, told)
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
		c.unsure = c.unsure || c.current == nil && op.Current == "hold" && (c.vague || m.unseen(s))
		if t := c.current; t != nil {
			switch op.Current {
			case "requeue":
				m.sendBack(t, at)
			case "hold":
				m.put(t, "held", at, c.number)
			default:
				m.fault(Explained, s, describeAll(op), "counter %d had %s at %d, and was closed", op.Counter, t.id, at)
				m.left(t, nil)
			}
		}
		m.shut(c, at)
	}
}

// stranger forgets what a counter's session was opened for: nobody saw its beginning.
func (m *model) stranger(c *counter) {
	c.known, c.categories, c.weights, c.rule, c.lease = false, nil, nil, "", 0
}

// live: a command that was carried out had a session that was on.
func (m *model) live(c *counter, op *history.Op, s *scope) {
	if c.known && (!c.open || c.epoch != op.Epoch) {
		m.fault(Explained, s, describeAll(op), "counter %d had no session %d (open %v, epoch %d), and its command was carried out", op.Counter, op.Epoch, c.open, c.epoch)
		c.open, c.epoch, c.used = true, op.Epoch, op.Start
		m.stranger(c)
	} else if !c.known {
		c.open, c.epoch = true, op.Epoch
	}
}
