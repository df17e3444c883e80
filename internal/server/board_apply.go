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
	a := &announcement{ticket: o.Ticket, number: o.Number, category: o.Category, counter: o.Counter, recall: o.Verb == queue.Recall,
		sequence: r.Sequence, at: r.At, zone: b.zone}
	b.calls, c.calls = latest(b.calls, a), latest(c.calls, a)
	f.hall = append(f.hall, a)
	f.own = append(f.own, ownEvent{c, a})
}

// latest puts a call in front; a ticket called again at the same counter moves up instead of standing there twice.
func latest(calls []*announcement, a *announcement) []*announcement {
	out := append(make([]*announcement, 0, lastCalls), a)
	for _, c := range calls {
		if len(out) < lastCalls && (c.ticket != a.ticket || c.counter != a.counter) {
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
	l.def = &d
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
		c = newBoardCounter(id)
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
		*c = *newBoardCounter(d.ID)
		c.configured, c.open, c.paused = d.Configured, d.Session != nil, d.Paused
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
			f.to(c.stream, b.snapshot("day", c.id))
		}
		return
	}
	hall := make([]event, 0, len(f.hall)+len(f.everyone)+len(f.counters)+len(f.lines))
	hall = append(append(hall, f.hall...), f.everyone...)
	for _, c := range f.counters {
		hall = append(hall, c.counterNow)
	}
	for _, l := range f.lines {
		hall = append(hall, l.lineNow)
	}
	f.to(hallStream, hall...)
	concerned := f.counters // whoever has an event of his own has changed
	if len(f.everyone) > 0 {
		concerned = b.counters
	}
	for _, c := range concerned {
		own := append(make([]event, 0, len(f.everyone)+len(f.own)+1), f.everyone...)
		for _, o := range f.own {
			if o.counter == c {
				own = append(own, o.event)
			}
		}
		if slices.Contains(f.counters, c) {
			own = append(own, c.counterNow)
		}
		f.to(c.stream, own...)
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
	b.hub.Append(stream, f.record.Sequence, &frame{epoch: b.epoch, sequence: f.record.Sequence, previous: b.hub.Last(stream), events: events})
}
