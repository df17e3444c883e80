package server

import (
	"cmp"
	"slices"
	"strconv"
	"sync"
	"time"

	"callerd/internal/hub"
	"callerd/internal/queue"
)

// The words of the display protocol for a counter's state and its ticket's.
const (
	counterClosed = "closed"
	counterOpen   = "open"
	counterPaused = "paused"
	ticketCalled  = "called"
	ticketServing = "serving"
)

// hallStream is the stream of the hall's displays; a counter's own is named by counterStream.
const hallStream = "hall"

func counterStream(c queue.CounterID) string { return "counter/" + strconv.Itoa(int(c)) }

func newBoardCounter(id queue.CounterID) *boardCounter {
	return &boardCounter{counterNow: counterNow{id: id}, stream: counterStream(id)}
}

// lastCalls is how many calls a display may know.
const lastCalls = 6

// board is the hall as a display may know it, made of committed records only, in their order. One section under mu
// applies a batch and appends its frames to the streams; a snapshot and the joining of its stream take mu together, so
// there is neither gap nor repeat, and no lock of the live hall is ever held for a display.
type board struct {
	hub   *hub.Hub
	epoch string
	now   func() time.Time
	// loud is the first sequence whose frames somebody may still ask for; those of the records before it are not made.
	loud uint64

	mu       sync.Mutex // a leaf but for the hub's own
	sequence uint64
	zone     *time.Location
	zoneName string
	day      queue.Day
	branch   queue.Names
	notice   queue.Names
	lines    []*boardLine      // in the order of the configuration
	counters []*boardCounter   // by number
	calls    []*announcement   // newest first, of the business day
	silent   map[string]uint64 // the last sequence of each stream before loud; nil from there on
}

type boardLine struct{ lineNow }

// lineNow is a line as it is at a sequence.
type lineNow struct {
	def                      *queue.CategoryDefined // never changed: a new one takes its place
	waiting, issued, serving uint32
}

type boardCounter struct {
	counterNow
	stream     string // its name in the hub
	configured bool
	calls      []*announcement // newest first, of the business day
}

// counterNow is a counter as it is at a sequence.
type counterNow struct {
	id     queue.CounterID
	open   bool
	paused bool
	state  queue.State
	number string
	ticket queue.TicketID // zero: no current ticket
}

// newBoard returns a board for a journal whose last record is head. Of the records that are replayed up to it, only the last ones
// make frames: as many as a stream keeps.
func newBoard(epoch string, now func() time.Time, head uint64) *board {
	b := &board{epoch: epoch, now: now, zone: time.UTC}
	if head > hub.DefaultHistory {
		b.loud, b.silent = head-hub.DefaultHistory, make(map[string]uint64)
	}
	return b
}

// publish applies committed records and appends their frames. It never blocks.
func (b *board) publish(records []*queue.Record) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, r := range records {
		b.sequence = r.Sequence
		f := frames{board: b, record: r}
		if r.Sequence >= b.loud && b.silent != nil {
			b.speakUp()
		}
		for _, o := range r.Outcomes {
			f.apply(o)
		}
		f.append()
	}
}

// speakUp lets the streams go on behind the frames that were not made. The caller holds mu.
func (b *board) speakUp() {
	for stream, last := range b.silent {
		b.hub.Seed(stream, last)
	}
	b.silent = nil
}

// snapshot is the hall, or one counter's view of it, as an event. The caller holds mu.
func (b *board) snapshot(kind string, counter queue.CounterID) hallEvent {
	h := hall{Time: format(b.now().UnixNano(), b.zone), Branch: textOf(b.branch), Day: b.day.String(), Zone: b.zoneName, Notice: textOf(b.notice),
		Categories: []hallLine{}, Counters: []hallCounter{}, Calls: []call{}}
	for _, l := range b.lines {
		if counter == 0 && l.shown() {
			h.Categories = append(h.Categories, l.view())
		}
	}
	calls := b.calls
	for _, c := range b.counters {
		if counter == 0 && c.shown() || c.id == counter {
			h.Counters = append(h.Counters, c.view())
		}
		if c.id == counter {
			calls = c.calls
		}
	}
	for _, a := range calls {
		h.Calls = append(h.Calls, a.call())
	}
	return hallEvent{Type: kind, Hall: h, calls: calls, epoch: b.epoch, sequence: b.sequence}
}

