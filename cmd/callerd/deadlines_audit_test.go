package main

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"callerd/internal/queue"
)

// drift is how much the wall clock, by which records are stamped, and the monotonic one, by which leases run, may differ
// over a few seconds.
const drift = 10 * time.Millisecond

// audit reads a journal and holds each deadline in it against the end that it came to. It works deadlines out from what the
// hall was configured to, not from what the records say.
type audit struct {
	t    *testing.T
	hall *dueHall

	began   time.Time         // when the life of the daemon began to serve that the record is of
	serving []life            // each life, from when it served
	born    time.Time         // when it was launched
	open    map[string]ending // what runs, by name
	fired   map[string]int
	waived  map[string]int // ended by the end of a lease before they fired
	opened  map[queue.CounterID]int

	cameDueUp, cameDueDown int
	late                   map[string][]time.Duration // by what is told
}

// ending is a deadline that runs.
type ending struct {
	set  time.Time
	span time.Duration
	// anew tells that it is not the record's, but runs only while the daemon serves.
	anew bool
	name string
}

func newAudit(t *testing.T, h *dueHall) *audit {
	return &audit{t: t, hall: h, open: map[string]ending{}, fired: map[string]int{}, waived: map[string]int{}, opened: map[queue.CounterID]int{},
		late: map[string][]time.Duration{}}
}

// record takes the next record.
func (a *audit) record(r *queue.Record) {
	at := time.Unix(0, r.At)
	if r.Actor.Kind == queue.Teller {
		if subject := "counter " + r.Actor.Name; a.open[subject].anew {
			e := a.open[subject]
			e.set = at // its lease
			a.open[subject] = e
		}
	}
	for _, o := range r.Outcomes {
		switch o := o.(type) {
		case *queue.Started:
			a.starts(at)
		case *queue.TicketChanged:
			a.ticket(at, o)
		case *queue.CounterChanged:
			a.counter(at, o)
		case *queue.ResourceChanged:
			for _, n := range o.Names {
				a.ends(at, "thing "+string(n), o.Cause)
				if o.Verb == queue.AcquireResources {
					a.open["thing "+string(n)] = ending{at, grantSpan, true, fmt.Sprintf("granted %d", o.Fence)}
				}
			}
		}
	}
}

// starts takes note of another life of the daemon: the record is written before anything fires or is answered.
func (a *audit) starts(at time.Time) {
	runs := a.hall.runs
	first, _ := slices.BinarySearchFunc(runs, a.began, func(r life, at time.Time) int { return r.gone.Compare(at) })
	if !a.began.IsZero() { // the first that ended after it began is the one that served; those behind it were killed while they started
		a.serving = append(a.serving, life{a.began, runs[first].gone})
	}
	a.began = at
	for _, r := range runs {
		if !r.born.After(at) {
			a.born = r.born
		}
	}
}

var stateNames = map[queue.State]string{queue.Reserved: "reserved", queue.Held: "held", queue.NoShow: "no-show", queue.Called: "called"}

func (a *audit) ticket(at time.Time, o *queue.TicketChanged) {
	id := o.Ticket.String()
	a.ends(at, id, o.Cause)
	word := stateNames[o.To]
	if word == "" || o.To == queue.Called && o.Category != "quick" {
		return
	}
	e := ending{at, a.hall.spans[string(o.Category)], o.To == queue.Called, word + " " + id}
	if got := time.Duration(o.Deadline - at.UnixNano()); got != e.span {
		a.t.Errorf("%s: the record gives it %v, the configuration %v", e.name, got, e.span)
	}
	a.open[id] = e
}

