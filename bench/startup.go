package main

import (
	"context"
	"fmt"

	"callerd/bench/internal/result"
	"callerd/bench/internal/startup"
)

// startupCmd measures the start after a kill -9.
type startupCmd struct {
	Tickets []int `default:"10000,100000,1000000" help:"Tickets in the journal, one size after the other."`
}

// Run implements the command.
func (p *startupCmd) Run(ctx context.Context, c *common, s *streams) error {
	return c.measured(ctx, s, p)
}

// measure implements part.
func (p *startupCmd) measure(ctx context.Context, c *common, l *lab) error {
	e, err := l.env("startup", 64)
	if err != nil {
		return err
	}
	o := startup.Options{Env: e, Tickets: p.Tickets, Starts: 3, Progress: l.say.steps("startup")}
	if c.Quick {
		o.Tickets, o.Starts = []int{1000, 5000}, 1
	}
	rows, err := startup.Run(ctx, o)
	if err != nil {
		return fmt.Errorf("startup: %w", err)
	}
	t := result.NewTable("start after kill -9, to the first healthy answer; bytes in write calls a ticket; resident when just serving, all tickets waiting, request ids included",
		"tickets", "ms to SERVING", "low-high", "CPU ms", "file MB", "file B/ticket", "written B, 256 callers", "written B, 1 caller", "resident MB", "B/ticket more")
	for _, r := range rows {
		low, high := result.Spread(r.Serving)
		perTicket := "-"
		if r.PerTick > 0 {
			perTicket = result.Num(r.PerTick)
		}
		t.Row(result.Num(float64(r.Tickets)), result.Num(r.MedianServing()), result.Num(low)+"-"+result.Num(high), result.Num(r.CPU), result.Num(float64(r.File)/1e6),
			result.Num(float64(r.File)/float64(r.Tickets)), result.Num(r.Written), result.Num(r.Lone), result.Num(float64(r.Resident)/1e6), perTicket)
	}
	fmt.Fprintf(l.out, "\n# Start-up\n\n%s\n", t)
	return result.Save(c.Results, "startup.json", rows)
}
