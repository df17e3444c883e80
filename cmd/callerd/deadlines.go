package main

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"callerd/internal/branch"
)

// lookAgain bounds the wait for a deadline: the wall clock may be set, or the machine have slept.
const lookAgain = time.Minute

// driveDeadlines carries out what is due, with one timer, until ctx ends.
func driveDeadlines(ctx context.Context, b *branch.Branch, logger *slog.Logger) {
	timer := time.NewTimer(min(b.NextDeadline(), lookAgain))
	defer timer.Stop()
	told := false
	for {
		select {
		case <-ctx.Done():
			return
		case <-b.DeadlineChanged():
		case <-timer.C:
			if err := expire(ctx, b); err != nil && ctx.Err() == nil {
				if !told { // once, however long the disk stays full
					logger.Warn("deadlines wait", "error", err)
				}
				told = true
				timer.Reset(time.Second)
				continue
			}
			told = false
		}
		timer.Reset(min(b.NextDeadline(), lookAgain))
	}
}

// together is how many deadlines are carried out at a time, so that many that are due at once, as after an outage, share
// their commits.
const together = 16

// expire carries out what is due.
func expire(ctx context.Context, b *branch.Branch) error {
	var all sync.WaitGroup
	var errs [together]error
	for i := range errs {
		all.Go(func() { errs[i] = b.Expire(ctx) })
	}
	all.Wait()
	for _, err := range errs {
		if err != nil {
			return err // the others have the same
		}
	}
	return nil
}
