package judge

import (
	"time"

	"callerd/cmd/kiosk-sim/internal/history"
)

// slack is how far the clocks of the clients and the server may be apart.
const slack = int64(100 * time.Millisecond)

// lasts is how long a ticket's state lasts by the policy of its category, 0: for the day.
func lasts(p history.Policy, state string) int64 {
	switch state {
	case "called":
		return int64(p.NoShowAfter)
	case "reserved":
		return int64(p.CheckInWithin)
	case "held":
		return int64(p.HeldWithin)
	case "no_show":
		return int64(p.RequeueWithin)
	}
	return 0
}

// dueOf is the earliest time at which the state that a ticket enters now may end by itself.
func (m *model) dueOf(t *ticket) int64 {
	if m.policies == nil {
		return -1
	}
	d := lasts(m.policy(t.in.category), t.state)
	if d == 0 {
		return 0
	}
	return m.clock + d
}

// deadline holds the deadline of an answer against the policy, and takes it as the exact one.
func (m *model) deadline(op *history.Op, t *ticket, got *history.Ticket) {
	v := m.verdicts[Deadlines]
	if m.policies != nil && t.state == got.State && t.version == op.Sequence && op.Own() {
		v.Judged++
		d := lasts(m.policy(t.in.category), t.state)
		switch {
		case d == 0 && got.Deadline != 0, d != 0 && got.Deadline == 0:
			v.fault(describeAll(op), "%s is %s in %s: by the policy it lasts %v, its deadline is %s", t.id, t.state, t.in.category, time.Duration(d), stamp(got.Deadline))
		case d != 0 && (got.Deadline < op.Start+d-slack || got.Deadline > op.End+d+slack):
			v.fault(describeAll(op), "%s is %s for %v, its deadline is %s", t.id, t.state, time.Duration(d), stamp(got.Deadline))
		}
	}
	t.due, t.dated = got.Deadline, true
}

// over says whether a ticket's state may have ended by itself by a moment.
func (t *ticket) over(now int64) bool {
	return t.due < 0 || t.due > 0 && now != history.Never && now+slack >= t.due || t.due > 0 && now == history.Never
}

// ended is the state that a state ends in by itself.
var ended = map[string]string{"called": "no_show", "reserved": "expired", "held": "expired", "no_show": "expired"}

// endedSo looks whether an answer, or a display, shows what nobody asked for: a state that ended by itself. Before its time
// it must not.
func (m *model) endedSo(t *ticket, now, shown string, at uint64, end int64, what []string) bool {
	if ended[now] != shown || t.due == 0 {
		return false
	}
	v := m.verdicts[Deadlines]
	v.Judged++
	if !t.over(end) {
		v.fault(what, "%s was %s until %s, and was %s before that", t.id, now, stamp(t.due), shown)
	}
	counter := t.counter
	m.put(t, shown, at, 0)
	t.counter = counter
	return true
}
