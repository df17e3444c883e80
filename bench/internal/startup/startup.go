// Package startup measures how long callerd is away when it was killed: from its start to the first healthy answer, by how much its
// journal holds, and what that takes on the disk and in memory.
package startup

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"

	"callerd/bench/internal/growth"
	"callerd/bench/internal/load"
	"callerd/bench/internal/peer"
	"callerd/bench/internal/proc"
	"callerd/bench/internal/result"
)

// Row is one size of journal.
type Row struct {
	Tickets  int       `json:"tickets"`
	Serving  []float64 `json:"ms_to_serving"`     // of each start after a kill -9
	CPU      float64   `json:"cpu_ms_to_serving"` // of the last start: it does not depend on what else the machine does
	File     int64     `json:"file_bytes"`
	Written  float64   `json:"written_bytes_per_ticket"`          // in write calls, 256 callers
	Lone     float64   `json:"written_bytes_per_ticket_alone"`    // one caller
	Resident int64     `json:"resident_bytes"`                    // of the daemon, just serving
	PerTick  float64   `json:"resident_bytes_per_ticket_waiting"` // over that of the smallest; request ids included
}

// Options of a run.
type Options struct {
	Env      peer.Env
	Tickets  []int
	Starts   int // of each size
	Progress func(step, steps int, what string)
}

// Run measures all sizes.
func Run(ctx context.Context, o Options) (rows []Row, err error) {
	for i, n := range o.Tickets {
		o.Progress(i+1, len(o.Tickets), fmt.Sprintf("%d tickets", n))
		r, err := size(ctx, o, n)
		if err != nil {
			return nil, fmt.Errorf("%d tickets: %w", n, err)
		}
		if first := append(rows, r)[0]; i > 0 {
			r.PerTick = float64(r.Resident-first.Resident) / float64(r.Tickets-first.Tickets)
		}
		rows = append(rows, r)
	}
	return rows, nil
}

// size makes a journal of n tickets, kills the daemon while it issues more, and starts it again some times.
func size(ctx context.Context, o Options, n int) (r Row, err error) {
	e := o.Env
	e.Dir = filepath.Join(o.Env.Dir, fmt.Sprint(n))
	defer os.RemoveAll(e.Dir)
	if err := os.Mkdir(e.Dir, 0o755); err != nil {
		return r, err
	}
	data := filepath.Join(e.Dir, "data")
	past, err := growth.Make(ctx, data, n)
	if err != nil {
		return r, err
	}
	r = Row{Tickets: n, Written: past.Written, Lone: past.Lone}
	if err := killed(ctx, e); err != nil {
		return r, err
	}
	for range o.Starts {
		took, used, err := start(ctx, e)
		if err != nil {
			return r, err
		}
		r.Serving = append(r.Serving, float64(took)/float64(time.Millisecond))
		r.Resident, r.CPU = used.RSS, float64(used.CPU)/float64(time.Millisecond)
	}
	file, err := os.Stat(filepath.Join(data, "journal.db"))
	if err != nil {
		return r, err
	}
	r.File = file.Size()
	return r, nil
}

// killed starts the daemon and kills it while kiosks take numbers of it.
func killed(ctx context.Context, e peer.Env) error {
	in, daemon, err := peer.StartCallerd(ctx, e)
	if err != nil {
		return err
	}
	defer func() { _ = in.Stop() }() // it was killed
	var gone atomic.Bool
	kill := func() {
		gone.Store(true)
		daemon.Process.Kill()
	}
	_, err = load.Run(ctx, load.Options{Callers: 64, Measure: 300 * time.Millisecond, End: kill}, func(ctx context.Context, caller int) error {
		if _, err := in.Issue(ctx, caller); !gone.Load() {
			return err
		}
		return nil // it may have been killed under this one
	})
	if ctx.Err() == nil && errors.Is(err, load.ErrNothing) {
		return nil
	}
	return err
}

// start starts the daemon, waits until its health says SERVING, and kills it again.
func start(ctx context.Context, e peer.Env) (took time.Duration, used proc.Usage, err error) {
	began := time.Now()
	d, err := peer.StartDaemon(ctx, e)
	if err != nil {
		return 0, used, err
	}
	defer d.Process.Kill()
	c, err := grpc.NewClient(d.GRPC, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return 0, used, err
	}
	defer c.Close()
	h := healthpb.NewHealthClient(c)
	for {
		r, err := h.Check(ctx, &healthpb.HealthCheckRequest{}, grpc.WaitForReady(true))
		if err != nil {
			return 0, used, err
		}
		if r.Status == healthpb.HealthCheckResponse_SERVING {
			break
		}
	}
	took = time.Since(began)
	used, err = proc.Of(d.Process.Pid())
	return took, used, err
}

// MedianServing is the median time to the first healthy answer, in ms.
func (r Row) MedianServing() float64 { return result.Median(r.Serving) }
