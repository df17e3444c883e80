package judge

import (
	"maps"
	"slices"

	"callerd/cmd/kiosk-sim/internal/history"
)

// grant is some resources lent to a counter together.
type grant struct {
	names   []string
	counter uint32
	fence   uint64
	until   int64
	over    bool // given back, taken back, or seen in another hand
	op      *history.Op
}

// desk is the shared resources in the model.
type desk struct {
	last   map[string]*grant // newest of each resource
	grants map[uint64]*grant // by fence
	fence  uint64            // the largest
}

func newDesk() *desk { return &desk{last: map[string]*grant{}, grants: map[uint64]*grant{}} }

// closed ends all that a counter had: its session is over.
func (d *desk) closed(counter uint32) {
	for _, g := range d.last {
		g.over = g.over || g.counter == counter
	}
}

// lent says whether a grant is surely on at a moment.
func (g *grant) lent(now int64) bool {
	return g != nil && !g.over && now != history.Never && now+slack < g.until
}

// deskRecord carries out one request about resources.
func (m *model) deskRecord(op *history.Op, at uint64, placed bool) {
	c := m.counter(op.Counter)
	s := &scope{at: at, end: op.End, counters: []uint32{op.Counter}, hazy: !placed}
	m.live(c, op, s)
	m.verdicts[Desk].Judged++
	if op.Method == "AcquireResources" {
		m.grantTo(op, s, placed)
		return
	}
	g := m.desk.grants[op.Fence]
	if g == nil || g.counter != op.Counter {
		s.hazy = s.hazy || g == nil
		m.fault(Desk, s, describeAll(op), "counter %d had no grant %d at %d, and its command was carried out", op.Counter, op.Fence, at)
		return
	}
	if g.over || op.Start-slack > g.until && m.desk.last[g.names[0]] != g {
		m.fault(Desk, s, describeAll(op, g.op), "grant %d was over at %d, and its command was carried out", op.Fence, at)
	}
	if op.Method == "ReleaseResources" {
		g.over = true
		return
	}
	g.until = max(op.Until, op.Start+op.TTL-slack)
}

// grantTo lends resources: nobody else has them, and the fencing token has grown.
func (m *model) grantTo(op *history.Op, s *scope, placed bool) {
	for _, r := range m.floating { // fences grow: what was lent before and not placed was before
		if r.used || r.method() != "AcquireResources" || r.done.Granted >= op.Granted || r.done == op {
			continue
		}
		m.carryOut(r, s.at)
	}
	d := m.desk
	if op.Granted <= d.fence {
		m.fault(Desk, s, describeAll(op), "the fencing token %d was given at %d after %d", op.Granted, s.at, d.fence)
	}
	d.fence = max(d.fence, op.Granted)
	g := &grant{names: op.Names, counter: op.Counter, fence: op.Granted, until: op.Until, op: op}
	for _, name := range op.Names {
		had := d.last[name]
		if had.lent(op.End) {
			other := &scope{at: s.at, end: s.end, counters: []uint32{op.Counter, had.counter}, names: op.Names, hazy: s.hazy}
			m.fault(Desk, other, describeAll(had.op, op), "%s was lent to counter %d until %s, and at %d to counter %d", name, had.counter, stamp(had.until), s.at, op.Counter)
		}
		if had != nil {
			had.over = true // all or none: who lost one has lost all
		}
		d.last[name] = g
	}
	d.grants[g.fence] = g
}

// deskRefusal: what was refused had to be.
func (m *model) deskRefusal(op *history.Op, s *scope) {
	m.verdicts[Desk].Judged++
	switch op.Reason {
	case "LEASE_LOST":
		g := m.desk.grants[op.Fence]
		if g != nil && g.counter == op.Counter && g.lent(op.End) {
			m.fault(Desk, s, describeAll(op, g.op), "counter %d had the grant %d until %s, and was told at %d that it is lost", op.Counter, op.Fence, stamp(g.until), op.Sequence)
		}
	case "RESOURCE_BUSY", "UNKNOWN_RESOURCE":
	default:
		m.fault(Explained, s, describeAll(op), "%s is no reason to refuse %s", op.Reason, op.Method)
	}
}

// deskList compares who has what, and looks that what was lent together is held together.
func (m *model) deskList(op *history.Op, s *scope) {
	together := map[uint64][]string{}
	for _, e := range op.Resources {
		m.verdicts[Desk].Judged++
		g := m.desk.last[e.Name]
		if g == nil {
			if e.Fence == 0 {
				continue
			}
			g = &grant{over: e.Counter == 0}
		}
		s.counters, s.names = []uint32{g.counter, e.Counter}, []string{e.Name}
		if e.Counter != 0 {
			together[e.Fence] = append(together[e.Fence], e.Name)
		}
		switch {
		case g.fence == 0: // from before
		case e.Fence < g.fence:
			m.fault(Desk, s, describeAll(op, g.op), "%s was lent with the token %d before %d, told was %d", e.Name, g.fence, op.Sequence, e.Fence)
		case e.Fence > g.fence:
			m.fault(Desk, s, describeAll(op, g.op), "%s was lent last with the token %d at %d, told was %d", e.Name, g.fence, op.Sequence, e.Fence)
		case e.Counter != 0 && (g.over || e.Counter != g.counter):
			m.fault(Desk, s, describeAll(op, g.op), "%s was not lent to counter %d at %d, and was told to be", e.Name, e.Counter, op.Sequence)
		case e.Counter == 0 && g.lent(op.End):
			m.fault(Desk, s, describeAll(op, g.op), "%s was lent to counter %d at %d until %s, and was told to be free", e.Name, g.counter, op.Sequence, stamp(g.until))
		}
	}
	for _, fence := range slices.Sorted(maps.Keys(together)) {
		g := m.desk.grants[fence]
		if g == nil {
			continue
		}
		s.counters, s.names = []uint32{g.counter}, g.names
		all := slices.Sorted(slices.Values(g.names))
		if slices.Sort(together[fence]); !slices.Equal(all, together[fence]) {
			m.fault(Desk, s, describeAll(op, g.op), "%v were lent together, and of them %v are held at %d", all, together[fence], op.Sequence)
		}
	}
}
