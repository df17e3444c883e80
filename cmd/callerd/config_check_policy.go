package main

import (
	"fmt"
	"strings"
	"time"
)

// The bounds of what a policy may say.
const (
	mostNumber = 999_999
	mostCalls  = 100
	mostTime   = 24 * time.Hour
)

// policy notes what is wrong with a policy; at ends in a dot, or is "" for none.
func (f *faults) policy(at string, c policyConfig) {
	f.number(at+"max_per_day", c.MaxPerDay, 0, mostNumber)
	f.number(at+"max_per_person", c.MaxPerPerson, 0, mostNumber)
	if c.Hours != nil {
		for i, texts := range c.Hours.byDay() {
			if _, err := parseWindows(texts); err != nil {
				f.add(at+"hours."+strings.ToLower(time.Weekday(i).String()), "%v", err)
			}
		}
	}
	if c.Holidays != nil {
		seen := map[string]bool{}
		for i, h := range *c.Holidays {
			where := fmt.Sprintf("%sholidays[%d]", at, i)
			date, _, err := parseHoliday(h)
			switch {
			case err != nil:
				f.add(where, "%v", err)
			case seen[date]:
				f.add(where, "%s is named twice", date)
			}
			seen[date] = true
		}
	}
	f.number(at+"max_overtakes", c.MaxOvertakes, 0, mostNumber)
	f.duration(at+"max_wait", c.MaxWait)
	f.duration(at+"no_show.after", c.NoShow.After)
	f.number(at+"no_show.min_calls", c.NoShow.MinCalls, 1, mostCalls)
	f.duration(at+"no_show.min_wait", c.NoShow.MinWait)
	f.number(at+"no_show.max_recalls", c.NoShow.MaxRecalls, 0, mostCalls)
	if w := c.NoShow.AtLimit; w != nil {
		if _, ok := atLimit[*w]; !ok {
			f.add(at+"no_show.at_limit", "%s is not what the last recall leads to: refuse or no-show", shown(*w))
		}
	}
	f.duration(at+"requeue.within", c.Requeue.Within)
	f.number(at+"requeue.numbers", c.Requeue.Numbers, 0, mostNumber)
	if w := c.Requeue.To; w != nil {
		if _, ok := places[*w]; !ok {
			f.add(at+"requeue.to", "%s is not a place in a line: back, front, after or by-issue", shown(*w))
		}
	}
	f.number(at+"requeue.after", c.Requeue.After, 1, mostNumber)
	if w := c.Requeue.To; (w != nil && *w == "after") != (c.Requeue.After != nil) {
		f.add(at+"requeue.after", "requeue.to: after and requeue.after: K go together, in one place")
	}
	f.duration(at+"check_in_within", c.CheckInWithin)
	f.duration(at+"held_within", c.HeldWithin)
}

// bounds notes no-shows that could never be said: the customer may not be called as often as he must.
func (f *faults) bounds(at string, c *config, k categoryConfig) {
	p := c.policy(k)
	if p.MaxRecalls > 0 && p.MinCalls > p.MaxRecalls+1 {
		f.add(at+"no_show.min_calls", "%d calls are wanted before a no-show, and only %d recalls are allowed; raise no_show.max_recalls", p.MinCalls, p.MaxRecalls)
	}
	if p.NoShowAfter > 0 && p.MinWait > p.NoShowAfter {
		f.add(at+"no_show.min_wait", "a teller may say no-show after %v only, the system does so after %v; lower it", p.MinWait, p.NoShowAfter)
	}
}

func (f *faults) number(at string, n *int, least, most int) {
	if n != nil && (*n < least || *n > most) {
		f.add(at, "%d is not %d to %d", *n, least, most)
	}
}

func (f *faults) duration(at string, s *string) {
	if s == nil {
		return
	}
	if d, err := time.ParseDuration(*s); err != nil || d != 0 && d < time.Second || d > mostTime {
		f.add(at, "%s is not a time such as \"90s\" or \"30m\": 1s to 24h, or 0s for no limit", shown(*s))
	}
}
