package branch

import (
	"context"
	"fmt"
	"slices"

	"callerd/internal/queue"
)

// answer is what a command must answer: a refusal, or tickets as they are then.
type answer struct {
	err               error
	replayed          bool
	ticket, completed *card
}

// issue, cancel and the others play one command on the model. Each has the shape of the branch's own method.

func (m *model) issue(r Request, id queue.CategoryID) answer {
	m.turn()
	if e, again, err := m.seen(r, "issue "+string(id)); again || err != nil {
		return answer{err, again, e.ticket, nil}
	}
	if !slices.Contains(m.categories, id) {
		return answer{err: ErrUnknownCategory}
	}
	m.issued[id]++
	m.entry++
	c := &card{id: queue.TicketID{Day: m.today, Category: id, N: m.issued[id]}, day: m.day, state: queue.Waiting, category: id, entry: m.entry}
	m.tickets[c.id] = c
	m.record(r, did{what: "issue " + string(id), ticket: c})
	return answer{ticket: c}
}

func (m *model) cancel(r Request, id queue.TicketID) answer {
	m.turn()
	if e, again, err := m.seen(r, "cancel "+id.String()); again || err != nil {
		return answer{err, again, e.ticket, nil}
	}
	c := m.tickets[id]
	switch {
	case c == nil:
		return answer{err: ErrUnknownTicket}
	case c.state != queue.Waiting && c.state != queue.Called && c.state != queue.Held:
		return answer{err: ErrWrongTicketState}
	}
	m.leave(c)
	c.state = queue.Cancelled
	m.record(r, did{what: "cancel " + id.String(), ticket: c})
	return answer{ticket: c}
}

func (m *model) open(r OpenRequest) (answer, did) {
	m.turn()
	what := fmt.Sprint("open ", r.Counter, r.Categories, r.Rule)
	d := m.desks[r.Counter]
	if e, again, err := m.seen(r.Request, what); again || err != nil {
		if again && d.open && d.epoch == e.epoch {
			d.lease = m.now.Add(DefaultLease)
		}
		return answer{err: err, replayed: again}, e
	}
	switch {
	case d == nil:
		return answer{err: ErrUnknownCounter}, did{}
	case d.open:
		return answer{err: ErrCounterTaken}, did{}
	}
	d.open, d.paused, d.categories, d.rule, d.lease = true, false, r.Categories, r.Rule, m.now.Add(DefaultLease)
	d.epoch++
	e := did{what: what, epoch: d.epoch}
	m.record(r.Request, e)
	return answer{}, e
}

// counterVerb plays pause, resume or close.
func (m *model) counterVerb(r Request, token, verb string) answer {
	m.turn()
	d := m.session(token)
	what := verb + m.counterOf(token)
	if _, again, err := m.seen(r, what); again || err != nil {
		return answer{err: err, replayed: again}
	}
	if d == nil {
		return answer{err: ErrStaleSession}
	}
	switch {
	case verb == "close" && d.current != nil:
		return answer{err: ErrCounterBusy}
	case verb == "close":
		d.open, d.paused = false, false
	case d.paused == (verb == "pause"):
		return answer{} // changes nothing, and is not remembered
	default:
		d.paused = verb == "pause"
	}
	m.record(r, did{what: what})
	return answer{}
}

func (m *model) callNext(r Request, token string, complete queue.TicketID) answer {
	m.turn()
	d := m.session(token)
	what := "call next " + m.counterOf(token) + complete.String()
	if e, again, err := m.seen(r, what); again || err != nil {
		return answer{err, again, e.ticket, e.completed}
	}
	switch {
	case d == nil:
		return answer{err: ErrStaleSession}
	case complete.IsZero() && d.current != nil:
		return answer{err: ErrCounterBusy}
	case !complete.IsZero() && m.tickets[complete] == nil:
		return answer{err: ErrUnknownTicket}
	case !complete.IsZero() && (d.current == nil || d.current.id != complete):
		return answer{err: ErrTicketMoved}
	case d.paused:
		return answer{err: ErrCounterClosed}
	}
	completed := d.current
	if completed != nil {
		completed.state, d.current = queue.Completed, nil
	}
	called := m.choose(d)
	if called != nil {
		m.call(called, d, token)
		m.serving[called.id.Category] = max(m.serving[called.id.Category], m.numberToday(called))
	}
	if called != nil || completed != nil {
		m.record(r, did{what: what, ticket: called, completed: completed})
	}
	return answer{ticket: called, completed: completed}
}

func (m *model) call(c *card, d *desk, token string) {
	c.state, d.current = queue.Called, c
	c.calls++
	for n, other := range m.desks {
		if other == d {
			c.counter = n
		}
	}
}

// numberToday returns the ticket's number, 0 if it is of an older day.
func (m *model) numberToday(c *card) uint32 {
	if c.id.Day != m.today {
		return 0
	}
	return c.id.N
}

// after is the design's table for the verbs on a current ticket.
var after = map[string]map[queue.State]queue.State{
	"recall":   {queue.Called: queue.Called},
	"start":    {queue.Called: queue.Serving},
	"complete": {queue.Called: queue.Completed, queue.Serving: queue.Completed, queue.Held: queue.Completed},
	"no-show":  {queue.Called: queue.NoShow},
	"hold":     {queue.Called: queue.Held, queue.Serving: queue.Held},
}

// currentVerb plays a verb on the current ticket.
func (m *model) currentVerb(r Request, token, verb string, id queue.TicketID) answer {
	m.turn()
	d := m.session(token)
	what := verb + m.counterOf(token) + " " + id.String()
	if e, again, err := m.seen(r, what); again || err != nil {
		return answer{err, again, e.ticket, nil}
	}
	if d == nil {
		return answer{err: ErrStaleSession}
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
	if !fits {
		return answer{err: ErrWrongTicketState}
	}
	if verb == "recall" {
		c.calls++
	}
	if c.state = next; next != queue.Called && next != queue.Serving {
		m.leave(c)
	}
	if next == queue.Held {
		d.held = append(d.held, c)
	}
	m.record(r, did{what: what, ticket: c})
	return answer{ticket: c}
}

func (m *model) resume(r Request, token string, id queue.TicketID) answer {
	m.turn()
	d := m.session(token)
	what := "resume ticket" + m.counterOf(token) + " " + id.String()
	if e, again, err := m.seen(r, what); again || err != nil {
		return answer{err, again, e.ticket, nil}
	}
	if d == nil {
		return answer{err: ErrStaleSession}
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
	m.call(c, d, token)
	m.record(r, did{what: what, ticket: c})
	return answer{ticket: c}
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
	"resume": (*Branch).ResumeCounter,
	"close":  (*Branch).CloseCounter,
}
