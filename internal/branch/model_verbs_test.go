package branch

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"callerd/internal/queue"
)

// answer is what a command must answer: a refusal, or tickets as they are then.
type answer struct {
	err               error
	replayed          bool
	ticket, completed *card
	call              *called
	epoch             uint64
}

func (e did) again() answer { return answer{nil, true, e.ticket, e.completed, e.call, e.epoch} }

// ask begins every command: another day, the session, the request id.
func (m *model) ask(r Request, token, what string) (d *desk, key string, done bool, a answer) {
	m.turn()
	d = m.session(token)
	key = strings.Join([]string{what, m.counterOf(token)}, " @")
	if e, again, err := m.seen(r, key); again || err != nil {
		if a = (answer{err: err}); again {
			a = e.again()
		}
		return d, key, true, a
	}
	if d == nil && token != atKiosk {
		return d, key, true, answer{err: ErrStaleSession}
	}
	return d, key, false, answer{}
}

// atKiosk is the token of commands that have none.
const atKiosk = "kiosk"

func (m *model) issue(r IssueRequest) answer {
	_, key, done, a := m.ask(r.Request, atKiosk, fmt.Sprint("issue ", r.Category, r.Priority, r.Person, r.Reserve))
	if done {
		return a
	}
	p := m.config.Policies[r.Category]
	person := string(r.Category) + "/" + r.Person
	hour := m.at().In(shanghai).Hour()
	switch {
	case r.Category == "vip":
		return answer{err: ErrUnknownCategory}
	case !p.Hours.always() && (hour < 9 || hour >= 17):
		return answer{err: ErrCategoryClosed}
	case p.MaxPerDay != 0 && m.issued[r.Category]-m.back[r.Category] >= p.MaxPerDay:
		return answer{err: ErrQuotaExhausted}
	case p.MaxPerPerson != 0 && r.Person != "" && m.persons[person] >= p.MaxPerPerson:
		return answer{err: ErrPersonLimit}
	}
	m.issued[r.Category]++
	m.persons[person]++
	c := &card{id: queue.TicketID{Day: m.today, Category: r.Category, N: m.issued[r.Category]}, day: m.day, category: r.Category, priority: r.Priority}
	m.tickets[c.id] = c
	if r.Reserve {
		m.become(c, queue.Reserved)
	} else {
		m.insert(c, Place{})
	}
	m.record(r.Request, did{what: key, ticket: c})
	return answer{ticket: c}
}

// after is the design's table, for the verbs that do not say where a ticket goes.
var after = map[string]map[queue.State]queue.State{
	"call":     {queue.Waiting: queue.Called},
	"recall":   {queue.Called: queue.Called},
	"start":    {queue.Called: queue.Serving},
	"complete": {queue.Called: queue.Completed, queue.Serving: queue.Completed, queue.Held: queue.Completed},
	"no-show":  {queue.Called: queue.NoShow},
	"hold":     {queue.Called: queue.Held, queue.Serving: queue.Held},
	"resume":   {queue.Held: queue.Called},
	"requeue":  {queue.Called: queue.Waiting, queue.Serving: queue.Waiting, queue.Held: queue.Waiting, queue.NoShow: queue.Waiting},
	"transfer": {queue.Waiting: queue.Waiting, queue.Called: queue.Waiting, queue.Serving: queue.Waiting, queue.Held: queue.Waiting},
	"cancel":   {queue.Reserved: queue.Cancelled, queue.Waiting: queue.Cancelled, queue.Called: queue.Cancelled, queue.Held: queue.Cancelled},
	"check in": {queue.Reserved: queue.Waiting},
	"expire":   {queue.Reserved: queue.Expired, queue.Waiting: queue.Expired, queue.Called: queue.Expired, queue.Held: queue.Expired, queue.NoShow: queue.Expired},
}

