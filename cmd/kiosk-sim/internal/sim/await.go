package sim

import (
	"context"
	"time"

	"callerd/cmd/kiosk-sim/internal/history"
)

// await calls the customer until the service starts. One who does not appear costs the counter
// all the calls.
func (k *console) await(ctx context.Context) (came bool, err error) {
	recalls, shows := 0, !k.chance(k.cfg.NoShow)
	if !shows {
		recalls = k.cfg.NoShowCalls - 1
	} else if k.chance(k.cfg.Recall) {
		recalls = 1
	}
	for range recalls {
		if err := k.think(ctx, k.cfg.CallTime); err != nil {
			return false, err
		}
		if err := k.onTicket(ctx, "RecallTicket"); err != nil {
			return false, err
		}
	}
	walk := k.cfg.CallTime
	if shows {
		walk = time.Duration(k.rng.Int64N(int64(k.cfg.CallTime) + 1))
	}
	if err := k.think(ctx, walk); err != nil {
		return false, err
	}
	if !shows {
		if err := k.onTicket(ctx, "MarkNoShow"); err != nil {
			return false, err
		}
		k.hall.served.Add(1)
		k.missed(k.current)
		k.end()
		return false, nil
	}
	if err := k.onTicket(ctx, "StartTicket"); err != nil {
		return false, err
	}
	k.started = true
	return true, nil
}

func (k *console) end() { k.last, k.current, k.started = k.current, "", false }

// resume takes a held customer up again.
func (k *console) resume(ctx context.Context) error {
	id := k.held[0]
	k.held = k.held[1:]
	op, err := k.command(ctx, history.Op{Method: "ResumeTicket", Ticket: id})
	if err == nil && op.Outcome == history.OK {
		k.current = id
	}
	return err
}
