package branch

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"callerd/internal/queue"
)

// model is a hall as a child would play it with cards: slices, maps and plain loops, no lock, no record. It decides by
// the written rules alone what each command must answer.
type model struct {
	now, clock, last time.Time // the wall clock, the hall's own, and that of the newest record
	opened           time.Time // by the wall clock: since when leases run
	end              time.Time // of the business day
	today            queue.Day
	used             map[queue.Day]bool
	day              int // counted from the first
	config           Config
	tickets          map[queue.TicketID]*card
	lines            map[place][]*card
	issued, serving  map[queue.CategoryID]uint32
	back             map[queue.CategoryID]uint32 // places in the quota that came back
	persons          map[string]uint32
	desks            map[queue.CounterID]*desk
	saved            map[string][]int64
	requests         map[queue.RequestID]did
	things           map[queue.ResourceName]*thing
	fence            uint64
}

// place is a line: a lane of a category, or what waits for one counter.
type place struct {
	category queue.CategoryID
	lane     queue.Lane
	counter  queue.CounterID
}

// card is a ticket.
type card struct {
	id        queue.TicketID
	day       int
	state     queue.State
	counter   queue.CounterID
	category  queue.CategoryID
	priority  queue.PriorityReason
	bound     queue.CounterID
	key       queue.OrderKey // as the hall says; its place in the line is the model's own
	first     int64          // entry, as the hall says
	entered   time.Time
	overtaken uint32
	calls     int
	told      int // announcements since it was summoned
	summoned  time.Time
	deadline  time.Time
	within    time.Duration // what the policy was when the deadline was set
	look      time.Time     // when the deadline is looked at
}

// desk is a counter.
type desk struct {
	id           queue.CounterID
	open, paused bool
	token        string
	epoch        uint64
	lease        time.Time
	categories   []queue.CategoryID
	weights      []uint32
	rule         queue.Rule
	current      *card
	held         []*card
}

// thing is a shared resource.
type thing struct {
	configured bool
	counter    queue.CounterID
	fence      uint64
	until      time.Time
	ttl        time.Duration
}

// did is what a request did, by its fingerprint in words.
type did struct {
	what      string
	at        time.Time
	day       int
	ticket    *card // that of the last verb
	completed *card
	epoch     uint64
	call      *called
}

// called is why a ticket was called.
type called struct {
	rule      queue.Rule
	overtaken uint32
	passed    int
	waited    time.Duration
}

func newModel(c Config) *model {
	m := &model{now: morning, clock: morning, opened: morning, used: map[queue.Day]bool{}, config: c, tickets: map[queue.TicketID]*card{},
		lines: map[place][]*card{}, issued: map[queue.CategoryID]uint32{}, serving: map[queue.CategoryID]uint32{}, back: map[queue.CategoryID]uint32{},
		persons: map[string]uint32{}, desks: map[queue.CounterID]*desk{}, saved: map[string][]int64{}, requests: map[queue.RequestID]did{}, things: map[queue.ResourceName]*thing{}}
	for _, c := range c.Counters {
		m.desks[c.ID] = &desk{id: c.ID, categories: c.Categories, rule: c.Rule}
	}
	m.turn()
	m.reload(c)
	return m
}

// at is the time of the next record.
func (m *model) at() time.Time {
	if m.clock.Before(m.last) {
		return m.last
	}
	return m.clock
}

// step moves the wall clock. The hall's follows by the rules: at once, at half speed, or not at all.
func (m *model) step(d time.Duration) {
	m.now = m.now.Add(d)
	passed := max(d, 0)
	switch jump := m.now.Sub(m.clock.Add(passed)); {
	case jump > time.Hour || jump < -time.Hour:
		m.clock = m.clock.Add(passed)
	case jump >= 0:
		m.clock = m.now
	default:
		if m.clock = m.clock.Add(passed / 2); m.clock.Before(m.now) {
			m.clock = m.now
		}
	}
}

// turn opens another business day if the time has come.
func (m *model) turn() {
	if !m.at().Before(m.end) {
		run := m.today.Run
		if run > 0 { // after an accepted clock any date may have been used before
			run++
		}
		m.openDay(run)
	}
}