// customer plays cancel and check in.
func (m *model) customer(r Request, verb string, id queue.TicketID) answer {
	_, key, done, a := m.ask(r, atKiosk, verb+id.String())
	if done {
		return a
	}
	c := m.tickets[id]
	if c == nil {
		return answer{err: ErrUnknownTicket}
	}
	if _, fits := after[verb][c.state]; !fits || verb == "check in" && !c.deadline.IsZero() && !m.at().Before(c.deadline) {
		return answer{err: ErrWrongTicketState}
	}
	if verb == "cancel" {
		m.finish(c, queue.Cancelled)
	} else {
		m.insert(c, Place{})
	}
	m.record(r, did{what: key, ticket: c})
	return answer{ticket: c}
}

func (m *model) open(r OpenRequest) answer {
	m.turn()
	what := fmt.Sprint("open ", r.Counter, r.Categories, r.Rule, r.Weights, r.TakeOver)
	d := m.desks[r.Counter]
	if e, again, err := m.seen(r.Request, what); again || err != nil {
		if again && d.open && d.epoch == e.epoch {
			m.renew(d)
		}
		return answer{err: err, replayed: again, epoch: e.epoch}
	}
	if d.open && r.TakeOver == "" {
		return answer{err: ErrCounterTaken}
	}
	d.open, d.paused, d.categories, d.rule, d.weights = true, false, r.Categories, r.Rule, r.Weights
	m.renew(d)
	d.epoch++
	m.record(r.Request, did{what: what, epoch: d.epoch})
	return answer{epoch: d.epoch}
}

// counterVerb plays pause, resume or one of the ways to close.
func (m *model) counterVerb(r Request, token, verb string) answer {
	d, key, done, a := m.ask(r, token, "counter "+verb)
	if done {
		return a
	}
	c := d.current
	switch {
	case verb == "close" && c != nil:
		return answer{err: ErrCounterBusy}
	case verb == "close and requeue" && c != nil:
		m.leave(c)
		m.insert(c, Place{Where: queue.Kept})
		m.close(d)
	case verb == "close and hold" && c != nil:
		m.leave(c)
		m.become(c, queue.Held)
		d.held = append(d.held, c)
		m.close(d)
	case strings.HasPrefix(verb, "close"):
		m.close(d)
	case d.paused == (verb == "pause"):
		return answer{} // changes nothing, and is not remembered
	default:
		d.paused = verb == "pause"
	}
	m.record(r, did{what: key})
	return answer{}
}

// callNext plays CallNext, or CallTicket if a ticket is given.
func (m *model) callNext(r Request, token string, given *queue.TicketID, complete queue.TicketID) answer {
	d, key, done, a := m.ask(r, token, fmt.Sprint("call ", given, complete))
	if done {
		return a
	}
	var c *card
	rule := queue.Given
	if given != nil {
		if c = m.tickets[*given]; c == nil {
			return answer{err: ErrUnknownTicket}
		}
	}
	switch {
	case complete.IsZero() && d.current != nil:
		return answer{err: ErrCounterBusy}
	case !complete.IsZero() && m.tickets[complete] == nil:
		return answer{err: ErrUnknownTicket}
	case !complete.IsZero() && (d.current == nil || d.current.id != complete):
		return answer{err: ErrTicketMoved}
	case d.paused:
		return answer{err: ErrCounterClosed}
	case c != nil && c.bound != 0 && c.bound != d.id:
		return answer{err: ErrTicketMoved}
	case c != nil && c.state != queue.Waiting:
		return answer{err: ErrWrongTicketState}
	}
	if c == nil {
		c, rule = m.choose(d)
	}
	e := did{what: key, ticket: c, completed: d.current}
	if d.current != nil {
		m.finish(d.current, queue.Completed)
	}
	if c != nil {
		e.call = m.passOver(c, d, rule)
		m.leave(c)
		m.summon(c, d)
		if c.id.Day == m.today {
			m.serving[c.id.Category] = max(m.serving[c.id.Category], c.id.N)
		}
	}
	if c != nil || e.completed != nil {
		m.record(r, e)
	}
	return answer{ticket: c, completed: e.completed, call: e.call}
}

// passOver counts those who stay behind although they came earlier.
func (m *model) passOver(c *card, d *desk, rule queue.Rule) *called {
	why := &called{rule, c.overtaken, 0, m.at().Sub(c.entered)}
	from := slices.Clone(d.categories)
	if c.bound == 0 && !slices.Contains(from, c.category) {
		from = append(from, c.category)
	}
	for _, id := range from {
		for _, lane := range []queue.Lane{queue.RegularLane, queue.PriorityLane} {
			for _, o := range m.lines[place{category: id, lane: lane}] {
				if o.key.Before(c.key) {
					o.overtaken++
					why.passed++
				}
			}
		}
	}
	return why
}

