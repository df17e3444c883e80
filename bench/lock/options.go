package lock

import (
	"fmt"
	"time"
)

// Options say how much is measured. The zero value measures everything, in about three minutes.
type Options struct {
	// Quick measures a few rows for a few milliseconds each: whether all works, no more.
	Quick bool
	// Slice is the length of one stretch of measuring. 0: 15 ms, or 3 ms if Quick.
	Slice time.Duration
	// Rounds is how often the locks take turns in a row. 0: 3.
	Rounds int
	// Patience is how long one row may take, but for the first round: on a machine with other things to do slices last longer,
	// and windows without them are rare. 0: 0.9 s.
	Patience time.Duration
	// Locks are the names of the locks to measure beside sync.Mutex. None: all.
	Locks []string
	// Rows are the rows to measure. None: the whole matrix.
	Rows []Row
	// Progress is called before each row, if it is not nil.
	Progress func(done, all int, r Row)
}

// Row is one situation.
type Row struct {
	Goroutines int           `json:"goroutines"`
	Processors int           `json:"processors"` // GOMAXPROCS
	Section    time.Duration `json:"section_ns"`
	Outside    time.Duration `json:"outside_ns"`         // work between two sections
	Yielding   bool          `json:"yielding,omitempty"` // goroutines yield after each operation, as handlers do
	Queued     bool          `json:"queued,omitempty"`   // all stand in line at the start
	Hogs       int           `json:"hogs,omitempty"`     // other processes that burn a processor each
}

// String says the row in words.
func (r Row) String() string {
	s := fmt.Sprintf("%d goroutines, %d processors, section %v, outside %v", r.Goroutines, r.Processors, r.Section, r.Outside)
	if r.Yielding {
		s += ", yielding"
	}
	if r.Queued {
		s += ", queued at the start"
	}
	if r.Hogs > 0 {
		s += fmt.Sprintf(", beside %d hogs", r.Hogs)
	}
	return s
}

// The section and the work outside in the rows that vary something else.
const (
	usualSection = 50 * time.Nanosecond
	usualOutside = 200 * time.Nanosecond
)

func (o Options) withDefaults() Options {
	if o.Slice <= 0 {
		o.Slice = 15 * time.Millisecond
		if o.Quick {
			o.Slice = 3 * time.Millisecond
		}
	}
	if o.Rounds <= 0 {
		o.Rounds = 3
	}
	if o.Patience <= 0 {
		o.Patience = 900 * time.Millisecond
	}
	if len(o.Rows) == 0 {
		o.Rows = matrix(o.Quick)
	}
	return o
}

// Drawn returns the rows that Plot draws.
func Drawn() (rows []Row) {
	for _, r := range matrix(false) {
		if r.Processors == drawn && r.Section == usualSection && r.Outside == usualOutside {
			rows = append(rows, r)
		}
	}
	return rows
}

// matrix returns the rows: every number of goroutines with every section and work outside, on 1, 2 and 4 processors; then
// goroutines that yield, that are all queued at the start, and beside hogs, with the usual section.
func matrix(quick bool) (rows []Row) {
	goroutines, processors := []int{1, 2, 4, 16, 64, 1024}, []int{1, 2, 4}
	sections, outsides := []time.Duration{0, usualSection, 300}, []time.Duration{0, usualOutside}
	if quick {
		goroutines, processors = []int{1, 4, 64}, []int{2}
		sections, outsides = sections[1:2], outsides[1:]
	}
	for _, p := range processors {
		for _, section := range sections {
			for _, outside := range outsides {
				for _, n := range goroutines {
					rows = append(rows, Row{Goroutines: n, Processors: p, Section: section, Outside: outside})
				}
			}
		}
	}
	for _, p := range processors {
		for _, how := range []Row{{Yielding: true}, {Queued: true}, {Hogs: 2}} {
			for _, n := range append(goroutines[1:len(goroutines):len(goroutines)], 256) {
				if how.Hogs > 0 && p != 2 || quick && n == 256 {
					continue
				}
				how.Goroutines, how.Processors, how.Section, how.Outside = n, p, usualSection, usualOutside
				rows = append(rows, how)
			}
		}
	}
	return rows
}
