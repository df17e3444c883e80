package growth

import (
	"context"
	"errors"
	"fmt"
	"time"

	"callerd/bench/internal/peer"
	"callerd/bench/internal/result"
)

// ClientOptions of a run over gRPC.
type ClientOptions struct {
	Env          peer.Env
	Waiting      []int // a daemon for each; all of them run, and take turns
	Alternations int
	Rounds       int // operations of each kind in an alternation
	Progress     func(step, steps int, what string)
}

// ClientRow is what one operation costs a lone client, on disk, with so many waiting.
type ClientRow struct {
	Waiting int       `json:"waiting"`
	Op      string    `json:"op"`
	P50     []float64 `json:"p50_ms"` // of each alternation
	Mean    []float64 `json:"mean_ms"`
	// To the first number of waiting, median of each alternation's.
	P50Ratio  float64 `json:"p50_ratio"`
	MeanRatio float64 `json:"mean_ratio"`
}

// clientOps are the operations in the order in which they are measured.
var clientOps = [...]string{opIssue, opAhead, opCancel, opTransfer}

// OverGRPC measures what a lone client of the daemon sees. The rows are by operation, then by how many wait.
func OverGRPC(ctx context.Context, o ClientOptions) (rows []*ClientRow, err error) {
	var clients []*client
	defer func() {
		for _, c := range clients {
			err = errors.Join(err, c.close())
		}
	}()
	step, steps := 0, len(o.Waiting)*(1+o.Alternations)
	say := func(what string, waiting int) {
		step++
		o.Progress(step, steps, fmt.Sprintf("over gRPC, %d waiting: %s", waiting, what))
	}
	for _, n := range o.Waiting {
		say("fill", n)
		c, err := connect(ctx, o.Env, n)
		if err != nil {
			return nil, fmt.Errorf("%d waiting: %w", n, err)
		}
		clients = append(clients, c)
		for range o.Rounds / 4 {
			if err := c.round(ctx, func(string, time.Duration) {}); err != nil {
				return nil, fmt.Errorf("%d waiting: %w", n, err)
			}
		}
	}
	for _, op := range clientOps {
		for _, n := range o.Waiting {
			rows = append(rows, &ClientRow{Op: op, Waiting: n})
		}
	}
	for a := range o.Alternations {
		for i := range clients {
			i = (i + a) % len(clients) // each alternation begins with another one
			say("measure", o.Waiting[i])
			took := map[string][]float64{}
			for range o.Rounds {
				if err := clients[i].round(ctx, func(op string, d time.Duration) { took[op] = append(took[op], float64(d)/float64(time.Millisecond)) }); err != nil {
					return nil, fmt.Errorf("%d waiting: %w", o.Waiting[i], err)
				}
			}
			for _, r := range rows {
				if r.Waiting == o.Waiting[i] {
					r.P50, r.Mean = append(r.P50, result.Median(took[r.Op])), append(r.Mean, mean(took[r.Op]))
				}
			}
		}
	}
	clientRatios(rows)
	return rows, nil
}

// clientRatios compares each row with the first of its operation, within each alternation.
func clientRatios(rows []*ClientRow) {
	first := map[string]*ClientRow{}
	for _, r := range rows {
		if first[r.Op] == nil {
			first[r.Op] = r
		}
		r.P50Ratio, r.MeanRatio = result.Ratio(r.P50, first[r.Op].P50), result.Ratio(r.Mean, first[r.Op].Mean)
	}
}

func mean(xs []float64) float64 {
	sum := 0.0
	for _, x := range xs {
		sum += x
	}
	return sum / float64(len(xs))
}
