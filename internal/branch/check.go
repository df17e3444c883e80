package branch

import (
	"fmt"

	"callerd/internal/counter"
	"callerd/internal/queue"
)

// Check tells the first invariant that the state breaks, or nil. Beside others the caller holds all locks.
//
//   - numbers 1 to issued are there without gap, and serving is not above issued;
//   - a ticket is in exactly one place: in the line of its category, at one counter, or nowhere;
//   - a counter has at most one current ticket, and a current ticket one counter;
//   - a line is in the order of its keys, each once;
//   - exactly the tickets with a deadline are watched;
//   - as many counters serve a category as are open for it.
func (s *State) Check() error {
	d := s.day.Load()
	if d.IsZero() {
		return nil
	}
	sets := s.sets.Load()
	at := map[*queue.Live]queue.CounterID{}
	waiting := map[*queue.Live]bool{}
	for _, c := range sets.counters {
		if err := checkCounter(c, at); err != nil {
			return err
		}
		err := checkLine(c.Own(), waiting, func(t *queue.Live) bool { return t.Bound == c.ID() && t.Place().Counter == c.ID() })
		if err != nil {
			return fmt.Errorf("line of counter %d: %w", c.ID(), err)
		}
	}
	for _, c := range sets.categories {
		if err := s.checkCategory(c, waiting); err != nil {
			return err
		}
	}
	for _, c := range sets.categories {
		if c.Serving() > c.Issued() {
			return fmt.Errorf("category %s: serving %d is above issued %d", c.ID(), c.Serving(), c.Issued())
		}
		n, reserved := uint32(0), 0
		var err error
		c.Each(d.Day, 1, func(t *queue.Live) bool {
			n++
			if want := (queue.TicketID{Day: d.Day, Category: c.ID(), N: n}); t.ID != want {
				err = fmt.Errorf("category %s: place %d of the series has %v", c.ID(), n, t.ID)
				return false
			}
			if t.State == queue.Reserved {
				reserved++
			}
			if err = checkPlace(t, waiting, at); err == nil && s.deadlines.has(t) != (t.Deadline != 0) {
				err = fmt.Errorf("ticket %v has the deadline %d; watched: %t", t.ID, t.Deadline, s.deadlines.has(t))
			}
			return err == nil
		})
		if err != nil {
			return err
		}
		if reserved != c.Reserved() {
			return fmt.Errorf("category %s: %d tickets are reserved, counted %d", c.ID(), reserved, c.Reserved())
		}
		if n != c.Issued() {
			return fmt.Errorf("category %s: %d tickets, issued %d", c.ID(), n, c.Issued())
		}
	}
	return s.checkServing()
}

func checkCounter(c *counter.Counter, at map[*queue.Live]queue.CounterID) error {
	take := func(t *queue.Live) error {
		if other, twice := at[t]; twice {
			return fmt.Errorf("ticket %v is at counter %d and at %d", t.ID, other, c.ID())
		}
		at[t] = c.ID()
		if p := t.Place(); p.Counter != c.ID() || t.Counter != c.ID() {
			return fmt.Errorf("ticket %v is at counter %d, its place says %d", t.ID, c.ID(), p.Counter)
		}
		return nil
	}
	if t := c.Current(); t != nil {
		if !t.State.Current() {
			return fmt.Errorf("counter %d: current ticket %v is %v", c.ID(), t.ID, t.State)
		}
		if c.Session() == nil {
			return fmt.Errorf("counter %d is closed with current ticket %v", c.ID(), t.ID)
		}
		if err := take(t); err != nil {
			return err
		}
	}
	for _, t := range c.Held() {
		if t.State != queue.Held {
			return fmt.Errorf("counter %d: held ticket %v is %v", c.ID(), t.ID, t.State)
		}
		if err := take(t); err != nil {
			return err
		}
	}
	return nil
}

// checkCategory looks at both lanes, each as a line of the category.
func (s *State) checkCategory(c *queue.Category, waiting map[*queue.Live]bool) error {
	for _, lane := range [...]queue.Lane{queue.RegularLane, queue.PriorityLane} {
		err := checkLine(c.Lane(lane), waiting, func(t *queue.Live) bool {
			return t.Category == c.ID() && t.Priority.Lane() == lane && t.Place() == (queue.Place{Category: c.Index()})
		})
		if err != nil {
			return fmt.Errorf("lane %d of %s: %w", lane, c.ID(), err)
		}
	}
	return nil
}

// checkLine looks at a line; fits tells whether a ticket belongs there.
func checkLine(l *queue.Line, waiting map[*queue.Live]bool, fits func(*queue.Live) bool) (err error) {
	var last *queue.Live
	n := 0
	l.Each(func(t *queue.Live) bool {
		switch {
		case t.State != queue.Waiting || !fits(t):
			err = fmt.Errorf("ticket %v is %v in %s, bound to %d", t.ID, t.State, t.Category, t.Bound)
		case waiting[t]:
			err = fmt.Errorf("ticket %v waits in two lines", t.ID)
		case last != nil && !last.Key.Before(t.Key):
			err = fmt.Errorf("ticket %v stands before %v against their keys", last.ID, t.ID)
		case l.Ahead(t.Key) != n:
			err = fmt.Errorf("%d ahead of ticket %v, counted %d", n, t.ID, l.Ahead(t.Key))
		}
		waiting[t], last = true, t
		n++
		return err == nil
	})
	if err == nil && n != l.Len() {
		err = fmt.Errorf("%d tickets, its length is %d", n, l.Len())
	}
	return err
}

func checkPlace(t *queue.Live, waiting map[*queue.Live]bool, at map[*queue.Live]queue.CounterID) error {
	_, there := at[t]
	if (t.State == queue.Waiting) != waiting[t] || t.State.AtCounter() != there {
		return fmt.Errorf("ticket %v is %v; in a line: %t, at a counter: %t", t.ID, t.State, waiting[t], there)
	}
	return nil
}

func (s *State) checkServing() error {
	sets := s.sets.Load()
	count := map[queue.CategoryID]int{}
	for _, c := range sets.counters {
		if c.Calls() {
			for _, id := range c.Categories() {
				count[id]++
			}
		}
	}
	for _, c := range sets.categories {
		if c.Counters() != count[c.ID()] {
			return fmt.Errorf("category %s: %d counters are open for it, counted %d", c.ID(), count[c.ID()], c.Counters())
		}
	}
	return nil
}
