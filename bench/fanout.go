package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"callerd/bench/internal/fanout"
	"callerd/bench/internal/result"
)

// fanoutCmd measures one call on its way to many displays.
type fanoutCmd struct{}

// Run implements the command.
func (p *fanoutCmd) Run(ctx context.Context, c *common, s *streams) error {
	return c.measured(ctx, s, p)
}

// measure implements part.
func (p *fanoutCmd) measure(ctx context.Context, c *common, l *lab) error {
	e, err := l.env("fanout", 4)
	if err != nil {
		return err
	}
	o := fanout.Options{Env: e, Displays: []int{1, 100, 1000, 5000}, Dead: 20, Alternations: 3, Progress: l.say.steps("fanout"),
		Calls: func(n int) int { return max(40, min(300, 60_000/n)) }}
	if c.Quick {
		o.Displays, o.Dead, o.Alternations, o.Calls = []int{1, 50}, 2, 1, func(int) int { return 20 }
	}
	rows, err := fanout.Run(ctx, o)
	if err != nil {
		return fmt.Errorf("fanout: %w", err)
	}
	fmt.Fprintf(l.out, "\n# Fan-out: medians of %d alternations\n\n%s\n", o.Alternations, fanoutTable(rows))
	errs := []error{result.Save(c.Results, "fanout.json", rows), fanoutPicture(rows).Draw(c.Plots, "fanout.svg")}
	for _, r := range rows {
		if r.Failed != "" {
			errs = append(errs, fmt.Errorf("fanout: %s, %d displays, %d never read: %s", r.Server, r.Displays, r.Dead, r.Failed))
		}
	}
	return errors.Join(errs...)
}

// fanoutTable is all rows; behind the times of the first display to the last are the ratios to the bare loop, and of those with dead displays to
// those without.
func fanoutTable(rows []*fanout.Row) *result.Table {
	t := result.NewTable("from the call's start, durable with callerd, until the last display has it, and from the first display to the last; ms; the ratios are medians of each alternation's",
		"server", "displays", "never read", "last p50", "p99", "first to last p50", "over the loop", "p99", "over the loop", "over none dead", "server CPU us/delivery", "KB/connection", "frame B", "closed", "in its log")
	for _, r := range rows {
		if r.Failed != "" {
			t.Merge(r.Server, fmt.Sprintf("%d displays, %d never read FAILED: %s", r.Displays, r.Dead, r.Failed))
			continue
		}
		of := func(f func(fanout.Figures) float64) float64 { return result.Median(result.Each(r.Samples, f)) }
		over := func(server string, f func(fanout.Figures) float64) string {
			for _, other := range rows {
				if other != r && other.Server == server && other.Displays == r.Displays && other.Dead == 0 && other.Failed == "" {
					return result.Num(result.Ratio(result.Each(r.Samples, f), result.Each(other.Samples, f)))
				}
			}
			return "-"
		}
		dead := "-"
		if r.Dead > 0 {
			dead = over(fanout.Callerd, spreadP99)
		}
		t.Row(r.Server, r.Displays, r.Dead, result.Num(of(lastP50)), result.Num(of(lastP99)),
			result.Num(of(spreadP50)), over(fanout.Loop, spreadP50), result.Num(of(spreadP99)), over(fanout.Loop, spreadP99), dead,
			result.Num(of(func(f fanout.Figures) float64 { return f.CPU })), result.Num(of(func(f fanout.Figures) float64 { return f.Memory })/1000), r.Samples[0].Bytes,
			fewest(r, func(f fanout.Figures) int { return f.DeadClosed }), fewest(r, func(f fanout.Figures) int { return f.DeadLogged }))
	}
	return t
}

func lastP50(f fanout.Figures) float64   { return f.LastP50 }
func lastP99(f fanout.Figures) float64   { return f.LastP99 }
func spreadP50(f fanout.Figures) float64 { return f.SpreadP50 }
func spreadP99(f fanout.Figures) float64 { return f.SpreadP99 }

// fewest is the least of a row's counts.
func fewest(r *fanout.Row, f func(fanout.Figures) int) int {
	n := f(r.Samples[0])
	for _, s := range r.Samples[1:] {
		n = min(n, f(s))
	}
	return n
}

// fanoutPicture is the time to the last display by displays.
func fanoutPicture(rows []*fanout.Row) result.Picture {
	p := result.Picture{Title: "one call to the last of many displays, p50 and p99 (bar)", X: "displays", Y: "ms"}
	at := map[string]int{}
	for _, r := range rows {
		if r.Failed != "" {
			continue
		}
		name := r.Server
		if r.Dead > 0 {
			name += fmt.Sprintf(" and %d that never read", r.Dead)
		}
		if _, known := at[name]; !known {
			at[name] = len(p.Lines)
			p.Lines = append(p.Lines, result.Line{Name: name})
		}
		l := &p.Lines[at[name]]
		p50, p99 := result.Median(result.Each(r.Samples, lastP50)), result.Median(result.Each(r.Samples, lastP99))
		l.X, l.Y = append(l.X, float64(r.Displays)), append(l.Y, p50)
		l.Low, l.High = append(l.Low, p50), append(l.High, max(p50, p99))
	}
	return p
}

// displaysCmd is all displays of one run, in a process of their own.
type displaysCmd struct {
	fanout.Client
}

// Run implements the command.
func (d *displaysCmd) Run(ctx context.Context, s *streams) error {
	f, err := d.Client.Run(ctx)
	if err != nil {
		return err
	}
	return json.NewEncoder(s.out).Encode(f)
}

// bareCmd is the bare loop, in a process of its own.
type bareCmd struct{}

// Run implements the command.
func (bareCmd) Run(ctx context.Context, s *streams) error { return fanout.ServeBare(ctx, s.out) }
