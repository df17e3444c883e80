// Package profile tells where the daemon's CPU goes, by CPU profiles that it takes while callers drive it.
package profile

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"callerd/bench/internal/peer"
	"callerd/bench/internal/throughput"
)

// Options of a run.
type Options struct {
	Env      peer.Env // its Callerd is built with [Overlay]
	Callers  []int
	Warm     time.Duration
	Measure  time.Duration // of each profile
	Keep     string        // a folder for the raw profiles; empty: they are not kept
	Progress func(step, steps int, what string)
}

// Row is where the CPU went at one work with so many callers.
type Row struct {
	Work    string  `json:"work"`
	Callers int     `json:"callers"`
	PerSec  float64 `json:"per_second"`
	CPU     float64 `json:"server_cpu_us_per_op"` // by the kernel's books, not by the samples
	Samples int64   `json:"samples"`
	Shares  []Share `json:"shares"`
}

// Run measures issue and call-next.
func Run(ctx context.Context, o Options) ([]*Row, error) {
	dir := filepath.Join(o.Env.Dir, "profiles")
	if err := os.Mkdir(dir, 0o755); err != nil {
		return nil, err
	}
	r := &recorder{dir: dir}
	daemon := peer.System{Name: "callerd", Start: func(ctx context.Context, e peer.Env) (peer.Instance, error) {
		e.Vars = []string{variable + "=" + dir}
		in, d, err := peer.StartCallerd(ctx, e)
		if err == nil {
			r.pid = d.Process.Pid()
		}
		return in, err
	}}
	var rows []*Row
	out, err := throughput.Run(ctx, throughput.Options{Env: o.Env, Systems: []peer.System{daemon}, Callers: o.Callers, Works: []string{throughput.Issue, throughput.Call},
		Alternations: 1, Warm: o.Warm, Measure: o.Measure, Progress: o.Progress, NoDisk: true, NoFaster: true,
		Begin: func(*throughput.Row) error { return r.begin(ctx) },
		End: func(row *throughput.Row) error {
			if err := r.end(ctx); err != nil {
				return err
			}
			sums, err := Read(r.file())
			if err != nil {
				return err
			}
			rows = append(rows, &Row{Work: row.Work, Callers: row.Callers, Samples: sums.Samples, Shares: sums.Shares()})
			return keep(r.file(), o.Keep, row)
		}})
	if err != nil {
		return nil, err
	}
	if faults := out.Faults(); len(faults) > 0 {
		return nil, errors.New(strings.Join(faults, "; "))
	}
	for _, row := range rows {
		s := out.Row("callerd", row.Work, row.Callers).Samples[0]
		row.PerSec, row.CPU = s.PerSec, s.ServerCPU
	}
	return rows, nil
}

// keep copies a profile into a folder, under the name of its row.
func keep(file, dir string, row *throughput.Row) error {
	if dir == "" {
		return nil
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, fmt.Sprintf("%s-%d.pb.gz", strings.ReplaceAll(row.Work, " ", "-"), row.Callers)), b, 0o644)
}