// openDay opens a day. In Shanghai every day has 24 hours.
func (m *model) openDay(run int32) {
	m.last = m.at()
	local := m.last.In(shanghai)
	m.today = queue.DayOf(local.Date())
	m.today.Run = run
	if m.used[m.today] {
		panic(fmt.Sprintf("%v comes twice", m.today))
	}
	m.used[m.today] = true
	m.end = time.Date(local.Year(), local.Month(), local.Day()+1, 0, 0, 0, 0, shanghai)
	m.day++
	for id, c := range m.tickets {
		if !c.state.Final() && c.state != queue.Serving {
			c.state, c.bound, c.deadline, c.look = queue.Expired, 0, time.Time{}, time.Time{}
		}
		if m.day-c.day > 1 && c.state != queue.Serving {
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
	clear(m.back)
	clear(m.persons)
	clear(m.lines)
}

// accept takes a wall clock far behind for the right one.
func (m *model) accept() {
	m.replay()
	by := m.now.Sub(m.last)
	for id, e := range m.requests {
		e.at = e.at.Add(by)
		m.requests[id] = e
	}
	for _, x := range m.things {
		if x.counter != 0 {
			x.until = x.until.Add(by)
		}
	}
	m.last, m.clock = m.now, m.now
	m.openDay(m.today.Run + 1)
}

// replay forgets the requests from before the two last days, however short those were.
func (m *model) replay() {
	maps.DeleteFunc(m.requests, func(_ queue.RequestID, e did) bool { return e.day < m.day-1 })
}

// restart says what a start at this time finds.
func (m *model) restart() {
	m.replay()
	m.opened = m.now
	if m.clock = m.now; m.clock.Before(m.last) {
		m.clock = m.last
	}
	m.turn()
	m.last = m.at()
	for _, d := range m.desks {
		d.lease = time.Time{}
	}
	for _, c := range m.tickets {
		c.look = c.deadline // when to look again was in memory only
	}
}

// reload takes another configuration. Only resources are records.
func (m *model) reload(c Config) {
	m.turn()
	m.config = c
	named := map[queue.ResourceName]bool{}
	for _, r := range c.Resources {
		named[r.Name] = true
		if x := m.things[r.Name]; x == nil {
			m.things[r.Name] = &thing{}
		}
	}
	for name, x := range m.things {
		if x.configured != named[name] {
			x.configured = named[name]
			m.last = m.at()
		}
	}
}

func (m *model) policy(c *card) Policy { return m.config.Policies[c.category] }

func (c *card) line() place {
	if c.bound != 0 {
		return place{counter: c.bound}
	}
	return place{category: c.category, lane: c.priority.Lane()}
}

// become changes a card's state; the policy says for how long.
func (m *model) become(c *card, s queue.State) {
	c.state = s
	p := m.policy(c)
	within := map[queue.State]time.Duration{queue.Called: p.NoShowAfter, queue.Reserved: p.CheckInWithin, queue.Held: p.HeldWithin, queue.NoShow: p.RequeueWithin}[s]
	c.within = within
	if c.deadline = (time.Time{}); within != 0 {
		c.deadline = m.at().Add(within)
	}
	c.look = c.deadline
}

// insert puts a card into its line at a place.
func (m *model) insert(c *card, to Place) {
	m.become(c, queue.Waiting)
	line := m.lines[c.line()]
	behind := func(k queue.OrderKey) int {
		if i := slices.IndexFunc(line, func(o *card) bool { return k.Before(o.key) }); i >= 0 {
			return i
		}
		return len(line)
	}
	i := len(line)
	switch to.Where {
	case queue.Front:
		i = 0
	case queue.After:
		i = min(int(to.After), len(line))
	case queue.ByIssue:
		i = behind(queue.OrderKey{Entry: c.first})
	case queue.Kept:
		i = behind(c.key)
	}
	if to.Where != queue.Kept {
		c.entered, c.overtaken = m.at(), 0
	}
	m.lines[c.line()] = slices.Insert(line, i, c)
}

// leave takes a card from where it is.
func (m *model) leave(c *card) {
	isIt := func(o *card) bool { return o == c }
	if c.state == queue.Waiting {
		m.lines[c.line()] = slices.DeleteFunc(m.lines[c.line()], isIt)
	}
	c.bound = 0
	for _, d := range m.desks {
		if d.current == c {
			d.current = nil
		}
		d.held = slices.DeleteFunc(d.held, isIt)
	}
}

// finish ends a card, or makes it a no-show.
func (m *model) finish(c *card, s queue.State) {
	if c.state == queue.Reserved && c.id.Day == m.today && s.Final() {
		m.back[c.id.Category]++
	}
	m.leave(c)
	m.become(c, s)
}

// choose returns who is called next at a desk, and by which rule.
func (m *model) choose(d *desk) (*card, queue.Rule) {
	if own := m.lines[place{counter: d.id}]; len(own) > 0 {
		return own[0], queue.Bound
	}
	var overdue, chosen *card
	var firsts []*card // of the categories, nil for nobody
	for _, id := range d.categories {
		p := m.config.Policies[id]
		var first *card
		for _, lane := range []queue.Lane{queue.PriorityLane, queue.RegularLane} {
			for _, c := range m.lines[place{category: id, lane: lane}] {
				if (p.MaxOvertakes > 0 && c.overtaken >= p.MaxOvertakes || p.MaxWait > 0 && m.at().Sub(c.entered) >= p.MaxWait) && (overdue == nil || c.key.Before(overdue.key)) {
					overdue = c
				}
				if first == nil {
					first = c
				}
			}
		}
		firsts = append(firsts, first)
	}
	if overdue != nil {
		return overdue, queue.Overdue
	}
	switch d.rule {
	case queue.Priority:
		for _, c := range firsts {
			if c != nil {
				return c, d.rule
			}
		}
	case queue.Ratio:
		return m.ratio(d, firsts), d.rule
	}
	for _, c := range firsts {
		if c != nil && (chosen == nil || c.priority.Lane() > chosen.priority.Lane() || c.priority.Lane() == chosen.priority.Lane() && c.key.Before(chosen.key)) {
			chosen = c
		}
	}
	return chosen, d.rule
}

// ratio lets each category with customers save its weight; the richest pays for all.
func (m *model) ratio(d *desk, firsts []*card) *card {
	list := fmt.Sprint(d.categories, d.weights)
	saved := make([]int64, len(firsts))
	copy(saved, m.saved[list])
	best, sum := -1, int64(0)
	for i, c := range firsts {
		if c == nil {
			saved[i] = 0
			continue
		}
		saved[i] += int64(d.weights[i])
		sum += int64(d.weights[i])
		if best < 0 || saved[i] > saved[best] {
			best = i
		}
	}
	if best < 0 {
		return nil
	}
	saved[best] -= sum
	m.saved[list] = saved
	return firsts[best]
}

// session returns the desk of a token that is on, with its lease renewed; nil: the token is stale.
func (m *model) session(token string) *desk {
	for _, d := range m.desks {
		if d.open && d.token == token {
			m.renew(d)
			return d
		}
	}
	return nil
}

// renew lets a session live on. Until a console is heard of, after a start, its called ticket is the lease's.
func (m *model) renew(d *desk) {
	if c := d.current; c != nil && d.lease.Add(-DefaultLease).Before(m.opened) {
		c.look = c.deadline
	}
	d.lease = m.now.Add(DefaultLease)
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
	e.at, e.day = m.last, m.day
	m.requests[r.ID] = e
}

// expire ends what is due: the day, leases, tickets' states, grants.
func (m *model) expire() {
	m.turn()
	for n := queue.CounterID(1); n <= 4; n++ {
		d := m.desks[n]
		if !d.open || d.lease.After(m.now) || m.opened.Add(DefaultLease).After(m.now) {
			continue
		}
		if c := d.current; c != nil {
			serving := c.state == queue.Serving
			m.leave(c)
			if serving {
				m.become(c, queue.Held)
				d.held = append(d.held, c)
			} else {
				m.insert(c, Place{Where: queue.Kept})
			}
		}
		m.close(d)
	}
	for {
		var next *card
		for _, c := range m.tickets {
			if !c.look.IsZero() && !c.look.After(m.at()) && (next == nil || cmp.Or(c.look.Compare(next.look), int(c.id.N)-int(next.id.N)) < 0) {
				next = c
			}
		}
		if next == nil {
			break
		}
		m.lookAt(next)
	}
	for _, x := range m.things {
		if x.counter != 0 && !m.grantEnd(x).After(m.at()) {
			x.counter = 0
			m.last = m.at()
		}
	}
}

func (m *model) grantEnd(x *thing) time.Time {
	if fresh := m.at().Add(m.opened.Add(x.ttl).Sub(m.now)); fresh.After(x.until) {
		return fresh
	}
	return x.until
}

// lookAt ends a card's state if its deadline has passed.
func (m *model) lookAt(c *card) {
	if m.at().Before(c.deadline) {
		c.look = c.deadline
		return
	}
	if c.state != queue.Called {
		m.finish(c, queue.Expired)
		m.last = m.at()
		return
	}
	if rest := m.opened.Add(c.within).Sub(m.now); rest > 0 {
		c.look = m.at().Add(rest)
	} else if m.desks[c.counter].lease.Add(-DefaultLease).Before(m.opened) { // the lease decides
		c.look = m.at().Add(max(m.opened.Add(DefaultLease).Sub(m.now), 250*time.Millisecond))
	} else {
		m.finish(c, queue.NoShow)
		m.last = m.at()
	}
}

// close ends a session: who waits for the counter goes to the lines, what it has is free.
func (m *model) close(d *desk) {
	own := m.lines[place{counter: d.id}]
	delete(m.lines, place{counter: d.id})
	for _, c := range own {
		c.bound = 0
		m.insert(c, Place{Where: queue.Kept})
	}
	for _, x := range m.things {
		if x.counter == d.id {
			x.counter = 0
		}
	}
	d.open, d.paused = false, false
	m.last = m.at()
}
