package sim

import (
	"context"
	"errors"
	"time"

	"callerd/cmd/kiosk-sim/internal/history"
)

var (
	// ErrUnknownCounter is returned when the daemon has no counter of that number.
	ErrUnknownCounter = errors.New("the daemon has no such counter")
	// errMoved ends what a console is doing: its session or its customer is not what it thought.
	errMoved = errors.New("look again")
	// errLook ends a turn: the session is a new one, and its customer is known.
	errLook = errors.New("a new session")
)

// console is a teller at a counter.
type console struct {
	actor
	number  uint32
	hall    *hall
	s       session
	asked   history.Op // the OpenCounter that has no answer yet
	current string     // id of the ticket at the counter, empty without one
	started bool       // it is being served
	last    string     // the ticket before
	held    []string   // tickets set aside here
	fence   uint64     // of the resources borrowed, 0: none
	kept    uint64     // of those that were never given back
}

// run serves until the kiosks are done and nobody waits, then closes the counter. A console that is interrupted or gives up
// closes it too, so that the next run does not find it taken.
func (k *console) run(ctx context.Context) error {
	err := k.work(ctx)
	if err == nil {
		return nil
	}
	// Whatever ended it: that it could not tidy up is not the news.
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 3*time.Second)
	defer cancel()
	if k.asked.RequestID != "" { // the session may be there, and its token is in the answer
		if _, lost := k.settle(last, k.asked, &k.s); lost != nil {
			return err
		}
	}
	if k.s.token != "" {
		_ = k.leave(last)
	}
	return err
}

// leave ends what is at the counter and closes it. A request that was cut short may still be carried
// out meanwhile: then it looks again.
func (k *console) leave(ctx context.Context) error {
	for ctx.Err() == nil {
		if err := k.lookUp(ctx); err != nil {
			return err
		}
		if k.current != "" {
			method := "MarkNoShow"
			if k.started {
				method = "CompleteTicket"
			}
			if err := k.onTicket(ctx, method); err != nil && !errors.Is(err, errMoved) {
				return err
			}
		}
		op, err := k.command(ctx, history.Op{Method: "CloseCounter", Ask: history.Ask{Current: "requeue"}})
		if op.Outcome == history.OK || err != nil && !errors.Is(err, errMoved) {
			return err
		}
	}
	return ctx.Err()
}

// work is run without the tidying up.
func (k *console) work(ctx context.Context) error {
	if err := k.open(ctx, k.cfg.Reopen[k.number]); err != nil {
		return err
	}
	if err := k.settleEarlier(ctx); err != nil {
		return err
	}
	for {
		err := k.turn(ctx)
		switch {
		case errors.Is(err, errMoved):
			k.current, k.started = "", false
		case errors.Is(err, errLook):
		case errors.Is(err, errDone):
			_, err = k.command(ctx, history.Op{Method: "CloseCounter"})
			if errors.Is(err, errMoved) || k.leftOpen(err) {
				return nil
			}
			return err
		case k.leftOpen(err):
			err = k.lookUp(ctx)
			if err != nil && !k.leftOpen(err) {
				return err
			}
		case err != nil:
			return err
		}
	}
}

// settleEarlier sends again what an earlier run of this console's session left open.
func (k *console) settleEarlier(ctx context.Context) error {
	sent := false
	for _, op := range k.cfg.Unsettled[k.name] {
		if op.Method == "OpenCounter" || op.Epoch != k.s.epoch {
			continue
		}
		sent = true
		if _, err := k.settle(ctx, op, &k.s); err != nil && !k.leftOpen(err) {
			return err
		}
	}
	if !sent {
		return nil
	}
	if err := k.lookUp(ctx); err != nil && !k.leftOpen(err) {
		return err
	}
	return nil
}

// categories are those this counter serves: all, or one for a specialist.
func (k *console) categories() []string {
	w := k.cfg.Weights
	if i := k.cfg.Counters - int(k.number); i < k.cfg.Specialists {
		return []string{w[i%len(w)].Category}
	}
	all := make([]string, 0, len(w))
	for _, w := range w {
		all = append(all, w.Category)
	}
	return all
}

// command sends one command of the session. An ended session is opened again, and errMoved says so.
func (k *console) command(ctx context.Context, op history.Op) (history.Op, error) {
	op.Counter, op.Epoch = k.number, k.s.epoch
	op, err := k.settle(ctx, op, &k.s)
	if err != nil {
		return op, err
	}
	if op.Reason == "STALE_SESSION" {
		if err := k.open(ctx, history.Op{}); err != nil {
			return op, err
		}
		return op, errMoved
	}
	return op, nil
}

// onTicket sends one command about the current ticket; a refusal means that it has gone.
func (k *console) onTicket(ctx context.Context, method string) error {
	op, err := k.command(ctx, history.Op{Method: method, Ticket: k.current})
	if err == nil && op.Outcome == history.Refused {
		return errMoved
	}
	return err
}

// think waits for a hall time and keeps the session alive meanwhile. What comes next is due when
// it is over.
func (k *console) think(ctx context.Context, d time.Duration) error {
	if k.cfg.Full {
		return ctx.Err()
	}
	k.due = k.c.rec.Now() + int64(k.real(d))
	beat := max(k.s.lease/3, time.Second)
	for {
		left := time.Duration(k.due - k.c.rec.Now())
		if left <= beat {
			return k.sleep(ctx, left)
		}
		if err := k.sleep(ctx, beat); err != nil {
			return err
		}
		if err := k.renew(ctx); err != nil {
			return err
		}
	}
}

func (k *console) renew(ctx context.Context) error {
	op, err := k.settle(ctx, history.Op{Method: "RenewSession", Counter: k.number, Epoch: k.s.epoch}, &k.s)
	if err == nil && op.Reason == "STALE_SESSION" {
		if err := k.open(ctx, history.Op{}); err != nil {
			return err
		}
		return errMoved
	}
	return err
}

// look asks the server what is at this counter, after a command that nobody settled.
func (k *console) lookUp(ctx context.Context) error {
	k.current, k.started = "", false
	op, err := k.settle(ctx, history.Op{Method: "GetBranch"}, nil)
	if err != nil || op.Hall == nil {
		return err
	}
	for _, c := range op.Hall.Counters {
		if c.Counter == k.number {
			k.current, k.started = c.Ticket, c.TicketState == "serving"
		}
	}
	return nil
}
