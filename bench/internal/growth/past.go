package growth

import (
	"context"
	"errors"

	"callerd/bench/internal/proc"
	"callerd/internal/journal"
)

// Past is a journal with tickets in it.
type Past struct {
	// Written is what the journal handed to the kernel for a ticket, in bytes, when callers wait for the disk together.
	Written float64
	// Lone is the same when there is one caller, so that each ticket has a commit of its own.
	Lone float64
}

// Make issues so many tickets into the journal of a folder, without RPCs, many at a time and at the end some one by one.
func Make(ctx context.Context, dir string, tickets int) (p Past, err error) {
	j, err := journal.Open(dir, journal.Options{})
	if err != nil {
		return p, err
	}
	defer func() { err = errors.Join(err, j.Close()) }()
	h, err := open(ctx, j, false)
	if err != nil {
		return p, err
	}
	defer func() { err = errors.Join(h.close(), err) }() // before the journal
	lone := min(100, tickets/10)
	for _, part := range [...]struct {
		tickets, callers int
		written          *float64
	}{{tickets - lone, 256, &p.Written}, {lone, 1, &p.Lone}} {
		before, err := proc.HandedOver()
		if err != nil {
			return p, err
		}
		if err := spread(ctx, part.tickets, part.callers, func(ctx context.Context, _ int) error { _, err := h.issue(ctx); return err }); err != nil {
			return p, err
		}
		after, err := proc.HandedOver()
		if err != nil {
			return p, err
		}
		*part.written = float64(after-before) / float64(part.tickets)
	}
	return p, nil
}