// summon calls a card to a desk.
func (m *model) summon(c *card, d *desk) {
	m.become(c, queue.Called)
	d.current, c.counter, c.summoned, c.told = c, d.id, m.at(), 1
	c.calls++
}

// currentVerb plays a verb on the current ticket.
func (m *model) currentVerb(r Request, token, verb string, id queue.TicketID) answer {
	d, key, done, a := m.ask(r, token, verb+id.String())
	if done {
		return a
	}
	c := m.tickets[id]
	held := verb == "complete" && slices.Contains(d.held, c)
	switch {
	case c == nil:
		return answer{err: ErrUnknownTicket}
	case d.current == nil && !held:
		return answer{err: ErrNoCurrentTicket}
	case d.current != c && !held:
		return answer{err: ErrTicketMoved}
	}
	next, fits := after[verb][c.state]
	p := m.policy(c)
	switch {
	case !fits:
		return answer{err: ErrWrongTicketState}
	case verb == "recall" && p.MaxRecalls != 0 && c.told > int(p.MaxRecalls):
		if !p.NoShowAtLimit {
			return answer{err: ErrRecallLimit}
		}
		next = queue.NoShow
	case verb == "no-show" && (c.told < int(p.MinCalls) || m.at().Sub(c.summoned) < p.MinWait):
		return answer{err: ErrNoShowTooEarly}
	}
	switch next {
	case queue.Called:
		m.become(c, next)
		c.calls++
		c.told++
	case queue.Serving:
		m.become(c, next)
	case queue.Held:
		m.leave(c)
		m.become(c, next)
		d.held = append(d.held, c)
	default:
		m.finish(c, next)
	}
	m.record(r, did{what: key, ticket: c})
	return answer{ticket: c}
}

func (m *model) resume(r Request, token string, id queue.TicketID) answer {
	d, key, done, a := m.ask(r, token, "resume"+id.String())
	if done {
		return a
	}
	c := m.tickets[id]
	switch {
	case c == nil:
		return answer{err: ErrUnknownTicket}
	case d.current != nil:
		return answer{err: ErrCounterBusy}
	case d.paused:
		return answer{err: ErrCounterClosed}
	case c.state != queue.Held:
		return answer{err: ErrWrongTicketState}
	}
	m.leave(c)
	m.summon(c, d)
	m.record(r, did{what: key, ticket: c})
	return answer{ticket: c}
}

func (m *model) requeue(r Request, token string, id queue.TicketID, to Place) answer {
	d, key, done, a := m.ask(r, token, fmt.Sprint("requeue", id, to))
	if done {
		return a
	}
	c := m.tickets[id]
	if c == nil {
		return answer{err: ErrUnknownTicket}
	}
	if c.state.AtCounter() && c.counter != d.id {
		return answer{err: ErrTicketMoved}
	}
	if _, fits := after["requeue"][c.state]; !fits {
		return answer{err: ErrWrongTicketState}
	}
	p := m.policy(c)
	late := !c.deadline.IsZero() && !m.at().Before(c.deadline) || p.RequeueNumbers != 0 && c.id.Category == c.category && m.serving[c.category] > c.id.N+p.RequeueNumbers
	if c.state == queue.NoShow && late {
		return answer{err: ErrRequeueTooLate}
	}
	if to.Where == 0 {
		to = Place{p.RequeueTo, p.RequeueAfter}
	}
	m.leave(c)
	m.insert(c, to)
	m.record(r, did{what: key, ticket: c})
	return answer{ticket: c}
}

