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
//   - as many counters serve a category as are open for it.
func (s *State) Check() error {
	d := s.day.Load()
	if d.IsZero() {
		return nil
	}
	sets := s.sets.Load()
	at := map[*queue.Live]queue.CounterID{}
	for _, c := range sets.counters {
		if err := checkCounter(c, at); err != nil {
			return err
		}
	}
	waiting := map[*queue.Live]bool{}
	for _, c := range sets.categories {
		if err := s.checkLine(c, waiting); err != nil {
			return err
		}
	}
	for _, c := range sets.categories {
		if c.Serving() > c.Issued() {
			return fmt.Errorf("category %s: serving %d is above issued %d", c.ID(), c.Serving(), c.Issued())
		}
		n := uint32(0)
		var err error
		c.Each(d.Day, 1, func(t *queue.Live) bool {
			n++
			if want := (queue.TicketID{Day: d.Day, Category: c.ID(), N: n}); t.ID != want {
				err = fmt.Errorf("category %s: place %d of the series has %v", c.ID(), n, t.ID)
				return false
			}
			err = checkPlace(t, waiting, at)
			return err == nil
		})
		if err != nil {
			return err
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

func (s *State) checkLine(c *queue.Category, waiting map[*queue.Live]bool) (err error) {
	var last *queue.Live
	n := 0
	c.EachWaiting(func(t *queue.Live) bool {
		switch {
		case t.State != queue.Waiting || t.Category != c.ID():
			err = fmt.Errorf("line of %s: ticket %v is %v in %s", c.ID(), t.ID, t.State, t.Category)
		case waiting[t]:
			err = fmt.Errorf("ticket %v waits in two lines", t.ID)
		case last != nil && !last.Key.Before(t.Key):
			err = fmt.Errorf("line of %s: ticket %v stands before %v against their keys", c.ID(), last.ID, t.ID)
		case c.Ahead(t.Key) != n:
			err = fmt.Errorf("line of %s: %d ahead of ticket %v, counted %d", c.ID(), c.Ahead(t.Key), t.ID, n)
		}
		waiting[t], last = true, t
		n++
		return err == nil
	})
	if err == nil && n != c.Waiting() {
		err = fmt.Errorf("line of %s: %d tickets, its length is %d", c.ID(), n, c.Waiting())
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
