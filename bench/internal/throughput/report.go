package throughput

import (
	"fmt"
	"strings"

	"callerd/bench/internal/load"
	"callerd/bench/internal/result"
)

// Report is the comparison as tables.
func (o *Outcome) Report() string {
	var b strings.Builder
	fdatasync := result.Median(result.Each(o.Fdatasync, func(f load.Figures) float64 { return f.P50 }))
	fmt.Fprintf(&b, "fdatasync of a 4 KiB overwrite: p50 %s ms, %s/s\n", result.Num(fdatasync),
		result.Num(result.Median(result.Each(o.Fdatasync, func(f load.Figures) float64 { return f.PerSec }))))
	for _, c := range [...]struct {
		ratios []float64
		to     string
	}{{o.OneCaller, "(no-op p50 + 2 x fdatasync p50)"}, {o.OneCallerSynced, "the p50 of a no-op whose handler syncs twice"}} {
		if low, high := result.Spread(c.ratios); len(c.ratios) > 0 {
			fmt.Fprintf(&b, "one caller of callerd: p50 is %s x %s (%s-%s)\n", result.Num(result.Median(c.ratios)), c.to, result.Num(low), result.Num(high))
		}
	}
	for _, work := range []string{Issue, Call} {
		if t := o.table(work); t != "" {
			fmt.Fprintf(&b, "\n%s\n", t)
		}
	}
	b.WriteString("\n")
	for _, s := range o.Systems {
		state := s.Version
		if s.Skipped != "" {
			state = "SKIPPED: " + s.Skipped
		}
		fmt.Fprintf(&b, "%s: %s\n    %s\n", s.Name, state, s.About)
	}
	return b.String()
}

// table is one work: medians, the spread of the operations a second, and callerd's ratio to each.
func (o *Outcome) table(work string) string {
	title := fmt.Sprintf("%s: medians; ms; CPU in us an operation; bytes written an operation, replies included; the last column is callerd's operations a second over this row's, median of each alternation's", work)
	t := result.NewTable(title, "system", "callers", "ops/s", "low-high", "p50", "p99", "max", "server CPU", "client CPU", "written B", "callerd is")
	empty, last := true, 0
	for _, callers := range o.callers(work) {
		for _, r := range o.Rows {
			if r.Work != work || r.Callers != callers || r.Failed == "" && len(r.Samples) == 0 {
				continue
			}
			if last != 0 && last != callers {
				t.Line()
			}
			empty, last = false, callers
			if r.Failed != "" {
				t.Merge(r.System, fmt.Sprintf("%d callers FAILED: %s", callers, shorten(r.Failed)))
				continue
			}
			med := func(f func(Sample) float64) string { return result.Num(r.Median(f)) }
			low, high := result.Spread(result.Each(r.Samples, PerSec))
			t.Row(r.System, callers, med(PerSec), result.Num(low)+"-"+result.Num(high), med(func(s Sample) float64 { return s.P50 }),
				med(func(s Sample) float64 { return s.P99 }), med(func(s Sample) float64 { return s.Max }), med(func(s Sample) float64 { return s.ServerCPU }),
				med(func(s Sample) float64 { return s.ClientCPU }), med(func(s Sample) float64 { return s.Handed }), o.Ratio(r)+" x")
		}
	}
	if empty {
		return ""
	}
	return t.String()
}

// Ratio is callerd's operations a second over a row's.
func (o *Outcome) Ratio(r *Row) string {
	ours := o.Row("callerd", r.Work, r.Callers)
	if ours == nil || ours.Failed != "" {
		return "-"
	}
	return result.Num(result.Ratio(result.Each(ours.Samples, PerSec), result.Each(r.Samples, PerSec)))
}

// callers are the numbers of callers of a work, in order.
func (o *Outcome) callers(work string) (cs []int) {
	for _, r := range o.Rows {
		if r.Work == work && (len(cs) == 0 || r.Callers > cs[len(cs)-1]) {
			cs = append(cs, r.Callers)
		}
	}
	return cs
}

// Faults names every row that failed.
func (o *Outcome) Faults() (faults []string) {
	for _, r := range o.Rows {
		if r.Failed != "" {
			faults = append(faults, fmt.Sprintf("%s, %s, %d callers: %s", r.System, r.Work, r.Callers, r.Failed))
		}
	}
	return faults
}

// Picture is operations a second by callers, a line a system.
func (o *Outcome) Picture(work string) result.Picture {
	p := result.Picture{Title: work + ", durable, on one disk: operations a second", X: "callers, each waiting for its answer", Y: "operations a second"}
	for _, s := range o.Systems {
		l := result.Line{Name: s.Name, Dashed: strings.HasPrefix(s.Name, "no-op RPC")}
		for _, r := range o.Rows {
			if r.System != s.Name || r.Work != work || r.Failed != "" || len(r.Samples) == 0 {
				continue
			}
			low, high := result.Spread(result.Each(r.Samples, PerSec))
			l.X, l.Y = append(l.X, float64(r.Callers)), append(l.Y, r.Median(PerSec))
			l.Low, l.High = append(l.Low, low), append(l.High, high)
		}
		if len(l.X) > 0 {
			p.Lines = append(p.Lines, l)
		}
	}
	return p
}

func shorten(s string) string {
	if len(s) > 100 {
		return s[:100] + "..."
	}
	return s
}
