package judge

import (
	"fmt"
	"strings"

	"callerd/cmd/kiosk-sim/internal/history"
)

// credit is what the categories of one list have saved up under the rule ratio.
type credit struct {
	saved []int64
	blur  bool // an unseen call may have changed it
}

// creditOf returns the credit of a counter's list of categories and weights: one for all counters with the same list.
func (m *model) creditOf(c *counter) *credit {
	var b strings.Builder
	for i, id := range c.categories {
		fmt.Fprintf(&b, "%s=%d ", id, c.weight(i))
	}
	e := m.credits[b.String()]
	if e == nil {
		e = &credit{saved: make([]int64, len(c.categories))}
		m.credits[b.String()] = e
	}
	return e
}

func (c *counter) weight(i int) int64 {
	if i < len(c.weights) {
		return int64(c.weights[i])
	}
	return 1
}

// choice is who must be called next, by which rule, and what it costs.
type choice struct {
	t      *ticket
	rule   string
	saved  []int64 // for the rule ratio
	unsure bool    // by the clocks somebody may be overdue, or not be yet
}

// choose is the order of the house: who waits for this very counter; then who is overdue, by key; then the rule. now is when
// the call was made.
func (m *model) choose(c *counter, now moment) choice {
	if len(c.own) > 0 {
		return choice{t: c.own[0], rule: "bound"}
	}
	lines := m.serves(c)
	late, unsure := m.overdue(lines, now)
	if late != nil {
		return choice{t: late, rule: "overdue", unsure: unsure}
	}
	out := choice{rule: c.rule, unsure: unsure}
	switch c.rule {
	case "priority":
		for _, l := range lines {
			if out.t = l.head(); out.t != nil {
				break
			}
		}
	case "ratio":
		out.t, out.saved = m.ratio(c, lines)
	default:
		for _, l := range lines {
			t := l.head()
			if t != nil && (out.t == nil || t.priority && !out.t.priority || t.priority == out.t.priority && t.key.before(out.t.key)) {
				out.t = t
			}
		}
	}
	return out
}

// overdue returns the first by key who was passed over too often or waits too long; of two with one key that of the priority
// lane.
func (m *model) overdue(lines []*line, now moment) (first *ticket, unsure bool) {
	if m.policies == nil {
		return nil, false
	}
	for _, l := range lines {
		p := m.policy(l.category)
		if p.MaxOvertakes == 0 && p.MaxWait == 0 {
			continue
		}
		for _, lane := range []lane{l.lanes[1], l.lanes[0]} {
			for _, t := range lane {
				if first != nil && !t.key.before(first.key) {
					break
				}
				often := p.MaxOvertakes > 0 && int(t.overtaken) >= p.MaxOvertakes
				long := p.MaxWait > 0 && t.entered.lo <= now.hi-int64(p.MaxWait)
				if often || long && t.entered.hi <= now.lo-int64(p.MaxWait) {
					first = t
					break
				}
				unsure = unsure || long
			}
		}
	}
	return first, unsure
}

// ratio is a smooth weighted turn: every category in which somebody waits saves its weight, the richest is called and pays
// what all of them saved now; an empty one has nothing.
func (m *model) ratio(c *counter, lines []*line) (*ticket, []int64) {
	saved, sum, rich := make([]int64, len(lines)), int64(0), -1
	copy(saved, m.creditOf(c).saved)
	for i, l := range lines {
		if l.head() == nil {
			saved[i] = 0
			continue
		}
		saved[i] += c.weight(i)
		sum += c.weight(i)
		if rich < 0 || saved[i] > saved[rich] {
			rich = i
		}
	}
	if rich < 0 {
		return nil, nil
	}
	saved[rich] -= sum
	return lines[rich].head(), saved
}

// callTime is when a call was made: exactly, if the answer tells it, else between its start and its end.
func callTime(op *history.Op) moment {
	if op.Got != nil && op.Got.Calls == 1 && op.Got.Called != 0 {
		return moment{op.Got.Called, op.Got.Called}
	}
	if op.End == history.Never {
		return moment{op.Start - slack, history.Never}
	}
	return moment{op.Start - slack, op.End + slack}
}
