// Package throughput compares the systems of package peer: the same work, the same callers, the same disk, in turns.
package throughput

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"callerd/bench/internal/load"
	"callerd/bench/internal/peer"
	"callerd/bench/internal/proc"
)

// Works that are measured.
const (
	Issue = "issue"
	Call  = "call next"
)

// Options of a comparison.
type Options struct {
	Env          peer.Env // Dir and Sockets: folders in which each system gets its own
	Systems      []peer.System
	Callers      []int
	Works        []string
	Alternations int
	Warm         time.Duration
	Measure      time.Duration
	Progress     func(step, steps int, what string)
	// NoDisk leaves the disk alone out.
	NoDisk bool
	// NoFaster says that the systems call no faster than they issue, so that fewer need to wait before the first calls.
	NoFaster bool
	// Begin and End, if set, frame the measured time of each row; what they do is not measured.
	Begin, End func(*Row) error
}

// Sample is one run of one row.
type Sample struct {
	load.Figures
	Alternation int     `json:"alternation"`
	ServerCPU   float64 `json:"server_cpu_us_per_op"` // all its processes
	ClientCPU   float64 `json:"client_cpu_us_per_op"`
	Handed      float64 `json:"write_call_bytes_per_op"` // by the server, its replies included
	Dirtied     float64 `json:"write_bytes_per_op"`      // pages made dirty, as /proc/PID/io has it; see proc.Usage
}

// Row is one system at one work with so many callers.
type Row struct {
	System  string   `json:"system"`
	Work    string   `json:"work"`
	Callers int      `json:"callers"`
	Samples []Sample `json:"samples"`
	Failed  string   `json:"failed,omitempty"` // why its figures do not count
}

// System is what was compared.
type System struct {
	Name    string `json:"name"`
	About   string `json:"about"`
	Version string `json:"version"`
	Skipped string `json:"skipped,omitempty"` // why it was not
}

// Outcome is a comparison.
type Outcome struct {
	Systems []System `json:"systems"`
	Rows    []*Row   `json:"rows"`
	// Fdatasync of a 4 KiB overwrite on the same disk, one caller.
	Fdatasync []load.Figures `json:"fdatasync"`
	// OneCaller is callerd's p50 over that of the no-op call plus two syncs, in each alternation.
	OneCaller []float64 `json:"one_caller_over_limit,omitempty"`
	// OneCallerSynced is callerd's p50 over that of a call whose handler syncs twice.
	OneCallerSynced []float64 `json:"one_caller_over_two_syncs,omitempty"`
}

// Run measures all systems in turns, each begun empty. A system that fails has failed rows; only the end of ctx is an error.
func Run(ctx context.Context, o Options) (*Outcome, error) {
	r := &runner{Options: o, out: &Outcome{}}
	for _, s := range o.Systems {
		r.out.Systems = append(r.out.Systems, System{Name: s.Name, About: s.About})
		for _, w := range o.Works {
			if s.IssueOnly && w != Issue {
				continue
			}
			for _, c := range o.Callers {
				if s.OneCaller && c != 1 {
					continue
				}
				r.out.Rows = append(r.out.Rows, &Row{System: s.Name, Work: w, Callers: c})
			}
		}
	}
	r.steps = o.Alternations * len(r.out.Rows)
	if !o.NoDisk {
		r.steps += o.Alternations
	}
	for a := range o.Alternations {
		if !o.NoDisk {
			r.say("fdatasync of a 4 KiB overwrite")
			f, err := peer.Fdatasync(ctx, o.Env.Dir, load.Options{Callers: 1, Warm: o.Warm, Measure: o.Measure})
			if err != nil {
				return nil, fmt.Errorf("fdatasync: %w", err)
			}
			r.out.Fdatasync = append(r.out.Fdatasync, f)
		}
		for i := range o.Systems {
			n := (i + a) % len(o.Systems) // each alternation begins with another one
			if err := r.system(ctx, o.Systems[n], &r.out.Systems[n], a); err != nil {
				return nil, err
			}
		}
	}
	r.out.oneCaller()
	return r.out, nil
}

