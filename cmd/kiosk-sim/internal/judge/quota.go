package judge

import "callerd/cmd/kiosk-sim/internal/history"

// used is how many places of a line's quota are taken at least and at most by a moment: a reservation that ran out may have
// given its place back unseen.
func (l *line) used(end int64) (least, most int) {
	most = l.issued() - l.unused
	least = most
	for _, t := range l.reserved {
		if t.over(end) {
			least--
		}
	}
	return least, most
}

// quota: a number was handed out, so there was room for it. It is in the series already, and not counted yet.
func (m *model) quota(op *history.Op, l *line, s *scope, placed bool) {
	p := m.policy(l.category)
	if p.MaxPerDay == 0 && (p.MaxPerPerson == 0 || op.Person == "") {
		return
	}
	v := m.verdicts[Quota]
	v.Judged++
	s = &scope{at: s.at, end: s.end, lines: s.lines, hazy: !placed}
	if p.MaxPerDay > 0 {
		// What was there before may have given places back, and nobody knows how many.
		if least, _ := l.used(op.End); least-l.old > p.MaxPerDay {
			m.fault(Quota, s, describeAll(op), "%s handed out %d of its %d numbers a day by %d", l.category, least, p.MaxPerDay, s.at)
		}
	}
	if n := l.persons[op.Person]; p.MaxPerPerson > 0 && op.Person != "" && n >= p.MaxPerPerson {
		m.fault(Quota, s, describeAll(op), "%s has %d numbers of %s, and got one more at %d; the limit is %d", op.Person, n, l.category, s.at, p.MaxPerPerson)
	}
}

// noRoom: a number was refused, so there was no room.
func (m *model) noRoom(op *history.Op) {
	if m.policies == nil || op.Reason != "QUOTA_EXHAUSTED" && op.Reason != "PERSON_LIMIT" {
		return // exhausted or closed: the clients cannot know
	}
	l, p := m.today(op.Category), m.policy(op.Category)
	m.verdicts[Quota].Judged++
	s := &scope{at: op.Sequence, end: op.End, lines: []*line{l}, hazy: l.old > 0 && op.Reason == "PERSON_LIMIT"}
	_, most := l.used(op.End)
	if op.Reason == "QUOTA_EXHAUSTED" && (p.MaxPerDay == 0 || most < p.MaxPerDay) {
		m.fault(Quota, s, describeAll(op), "%s had handed out %d at %d, and the quota of %d was said to be exhausted", l.category, most, op.Sequence, p.MaxPerDay)
	}
	if op.Reason == "PERSON_LIMIT" && (p.MaxPerPerson == 0 || l.persons[op.Person] < p.MaxPerPerson) {
		m.fault(Quota, s, describeAll(op), "%s had %d numbers of %s at %d, and was said to be at the limit of %d", op.Person, l.persons[op.Person], l.category, op.Sequence, p.MaxPerPerson)
	}
}
