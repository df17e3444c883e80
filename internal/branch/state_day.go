package branch

import (
	"fmt"
	"time"

	"callerd/internal/queue"
)

// day is the business day that is open.
type day struct {
	queue.Day
	zone *time.Location
	cut  time.Duration
	end  int64 // Unix ns of the next turn
}

// applyDay begins a business day from its record alone.
func (s *State) applyDay(r *queue.Record, o *queue.DayOpened) error {
	zone, err := time.LoadLocation(o.Zone)
	if err != nil {
		return fmt.Errorf("business day %v: %w", o.Day, err)
	}
	d := &day{Day: o.Day, zone: zone, cut: time.Duration(o.Cut)}
	d.end, _ = nextTurn(r.At, d.zone, d.cut)

	// Look the carried tickets up before the days move on; a replay that begins here has none of them.
	current := make([]*queue.Live, len(o.Counters))
	carried := map[queue.TicketID]*queue.Live{}
	for i, c := range o.Counters {
		if c.Current == nil {
			continue
		}
		t := s.find(c.Current.ID)
		if t == nil {
			t = queue.NewLive(*c.Current)
		} else if t.Ticket() != *c.Current {
			return fmt.Errorf("business day %v: counter %d carries %+v, the ticket is %+v", o.Day, c.ID, *c.Current, t.Ticket())
		}
		current[i], carried[t.ID] = t, t
	}
	for _, c := range s.sets.Load().categories {
		c.Settle()
	}
	for _, t := range *s.carried.Load() {
		if !t.State.Final() && t.State != queue.Serving {
			t.Expire(r.At, r.Sequence)
		}
	}
	s.day.Store(d)
	for _, c := range o.Categories {
		s.category(c.CategoryDefined).OpenDay(o.Day, c, r.At, r.Sequence)
	}
	for i, c := range o.Counters {
		k := s.counter(c.CounterDefined)
		k.OpenDay(c, current[i])
		if t := current[i]; t != nil {
			t.SetPlace(queue.Place{Category: s.sets.Load().byCategory[t.Category].Index(), Counter: c.ID})
		}
		s.countServing(k, 1)
	}
	s.carried.Store(&carried)
	s.deadlines.clear()
	s.credits.reset(o.Credits)
	s.resources.reset(o.Resources)
	s.branch, s.notice, s.latest, s.runs = o.Branch, o.Notice, o.Latest, max(o.Runs, o.Day.Run)
	return nil
}

// opened makes the record of a new business day from all that outlives the old one. The caller holds all locks.
func (s *State) opened(at int64, zone *time.Location, cut time.Duration) *queue.DayOpened {
	_, d := nextTurn(at, zone, cut)
	d = s.unused(d)
	o := &queue.DayOpened{Day: d, Latest: max(s.latest, d.Date), Runs: max(s.runs, d.Run), Zone: zone.String(), Cut: int64(cut), Branch: s.branch, Notice: s.notice,
		Credits: s.credits.all(), Resources: s.resources.all()}
	sets := s.sets.Load()
	for _, c := range sets.categories {
		o.Categories = append(o.Categories, queue.DayCategory{CategoryDefined: c.Definition(), ServiceMean: c.ServiceMean()})
	}
	for _, c := range sets.counters {
		dc := queue.DayCounter{CounterDefined: c.Definition(), Epoch: c.Epoch(), Session: c.Session(), Paused: c.Paused()}
		if t := c.Current(); t != nil && t.State == queue.Serving {
			v := t.Ticket()
			dc.Current = &v
		}
		o.Counters = append(o.Counters, dc)
	}
	return o
}

// unused gives a date that was used before, because the zone or the cut was changed or the clock set back on purpose, a run that
// no date has had yet: an id never repeats.
func (s *State) unused(d queue.Day) queue.Day {
	if d.Date <= s.latest {
		d.Run = s.runs + 1
	}
	return d
}

// nextTurn returns the first turn of the business day after a time, both Unix ns, and the day that it ends.
func nextTurn(at int64, zone *time.Location, cut time.Duration) (int64, queue.Day) {
	t := time.Unix(0, at).In(zone)
	y, m, d := t.Date()
	for add := -1; ; add++ {
		if n := turn(y, m, d+add, zone, cut); n.After(t) {
			return n.UnixNano(), queue.DayOf(time.Date(y, m, d+add-1, 12, 0, 0, 0, time.UTC).Date())
		}
	}
}

// turn returns when the business day turns on a date: at the cut by local time, or, where the clock jumps over
// that time, at the jump.
func turn(y int, m time.Month, d int, zone *time.Location, cut time.Duration) time.Time {
	h, min, sec := int(cut/time.Hour), int(cut/time.Minute%60), int(cut/time.Second%60)
	t := time.Date(y, m, d, h, min, sec, 0, zone)
	want := time.Date(y, m, d, h, min, sec, 0, time.UTC)
	_, offset := t.Zone()
	got := t.Add(time.Duration(offset) * time.Second).UTC() // the wall clock, as if in UTC
	start, end := t.ZoneBounds()
	switch {
	case got.Before(want):
		return end
	case got.After(want):
		return start
	}
	return t
}