type runner struct {
	Options
	out         *Outcome
	step, steps int
}

func (r *runner) say(what string) {
	r.step++
	r.Progress(r.step, r.steps, what)
}

// system measures all rows of one system once.
func (r *runner) system(ctx context.Context, s peer.System, about *System, alternation int) error {
	rows := slices.DeleteFunc(slices.Clone(r.out.Rows), func(row *Row) bool { return row.System != s.Name })
	if about.Skipped != "" || len(rows) == 0 {
		r.step += len(rows)
		return nil
	}
	failed := func(err error) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		for _, row := range rows {
			if row.Failed == "" {
				row.Failed = err.Error()
			}
		}
		return nil
	}
	e := r.Env
	e.Dir, e.Sockets = filepath.Join(r.Env.Dir, fmt.Sprint(slug(s.Name), alternation)), filepath.Join(r.Env.Sockets, fmt.Sprint(slug(s.Name), alternation))
	defer os.RemoveAll(e.Dir)
	defer os.RemoveAll(e.Sockets)
	if err := errors.Join(os.Mkdir(e.Dir, 0o755), os.Mkdir(e.Sockets, 0o755)); err != nil {
		return err
	}
	in, err := s.Start(ctx, e)
	if errors.Is(err, peer.ErrAbsent) {
		about.Skipped = err.Error()
		r.step += len(rows)
		return nil
	}
	if err != nil {
		r.step += len(rows)
		return failed(err)
	}
	about.Version = in.Version()
	h := &hall{Instance: in, limit: s.Limit}
	for _, row := range rows {
		r.say(fmt.Sprintf("%s, %s, %d callers", row.System, row.Work, row.Callers))
		if row.Failed != "" {
			continue
		}
		sample, err := r.row(ctx, h, row)
		if ctx.Err() != nil {
			return errors.Join(context.Cause(ctx), in.Stop())
		}
		if err != nil {
			row.Failed = err.Error()
			continue
		}
		sample.Alternation = alternation
		row.Samples = append(row.Samples, sample)
	}
	err = in.Stop()
	if err == nil {
		err = h.check()
	}
	if err != nil {
		return failed(err)
	}
	return nil
}

// row measures one row once.
func (r *runner) row(ctx context.Context, h *hall, row *Row) (Sample, error) {
	op := h.issue
	if row.Work == Call {
		if err := h.Open(ctx, row.Callers); err != nil {
			return Sample{}, fmt.Errorf("open the counters: %w", err)
		}
		if err := h.fill(ctx, r.enough(row), r.fillers(row)); err != nil {
			return Sample{}, fmt.Errorf("issue what is to be called: %w", err)
		}
		op = h.call
	}
	var before, after proc.Usage
	var errBegin, errBefore, errAfter, errEnd error
	var ours, ourEnd time.Duration
	f, err := load.Run(ctx, load.Options{Callers: row.Callers, Warm: r.Warm, Measure: r.Measure,
		Begin: func() {
			errBegin = hook(r.Begin, row)
			before, errBefore = proc.Of(h.Pids()...)
			ours = proc.Self()
		},
		End: func() {
			after, errAfter = proc.Of(h.Pids()...)
			ourEnd = proc.Self()
			errEnd = hook(r.End, row)
		},
	}, op)
	if err = errors.Join(err, errBegin, errBefore, errAfter, errEnd); err != nil {
		return Sample{}, err
	}
	ops := float64(f.Ops)
	return Sample{Figures: f, ServerCPU: us(after.CPU-before.CPU) / ops, ClientCPU: us(ourEnd-ours) / ops,
		Handed: float64(after.Handed-before.Handed) / ops, Dirtied: float64(after.Written-before.Written) / ops}, nil
}

func hook(f func(*Row) error, row *Row) error {
	if f == nil {
		return nil
	}
	return f(row)
}

func us(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }
