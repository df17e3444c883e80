package lock

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"
)

// Result is what Run measured. As JSON, durations are nanoseconds.
type Result struct {
	Started time.Time     `json:"started"`
	Took    time.Duration `json:"took_ns"`
	Go      string        `json:"go"`
	Arch    string        `json:"arch"`
	CPUs    int           `json:"cpus"`
	Slice   time.Duration `json:"slice_ns"`
	Rounds  int           `json:"rounds"`
	Rows    []RowResult   `json:"rows"`
}

// RowResult is what the locks did in one row, sync.Mutex first.
type RowResult struct {
	Row
	Locks []Cell `json:"locks"`
}

// Cell is what one lock did in one row.
type Cell struct {
	Lock string `json:"lock"`
	// CutOff says that the lock got nowhere: it was stopped, Ratio and NsPerOp are lower bounds, and what follows them is not
	// measured.
	CutOff  bool    `json:"cut_off,omitempty"`
	NsPerOp float64 `json:"ns_per_op"` // the median of the rounds
	// Ratio is the time an operation to that of sync.Mutex: the median over the rounds, in each the two of the same round. With
	// Quiet above 0 it is that of the medians over so many windows of 0.3 ms each, or more, in which the process had the
	// processors that it could use, so no other program was in the way; on a machine with much else to do nothing else says much.
	Ratio float64 `json:"ratio"`
	Quiet int     `json:"quiet,omitempty"`

	// The waits for the lock; only those that ended in such windows if QuietWaits.
	QuietWaits bool          `json:"quiet_waits,omitempty"`
	P50        time.Duration `json:"p50_ns"`
	P99        time.Duration `json:"p99_ns"`
	P999       time.Duration `json:"p999_ns"`
	Longest    time.Duration `json:"longest_ns"`

	// Overtakings is how many of Sections, counted while a line that had been seen was there, overtook somebody in it. With
	// no Sections there was no line: one goroutine, or not everybody came to stand in it in time.
	Overtakings int64 `json:"overtakings"`
	Sections    int64 `json:"sections"`

	Jain  float64 `json:"jain"`  // fairness between the goroutines of a slice: 1 if all came equally often, 1/n if only one did
	Cores float64 `json:"cores"` // processor time burnt in a unit of time
}

// find returns the cell of a lock.
func (r RowResult) find(lock string) (Cell, bool) {
	for _, l := range r.Locks {
		if l.Lock == lock {
			return l, true
		}
	}
	return Cell{}, false
}

// Table writes all rows for reading. Ratios and times of locks that were cut off have a > before them.
func (r Result) Table(w io.Writer) error {
	fmt.Fprintf(w, "%s %s, %d processors, %d rounds of %v slices, in %v\n",
		r.Go, r.Arch, r.CPUs, r.Rounds, r.Slice, r.Took.Round(time.Second))
	for _, row := range r.Rows {
		fmt.Fprintf(w, "\n%v\n", row.Row)
		t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
		fmt.Fprintln(t, "\tns/op\tx mutex\tquiet\tp50\tp99\tp99.9\tlongest\tovertakings\tJain\tcores\t")
		for _, l := range row.Locks {
			if l.CutOff {
				fmt.Fprintf(t, "%s\t> %.0f\t> %.0f\t\t\t\t\t\t\t\t%.2f\t\n", l.Lock, l.NsPerOp, l.Ratio, l.Cores)
				continue
			}
			overtakings := "-"
			if l.Sections > 0 {
				overtakings = fmt.Sprintf("%d of %d", l.Overtakings, l.Sections)
			}
			fmt.Fprintf(t, "%s\t%.1f\t%.2f\t%d\t%v\t%v\t%v\t%v\t%s\t%.3f\t%.2f\t\n", l.Lock, l.NsPerOp, l.Ratio, l.Quiet,
				short(l.P50), short(l.P99), short(l.P999), short(l.Longest), overtakings, l.Jain, l.Cores)
		}
		if err := t.Flush(); err != nil {
			return err
		}
	}
	return nil
}

// short rounds a duration to three digits.
func short(d time.Duration) time.Duration {
	unit := time.Duration(1)
	for d/unit >= 1000 {
		unit *= 10
	}
	return d.Round(unit)
}
