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
	// enough is how many undisturbed windows say more than all slices, wanted how many are looked for.
	enough, wanted = 8, 60
	// enoughWaits is how many waits in such windows are enough.
	enoughWaits = 10_000
)

// measure lets the locks take turns in one row.
func (c crowd) measure(locks []kind, opts Options) []Cell {
	cells := make([]Cell, len(locks))
	all := make([]measured, len(locks))
	start := time.Now()
	for round := range opts.Rounds {
		if round > 0 && time.Since(start) > opts.Patience {
			break
		}
		for i, k := range locks {
			if cells[i].CutOff {
				continue
			}
			v, mutex := c.speed(k, opts.Slice), all[0].last()
			if i > 0 && v.burnt > opts.Slice/2 && v.burntPerOp() > collapsed*max(mutex.burntPerOp(), mutex.ns) {
				cells[i].CutOff, all[i] = true, measured{speeds: []speed{v}}
				continue
			}
			all[i].speeds = append(all[i].speeds, v)
			all[i].quiet = append(all[i].quiet, v.quiet...)
			all[i].addWaits(c.waits(k, opts.Slice))
		}
	}
	c.findQuiet(start, locks, cells, all, opts)
	for i, k := range locks {
		cells[i].fill(k.name, all[i], all[0])
		if !cells[i].CutOff && c.row.Goroutines > 1 {
			cells[i].Overtakings, cells[i].Sections = c.overtakings(k, lineUp)
		}
	}
	return cells
}

// findQuiet goes on with sync.Mutex and the ticket lock until both had as many undisturbed windows as are wanted.
func (c crowd) findQuiet(start time.Time, locks []kind, cells []Cell, all []measured, opts Options) {
	i := slices.IndexFunc(locks, func(k kind) bool { return k.name == ticket })
	if i < 0 || cells[i].CutOff || c.row.Hogs > 0 || opts.Quick {
		return
	}
	for time.Since(start) < opts.Patience && (len(all[0].quiet) < wanted || len(all[i].quiet) < wanted) {
		for _, j := range []int{0, i} {
			v := c.speed(locks[j], opts.Slice)
			all[j].speeds = append(all[j].speeds, v)
			all[j].quiet = append(all[j].quiet, v.quiet...)
		}
	}
}

// measured is what slices of one lock in one row told.
type measured struct {
	speeds            []speed
	quiet             []float64 // ns an operation, in undisturbed windows
	waits, quietWaits []uint32
}

func (m measured) last() speed {
	if len(m.speeds) == 0 {
		return speed{}
	}
	return m.speeds[len(m.speeds)-1]
}

func (m *measured) addWaits(all, quiet []uint32) {
	m.waits, m.quietWaits = append(m.waits, all...), append(m.quietWaits, quiet...)
}

// fill puts what was measured into a cell, beside what sync.Mutex did in the same rounds.
func (l *Cell) fill(name string, mine, mutex measured) {
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
	if n := min(len(mine.quiet), len(mutex.quiet)); n >= enough && !l.CutOff {
		l.Quiet = n
		l.NsPerOp = median(slices.Clone(mine.quiet))
		l.Ratio = l.NsPerOp / median(slices.Clone(mutex.quiet))
	}
	w := mine.waits
	if l.QuietWaits = len(mutex.quietWaits) >= enoughWaits && len(mine.quietWaits) >= enoughWaits; l.QuietWaits {
		w = mine.quietWaits
	}
	if n := len(w); n > 0 {
		slices.Sort(w)
		at := func(promille int) time.Duration { return time.Duration(w[(n-1)*promille/1000]) }
		l.P50, l.P99, l.P999, l.Longest = at(500), at(990), at(999), at(1000)
	}
}

func median(x []float64) float64 {
	slices.Sort(x)
	return x[len(x)/2]
}
