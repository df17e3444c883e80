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
	o := fanout.Options{Env: e, Displays: []int{1, 100, 1000, 5000}, Dead: 20, Progress: l.say.steps("fanout"),
		Calls: func(n int) int { return max(40, min(300, 60_000/n)) }}
	if c.Quick {
		o.Displays, o.Dead, o.Calls = []int{1, 50}, 2, func(int) int { return 20 }
	}
	rows, err := fanout.Run(ctx, o)
	if err != nil {
		return fmt.Errorf("fanout: %w", err)
	}
	t := result.NewTable("from the call's start, durable with callerd, until the last display has it, and from the first display to the last; ms",
		"server", "displays", "never read", "last p50", "p99", "first to last p50", "p99", "server CPU us/delivery", "KB/connection", "frame B", "closed", "in its log")
	var errs []error
	for _, r := range rows {
		if r.Failed != "" {
			t.Merge(r.Server, fmt.Sprintf("%d displays, %d never read FAILED: %s", r.Displays, r.Dead, r.Failed))
			errs = append(errs, fmt.Errorf("fanout: %s, %d displays, %d never read: %s", r.Server, r.Displays, r.Dead, r.Failed))
			continue
		}
		t.Row(r.Server, r.Displays, r.Dead, result.Num(r.LastP50), result.Num(r.LastP99), result.Num(r.SpreadP50), result.Num(r.SpreadP99), result.Num(r.CPU), result.Num(r.Memory/1000), r.Bytes, r.DeadClosed, r.DeadLogged)
	}
	fmt.Fprintf(l.out, "\n# Fan-out\n\n%s\n", t)
	return errors.Join(append(errs, result.Save(c.Results, "fanout.json", rows), fanoutPicture(rows).Draw(c.Plots, "fanout.svg"))...)
}

// fanoutPicture is the time to the last display by displays.
func fanoutPicture(rows []fanout.Row) result.Picture {
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
		l.X, l.Y = append(l.X, float64(r.Displays)), append(l.Y, r.LastP50)
		l.Low, l.High = append(l.Low, r.LastP50), append(l.High, max(r.LastP50, r.LastP99))
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
