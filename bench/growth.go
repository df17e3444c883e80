package main

import (
	"context"
	"errors"
	"fmt"

	"callerd/bench/internal/growth"
	"callerd/bench/internal/result"
)

// growthCmd measures what operations cost as the day goes on.
type growthCmd struct{}

// Run implements the command.
func (g *growthCmd) Run(ctx context.Context, c *common, s *streams) error {
	return c.measured(ctx, s, g)
}

// growthOutcome is what growth.json holds.
type growthOutcome struct {
	Rows   []growth.Row  `json:"rows"`
	Memory growth.Memory `json:"memory"`
	// Client is what a lone client of the daemon sees.
	Client []*growth.ClientRow `json:"over_grpc"`
}

// measure implements part.
func (g *growthCmd) measure(ctx context.Context, c *common, l *lab) error {
	e, err := l.env("growth", 1)
	if err != nil {
		return err
	}
	o := growth.Options{Dir: e.Dir, Chunk: 1000, Rounds: 7, Progress: l.say.steps("growth"),
		Points: []growth.Point{{Today: 100, Waiting: 100}, {Today: 10_000, Waiting: 10_000}, {Today: 10_000, Waiting: 100},
			{Today: 1_000_000, Waiting: 100_000}, {Today: 1_000_000, Waiting: 10_000}, {Today: 1_000_000, Waiting: 100}},
		Real: []growth.Point{{Today: 100, Waiting: 100}, {Today: 100_000, Waiting: 100_000}}}
	oc := growth.ClientOptions{Env: e, Waiting: []int{100, 100_000}, Alternations: 3, Rounds: 500, Progress: o.Progress}
	tickets := 1 << 18
	if c.Quick {
		oc.Waiting, oc.Alternations, oc.Rounds = []int{100, 1000}, 1, 30
		o.Chunk, o.Rounds, tickets = 50, 2, 1<<13
		o.Points, o.Real = []growth.Point{{Today: 100, Waiting: 100}, {Today: 3000, Waiting: 1000}}, o.Real[:1]
	}
	var out growthOutcome
	if out.Rows, err = growth.Run(ctx, o); err != nil {
		return fmt.Errorf("growth: %w", err)
	}
	if out.Memory, err = growth.MeasureMemory(ctx, tickets); err != nil {
		return fmt.Errorf("growth: memory: %w", err)
	}
	if out.Client, err = growth.OverGRPC(ctx, oc); err != nil {
		return fmt.Errorf("growth: over gRPC: %w", err)
	}
	fmt.Fprintf(l.out, "\n# Growth\n\n%s\n\n%s\n\nlive heap, of %d tickets: %s bytes a waiting ticket, %s a finished one; and %s for each request id of the last 24 h\n",
		growthTable(out.Rows), clientTable(out.Client), tickets, result.Num(out.Memory.Waiting), result.Num(out.Memory.Finished), result.Num(out.Memory.Request))
	return errors.Join(result.Save(c.Results, "growth.json", out),
		growthPicture(out.Rows, "tickets issued today, 100 waiting", func(r growth.Row) (int, bool) { return r.Today, r.Waiting == 100 }).Draw(c.Plots, "growth-today.svg"),
		growthPicture(out.Rows, "tickets waiting, a million issued today", func(r growth.Row) (int, bool) { return r.Waiting, r.Today == 1_000_000 || c.Quick }).Draw(c.Plots, "growth-waiting.svg"))
}

// growthTable has an operation a row and a point a column.
func growthTable(rows []growth.Row) string {
	columns := []string{"operation", "journal"}
	var points []growth.Point
	at := map[growth.Point]int{}
	for _, r := range rows {
		if _, known := at[r.Point]; !known {
			at[r.Point] = len(points)
			points = append(points, r.Point)
			columns = append(columns, fmt.Sprintf("%s today,\n%s wait", result.Num(float64(r.Today)), result.Num(float64(r.Waiting))))
		}
	}
	t := result.NewTable("in process: us an operation, the commit goroutine's turn included; behind it the ratio to the first", columns...)
	type key struct{ op, journal string }
	cells := map[key][]any{}
	var order []key
	for _, r := range rows {
		k := key{r.Op, r.Journal}
		if cells[k] == nil {
			order = append(order, k)
			cells[k] = []any{r.Op, r.Journal}
			for range points {
				cells[k] = append(cells[k], "")
			}
		}
		cells[k][2+at[r.Point]] = fmt.Sprintf("%s (%s)", result.Num(r.Ns/1000), result.Num(r.Ratio))
	}
	for _, k := range order {
		t.Row(cells[k]...)
	}
	return t.String()
}

// clientTable is what a client sees, an operation and a number of waiting a row.
func clientTable(rows []*growth.ClientRow) string {
	t := result.NewTable("one caller of the daemon, over gRPC and on disk: ms, medians of the alternations; the ratios are medians of each alternation's", "operation", "waiting", "p50", "low-high", "mean", "p50 ratio", "mean ratio")
	last := ""
	for _, r := range rows {
		if last != "" && last != r.Op {
			t.Line()
		}
		last = r.Op
		low, high := result.Spread(r.P50)
		t.Row(r.Op, result.Num(float64(r.Waiting)), result.Num(result.Median(r.P50)), result.Num(low)+"-"+result.Num(high), result.Num(result.Median(r.Mean)), result.Num(r.P50Ratio), result.Num(r.MeanRatio))
	}
	return t.String()
}

// growthPicture is the cost of each operation over what x says of a row.
func growthPicture(rows []growth.Row, label string, x func(growth.Row) (int, bool)) result.Picture {
	p := result.Picture{Title: "what an operation costs, in process, without a disk", X: label, Y: "us"}
	at := map[string]int{}
	for _, r := range rows {
		n, is := x(r)
		if !is || r.Journal == "real" {
			continue
		}
		if _, known := at[r.Op]; !known {
			at[r.Op] = len(p.Lines)
			p.Lines = append(p.Lines, result.Line{Name: r.Op})
		}
		l := &p.Lines[at[r.Op]]
		l.X, l.Y = append(l.X, float64(n)), append(l.Y, r.Ns/1000)
	}
	for i := range p.Lines {
		p.Lines[i].Sort()
	}
	return p
}
