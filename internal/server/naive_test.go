package server

import (
	"cmp"
	"slices"

	"callerd/internal/queue"
)

// naive keeps what all records so far say, and makes the hall of it as plainly as it can.
type naive struct {
	tickets  map[queue.TicketID]naiveTicket
	counters map[queue.CounterID]*naiveCounter
	lines    map[queue.CategoryID]*queue.CategoryDefined
	day      queue.Day
	calls    []call
	notice   queue.Names
	branch   queue.Names
	zone     string
}

type naiveTicket struct {
	state    queue.State
	category queue.CategoryID
	counter  queue.CounterID
	bound    queue.CounterID
	number   string
	called   bool
}

type naiveCounter struct{ configured, open, paused bool }

func newNaive() *naive {
	return &naive{tickets: map[queue.TicketID]naiveTicket{}, counters: map[queue.CounterID]*naiveCounter{}, lines: map[queue.CategoryID]*queue.CategoryDefined{}}
}

func (n *naive) apply(r *queue.Record, o queue.Outcome) {
	switch o := o.(type) {
	case *queue.TicketChanged:
		t := n.tickets[o.Ticket]
		t.state, t.category, t.counter, t.bound, t.number = o.To, o.Category, o.Counter, o.Bound, o.Number
		if o.Verb == queue.Call || o.Verb == queue.Recall || o.Verb == queue.Resume {
			t.called = true
			n.calls = append(n.calls, call{Ticket: o.Ticket.String(), Number: o.Number, Counter: uint32(o.Counter), Sequence: r.Sequence})
		}
		n.tickets[o.Ticket] = t
	case *queue.CounterChanged:
		c := n.counters[o.Counter]
		switch o.Verb {
		case queue.OpenCounter:
			c.open, c.paused = true, false
		case queue.PauseCounter:
			c.paused = true
		case queue.ResumeCounter:
			c.paused = false
		case queue.CloseCounter:
			c.open, c.paused = false, false
		}
	case *queue.CategoryDefined:
		n.lines[o.ID] = o
	case *queue.CounterDefined:
		if n.counters[o.ID] == nil {
			n.counters[o.ID] = &naiveCounter{}
		}
		n.counters[o.ID].configured = o.Configured
	case *queue.DayOpened:
		// What is not being served has ended, and the numbers begin again.
		for id, t := range n.tickets {
			if t.state != queue.Serving {
				delete(n.tickets, id)
			}
		}
		n.day, n.calls, n.branch, n.notice, n.zone = o.Day, nil, o.Branch, o.Notice, o.Zone
	case *queue.Started:
		n.branch = o.Branch
	case *queue.BranchNamed:
		n.branch = o.Name
	case *queue.NoticePublished:
		n.notice = o.Text
	}
}

// hall is the hall's snapshot as far as it does not depend on words.
func (n *naive) hall() hall {
	h := hall{Branch: textOf(n.branch), Day: n.day.String(), Zone: n.zone, Notice: textOf(n.notice)}
	for _, d := range n.lines {
		l := hallLine{Category: string(d.ID), Prefix: d.Prefix, Name: textOf(d.Name), Open: d.Open}
		for id, t := range n.tickets {
			if t.category == d.ID && t.state == queue.Waiting && t.bound == 0 {
				l.Waiting++
			}
			if id.Category == d.ID && id.Day == n.day {
				l.Issued = max(l.Issued, id.N)
				if t.called {
					l.Serving = max(l.Serving, id.N)
				}
			}
		}
		if d.Open || l.Issued > 0 || l.Waiting > 0 {
			h.Categories = append(h.Categories, l)
		}
	}
	slices.SortFunc(h.Categories, func(a, b hallLine) int {
		x, y := n.lines[queue.CategoryID(a.Category)], n.lines[queue.CategoryID(b.Category)]
		if x.Open != y.Open { // those that are no longer configured stand behind
			return map[bool]int{true: -1, false: 1}[x.Open]
		}
		return cmp.Or(cmp.Compare(x.Order, y.Order), cmp.Compare(x.ID, y.ID))
	})
	for id, c := range n.counters {
		if c.configured || c.open {
			h.Counters = append(h.Counters, n.counter(id))
		}
	}
	slices.SortFunc(h.Counters, func(a, b hallCounter) int { return cmp.Compare(a.Counter, b.Counter) })
	h.Calls = n.latest(0)
	return h
}

func (n *naive) counter(id queue.CounterID) hallCounter {
	c := n.counters[id]
	v := hallCounter{Counter: uint32(id), State: "closed"}
	if c.open {
		v.State = "open"
	}
	if c.paused {
		v.State = "paused"
	}
	for ticket, t := range n.tickets {
		if t.counter == id && (t.state == queue.Called || t.state == queue.Serving) {
			v.Number, v.Ticket, v.TicketState = t.number, ticket.String(), "called"
			if t.state == queue.Serving {
				v.TicketState = "serving"
			}
		}
	}
	return v
}

// latest are the last six calls, newest first, each ticket once per counter; of one counter, or of all (0).
func (n *naive) latest(counter queue.CounterID) (out []call) {
	for _, c := range slices.Backward(n.calls) {
		twice := slices.ContainsFunc(out, func(k call) bool { return k.Ticket == c.Ticket && k.Counter == c.Counter })
		if len(out) < 6 && !twice && (counter == 0 || c.Counter == uint32(counter)) {
			out = append(out, c)
		}
	}
	return out
}
