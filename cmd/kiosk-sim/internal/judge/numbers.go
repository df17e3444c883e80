package judge

import (
	"fmt"
	"maps"
	"slices"

	"callerd/cmd/kiosk-sim/internal/history"
)

// noNumberTwice: every acknowledged ticket belongs to one request, and every number of a day to
// one ticket.
func noNumberTwice(s *settled) Verdict {
	v := Verdict{Check: NoNumberTwice, Status: Pass}
	owner := map[string]*history.Op{}  // ticket id
	number := map[string]*history.Op{} // day and number
	for i := range s.h.Ops {
		op := &s.h.Ops[i]
		if op.Method != "IssueTicket" || op.Outcome != history.OK {
			continue
		}
		if op.Got == nil {
			v.fault(describeAll(op), "an answer without a ticket")
			continue
		}
		v.Judged++
		if first := owner[op.Got.ID]; first == nil {
			owner[op.Got.ID] = op
		} else if first.RequestID != op.RequestID {
			v.fault(describeAll(first, op), "ticket %s was given to two requests", op.Got.ID)
		}
		day, _, _ := parseID(op.Got.ID)
		if first := number[day+op.Got.Number]; first == nil {
			number[day+op.Got.Number] = op
		} else if first.RequestID != op.RequestID {
			v.fault(describeAll(first, op), "number %s was given to two requests", op.Got.Number)
		}
	}
	return v
}

// series is one category's numbers of one day, as far as the clients know them.
type series struct {
	category string
	acked    map[int]*history.Op
	listed   map[int]bool // by any list of the server
	top      int
}

// noneLost: the numbers 1..n are all accounted for, and the server's last list has every
// acknowledged ticket with its number.
func noneLost(s *settled) Verdict {
	v := Verdict{Check: NoneLost, Status: Pass}
	all := map[string]*series{}
	get := func(id string) (*series, int) {
		day, category, n := parseID(id)
		r := all[day+"/"+category]
		if r == nil {
			r = &series{category: category, acked: map[int]*history.Op{}, listed: map[int]bool{}}
			all[day+"/"+category] = r
		}
		r.top = max(r.top, n)
		return r, n
	}
	open := map[string]int{} // requests that may hold a number nobody was told
	for _, r := range s.requests {
		if r.method() != "IssueTicket" {
			continue
		}
		if r.open {
			open[r.ops[0].Category]++
		}
		if r.done != nil && r.done.Got != nil {
			v.Judged++
			one, n := get(r.done.Got.ID)
			one.acked[n] = r.done
		}
	}
	lists := map[string]map[string]history.Ticket{} // category to its newest whole list
	began := map[string]int64{}
	for i := range s.h.Ops {
		op := &s.h.Ops[i]
		if op.Method != "ListTickets" || op.Outcome != history.OK {
			continue
		}
		if op.Page == "" {
			lists[op.Category], began[op.Category] = map[string]history.Ticket{}, op.Start
		}
		for _, t := range op.Tickets {
			lists[op.Category][t.ID] = t
			one, n := get(t.ID)
			one.listed[n] = true
		}
	}
	for _, key := range slices.Sorted(maps.Keys(all)) {
		one := all[key]
		one.gaps(&v, key, open[one.category])
		one.list(&v, key, lists[one.category], began[one.category])
	}
	if len(lists) == 0 {
		v.Note = "the server's own list was not read"
	}
	return v
}

// gaps: a number that nobody holds needs a request that nobody settled.
func (one *series) gaps(v *Verdict, key string, open int) {
	var missing []int
	for n := 1; n <= one.top; n++ {
		if one.acked[n] == nil && !one.listed[n] {
			missing = append(missing, n)
		}
	}
	if len(missing) > open {
		at := one.acked[missing[0]+1]
		v.fault(describeAll(one.acked[missing[0]-1], at), "%s: %d of 1..%d are missing, %d requests are open: %s", key, len(missing), one.top, open, some(missing))
	} else {
		v.Doubtful += len(missing)
	}
}

func (one *series) list(v *Verdict, key string, list map[string]history.Ticket, began int64) {
	if list == nil {
		return
	}
	day := key[:len(key)-len(one.category)-1]
	listed := 0
	for id := range list {
		if d, _, _ := parseID(id); d == day {
			listed++
		}
	}
	if listed == 0 && len(list) > 0 {
		return // the list is of another day
	}
	for _, n := range slices.Sorted(maps.Keys(one.acked)) {
		op := one.acked[n]
		t, ok := list[op.Got.ID]
		switch {
		case op.Start > began:
		case !ok:
			v.fault(describeAll(op), "%s was acknowledged and is not in the server's list", op.Got.ID)
		case t.Number != op.Got.Number:
			v.fault(describeAll(op), "%s was acknowledged as %s and is listed as %s", op.Got.ID, op.Got.Number, t.Number)
		}
	}
}

func some(ns []int) string {
	if len(ns) > 10 {
		return fmt.Sprint(ns[:10]) + "..."
	}
	return fmt.Sprint(ns)
}
