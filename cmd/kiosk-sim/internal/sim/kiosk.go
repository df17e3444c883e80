package sim

import (
	"context"
	"errors"
	"fmt"
	"time"

	"callerd/cmd/kiosk-sim/internal/history"
)

// kiosk hands out numbers, one customer after the other.
type kiosk struct {
	actor
	customers int // 0: until the end of the duration
	hall      *hall
	leaving   []leaver
	coming    []leaver // reserved from afar
}

// leaver is a customer who will give a number up after so many more customers at this kiosk.
type leaver struct {
	ticket string
	after  int
}

// run hands out this kiosk's share. Arrivals are an open loop: a customer is due when the plan
// says so, whether or not the one before has been served, so that a stall shows as the wait that it
// is.
func (k *kiosk) run(ctx context.Context) error {
	for _, op := range k.cfg.Unsettled[k.name] {
		if _, err := k.settle(ctx, op, nil); err != nil && !k.leftOpen(err) {
			return err
		}
	}
	start := k.c.rec.Now()
	k.due = start
	for n := 0; k.customers == 0 || n < k.customers; n++ {
		if !k.cfg.Full {
			k.due += int64(k.real(gap(k.rng, k.cfg.Arrivals/float64(k.cfg.Kiosks))))
			if k.past(k.due - start) {
				break
			}
			if err := k.sleep(ctx, time.Duration(k.due-k.c.rec.Now())); err != nil {
				return err
			}
		} else if k.past(k.c.rec.Now() - start) {
			break
		}
		if err := k.customer(ctx); err != nil {
			return err
		}
	}
	return k.leave(ctx, true)
}

// past says whether this much real time is more than the run should take.
func (k *kiosk) past(elapsed int64) bool {
	limit := k.cfg.Duration
	if !k.cfg.Full {
		limit = k.real(limit)
	}
	return k.customers == 0 && time.Duration(elapsed) > limit
}

func (k *kiosk) customer(ctx context.Context) error {
	op := history.Op{Method: "IssueTicket", Category: pick(k.rng, k.cfg.Weights)}
	k.who(&op)
	leaves, looks, after := k.chance(k.cfg.Cancel), k.chance(k.cfg.Look), 1+k.rng.IntN(8)
	op, err := k.settle(ctx, op, nil)
	if k.leftOpen(err) {
		return k.leave(ctx, false)
	}
	if err != nil {
		return err
	}
	if op.Outcome == history.OK && op.Got != nil {
		k.hall.issued.Add(1)
		k.hall.handed(op.Got.ID)
		if op.Reserve && !k.chance(k.cfg.Mix.Absent) {
			k.coming = append(k.coming, leaver{op.Got.ID, after})
		}
		k.hall.ring()
		if leaves {
			k.leaving = append(k.leaving, leaver{op.Got.ID, after})
		}
		if looks {
			if _, err := k.settle(ctx, history.Op{Method: "GetTicket", Ticket: op.Got.ID}, nil); err != nil && !k.leftOpen(err) {
				return err
			}
		}
	}
	return k.leave(ctx, false)
}

// who draws what is special about a customer.
func (k *kiosk) who(op *history.Op) {
	if k.chance(k.cfg.Mix.Priority) {
		op.Priority = []string{"elderly", "disabled", "pregnant", "military"}[k.rng.IntN(4)]
	}
	if k.chance(k.cfg.Mix.Person) {
		op.Person = fmt.Sprintf("person-%d", k.rng.IntN(200))
	}
	op.Reserve = k.chance(k.cfg.Mix.Reserve)
}

// arrive checks in those who reserved and have come; at the end all of them.
func (k *kiosk) arrive(ctx context.Context, all bool) error {
	stay := k.coming[:0]
	for _, l := range k.coming {
		if l.after--; l.after > 0 && !all {
			stay = append(stay, l)
			continue
		}
		k.due = k.c.rec.Now()
		if _, err := k.settle(ctx, history.Op{Method: "CheckInTicket", Ticket: l.ticket}, nil); err != nil && !k.leftOpen(err) {
			return err
		}
		k.hall.ring()
	}
	k.coming = stay
	return nil
}

// leave cancels the numbers whose customers have gone; at the end all of them.
func (k *kiosk) leave(ctx context.Context, all bool) error {
	if err := k.arrive(ctx, all); err != nil {
		return err
	}
	stay := k.leaving[:0]
	for _, l := range k.leaving {
		if l.after--; l.after > 0 && !all {
			stay = append(stay, l)
			continue
		}
		k.due = k.c.rec.Now()
		if _, err := k.settle(ctx, history.Op{Method: "CancelTicket", Ticket: l.ticket}, nil); err != nil && !k.leftOpen(err) {
			return err
		}
	}
	k.leaving = stay
	return nil
}

// leftOpen says whether a request was left open and the run goes on all the same.
func (a *actor) leftOpen(err error) bool { return a.cfg.Survive && errors.Is(err, ErrGaveUp) }
