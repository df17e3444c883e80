package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"callerd/bench/internal/profile"
	"callerd/bench/internal/result"
	"callerd/bench/internal/throughput"
)

// profileFlags say what becomes of the profiles.
type profileFlags struct {
	KeepProfiles bool `help:"Keep the raw profiles, in a folder profiles beside the JSON files."`
}

// profileCmd shows where the daemon's CPU goes.
type profileCmd struct {
	profileFlags
}

// Run implements the command.
func (p *profileCmd) Run(ctx context.Context, c *common, s *streams) error {
	return c.measured(ctx, s, &p.profileFlags)
}

// measure implements part.
func (p *profileFlags) measure(ctx context.Context, c *common, l *lab) error {
	o := profile.Options{Callers: []int{1, 8, 64, 512}, Warm: 300 * time.Millisecond, Measure: 3 * time.Second, Progress: l.say.steps("profile")}
	if c.Quick {
		o.Callers, o.Warm, o.Measure = []int{1, 16}, 50*time.Millisecond, 300*time.Millisecond
	}
	var err error
	if o.Env, err = l.env("profile", slices.Max(o.Callers)); err != nil {
		return err
	}
	overlay, err := profile.Overlay(l.root, o.Env.Dir)
	if err != nil {
		return err
	}
	l.say.line("building callerd with profiles")
	o.Env.Callerd = filepath.Join(o.Env.Dir, "callerd")
	if err := l.build(ctx, o.Env.Callerd, "-overlay", overlay); err != nil {
		return err
	}
	if p.KeepProfiles {
		o.Keep = filepath.Join(c.Results, "profiles")
	}
	rows, err := profile.Run(ctx, o)
	if err != nil {
		return fmt.Errorf("profile: %w", err)
	}
	fmt.Fprint(l.out, "\n# Where the daemon's CPU goes\n")
	errs := []error{result.Save(c.Results, "profile.json", rows)}
	for _, work := range [...]string{throughput.Issue, throughput.Call} {
		of := slices.DeleteFunc(slices.Clone(rows), func(r *profile.Row) bool { return r.Work != work })
		fmt.Fprintf(l.out, "\n%s\n", profileTable(work, of))
		errs = append(errs, profilePicture(work, of).Draw(c.Plots, "profile-"+strings.ReplaceAll(work, " ", "-")+".svg"))
	}
	return errors.Join(errs...)
}

// profileTable has a group a row and a number of callers a column.
func profileTable(work string, rows []*profile.Row) string {
	columns := []string{"of the daemon's CPU, %"}
	for _, r := range rows {
		columns = append(columns, callers(r.Callers))
	}
	t := result.NewTable(work+": shares of the sampled CPU; of 200 samples a share of 20 % is 14 to 26", columns...)
	line := func(name string, cell func(r *profile.Row) string) {
		cells := []any{name}
		for _, r := range rows {
			cells = append(cells, cell(r))
		}
		t.Row(cells...)
	}
	for i, g := range profile.Groups {
		line(g.Name, func(r *profile.Row) string { return fmt.Sprintf("%.1f", 100*r.Shares[i].Share) })
	}
	t.Line()
	line("us an operation", func(r *profile.Row) string { return result.Num(r.CPU) })
	line("operations a second", func(r *profile.Row) string { return result.Num(r.PerSec) })
	line("samples", func(r *profile.Row) string { return fmt.Sprint(r.Samples) })
	return t.String()
}

// profilePicture has a bar for each number of callers.
func profilePicture(work string, rows []*profile.Row) result.Stack {
	s := result.Stack{Title: work + ": where the daemon's CPU goes", X: "% of its CPU"}
	for _, r := range rows {
		s.Bars = append(s.Bars, fmt.Sprintf("%s,\n%s us each", callers(r.Callers), result.Num(r.CPU)))
	}
	for i, g := range profile.Groups {
		p := result.Part{Name: g.Name, Hue: g.Hue, Shade: g.Shade}
		for _, r := range rows {
			p.Values = append(p.Values, 100*r.Shares[i].Share)
		}
		s.Parts = append(s.Parts, p)
	}
	return s
}

func callers(n int) string {
	if n == 1 {
		return "1 caller"
	}
	return fmt.Sprintf("%d callers", n)
}
