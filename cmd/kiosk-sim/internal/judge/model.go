package judge

import "slices"

// counter is a teller's desk in the model.
type counter struct {
	number       uint32
	known        bool // its session is known, not only its state
	open, paused bool
	epoch        uint64
	categories   []string
	rule         string
	current      *ticket
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
	// floating requests happened somewhere in (lo, hi]; open ones may have happened after lo. Both are
	// kept until they are used.
	floating []*request
	open     []*request
	verdicts map[string]*Verdict
}

func newModel() *model {
	m := &model{lines: map[string]*line{}, counters: map[uint32]*counter{}, verdicts: map[string]*Verdict{}}
	for _, name := range []string{FIFO, OneCounter, Explained, Board} {
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
				if t != nil && (t.state == "waiting" || t.state == "called" || t.state == "held" || t.state == "no_show") {
					l.set(t, "expired")
					t.version = 0
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

// put sets a ticket's state and whose it is, at sequence at.
func (m *model) put(t *ticket, state string, at uint64, by uint32) {
	m.release(t)
	t.line.set(t, state)
	t.version = at
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
