package judge

import "callerd/cmd/kiosk-sim/internal/history"

// counts compares who still waits for a counter and who is held there.
func (m *model) counts(op *history.Op, c *counter, at uint64) {
	lines := m.serves(c)
	waiting, reserved, sure := len(c.own), 0, 0
	for _, l := range lines {
		waiting += l.total()
		reserved += len(l.reserved)
	}
	s := &scope{at: at, end: op.End, counters: []uint32{op.Counter}, lines: lines}
	if int(op.Waiting) != waiting {
		m.fault(Explained, s, describeAll(op), "%d waited for counter %d at %d, the answer says %d", waiting, op.Counter, at, op.Waiting)
	}
	m.held(op, c, s, int(op.Held))
	if op.Why == nil || int(op.Reserved) == reserved {
		return
	}
	for _, l := range lines {
		for _, t := range l.reserved {
			if t.due == 0 || !t.over(op.End) {
				sure++
			}
		}
	}
	if int(op.Reserved) > reserved || int(op.Reserved) < sure {
		m.fault(Explained, s, describeAll(op), "%d to %d were reserved for counter %d at %d, the answer says %d", sure, reserved, op.Counter, at, op.Reserved)
	}
}

// empty is a call that found nobody.
func (m *model) empty(c *counter, op *history.Op, at uint64, exact bool) {
	if !exact {
		return
	}
	s := &scope{at: at, end: op.End, counters: []uint32{op.Counter}, lines: m.serves(c)}
	if want := m.choose(c, callTime(op)); want.t != nil {
		m.fault(FIFO, s, describeAll(op), "%s waited at %d, and the answer is that nobody does", want.t.id, at)
		return
	}
	m.counts(op, c, at)
}
