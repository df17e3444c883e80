package sim

import (
	"context"
	"fmt"
	"time"

	"callerd/cmd/kiosk-sim/internal/history"
)

// open begins a session, or takes up again the one that an earlier request began: the same request
// once more.
func (k *console) open(ctx context.Context, earlier history.Op) error {
	op := k.opening()
	if earlier.RequestID != "" {
		op.RequestID, op.Categories, op.Rule, op.Ask = earlier.RequestID, earlier.Categories, earlier.Rule, earlier.Ask
	}
	return k.begin(ctx, op)
}

// reopen begins a new session, by force if op says so.
func (k *console) reopen(ctx context.Context, op history.Op) error {
	next := k.opening()
	next.TakeOver = op.TakeOver
	return k.begin(ctx, next)
}

func (k *console) opening() history.Op {
	op := history.Op{Method: "OpenCounter", Counter: k.number, Categories: k.categories(), Rule: k.cfg.Rule}
	if op.Rule == "ratio" {
		for i := range op.Categories {
			w := uint32(1)
			if i < len(k.cfg.RuleWeights) && len(op.Categories) > 1 {
				w = k.cfg.RuleWeights[i]
			}
			op.Weights = append(op.Weights, w)
		}
	}
	return op
}

func (k *console) begin(ctx context.Context, op history.Op) error {
	patience := k.cfg.GiveUp + 2*k.s.lease
	for began := k.c.rec.Now(); ; {
		got, err := k.settle(ctx, op, &k.s)
		if k.asked = (history.Op{}); err != nil && got.Outcome == history.Unknown {
			k.asked = got
		}
		switch {
		case err != nil:
			return err
		case got.Outcome == history.OK:
			k.fence = 0
			k.current, k.started, k.held = k.s.counter.GetTicket(), word(k.s.counter.GetTicketState(), "TICKET_STATE_") == "serving", nil
			for _, t := range k.s.held {
				k.held = append(k.held, t.GetId())
			}
			return nil
		case got.Reason == "UNKNOWN_COUNTER" || got.Code == "NotFound":
			return fmt.Errorf("%w: %d (%s)", ErrUnknownCounter, k.number, got.Message)
		case got.Reason != "COUNTER_TAKEN":
			return fmt.Errorf("open counter %d: %s %s: %s", k.number, got.Code, got.Reason, got.Message)
		case time.Duration(k.c.rec.Now()-began) > patience:
			return fmt.Errorf("open counter %d: another session has it, still after %v; end that one, or let it run out with a longer --give-up", k.number, patience)
		}
		take := op.TakeOver
		op = k.opening()
		op.TakeOver = take
		if k.s.lease > 0 && time.Duration(k.c.rec.Now()-began) > k.cfg.GiveUp/4+2*k.s.lease {
			op.TakeOver = "nobody hears of the console" // every start of the daemon lets the leases begin anew
		}
		if err := k.sleep(ctx, 200*time.Millisecond); err != nil {
			return err
		}
	}
}
