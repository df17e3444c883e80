package sim

import (
	"context"

	"callerd/cmd/kiosk-sim/internal/history"
)

// clumsy gives, now and then, a command at the wrong moment; the judge looks whether the refusal was
// true.
func (k *console) clumsy(ctx context.Context) error {
	if !k.chance(k.cfg.Clumsy) {
		return nil
	}
	op := history.Op{Method: "CallNext"}
	switch k.rng.IntN(4) {
	case 1:
		op.Complete = k.last
	case 2:
		op = history.Op{Method: "StartTicket", Ticket: k.current}
	case 3:
		op = history.Op{Method: "CompleteTicket", Ticket: k.last}
	}
	if (op.Method != "CallNext" && op.Ticket == "") || (op.Method == "CallNext" && op.Complete == k.current) {
		return nil
	}
	op, err := k.command(ctx, op)
	if err == nil && op.Got != nil && op.Got.ID != k.current {
		return k.lookUp(ctx) // it was not so wrong
	}
	return err
}

// pause is a short break between two customers; a call in it is refused.
func (k *console) pause(ctx context.Context) error {
	if k.current != "" {
		return nil
	}
	if _, err := k.command(ctx, history.Op{Method: "PauseCounter"}); err != nil {
		return err
	}
	if k.chance(0.5) {
		if _, err := k.command(ctx, history.Op{Method: "CallNext"}); err != nil {
			return err
		}
	}
	if err := k.think(ctx, k.cfg.CallTime); err != nil {
		return err
	}
	_, err := k.command(ctx, history.Op{Method: "ResumeCounter"})
	return err
}
