package main

import (
	"context"
	"log/slog"
	"sync/atomic"

	"callerd/internal/journal"
	"callerd/internal/queue"
)

// keeper drops business days that are older than what is kept: after the start and after each turn of the day. Nobody
// waits for it, and it waits for nobody: a turn that comes while it works is looked at when it has done.
type keeper struct {
	journal *journal.Journal
	logger  *slog.Logger
	days    atomic.Int64
	turned  chan struct{} // one slot: look again
}

func newKeeper(j *journal.Journal, days int, logger *slog.Logger) *keeper {
	k := &keeper{journal: j, logger: logger, turned: make(chan struct{}, 1)}
	k.keep(days)
	return k
}

// keep says how many days are kept from now on.
func (k *keeper) keep(days int) {
	k.days.Store(int64(days))
	k.look()
}

// look lets the keeper look for days to drop; it never blocks.
func (k *keeper) look() {
	select {
	case k.turned <- struct{}{}:
	default: // it will
	}
}

// published looks for a turn of the day among committed records; it never blocks.
func (k *keeper) published(batch []*queue.Record) {
	for _, r := range batch {
		for _, o := range r.Outcomes {
			if _, ok := o.(*queue.DayOpened); ok {
				k.look()
			}
		}
	}
}

// run drops until ctx ends.
func (k *keeper) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-k.turned:
			if n, err := k.journal.DropDays(int(k.days.Load())); err != nil {
				k.logger.Warn("old days are not dropped; the next turn of the day tries again", "error", err)
			} else if n > 0 {
				k.logger.Info("old days dropped", "days", n, "kept", k.days.Load())
			}
		}
	}
}
