package server

import (
	"cmp"
	"slices"
	"time"

	"callerd/internal/queue"
)

// frames applies one record to the board and collects what it means to each stream: a record that concerns a
// display in two ways is still one frame.
type frames struct {
	board    *board
	record   *queue.Record
	hall     []event
	lines    []*boardLine    // changed
	counters []*boardCounter // changed
	own      []ownEvent      // for the streams of single counters
	everyone []event
	day      bool
}

type ownEvent struct {
	counter *boardCounter
	event   event
}

func (f *frames) apply(o queue.Outcome) {
	b := f.board
	switch o := o.(type) {
	case *queue.TicketChanged:
		f.ticket(o)
	case *queue.CounterChanged:
		c := b.counter(o.Counter)
		was := c.shown()
		c.open = o.Verb != queue.CloseCounter
		c.paused = o.Verb == queue.PauseCounter
		f.changedCounter(c)
		f.day = f.day || was && !c.shown()
	case *queue.CategoryDefined:
		f.category(*o)
	case *queue.CounterDefined:
		c := f.counter(o.ID)
		c.configured = o.Configured
		f.day = true // which counters there are is told by the whole hall only
	case *queue.DayOpened:
		f.openDay(o)
	case *queue.Started:
		if b.branch != o.Branch {
			b.branch = o.Branch
			f.day = true
		}
	case *queue.BranchNamed:
		b.branch = o.Name
		f.day = true
	case *queue.NoticePublished:
		b.notice = o.Text
		f.everyone = append(f.everyone, noticeEvent{Type: "notice", Text: textOf(o.Text)})
	}
}

func (f *frames) ticket(o *queue.TicketChanged) {
	b := f.board
	from, into := b.line(o.Category), b.line(o.Category)
	if o.FromCategory != "" {
		from = b.line(o.FromCategory)
	}
	origin := b.line(o.Ticket.Category)
	if o.From == queue.None {
		origin.issued = o.Ticket.N
		f.changedLine(origin)
	}
	fromShown, intoShown := from.shown(), into.shown()
	// Who waits for one counter only is in no category's line.
	if o.From == queue.Waiting && o.Holder == 0 {
		from.waiting--
		f.changedLine(from)
	}
	if o.To == queue.Waiting && o.Bound == 0 {
		into.waiting++
		f.changedLine(into)
	}
	f.day = f.day || from.shown() != fromShown || into.shown() != intoShown
	if o.Verb == queue.Call && o.Ticket.Day == b.day && o.Ticket.N > origin.serving {
		origin.serving = o.Ticket.N
		f.changedLine(origin)
	}
	if o.From.Current() && o.Holder != 0 {
		c := b.counter(o.Holder)
		c.ticket, c.number, c.state = queue.TicketID{}, "", queue.None
		f.changedCounter(c)
	}
	if !o.To.Current() {
		return
	}
	c := b.counter(o.Counter)
	c.ticket, c.number, c.state = o.Ticket, o.Number, o.To
	f.changedCounter(c)
	if o.Verb == queue.Call || o.Verb == queue.Recall || o.Verb == queue.Resume {
		f.announce(c, o)
	}
}

// announce shows and speaks a call. Every path that calls comes through here.
func (f *frames) announce(c *boardCounter, o *queue.TicketChanged) {
	b, r := f.board, f.record
	k := call{Ticket: o.Ticket.String(), Number: o.Number, Category: string(o.Category), Counter: uint32(o.Counter), Time: b.format(r.At),
		Sequence: r.Sequence, Text: announceText(o.Number, o.Counter), Spoken: announceSpoken(o.Number, o.Counter), at: r.At, recall: o.Verb == queue.Recall}
	e := callEvent{Type: "called", call: k}
	if k.recall {
		e.Type = "recalled"
	}
	b.calls, c.calls = latest(b.calls, k), latest(c.calls, k)
	f.hall = append(f.hall, e)
	f.own = append(f.own, ownEvent{c, e})
}

