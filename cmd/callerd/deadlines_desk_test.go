package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/durationpb"

	pb "callerd/proto/callerd/v1"
)

// desk is a teller of a dueHall at a counter. The console says nothing after the last ticket, so its lease is a deadline too.
type desk struct {
	*dueHall
	counter  uint32
	rnd      *rand.Rand
	token    string
	sessions int
}

// ask asks for something under the session, again and again until there is an answer. A session whose lease has ended, for this machine
// may be slow, is opened anew; the answer is errStale then.
func ask[R any](d *desk, what func(context.Context, *grpc.ClientConn) (R, error)) (r R, err error) {
	if d.token == "" {
		if err := d.open(); err != nil {
			return r, err
		}
	}
	var sent time.Time
	r, err = answered(d.dueHall, func(ctx context.Context, c *grpc.ClientConn) (R, error) {
		sent = time.Now()
		return what(ctx, c)
	})
	if why(err) == "STALE_SESSION" {
		d.token = ""
		return r, errStale
	}
	if err == nil || why(err) != "" {
		d.mu.Lock()
		d.heard[d.counter] = sent
		d.mu.Unlock()
	}
	return r, err
}

var errStale = fmt.Errorf("the session has ended")

func (d *desk) open() error {
	q := &pb.OpenCounterRequest{RequestId: uuid(), Counter: d.counter, Teller: fmt.Sprint(d.counter)}
	r, err := answered(d.dueHall, func(ctx context.Context, c *grpc.ClientConn) (*pb.OpenCounterResponse, error) {
		return pb.NewCounterServiceClient(c).OpenCounter(ctx, q)
	})
	if err != nil {
		return err
	}
	d.token = r.SessionToken
	d.sessions++
	d.noted(fmt.Sprintf("session %d of counter %d", d.sessions, d.counter), time.Time{})
	return nil
}

// work does something again and again, until there is an error that no slow machine explains, or it is done.
func (d *desk) work(what string, more func() bool, step func() error) {
	for more() && d.t.Context().Err() == nil {
		if err := step(); err != nil && err != errStale {
			d.failed(fmt.Sprintf("counter %d: %s", d.counter, what), err)
			return
		}
	}
}

// call takes a number of a category and calls it.
func (d *desk) call(category string) (*pb.Ticket, error) {
	t, err := d.issue(category, false)
	if err != nil {
		return nil, err
	}
	id := uuid()
	r, err := ask(d, func(ctx context.Context, c *grpc.ClientConn) (*pb.CallTicketResponse, error) {
		return pb.NewCounterServiceClient(c).CallTicket(ctx, &pb.CallTicketRequest{RequestId: id, SessionToken: d.token, Ticket: t.Id})
	})
	return r.GetTicket(), err
}

// hold calls so many tickets; every other one is held, and of the others nobody comes.
func (d *desk) hold(n int) {
	d.work("hold", func() bool { return n > 0 }, func() error {
		t, err := d.call(d.line(d.rnd))
		if err != nil {
			return err
		}
		id := uuid()
		if n%2 == 0 {
			r, err := ask(d, func(ctx context.Context, c *grpc.ClientConn) (*pb.HoldTicketResponse, error) {
				return pb.NewCounterServiceClient(c).HoldTicket(ctx, &pb.HoldTicketRequest{RequestId: id, SessionToken: d.token, Ticket: t.Id})
			})
			if err != nil {
				return err
			}
			d.noted("held "+t.Id, r.Ticket.Deadline.AsTime())
		} else {
			r, err := ask(d, func(ctx context.Context, c *grpc.ClientConn) (*pb.MarkNoShowResponse, error) {
				return pb.NewCounterServiceClient(c).MarkNoShow(ctx, &pb.MarkNoShowRequest{RequestId: id, SessionToken: d.token, Ticket: t.Id})
			})
			if err != nil {
				return err
			}
			d.noted("no-show "+t.Id, r.Ticket.Deadline.AsTime())
		}
		n--
		return nil
	})
}

// callAndWait calls tickets, and waits for each until the system says no-show.
func (d *desk) callAndWait() {
	d.work("call", func() bool { return !d.stopped() }, func() error {
		t, err := d.call("quick")
		if err != nil {
			return err
		}
		d.noted("called "+t.Id, time.Time{})
		for t.State == pb.TicketState_TICKET_STATE_CALLED && d.tick(20*time.Millisecond) {
			_, err := ask(d, func(ctx context.Context, c *grpc.ClientConn) (*pb.RenewSessionResponse, error) {
				return pb.NewCounterServiceClient(c).RenewSession(ctx, &pb.RenewSessionRequest{SessionToken: d.token})
			})
			if err != nil {
				return err
			}
			v, err := answered(d.dueHall, func(ctx context.Context, c *grpc.ClientConn) (*pb.GetTicketResponse, error) {
				return pb.NewKioskServiceClient(c).GetTicket(ctx, &pb.GetTicketRequest{Ticket: t.Id})
			})
			if err != nil {
				return err
			}
			t = v.Ticket
		}
		return nil
	})
}

// borrow takes a thing again as soon as its time is over.
func (d *desk) borrow(thing string) {
	d.work("borrow", func() bool { return !d.stopped() }, func() error {
		id := uuid()
		r, err := ask(d, func(ctx context.Context, c *grpc.ClientConn) (*pb.AcquireResourcesResponse, error) {
			return pb.NewResourceServiceClient(c).AcquireResources(ctx, &pb.AcquireResourcesRequest{RequestId: id, SessionToken: d.token,
				Names: []string{thing}, Ttl: durationpb.New(grantSpan)})
		})
		if why(err) == "RESOURCE_BUSY" {
			d.tick(20 * time.Millisecond)
			return nil
		}
		if err != nil {
			return err
		}
		d.noted(fmt.Sprintf("granted %d", r.Fence), time.Time{})
		return nil
	})
}
