package branch

import (
	"slices"
	"time"

	"callerd/internal/queue"
)

// Policy is what the configuration says of one category. It decides, and what it decided stands in the records: replay
// never asks it. The zero value bounds nothing.
type Policy struct {
	MaxPerDay    uint32 // tickets a business day; 0: no limit
	MaxPerPerson uint32 // tickets a person key a business day; 0: no limit
	Hours        Hours  // when numbers are handed out

	MaxOvertakes uint32        // a ticket passed over so often is overdue; 0: never
	MaxWait      time.Duration // so is one that waited so long; 0: never

	NoShowAfter   time.Duration // a called ticket that is not started becomes a no-show; 0: never by itself
	MinCalls      uint16        // announcements, the call the first, before a teller may say no-show
	MinWait       time.Duration // since the call, before a teller may say no-show
	MaxRecalls    uint16        // after one call from a line; 0: no limit
	NoShowAtLimit bool          // one recall more makes a no-show of it, instead of being refused

	RequeueWithin  time.Duration // a no-show may come back for so long; 0: until the end of the day
	RequeueNumbers uint32        // and until so many numbers of its series were called after it; 0: any
	RequeueTo      queue.Where   // where, unless the request says; 0: Back
	RequeueAfter   uint32        // for Where After

	CheckInWithin time.Duration // a reservation is held for so long; 0: until the end of the day
	HeldWithin    time.Duration // a ticket may be held for so long; 0: until the end of the day
}

// policy returns what the configuration says of a category.
func (b *Branch) policy(id queue.CategoryID) Policy {
	c := b.config.Load()
	if p, named := c.Policies[id]; named {
		return p
	}
	return c.Unnamed
}

// deadline returns the time at which a state that is entered now ends, 0 for never.
func (p Policy) deadline(s queue.State, at int64) int64 {
	var d time.Duration
	switch s {
	case queue.Called:
		d = p.NoShowAfter
	case queue.Reserved:
		d = p.CheckInWithin
	case queue.Held:
		d = p.HeldWithin
	case queue.NoShow:
		d = p.RequeueWithin
	}
	if d == 0 {
		return 0
	}
	return at + int64(d)
}

// Hours are the opening windows of a category by weekday and date. The zero value is always open.
type Hours struct {
	Week     [7][]Window         // by time.Weekday
	Weekly   bool                // the week is named: a day without a window is closed, also if all are; implied by any window
	Holidays map[string][]Window // by date, "2026-10-01": instead of the weekday's; empty: closed
}

// Window is from when to when, local time after midnight; until is not included.
type Window struct{ From, Until time.Duration }

// Open tells whether a time is inside a window and, if it is not, when the next one begins (the zero time: not within a
// year). Both are local times: a window that the clock jumps over does not happen.
func (h Hours) Open(at time.Time) (open bool, next time.Time) {
	if h.always() {
		return true, time.Time{}
	}
	y, m, d := at.Date()
	for day := range 367 {
		noon := time.Date(y, m, d+day, 12, 0, 0, 0, at.Location())
		for _, w := range h.on(noon) {
			from, until := w.on(noon)
			if !from.After(at) && at.Before(until) {
				return true, time.Time{}
			}
			if from.After(at) && from.Before(until) && (next.IsZero() || from.Before(next)) {
				next = from
			}
		}
		if !next.IsZero() {
			return false, next
		}
	}
	return false, time.Time{}
}

func (h Hours) always() bool { return !h.weekly() && len(h.Holidays) == 0 }

// weekly reports whether the week is named.
func (h Hours) weekly() bool {
	return h.Weekly || slices.ContainsFunc(h.Week[:], func(w []Window) bool { return len(w) > 0 })
}

// on returns the windows of the date that t falls on.
func (h Hours) on(t time.Time) []Window {
	if w, ok := h.Holidays[t.Format(time.DateOnly)]; ok {
		return w
	}
	if !h.weekly() { // only holidays are named
		return []Window{{0, 24 * time.Hour}}
	}
	return h.Week[t.Weekday()]
}

// on returns when the window is on, on the date that t falls on: where the clock jumps over its begin or its end, from or until the
// jump, as the business day turns.
func (w Window) on(t time.Time) (from, until time.Time) {
	y, m, d := t.Date()
	return turn(y, m, d, t.Location(), w.From), turn(y, m, d, t.Location(), w.Until)
}
