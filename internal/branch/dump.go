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
	Credits    []queue.Credits
	Resources  []queue.Resource
}

// CategoryDump is one category of a Dump.
type CategoryDump struct {
	Definition  queue.CategoryDefined
	Issued      uint32
	Serving     uint32
	ServiceMean int64
	Counters    int
	Lanes       [2][]queue.TicketID
	Reserved    int
	Used        uint32
	Persons     map[string]uint32
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
	Summoned   int64 // of a current ticket that is called, as Told
	Told       uint16
	Held       []queue.TicketID
	Own        []queue.TicketID
}

// RequestDump is what a state knows of one request id.
type RequestDump struct {
	Fingerprint, Sequence, Epoch uint64
	At                           int64
	Why                          string
	Ticket, Completed            queue.TicketID
	Counter                      queue.CounterID
}

// Dump copies the state out. Beside others the caller holds all locks, those of the request ids included.
func (s *State) Dump() Dump {
	day := s.day.Load()
	d := Dump{Day: day.Day, End: day.end, Branch: s.branch, Notice: s.notice, Last: s.last.Load(),
		Carried: map[queue.TicketID]queue.Ticket{}, Requests: map[queue.RequestID]RequestDump{}}
	d.Credits, d.Resources = s.credits.all(), s.resources.all()
	sets := s.sets.Load()
	for _, c := range sets.categories {
		c.Settle()
	}
	for _, c := range sets.categories {
		cd := CategoryDump{Definition: c.Definition(), Issued: c.Issued(), Serving: c.Serving(), ServiceMean: c.ServiceMean(), Counters: c.Counters()}
		for lane := range cd.Lanes {
			cd.Lanes[lane] = ids(c.Lane(queue.Lane(lane)))
		}
		cd.Reserved, cd.Used = c.Reserved(), c.Used()
		cd.Persons = c.Persons()
		c.Each(day.Day, 1, func(t *queue.Live) bool { cd.Tickets = append(cd.Tickets, t.Ticket()); return true })
		c.EachBefore(func(t *queue.Live) { cd.Before = append(cd.Before, t.Ticket()) })
		d.Categories = append(d.Categories, cd)
	}
	for _, c := range sets.counters {
		cd := CounterDump{Definition: c.Definition(), Epoch: c.Epoch(), Session: c.Session(), Paused: c.Paused(), Current: idOf(c.Current())}
		if t := c.Current(); t != nil && t.State == queue.Called {
			cd.Summoned, cd.Told = t.Summoned(), t.Told
		}
		for _, t := range c.Held() {
			cd.Held = append(cd.Held, t.ID)
		}
		cd.Own = ids(c.Own())
		d.Counters = append(d.Counters, cd)
	}
	for id, t := range *s.carried.Load() {
		d.Carried[id] = t.Ticket()
	}
	for i := range s.requests.shards {
		for id, e := range s.requests.shards[i].seen {
			d.Requests[id] = RequestDump{e.fingerprint, e.sequence, e.epoch, e.at, e.why.String(), idOf(e.ticket), idOf(e.completed), e.counter}
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

func ids(l *queue.Line) (out []queue.TicketID) {
	l.Each(func(t *queue.Live) bool { out = append(out, t.ID); return true })
	return out
}
