package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"callerd/bench/internal/peer"
	"callerd/bench/internal/result"
	"callerd/bench/internal/throughput"
)

// loadFlags say how the systems are compared.
type loadFlags struct {
	Callers      []int         `default:"1,8,64,512" help:"Numbers of callers."`
	Systems      []string      `help:"Only these systems, by a part of their names."`
	Works        []string      `default:"issue,call next" help:"What they do."`
	Alternations int           `default:"3" help:"How often each row is measured, in turns."`
	Warm         time.Duration `default:"300ms" help:"Driven before each row is measured."`
	Measure      time.Duration `default:"1200ms" help:"Measured of each row."`
}

// loadCmd compares the systems.
type loadCmd struct {
	loadFlags
}

// Run implements the command.
func (f *loadCmd) Run(ctx context.Context, c *common, s *streams) error {
	return c.measured(ctx, s, &f.loadFlags)
}

// measure implements part.
func (f *loadFlags) measure(ctx context.Context, c *common, l *lab) error {
	o := throughput.Options{Callers: f.Callers, Works: f.Works, Alternations: f.Alternations, Warm: f.Warm, Measure: f.Measure, Progress: l.say.steps("load")}
	if c.Quick {
		o.Callers, o.Alternations, o.Warm, o.Measure = []int{1, 16}, 1, 50*time.Millisecond, 200*time.Millisecond
	}
	for _, s := range peer.Systems() {
		if len(f.Systems) == 0 || slices.ContainsFunc(f.Systems, func(part string) bool { return strings.Contains(strings.ToLower(s.Name), strings.ToLower(part)) }) {
			o.Systems = append(o.Systems, s)
		}
	}
	if len(o.Systems) == 0 || len(o.Callers) == 0 {
		return errors.New("load: nothing to measure")
	}
	var err error
	if o.Env, err = l.env("load", slices.Max(o.Callers)); err != nil {
		return err
	}
	out, err := throughput.Run(ctx, o)
	if err != nil {
		return fmt.Errorf("load: %w", err)
	}
	fmt.Fprintf(l.out, "\n# Load: %d alternations, %v each behind %v; %d gRPC connections, or one a caller if there are fewer\n\n%s", o.Alternations, o.Measure, o.Warm, connections, out.Report())
	errs := []error{result.Save(c.Results, "load.json", out)}
	for _, w := range o.Works {
		errs = append(errs, out.Picture(w).Draw(c.Plots, strings.ReplaceAll(w, " ", "-")+".svg"))
	}
	for _, fault := range out.Faults() {
		errs = append(errs, fmt.Errorf("load: %s", fault))
	}
	return errors.Join(errs...)
}

// frontCmd is the front end of a peer, in a process of its own.
type frontCmd struct {
	Name string `arg:""`
	Addr string `arg:"" optional:""`
}

// Run implements the command.
func (f *frontCmd) Run(ctx context.Context, s *streams) error {
	var out io.Writer = s.out
	return peer.ServeFront(ctx, out, f.Name, f.Addr)
}
