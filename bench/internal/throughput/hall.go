package throughput

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"callerd/bench/internal/peer"
	"callerd/bench/internal/result"
)

// hall is a running system and what it has given so far.
type hall struct {
	peer.Instance
	limit          bool
	issued, called peer.Tally
}

func (h *hall) issue(ctx context.Context, caller int) error {
	n, err := h.Issue(ctx, caller)
	if err == nil {
		h.issued.Add(n)
	}
	return err
}

func (h *hall) call(ctx context.Context, caller int) error {
	n, err := h.CallNext(ctx, caller)
	if err == nil {
		h.called.Add(n)
	}
	return err
}

// check reports a number that was given twice or left out.
func (h *hall) check() error {
	if h.limit {
		return nil
	}
	return errors.Join(h.issued.Check(), h.called.Check())
}

// fill issues until so many wait.
func (h *hall) fill(ctx context.Context, want int64, goroutines int) error {
	if h.limit {
		return nil
	}
	var left atomic.Int64
	left.Store(want - int64(h.issued.Count()-h.called.Count()))
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var all sync.WaitGroup
	for n := range goroutines {
		all.Go(func() {
			for left.Add(-1) >= 0 && ctx.Err() == nil {
				if err := h.issue(ctx, n); err != nil {
					cancel(err)
				}
			}
		})
	}
	all.Wait()
	return context.Cause(ctx)
}

// enough is how many must wait so that a row of calls does not run dry: three times what the same callers issued in such a time,
// or called before, if that was more.
func (r *runner) enough(row *Row) int64 {
	most := 2000.0
	for _, other := range r.out.Rows {
		if other.System == row.System && other.Callers == row.Callers {
			for _, s := range other.Samples {
				most = max(most, s.PerSec)
			}
		}
	}
	margin := 1.8
	if len(row.Samples) == 0 && !r.NoFaster {
		margin = 4
	}
	return int64(margin * most * (r.Warm + r.Measure + 200*time.Millisecond).Seconds())
}

// fillers is how many issue what is to be called: as many as a system was fastest with.
func (r *runner) fillers(row *Row) int {
	n, most := min(256, r.Env.Counters), 0.0
	for _, other := range r.out.Rows {
		if other.System != row.System || other.Work != Issue {
			continue
		}
		for _, s := range other.Samples {
			if s.PerSec > most {
				n, most = other.Callers, s.PerSec
			}
		}
	}
	return n
}

// oneCaller compares a lone caller with what physics leaves: the call itself and the two syncs of a commit, added up and as one.
func (o *Outcome) oneCaller() {
	limit, synced, ours := o.Row("no-op RPC", Issue, 1), o.Row("no-op RPC + two syncs", Issue, 1), o.Row("callerd", Issue, 1)
	if ours == nil {
		return
	}
	for i, s := range ours.Samples {
		if limit != nil && i < min(len(limit.Samples), len(o.Fdatasync)) {
			o.OneCaller = append(o.OneCaller, s.P50/(limit.Samples[i].P50+2*o.Fdatasync[i].P50))
		}
		if synced != nil && i < len(synced.Samples) {
			o.OneCallerSynced = append(o.OneCallerSynced, s.P50/synced.Samples[i].P50)
		}
	}
}

// Row finds a row; nil if there is none.
func (o *Outcome) Row(system, work string, callers int) *Row {
	for _, r := range o.Rows {
		if r.System == system && r.Work == work && r.Callers == callers {
			return r
		}
	}
	return nil
}

// Median is the median of one figure of a row's samples.
func (r *Row) Median(f func(Sample) float64) float64 { return result.Median(result.Each(r.Samples, f)) }

// PerSec is a sample's operations a second.
func PerSec(s Sample) float64 { return s.PerSec }

// slug makes a folder's name of a system's.
func slug(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, strings.ToLower(name))
}
