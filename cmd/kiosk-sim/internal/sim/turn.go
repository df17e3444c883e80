package sim

import (
	"context"
	"errors"
	"time"

	"callerd/cmd/kiosk-sim/internal/history"
)

// errDone ends a console: the kiosks are done and nobody waits.
var errDone = errors.New("done")

// turn is one customer from call to end; or a break, or the wait for one to come.
func (k *console) turn(ctx context.Context) error {
	if k.chance(k.cfg.Pause) {
		if err := k.pause(ctx); err != nil {
			return err
		}
	}
	if err := k.errand(ctx); err != nil {
		return err
	}
	if k.current == "" {
		if err := k.next(ctx, ""); err != nil || k.current == "" {
			return err
		}
	}
	for k.current != "" {
		if err := k.upset(ctx); err != nil {
			return err
		}
		if err := k.serve(ctx); err != nil {
			return err
		}
	}
	return nil
}

// errand is what a teller does between two customers.
func (k *console) errand(ctx context.Context) error {
	if k.chance(k.cfg.Mix.Move) {
		if err := k.move(ctx); err != nil {
			return err
		}
	}
	return k.comeBack(ctx)
}

// next calls the next customer; complete is one whose service ends with it. With an empty line
// the held ones are taken up, and then the console waits.
func (k *console) next(ctx context.Context, complete string) error {
	k.current, k.started = "", false
	closing := k.hall.closing()
	op := history.Op{Method: "CallNext", Complete: complete}
	if k.chance(k.cfg.Mix.Given) {
		if id := k.hall.someone(k.rng); id != "" {
			op.Method, op.Ticket = "CallTicket", id
		}
	}
	op, err := k.command(ctx, op)
	if err == nil && op.Method == "CallTicket" && op.Outcome == history.Refused { // it does not wait: in turn, then
		op, err = k.command(ctx, history.Op{Method: "CallNext", Complete: complete})
	}
	switch {
	case err != nil:
		return err
	case op.Outcome == history.Refused && op.Reason == "COUNTER_BUSY":
		return k.lookUp(ctx)
	case op.Outcome == history.Refused && op.Reason == "COUNTER_CLOSED":
		_, err = k.command(ctx, history.Op{Method: "ResumeCounter"}) // a break that an earlier run began
		return err
	case op.Outcome == history.Refused:
		return errMoved
	}
	if complete != "" {
		k.last = complete
		k.hall.served.Add(1)
	}
	if op.Got != nil {
		k.hall.called.Add(1)
		k.current = op.Got.ID
		return nil
	}
	if len(k.held) > 0 {
		return k.resume(ctx)
	}
	if closing {
		return errDone
	}
	return k.idle(ctx)
}

// idle waits until a kiosk rings, the kiosks are done, or a while has passed.
func (k *console) idle(ctx context.Context) error {
	t := time.NewTimer(min(time.Second, max(k.s.lease/3, 10*time.Millisecond)))
	defer t.Stop()
	select {
	case <-k.hall.bell:
	case <-k.hall.done:
	case <-t.C:
	case <-ctx.Done():
		return ctx.Err()
	}
	k.due = k.c.rec.Now()
	return nil
}

// serve takes the current customer to the end, or sets the ticket aside.
func (k *console) serve(ctx context.Context) error {
	if !k.started {
		came, err := k.await(ctx)
		if err != nil || !came {
			return err
		}
	}
	if err := k.borrow(ctx); err != nil {
		return err
	}
	if gone, err := k.away(ctx); err != nil || gone {
		return err
	}
	service := logNormal(k.rng, k.cfg.ServiceMean, k.cfg.ServiceCV)
	if k.chance(k.cfg.Hold) && len(k.held) < 3 {
		if err := k.think(ctx, service/3); err != nil {
			return err
		}
		if err := k.onTicket(ctx, "HoldTicket"); err != nil {
			return err
		}
		k.held = append(k.held, k.current)
		k.end()
		return nil
	}
	if err := k.think(ctx, service); err != nil {
		return err
	}
	if err := k.clumsy(ctx); err != nil {
		return err
	}
	if err := k.giveBack(ctx); err != nil {
		return err
	}
	if k.chance(k.cfg.Chain) {
		return k.next(ctx, k.current)
	}
	if err := k.onTicket(ctx, "CompleteTicket"); err != nil {
		return err
	}
	k.hall.served.Add(1)
	k.end()
	return nil
}