// latest puts a call in front; a ticket called again at the same counter moves up instead of standing there twice.
func latest(calls []call, k call) []call {
	out := append(make([]call, 0, lastCalls), k)
	for _, c := range calls {
		if len(out) < lastCalls && (c.Ticket != k.Ticket || c.Counter != k.Counter) {
			out = append(out, c)
		}
	}
	return out
}

func (f *frames) category(d queue.CategoryDefined) {
	b := f.board
	l := b.line(d.ID)
	if l == nil {
		l = &boardLine{}
		b.lines = append(b.lines, l)
	}
	l.def = d
	slices.SortFunc(b.lines, compareLines)
	f.day = true // names and prefixes are told by the whole hall only
}

// compareLines is the order of the configuration; what it no longer names stands behind.
func compareLines(x, y *boardLine) int {
	if x.def.Open != y.def.Open {
		if x.def.Open {
			return -1
		}
		return 1
	}
	return cmp.Or(cmp.Compare(x.def.Order, y.def.Order), cmp.Compare(x.def.ID, y.def.ID))
}

// counter returns the counter, made if it is new.
func (f *frames) counter(id queue.CounterID) *boardCounter {
	b := f.board
	c := b.counter(id)
	if c == nil {
		c = &boardCounter{id: id}
		b.counters = append(b.counters, c)
		slices.SortFunc(b.counters, func(x, y *boardCounter) int { return cmp.Compare(x.id, y.id) })
	}
	return c
}

func (f *frames) openDay(o *queue.DayOpened) {
	b := f.board
	b.day, b.branch, b.notice, b.calls, b.lines = o.Day, o.Branch, o.Notice, nil, nil
	if zone, err := time.LoadLocation(o.Zone); err == nil { // the branch has loaded it before us
		b.zone, b.zoneName = zone, o.Zone
	}
	for _, c := range o.Categories {
		f.category(c.CategoryDefined)
	}
	for _, d := range o.Counters {
		c := f.counter(d.ID)
		*c = boardCounter{id: d.ID, configured: d.Configured, open: d.Session != nil, paused: d.Paused}
		if t := d.Current; t != nil {
			c.ticket, c.number, c.state = t.ID, t.Number, t.State
		}
	}
	f.day = true
}

func (f *frames) changedLine(l *boardLine) {
	if !slices.Contains(f.lines, l) {
		f.lines = append(f.lines, l)
	}
}

func (f *frames) changedCounter(c *boardCounter) {
	if !slices.Contains(f.counters, c) {
		f.counters = append(f.counters, c)
	}
}

// append hands each stream its frame, if the record concerns it.
func (f *frames) append() {
	b := f.board
	if f.day { // the whole hall again, to everyone
		f.to(hallStream, b.snapshot("day", 0))
		for _, c := range b.counters {
			f.to(counterStream(c.id), b.snapshot("day", c.id))
		}
		return
	}
	f.hall = append(f.hall, f.everyone...)
	for _, c := range f.counters {
		f.hall = append(f.hall, counterEvent{"counter", c.view()})
	}
	for _, l := range f.lines {
		v := l.view()
		f.hall = append(f.hall, waitingEvent{"waiting", v.Category, v.Waiting, v.Issued, v.Serving, v})
	}
	f.to(hallStream, f.hall...)
	concerned := f.counters // whoever has an event of his own has changed
	if len(f.everyone) > 0 {
		concerned = b.counters
	}
	for _, c := range concerned {
		own := slices.Clone(f.everyone)
		for _, o := range f.own {
			if o.counter == c {
				own = append(own, o.event)
			}
		}
		if slices.Contains(f.counters, c) {
			own = append(own, counterEvent{"counter", c.view()})
		}
		f.to(counterStream(c.id), own...)
	}
}

func (f *frames) to(stream string, events ...event) {
	if len(events) == 0 {
		return
	}
	b := f.board
	if b.silent != nil {
		b.silent[stream] = f.record.Sequence
		return
	}
	b.hub.Append(stream, f.record.Sequence, &frame{Epoch: b.epoch, Sequence: f.record.Sequence, Previous: b.hub.Last(stream), Events: events})
}
