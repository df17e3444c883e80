package branch

import "callerd/internal/queue"

// Dump is the whole of a state as plain values, for comparing one state with another.
type Dump struct {
	Day        queue.Day
	End        int64
	Branch     queue.Names
	Notice     queue.Names
	Last       int64
	Categories []CategoryDump
	Counters   []CounterDump
	Carried    map[queue.TicketID]queue.Ticket
	Requests   map[queue.RequestID]RequestDump
}

// CategoryDump is one category of a Dump.
type CategoryDump struct {
	Definition  queue.CategoryDefined
	Issued      uint32
	Serving     uint32
	ServiceMean int64
	Counters    int
	Line        []queue.TicketID
	Tickets     []queue.Ticket // of the current day
	Before      []queue.Ticket // of the day before, when asked for
}

// CounterDump is one counter of a Dump.
type CounterDump struct {
	Definition queue.CounterDefined
	Epoch      uint64
	Session    *queue.Session
	Paused     bool
	Current    queue.TicketID
	Held       []queue.TicketID
}

// RequestDump is what a state knows of one request id.
type RequestDump struct {
	Fingerprint, Sequence, Epoch uint64
	At, Waited                   int64
	Ticket, Completed            queue.TicketID
	Counter                      queue.CounterID
	Rule                         queue.Rule
}

// Dump copies the state out. Beside others the caller holds all locks, those of the request ids included.
func (s *State) Dump() Dump {
	day := s.day.Load()
	d := Dump{Day: day.Day, End: day.end, Branch: s.branch, Notice: s.notice, Last: s.last.Load(),
		Carried: map[queue.TicketID]queue.Ticket{}, Requests: map[queue.RequestID]RequestDump{}}
	sets := s.sets.Load()
	for _, c := range sets.categories {
		cd := CategoryDump{Definition: c.Definition(), Issued: c.Issued(), Serving: c.Serving(), ServiceMean: c.ServiceMean(), Counters: c.Counters()}
		c.EachWaiting(func(t *queue.Live) bool { cd.Line = append(cd.Line, t.ID); return true })
		c.Each(day.Day, 1, func(t *queue.Live) bool { cd.Tickets = append(cd.Tickets, t.Ticket); return true })
		c.EachBefore(func(t *queue.Live) { cd.Before = append(cd.Before, t.Ticket) })
		d.Categories = append(d.Categories, cd)
	}
	for _, c := range sets.counters {
		cd := CounterDump{Definition: c.Definition(), Epoch: c.Epoch(), Session: c.Session(), Paused: c.Paused(), Current: idOf(c.Current())}
		for _, t := range c.Held() {
			cd.Held = append(cd.Held, t.ID)
		}
		d.Counters = append(d.Counters, cd)
	}
	for id, t := range *s.carried.Load() {
		d.Carried[id] = t.Ticket
	}
	for i := range s.requests.shards {
		for id, e := range s.requests.shards[i].seen {
			d.Requests[id] = RequestDump{e.fingerprint, e.sequence, e.epoch, e.at, e.waited, idOf(e.ticket), idOf(e.completed), e.counter, e.rule}
		}
	}
	return d
}

func idOf(t *queue.Live) queue.TicketID {
	if t == nil {
		return queue.TicketID{}
	}
	return t.ID
}
