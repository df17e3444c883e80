package lock

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"time"

	"callerd/internal/arch"
)

// Run measures the locks, a row after the other. It sets GOMAXPROCS, for the process and for as long as it takes, and wants
// the process to itself: one Run at a time, and nothing beside it. When ctx ends it returns the rows it has, and the error of ctx.
func Run(ctx context.Context, opts Options) (Result, error) {
	opts = opts.withDefaults()
	measured, err := chosen(opts.Locks)
	if err != nil {
		return Result{}, err
	}
	arch.Calibrate()
	was := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(was)
	perMicrosecond := roundsOf()
	r := Result{
		Started: time.Now(), Go: runtime.Version(), Arch: runtime.GOARCH, CPUs: runtime.NumCPU(),
		Slice: opts.Slice, Rounds: opts.Rounds,
	}
	for i, row := range opts.Rows {
		if err := ctx.Err(); err != nil {
			return r, err
		}
		if opts.Progress != nil {
			opts.Progress(i, len(opts.Rows), row)
		}
		runtime.GOMAXPROCS(row.Processors)
		stop, err := hogs(ctx, row.Hogs)
		if err != nil {
			return r, fmt.Errorf("start a hog: %w", err)
		}
		rounds := func(d time.Duration) int { return int(float64(d) * perMicrosecond / 1000) }
		c := crowd{row: row, section: rounds(row.Section), outside: rounds(row.Outside)}
		r.Rows = append(r.Rows, RowResult{Row: row, Locks: c.measure(measured, opts)})
		stop()
	}
	r.Took = time.Since(r.Started)
	return r, nil
}

// chosen returns sync.Mutex and the locks with these names, or all.
func chosen(names []string) ([]kind, error) {
	if len(names) == 0 {
		return kinds, nil
	}
	c := kinds[:1:1]
	for _, n := range names {
		i := slices.IndexFunc(kinds, func(k kind) bool { return k.name == n })
		if i < 0 {
			return nil, fmt.Errorf("no lock is called %q", n)
		}
		if i > 0 {
			c = append(c, kinds[i])
		}
	}
	return c, nil
}

const (
	// collapsed is how many times the time an operation with sync.Mutex is burnt by one with a lock that gets nowhere.
	collapsed = 50
	// lineUp is how long it may take to make a line and see it served.
	lineUp = 30 * time.Millisecond
	// patience is how long one row may take, but for the first round: on a machine with other things to do slices last longer.
	patience = 900 * time.Millisecond
	// moment is the length of a slice that is to be undisturbed on such a machine.
	moment = 1500 * time.Microsecond
	// enough is how many undisturbed slices are enough.
	enough = 3
)

// measure lets the locks take turns in one row.
func (c crowd) measure(locks []kind, opts Options) []Cell {
	cells := make([]Cell, len(locks))
	all := make([]measured, len(locks))
	start := time.Now()
	for round := range opts.Rounds {
		if round > 0 && time.Since(start) > patience {
			break
		}
		for i, k := range locks {
			if cells[i].CutOff {
				continue
			}
			v, mutex := c.speed(k, opts.Slice), all[0].last()
			if i > 0 && v.burnt > time.Millisecond && v.burntPerOp() > collapsed*max(mutex.burntPerOp(), mutex.ns) {
				cells[i].CutOff, all[i] = true, measured{speeds: []speed{v}}
				continue
			}
			all[i].speeds = append(all[i].speeds, v)
			all[i].waits = append(all[i].waits, c.waits(k, opts.Slice)...)
		}
	}
	c.findQuiet(start, locks, cells, all, opts)
	for i, k := range locks {
		cells[i].fill(c, k.name, all[i], all[0])
		if !cells[i].CutOff && c.row.Goroutines > 1 {
			cells[i].Overtakings, cells[i].Sections = c.overtakings(k, lineUp)
		}
	}
	return cells
}

// findQuiet goes on with short slices of sync.Mutex and the ticket lock until both had some that were undisturbed.
func (c crowd) findQuiet(start time.Time, locks []kind, cells []Cell, all []measured, opts Options) {
	i := slices.IndexFunc(locks, func(k kind) bool { return k.name == ticket })
	if i < 0 || cells[i].CutOff || c.row.Hogs > 0 || opts.Quick {
		return
	}
	short := min(moment, opts.Slice)
	for time.Since(start) < patience {
		if len(c.quiet(all[0])) >= enough && len(c.quiet(all[i])) >= enough {
			return
		}
		for _, j := range []int{0, i} {
			all[j].speeds = append(all[j].speeds, c.speed(locks[j], short))
		}
	}
}

// measured is what slices of one lock in one row told.
type measured struct {
	speeds []speed
	waits  []uint32
}

func (m measured) last() speed {
	if len(m.speeds) == 0 {
		return speed{}
	}
	return m.speeds[len(m.speeds)-1]
}

// quiet returns the times an operation in undisturbed slices.
func (c crowd) quiet(m measured) (ns []float64) {
	for _, v := range m.speeds {
		if c.undisturbed(v) {
			ns = append(ns, v.ns)
		}
	}
	return ns
}

// fill puts what was measured into a cell, beside what sync.Mutex did in the same rounds.
func (l *Cell) fill(c crowd, name string, mine, mutex measured) {
	l.Lock = name
	var ns, ratios, jain, cores []float64
	for i, v := range mine.speeds {
		ns = append(ns, v.ns)
		ratios = append(ratios, v.ns/mutex.speeds[i].ns)
		jain = append(jain, v.jain)
		cores = append(cores, v.cores)
	}
	l.NsPerOp, l.Ratio = median(ns), median(ratios)
	l.Jain, l.Cores = median(jain), median(cores)
	if a, b := c.quiet(mine), c.quiet(mutex); len(a) >= enough && len(b) >= enough && !l.CutOff {
		l.Quiet = min(len(a), len(b))
		l.NsPerOp, l.Ratio = median(a), median(a)/median(b)
	}
	if n := len(mine.waits); n > 0 {
		w := slices.Sorted(slices.Values(mine.waits))
		at := func(promille int) time.Duration { return time.Duration(w[(n-1)*promille/1000]) }
		l.P50, l.P99, l.P999, l.Longest = at(500), at(990), at(999), at(1000)
	}
}

func median(x []float64) float64 {
	slices.Sort(x)
	return x[len(x)/2]
}
