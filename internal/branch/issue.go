package branch

import (
	"context"
	"fmt"
	"time"

	"callerd/internal/queue"
)

// TicketReply is a ticket as it is at a sequence.
type TicketReply struct {
	Ticket queue.Ticket
	Ahead  int // waiting tickets in front of it; 0 when it is not waiting
	// Estimate is ahead times the category's recent mean service time, shared among its open counters; nil when no counter is
	// open for it or nothing was served yet.
	Estimate *time.Duration
	Replayed bool
	Sequence uint64
}

// IssueTicket hands out the next number of a category.
func (b *Branch) IssueTicket(ctx context.Context, r Request, category queue.CategoryID) (TicketReply, error) {
	req := &request{r, fingerprint("IssueTicket", 0, string(category))}
	c := b.state.sets.Load().byCategory[category]
	var id queue.TicketID
	var reply TicketReply
	o, err := b.do(ctx, req, func(o *operation) error {
		if c == nil {
			return fmt.Errorf("%w: %q", ErrUnknownCategory, category)
		}
		o.lockLines(c)
		return nil
	}, func(o *operation) error {
		if !c.Open() {
			return fmt.Errorf("%w: %s is no longer in the configuration", ErrCategoryClosed, category)
		}
		if c.Issued() >= queue.MaxNumber {
			return fmt.Errorf("%w: %s has reached %d today", ErrNumbersExhausted, category, queue.MaxNumber)
		}
		var number string
		id, number = c.NextID()
		o.emit(&queue.TicketChanged{Verb: queue.Issue, Ticket: id, Number: number, To: queue.Waiting, Category: category})
		return nil
	}, func(o *operation) {
		if o.seen == nil {
			reply = b.look(c.Find(id), o.sequence)
		}
	})
	return b.replied(ctx, o, err, reply)
}

// CancelTicket gives a ticket up before it is served, wherever it is.
func (b *Branch) CancelTicket(ctx context.Context, r Request, id queue.TicketID, reason string) (TicketReply, error) {
	req := &request{r, fingerprint("CancelTicket", 0, id.String(), reason)}
	var t *queue.Live
	var reply TicketReply
	o, err := b.do(ctx, req, func(o *operation) (err error) {
		t, err = o.lockTicket(id)
		return err
	}, func(o *operation) error {
		if err := allowed(t, queue.Cancel); err != nil {
			return err
		}
		out := changed(t, queue.Cancel, 0)
		out.Note = reason
		o.emit(out)
		return nil
	}, func(o *operation) {
		if o.seen == nil {
			reply = b.look(t, o.sequence)
		}
	})
	return b.replied(ctx, o, err, reply)
}

// GetTicket tells a ticket of this or the last business day.
func (b *Branch) GetTicket(ctx context.Context, id queue.TicketID) (TicketReply, error) {
	var t *queue.Live
	var reply TicketReply
	o, err := b.do(ctx, nil, func(o *operation) (err error) {
		t, err = o.lockTicket(id)
		return err
	}, nil, func(o *operation) { reply = b.look(t, o.sequence) })
	return b.replied(ctx, o, err, reply)
}

// replied ends a verb on a ticket: a retry reads the ticket as it is now, holding nothing of the first look.
func (b *Branch) replied(ctx context.Context, o *operation, err error, reply TicketReply) (TicketReply, error) {
	if err != nil {
		return TicketReply{}, err
	}
	if o.seen == nil {
		return reply, nil
	}
	// By its address and not by its id: after a short day the ticket may be older than what can be asked for.
	t := o.seen.ticket
	_, err = b.do(ctx, nil, func(o *operation) error { return o.lockPlaces(nil, t) }, nil, func(o *operation) {
		reply = b.look(t, o.sequence)
	})
	if err != nil {
		return TicketReply{}, err
	}
	reply.Replayed = true
	return reply, nil
}

// look copies a ticket and what stands before it. The caller holds the lock of its place and of its line.
func (b *Branch) look(t *queue.Live, sequence uint64) TicketReply {
	r := TicketReply{Ticket: t.Ticket, Sequence: sequence}
	if t.State != queue.Waiting {
		return r
	}
	c := b.lineOf(t)
	r.Ahead = c.Ahead(t.Key)
	if n, mean := c.Counters(), c.ServiceMean(); n > 0 && mean > 0 {
		e := time.Duration(int64(r.Ahead) * mean / int64(n))
		r.Estimate = &e
	}
	return r
}

// allowed refuses what the lifecycle does not have.
func allowed(t *queue.Live, v queue.Verb) error {
	if _, ok := queue.Next(t.State, v); !ok {
		return fmt.Errorf("%w: %s is %v, %v is not possible", ErrWrongTicketState, t.Number, t.State, v)
	}
	return nil
}
