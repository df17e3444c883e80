package branch

import (
	"cmp"
	"slices"
	"time"

	"callerd/internal/queue"
)

// model is a hall as a child would play it with cards: slices, maps and plain loops, no lock, no record. It decides by
// the written rules alone what each command must answer.
type model struct {
	now, last  time.Time
	end        time.Time // of the business day
	day        int       // counted from the first
	tickets    map[queue.TicketID]*card
	issued     map[queue.CategoryID]uint32
	serving    map[queue.CategoryID]uint32
	desks      map[queue.CounterID]*desk
	entry      int // order of entering the lines
	requests   map[queue.RequestID]did
	admitted   time.Time // since when leases run
	today      queue.Day
	categories []queue.CategoryID
}

// card is a ticket.
type card struct {
	id       queue.TicketID
	day      int
	state    queue.State
	counter  queue.CounterID
	category queue.CategoryID
	entry    int
	calls    int
	carried  bool // being served when its day, or the last one, turned
}

// desk is a counter.
type desk struct {
	open, paused bool
	token        string
	epoch        uint64
	lease        time.Time
	categories   []queue.CategoryID
	rule         queue.Rule
	current      *card
	held         []*card
}

// did is what a request did, by its fingerprint in words.
type did struct {
	what      string
	at        time.Time
	ticket    *card // that of the last verb
	completed *card
	epoch     uint64
}

// at is the time of the next record.
func (m *model) at() time.Time {
	if m.now.Before(m.last) {
		return m.last
	}
	return m.now
}

// turn opens another business day if the time has come. In Shanghai every day has 24 hours.
func (m *model) turn() {
	if m.at().Before(m.end) {
		return
	}
	m.last = m.at()
	local := m.last.In(shanghai)
	m.today = queue.DayOf(local.Date())
	m.end = time.Date(local.Year(), local.Month(), local.Day()+1, 0, 0, 0, 0, shanghai)
	m.day++
	for id, c := range m.tickets {
		if !c.state.Final() && c.state != queue.Serving {
			c.state = queue.Expired
		}
		c.carried = c.state == queue.Serving
		if m.day-c.day > 1 && !c.carried {
			delete(m.tickets, id)
		}
	}
	for _, d := range m.desks {
		d.held = nil
		if d.current != nil && d.current.state != queue.Serving {
			d.current = nil
		}
	}
	clear(m.issued)
	clear(m.serving)
}

// line returns who waits in a category, first come first.
func (m *model) line(id queue.CategoryID) (line []*card) {
	for _, c := range m.tickets {
		if c.category == id && c.state == queue.Waiting {
			line = append(line, c)
		}
	}
	slices.SortFunc(line, func(a, b *card) int { return cmp.Compare(a.entry, b.entry) })
	return line
}

// choose returns who is called next at a desk.
func (m *model) choose(d *desk) (chosen *card) {
	for _, id := range d.categories {
		line := m.line(id)
		switch {
		case len(line) == 0:
		case d.rule == queue.Priority:
			return line[0]
		case chosen == nil || line[0].entry < chosen.entry:
			chosen = line[0]
		}
	}
	return chosen
}

// session returns the desk of a token that is on, with its lease renewed; nil: the token is stale.
func (m *model) session(token string) *desk {
	for _, d := range m.desks {
		if d.open && d.token == token {
			d.lease = m.now.Add(DefaultLease)
			return d
		}
	}
	return nil
}

// seen looks a request up: the refusal of a reused one, or what it did.
func (m *model) seen(r Request, what string) (did, bool, error) {
	e, ok := m.requests[r.ID]
	if !ok || m.at().Sub(e.at) > 24*time.Hour {
		return did{}, false, nil
	}
	if e.what != what {
		return did{}, false, ErrRequestReused
	}
	return e, true, nil
}

// record notes that a request did something.
func (m *model) record(r Request, e did) {
	m.last = m.at()
	e.at = m.last
	m.requests[r.ID] = e
}

// expire ends what is due.
func (m *model) expire() {
	m.turn()
	for _, d := range m.desks {
		begin := m.admitted.Add(DefaultLease)
		if !d.open || d.lease.After(m.now) || begin.After(m.now) {
			continue
		}
		if c := d.current; c != nil {
			d.current = nil
			if c.state == queue.Called {
				c.state = queue.Waiting // at its place
			} else {
				c.state = queue.Held
				d.held = append(d.held, c)
			}
		}
		d.open, d.paused = false, false
		m.last = m.at()
	}
}

// leave takes a card from the desk where it is.
func (m *model) leave(c *card) {
	for _, d := range m.desks {
		if d.current == c {
			d.current = nil
		}
		d.held = slices.DeleteFunc(d.held, func(h *card) bool { return h == c })
	}
}
