package judge

import (
	"slices"

	"callerd/cmd/kiosk-sim/internal/history"
)

// counter is a teller's desk in the model.
type counter struct {
	number       uint32
	known        bool // its session is known, not only its state
	open, paused bool
	epoch        uint64
	categories   []string
	rule         string
	weights      []uint32
	current      *ticket
	own          lane // who waits for this very counter
	vague        bool // an unseen step may have called somebody to it
	unsure       bool // an unseen step took a ticket away, which may be held here
	held         []*ticket
	lease        int64 // ns
	used         int64 // start of the last request of the session
}

// model is a naive hall: what must be true after every record, one after the other.
type model struct {
	day      string
	lines    map[string]*line // by day and category
	counters map[uint32]*counter
	credits  map[string]*credit
	desk     *desk
	policies *history.Policies // nil: not known
	clock    int64             // it is at least so late, ns
	// floating requests happened somewhere in (lo, hi]; open ones may have happened after lo. Both are
	// kept until they are used.
	floating []*request
	open     []*request
	verdicts map[string]*Verdict
}

var replayed = []string{FIFO, Reasons, Bound, OneCounter, Explained, Quota, Deadlines, Desk, Board}

func newModel() *model {
	m := &model{lines: map[string]*line{}, counters: map[uint32]*counter{}, credits: map[string]*credit{}, desk: newDesk(), verdicts: map[string]*Verdict{}}
	for _, name := range replayed {
		m.verdicts[name] = &Verdict{Check: name, Status: Pass}
	}
	return m
}

func (m *model) line(day, category string) *line {
	if day > m.day {
		m.turn(day)
	}
	key := day + "/" + category
	l := m.lines[key]
	if l == nil {
		l = newLine(day, category)
		m.lines[key] = l
	}
	return l
}

func (m *model) today(category string) *line { return m.line(m.day, category) }

// turn opens a business day: what was open expires, who is being served stays.
func (m *model) turn(day string) {
	if m.day != "" {
		for _, l := range m.lines {
			for _, t := range l.tickets {
				if t != nil && slices.Contains([]string{"waiting", "called", "held", "no_show", "reserved"}, t.state) {
					m.set(t, "expired")
					t.version, t.bound, t.due = 0, 0, 0
				}
			}
		}
		for _, c := range m.counters {
			c.held = nil
			if c.current != nil && c.current.state != "serving" {
				c.current = nil
			}
		}
	}
	m.day = day
}

func (m *model) counter(n uint32) *counter {
	c := m.counters[n]
	if c == nil {
		c = &counter{number: n}
		m.counters[n] = c
	}
	return c
}

func (m *model) find(id string) *ticket {
	day, category, n := parseID(id)
	if n == 0 {
		return nil
	}
	if l := m.lines[day+"/"+category]; l != nil {
		return l.find(n)
	}
	return nil
}

// serves returns today's lines of a counter, in the order of its session.
func (m *model) serves(c *counter) (lines []*line) {
	for _, id := range c.categories {
		lines = append(lines, m.today(id))
	}
	return lines
}

// laneOf is where a ticket waits or would wait.
func (m *model) laneOf(t *ticket) *lane {
	if t.bound != 0 {
		return &m.counter(t.bound).own
	}
	if t.priority {
		return &t.in.lanes[1]
	}
	return &t.in.lanes[0]
}

// set changes a ticket's state alone, and takes it out of its line or puts it there by its key.
func (m *model) set(t *ticket, state string) {
	if t.state == "waiting" {
		m.laneOf(t).leave(t)
	}
	if t.state == "reserved" {
		t.home.reserved = slices.DeleteFunc(t.home.reserved, func(o *ticket) bool { return o == t })
		if state == "cancelled" || state == "expired" {
			t.home.unused++
		}
	}
	t.state = state
	switch state {
	case "waiting":
		m.laneOf(t).enter(t)
	case "reserved":
		t.home.reserved = append(t.home.reserved, t)
	}
}

// put sets a ticket's state and whose it is, at sequence at.
func (m *model) put(t *ticket, state string, at uint64, by uint32) {
	m.release(t)
	m.set(t, state)
	t.version, t.due, t.dated = at, m.dueOf(t), false
	if state != "waiting" {
		t.bound = 0
	}
	switch state {
	case "gone":
		t.vague = true
	case "called", "serving":
		c := m.counter(by)
		c.current, t.counter = t, by
	case "held":
		c := m.counter(by)
		c.held, t.counter = append(c.held, t), by
	}
}

// release takes a ticket from the counter where it is.
func (m *model) release(t *ticket) {
	c := m.counters[t.counter]
	if c == nil {
		return
	}
	if c.current == t {
		c.current = nil
	}
	c.held = slices.DeleteFunc(c.held, func(h *ticket) bool { return h == t })
}

// ahead counts who is called before a waiting ticket, if no counter chooses otherwise.
func (m *model) ahead(t *ticket) int {
	if t.state != "waiting" {
		return 0
	}
	n := m.laneOf(t).ahead(t.key)
	if t.bound == 0 && !t.priority {
		n += len(t.in.lanes[1])
	}
	return n
}

// policy is a category's, the zero one when none is known.
func (m *model) policy(category string) history.Policy {
	if m.policies == nil {
		return history.Policy{}
	}
	return m.policies.Of(category)
}