func (a *audit) counter(at time.Time, o *queue.CounterChanged) {
	subject := fmt.Sprintf("counter %d", o.Counter)
	switch o.Verb {
	case queue.OpenCounter:
		a.opened[o.Counter]++
		a.open[subject] = ending{at, leaseSpan, true, fmt.Sprintf("session %d of counter %d", a.opened[o.Counter], o.Counter)}
	case queue.CloseCounter:
		if heard := a.hall.heard[uint32(o.Counter)]; heard.Before(at) && heard.After(a.open[subject].set) {
			e := a.open[subject]
			e.set = heard // by a call that wrote nothing
			a.open[subject] = e
		}
		if o.Cause != queue.LeaseEnded {
			a.t.Errorf("%s closed for cause %d, nobody asked for it", subject, o.Cause)
		}
		a.ends(at, subject, queue.TimeUp)
	}
}

// ends is told that something has changed, and why.
func (a *audit) ends(at time.Time, subject string, cause queue.Cause) {
	e, runs := a.open[subject]
	delete(a.open, subject)
	switch {
	case cause == queue.TimeUp && !runs:
		a.t.Errorf("%s: its time was up at %v, and none ran: it fired twice, or never was set", subject, at)
	case cause == queue.TimeUp:
		a.fires(at, e)
	case runs && e.anew && cause == queue.LeaseEnded: // the console had died before
		a.waived[e.name]++
	case runs:
		a.t.Errorf("%s was ended at %v by another cause, %d", e.name, at, cause)
	}
}

// fires takes note that a deadline has passed.
func (a *audit) fires(at time.Time, e ending) {
	a.fired[e.name]++
	due := e.set.Add(e.span)
	if e.anew {
		least := due
		if e.set.Before(a.born) {
			least = a.born.Add(e.span)
		}
		if early := least.Sub(at); early > drift {
			a.t.Errorf("%s fired %v early", e.name, early)
		}
		if e.set.Before(a.began) {
			due = a.began.Add(e.span)
		}
		a.late["begun anew at a start"] = append(a.late["begun anew at a start"], max(0, at.Sub(due)))
		return
	}
	if at.Before(due) {
		a.t.Errorf("%s fired %v early", e.name, due.Sub(at))
	}
	late := at.Sub(due)
	if !due.Before(a.began) {
		a.cameDueUp++
		a.late["due while it was up"] = append(a.late["due while it was up"], late)
		return
	}
	// Only the time for which it served.
	late, word := at.Sub(a.began), "due while it was down"
	for _, r := range a.serving {
		if r.gone.After(due) {
			late += r.gone.Sub(later(r.born, due))
			word = "due before a kill, fired behind it" // or its end was not on disk yet
		}
	}
	if word == "due while it was down" {
		a.cameDueDown++
	} else {
		a.cameDueUp++
	}
	a.late[word] = append(a.late[word], late)
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// conclude holds what has fired against what was acknowledged.
func (a *audit) conclude() {
	for _, subject := range slices.Sorted(maps.Keys(a.open)) {
		a.t.Errorf("%s never fired: it is lost", a.open[subject].name)
	}
	for _, name := range slices.Sorted(maps.Keys(a.hall.set)) {
		if n := a.fired[name] + a.waived[name]; n != 1 {
			a.t.Errorf("%s was acknowledged and fired %d times", name, n)
		}
	}
	for name, n := range a.fired {
		if n != 1 {
			a.t.Errorf("%s fired %d times", name, n)
		}
	}
}

// tell says what was seen.
func (a *audit) tell() {
	kinds := map[string]int{}
	for name := range a.fired {
		var kind string
		fmt.Sscan(name, &kind)
		kinds[kind]++
	}
	a.t.Logf("fired: %v, ended by a lease before: %d", kinds, len(a.waived))
	for _, what := range slices.Sorted(maps.Keys(a.late)) {
		l := a.late[what]
		slices.Sort(l)
		p := func(q float64) time.Duration { return l[int(q*float64(len(l)-1))].Round(10 * time.Microsecond) }
		a.t.Logf("%d %s: late by p50 %v, p99 %v, max %v", len(l), what, p(0.5), p(0.99), p(1))
	}
}