// join subscribes to a stream: behind the frame (epoch, after) if that is recent enough, else from a snapshot. It
// reports whether there is such a counter.
func (b *board) join(counter queue.CounterID, epoch string, after uint64) (*hub.Subscription, bool, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	stream := hallStream
	if counter != 0 {
		if b.counter(counter) == nil {
			return nil, false, nil
		}
		stream = counterStream(counter)
	}
	s, err := b.hub.Join(stream, epoch == b.epoch, after, func() any {
		return &frame{epoch: b.epoch, sequence: b.hub.Last(stream), events: []event{b.snapshot("snapshot", counter)}}
	})
	return s, true, err
}

// heartbeat is the value of a heartbeat frame.
func (b *board) heartbeat(_ string, sequence uint64) any {
	b.mu.Lock()
	zone := b.zone
	b.mu.Unlock()
	now := b.now()
	return &frame{epoch: b.epoch, sequence: sequence, previous: sequence,
		events: []event{heartbeatEvent{Type: "heartbeat", Time: now.In(zone).Format(timeLayout), at: now}}}
}

// has reports whether there is such a category.
func (b *board) has(id queue.CategoryID) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.line(id) != nil
}

// Categories returns the categories as committed records define them, in the order of the configuration.
func (s *Server) Categories() (out []queue.CategoryDefined) {
	s.board.mu.Lock()
	defer s.board.mu.Unlock()
	for _, l := range s.board.lines {
		out = append(out, *l.def)
	}
	return out
}

func (b *board) line(id queue.CategoryID) *boardLine {
	i := slices.IndexFunc(b.lines, func(l *boardLine) bool { return l.def.ID == id })
	if i < 0 {
		return nil
	}
	return b.lines[i]
}

func (b *board) counter(id queue.CounterID) *boardCounter {
	i, found := slices.BinarySearchFunc(b.counters, id, func(c *boardCounter, id queue.CounterID) int { return cmp.Compare(c.id, id) })
	if !found {
		return nil
	}
	return b.counters[i]
}

// timeLayout is RFC 3339 with milliseconds.
const timeLayout = "2006-01-02T15:04:05.000Z07:00"

func format(at int64, zone *time.Location) string {
	return time.Unix(0, at).In(zone).Format(timeLayout)
}

// shown reports whether the hall has the line: a category that is no longer configured stays for the rest of the
// day once it has handed out numbers, and while somebody waits who was transferred there. It changes only with a day
// event.
func (l *boardLine) shown() bool { return l.def.Open || l.issued > 0 || l.waiting > 0 }

// shown reports whether the hall has the counter. It changes only with a day event.
func (c *boardCounter) shown() bool { return c.configured || c.open }

func (l *lineNow) view() hallLine {
	return hallLine{Category: string(l.def.ID), Prefix: l.def.Prefix, Name: textOf(l.def.Name), Open: l.def.Open,
		Waiting: l.waiting, Issued: l.issued, Serving: l.serving}
}

func (c *counterNow) view() hallCounter {
	v := hallCounter{Counter: uint32(c.id), State: counterClosed}
	switch {
	case c.open && c.paused:
		v.State = counterPaused
	case c.open:
		v.State = counterOpen
	}
	if !c.ticket.IsZero() {
		v.Number, v.Ticket, v.TicketState = c.number, c.ticket.String(), ticketCalled
		if c.state == queue.Serving {
			v.TicketState = ticketServing
		}
	}
	return v
}