func (m *model) transfer(r TransferRequest, token string) answer {
	d, key, done, a := m.ask(r.Request, token, fmt.Sprint("transfer", r.Ticket, r.Category, r.Place, r.Counter))
	if done {
		return a
	}
	c, target := m.tickets[r.Ticket], m.desks[r.Counter]
	switch {
	case c == nil:
		return answer{err: ErrUnknownTicket}
	case r.Counter != 0 && target == nil:
		return answer{err: ErrUnknownCounter}
	case r.Category == "vip" || r.Category == "" && r.Counter == 0:
		return answer{err: ErrUnknownCategory}
	case c.state.AtCounter() && c.counter != d.id:
		return answer{err: ErrTicketMoved}
	}
	if _, fits := after["transfer"][c.state]; !fits {
		return answer{err: ErrWrongTicketState}
	}
	if target != nil && !target.open {
		return answer{err: ErrCounterClosed}
	}
	m.leave(c)
	if r.Category != "" {
		c.category = r.Category
	}
	c.bound = r.Counter
	m.insert(c, r.Place)
	m.record(r.Request, did{what: key, ticket: c})
	return answer{ticket: c}
}

func (m *model) reset(r Request, id queue.CategoryID) answer {
	_, key, done, a := m.ask(r, atKiosk, "reset "+string(id))
	if done {
		return a
	}
	for _, c := range m.tickets {
		if _, fits := after["expire"][c.state]; fits && c.id.Category == id && c.id.Day == m.today {
			m.finish(c, queue.Expired)
		}
	}
	m.record(r, did{what: key})
	return answer{}
}

func (m *model) acquire(r AcquireRequest, token string) answer {
	d, key, done, a := m.ask(r.Request, token, fmt.Sprint("acquire ", r.Names, r.TTL))
	if done {
		return a
	}
	for _, n := range r.Names {
		if x := m.things[n]; x == nil || !x.configured {
			return answer{err: ErrUnknownResource}
		}
	}
	for _, n := range r.Names {
		if m.things[n].counter != 0 {
			return answer{err: ErrResourceBusy}
		}
	}
	m.fence++
	for _, n := range r.Names {
		x := m.things[n]
		x.counter, x.fence, x.until, x.ttl = d.id, m.fence, m.at().Add(r.TTL), r.TTL
	}
	m.record(r.Request, did{what: key, epoch: m.fence})
	return answer{epoch: m.fence}
}

// grant plays renew, or release with a ttl of 0.
func (m *model) grant(r Request, token string, fence uint64, ttl time.Duration) answer {
	d, key, done, a := m.ask(r, token, fmt.Sprint("grant ", fence, ttl))
	if done {
		return a
	}
	var mine []*thing
	for _, x := range m.things {
		if x.counter == d.id && x.fence == fence {
			if mine = append(mine, x); !m.grantEnd(x).After(m.at()) {
				return answer{err: ErrLeaseLost}
			}
		}
	}
	if len(mine) == 0 {
		return answer{err: ErrLeaseLost}
	}
	for _, x := range mine {
		if x.until, x.ttl = m.at().Add(ttl), ttl; ttl == 0 {
			x.counter = 0
		}
	}
	m.record(r, did{what: key, epoch: fence})
	return answer{epoch: fence}
}

// counterOf tells of which counter a token is, also when its session is over.
func (m *model) counterOf(token string) string {
	for n := range m.desks {
		if len(token) > 2 && token[:2] == fmt.Sprintf("%d.", n) {
			return fmt.Sprint(n)
		}
	}
	return "0"
}

// currentVerbNames are in a fixed order, for drawing.
var currentVerbNames = []string{"recall", "start", "complete", "no-show", "hold"}

// counterVerbs are the verbs of a session by name.
var counterVerbs = map[string]func(*Branch, context.Context, Request, string) (SessionReply, error){
	"pause": func(b *Branch, ctx context.Context, r Request, token string) (SessionReply, error) {
		return b.PauseCounter(ctx, r, token, "")
	},
	"resume":            (*Branch).ResumeCounter,
	"close":             closeCounter(0),
	"close and requeue": closeCounter(queue.Requeue),
	"close and hold":    closeCounter(queue.Hold),
}

func closeCounter(current queue.Verb) func(*Branch, context.Context, Request, string) (SessionReply, error) {
	return func(b *Branch, ctx context.Context, r Request, token string) (SessionReply, error) {
		return b.CloseCounter(ctx, r, token, current)
	}
}
