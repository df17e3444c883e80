package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"callerd/bench/internal/result"
	"callerd/bench/lock"
)

// lockCmd measures the ticket lock beside other locks.
type lockCmd struct{}

// Run implements the command.
func (k *lockCmd) Run(ctx context.Context, c *common, s *streams) error {
	return c.measured(ctx, s, k)
}

// measure implements part.
func (k *lockCmd) measure(ctx context.Context, c *common, l *lab) error {
	fmt.Fprint(l.out, "\n# The lock beside others\n\n")
	step := l.say.steps("lock")
	r, err := lock.Run(ctx, lock.Options{Quick: c.Quick, Progress: func(done, all int, row lock.Row) { step(done, all, row.String()) }})
	if len(r.Rows) == 0 {
		return err
	}
	return errors.Join(err, r.Table(l.out), result.Save(c.Results, "lock.json", r), r.Plot(filepath.Join(c.Plots, "lock.svg")))
}
