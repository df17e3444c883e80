package sim

import (
	"context"
	"time"

	"callerd/cmd/kiosk-sim/internal/history"
)

var wheres = []string{"", history.Back, history.Front, history.After, history.ByIssue}

// place draws where a ticket goes.
func (k *console) place(op *history.Op) {
	op.Where = wheres[k.rng.IntN(len(wheres))]
	if op.Where == history.After {
		op.After = uint32(k.rng.IntN(6))
	}
}

// away sends the current customer on, now and then: back into the line, into another one, or to a colleague.
func (k *console) away(ctx context.Context) (gone bool, err error) {
	op := history.Op{Ticket: k.current}
	switch x := k.rng.Float64(); {
	case x < k.cfg.Mix.Requeue:
		op.Method = "RequeueTicket"
	case x < k.cfg.Mix.Requeue+k.cfg.Mix.Transfer:
		op.Method, op.Into = "TransferTicket", k.anyCategory()
	case x < k.cfg.Mix.Requeue+k.cfg.Mix.Transfer+k.cfg.Mix.Send:
		op.Method, op.To = "TransferTicket", uint32(k.rng.IntN(k.cfg.Counters))+1
	default:
		return false, nil
	}
	k.place(&op)
	op, err = k.command(ctx, op)
	if err != nil || op.Outcome != history.OK {
		return false, err // refused: it is served here after all
	}
	k.hall.ring()
	k.end()
	return true, nil
}

func (k *console) anyCategory() string {
	return k.cfg.Weights[k.rng.IntN(len(k.cfg.Weights))].Category
}

// move moves somebody who waits: found by a number that was handed out lately, so it may be refused.
func (k *console) move(ctx context.Context) error {
	id := k.hall.someone(k.rng)
	if id == "" {
		return nil
	}
	op := history.Op{Method: "TransferTicket", Ticket: id, Ask: history.Ask{Into: k.anyCategory()}}
	if k.chance(0.3) {
		op.Into, op.To = "", uint32(k.rng.IntN(k.cfg.Counters))+1
	}
	k.place(&op)
	_, err := k.command(ctx, op)
	return err
}

// comeBack puts a no-show back into the line whose customer came after all, in time or too late.
func (k *console) comeBack(ctx context.Context) error {
	id := k.hall.late(k.c.rec.Now())
	if id == "" {
		return nil
	}
	op := history.Op{Method: "RequeueTicket", Ticket: id}
	k.place(&op)
	_, err := k.command(ctx, op)
	return err
}

// missed notes a no-show, who may come back after a while: often soon, seldom late.
func (k *console) missed(id string) {
	if !k.chance(k.cfg.Mix.Late) {
		return
	}
	after := time.Duration(k.rng.ExpFloat64() * float64(k.cfg.CallTime))
	if k.cfg.Full {
		after = time.Duration(k.rng.ExpFloat64() * float64(300*time.Millisecond))
	} else {
		after = k.real(after)
	}
	k.hall.miss(id, k.c.rec.Now()+int64(after))
}

// upset ends the session in the middle of the work, now and then: the teller leaves and comes back, a supervisor takes over,
// or the console dies.
func (k *console) upset(ctx context.Context) error {
	switch x := k.rng.Float64(); {
	case x < k.cfg.Mix.Close:
		current := ""
		if k.current != "" {
			current = []string{"", "requeue", "hold"}[k.rng.IntN(3)]
		}
		op, err := k.command(ctx, history.Op{Method: "CloseCounter", Ask: history.Ask{Current: current}})
		if err != nil || op.Outcome != history.OK {
			return err
		}
		return k.again(ctx, history.Op{})
	case x < k.cfg.Mix.Close+k.cfg.Mix.TakeOver:
		return k.again(ctx, history.Op{Ask: history.Ask{TakeOver: "the teller fell ill"}})
	case x < k.cfg.Mix.Close+k.cfg.Mix.TakeOver+k.cfg.Mix.Die:
		// Nobody hears of it any more; open waits until the lease has ended.
		return k.again(ctx, history.Op{})
	}
	return nil
}

// again opens the counter with a new session, and lets the old one speak once more: it is not heard.
func (k *console) again(ctx context.Context, op history.Op) error {
	old := k.s
	if err := k.reopen(ctx, op); err != nil {
		return err
	}
	late := history.Op{Method: "RenewSession"}
	if k.current != "" && k.chance(0.5) {
		late = history.Op{Method: "StartTicket", Ticket: k.current}
	}
	late.Counter, late.Epoch = k.number, old.epoch
	if _, err := k.settle(ctx, late, &old); err != nil {
		return err
	}
	return errLook
}
