// Package load drives a system with a closed loop of callers and measures what each of them waited.
//
// A closed loop is what a hall is: a kiosk or a teller sends the next request when the last was answered. Its latencies are
// those of callers that wait, not of arrivals at a rate; a stall shows in the maximum and in the operations a second.
package load

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Op is one operation of a caller; callers are numbered from 0.
type Op func(ctx context.Context, caller int) error

// Options say how long and how many.
type Options struct {
	Callers int
	Warm    time.Duration // driven and not measured
	Measure time.Duration
	// Begin and End, if set, are called when the measured time begins and ends, for example to read CPU clocks.
	Begin, End func()
}

// Figures are what one run gave.
type Figures struct {
	Ops     int64   `json:"ops"`
	Seconds float64 `json:"seconds"`
	PerSec  float64 `json:"per_second"`
	P50     float64 `json:"p50_ms"`
	P99     float64 `json:"p99_ms"`
	Max     float64 `json:"max_ms"`
}

// The phases of a run.
const (
	warming = iota
	measuring
	over
)

// Run drives op from all callers, each one operation at a time. An operation counts when it ended in the measured time. The
// first error ends the run and is returned: figures of a system that fails are worth nothing.
func Run(ctx context.Context, o Options, op Op) (Figures, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var phase atomic.Int32
	took := make([][]time.Duration, o.Callers)
	var callers sync.WaitGroup
	for n := range o.Callers {
		callers.Go(func() {
			for phase.Load() != over && ctx.Err() == nil {
				began := time.Now()
				if err := op(ctx, n); err != nil {
					cancel(fmt.Errorf("caller %d: %w", n, err))
					return
				}
				if phase.Load() == measuring {
					took[n] = append(took[n], time.Since(began))
				}
			}
		})
	}
	wait(ctx, o.Warm)
	call(o.Begin)
	began := time.Now()
	phase.Store(measuring)
	wait(ctx, o.Measure)
	phase.Store(over)
	seconds := time.Since(began).Seconds()
	call(o.End)
	callers.Wait()
	if ctx.Err() != nil {
		return Figures{}, context.Cause(ctx)
	}
	return summarize(took, seconds)
}

// ErrNothing is returned when not one operation ended in the measured time.
var ErrNothing = errors.New("load: no operation ended in the measured time")

// summarize makes one histogram of what all callers waited.
func summarize(took [][]time.Duration, seconds float64) (Figures, error) {
	h := hdrhistogram.New(1, int64(10*time.Minute/time.Microsecond), 3)
	for _, each := range took {
		for _, d := range each {
			if err := h.RecordValue(max(1, d.Microseconds())); err != nil {
				return Figures{}, err
			}
		}
	}
	if h.TotalCount() == 0 {
		return Figures{}, ErrNothing
	}
	ms := func(us int64) float64 { return float64(us) / 1000 }
	return Figures{Ops: h.TotalCount(), Seconds: seconds, PerSec: float64(h.TotalCount()) / seconds,
		P50: ms(h.ValueAtQuantile(50)), P99: ms(h.ValueAtQuantile(99)), Max: ms(h.Max())}, nil
}

// wait waits for d or the end of ctx.
func wait(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

func call(f func()) {
	if f != nil {
		f()
	}
}
