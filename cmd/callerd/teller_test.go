package main

import (
	"context"
	"fmt"
	mathrand "math/rand/v2"

	"google.golang.org/grpc"

	pb "callerd/proto/callerd/v1"
)

// teller works at a counter, and knows what is on it.
type teller struct {
	pending
	hall    *hall
	counter uint32
	rnd     *mathrand.Rand

	token   string
	paused  bool
	current *pb.Ticket
	held    []string // ticket ids
}

func (p *teller) step(ctx context.Context, conn *grpc.ClientConn) error {
	if p.ask == nil {
		p.ask = p.choose()
	}
	if err := p.again(ctx, conn); err != nil {
		return fmt.Errorf("counter %d: %w", p.counter, err)
	}
	return nil
}

// choose is what the teller does next.
func (p *teller) choose() command {
	dice := p.rnd.IntN(10)
	switch {
	case p.token == "":
		return p.open()
	case p.paused:
		return p.resume()
	case p.current == nil && dice == 0:
		return p.pause()
	case p.current == nil && len(p.held) > 0 && dice < 4:
		return p.takeUp(p.held[0])
	case p.current == nil:
		return p.callNext("")
	case dice == 0:
		return p.hold()
	case p.current.State == pb.TicketState_TICKET_STATE_CALLED && dice == 1:
		return p.noShow()
	case p.current.State == pb.TicketState_TICKET_STATE_CALLED && dice == 2:
		return p.recall()
	case p.current.State == pb.TicketState_TICKET_STATE_CALLED:
		return p.start()
	case dice < 5:
		return p.complete()
	default:
		return p.callNext(p.current.Id)
	}
}

func (p *teller) open() command {
	req := &pb.OpenCounterRequest{RequestId: uuid(), Counter: p.counter, Teller: fmt.Sprintf("teller-%d", p.counter)}
	return func(ctx context.Context, conn *grpc.ClientConn) error {
		r, err := pb.NewCounterServiceClient(conn).OpenCounter(ctx, req)
		if err == nil {
			p.hall.saw(r.Sequence)
			p.token = r.SessionToken
		}
		return err
	}
}

func (p *teller) pause() command {
	req := &pb.PauseCounterRequest{RequestId: uuid(), SessionToken: p.token, Reason: "tea"}
	return func(ctx context.Context, conn *grpc.ClientConn) error {
		r, err := pb.NewCounterServiceClient(conn).PauseCounter(ctx, req)
		if err == nil {
			p.hall.saw(r.Sequence)
			p.paused = true
		}
		return err
	}
}

func (p *teller) resume() command {
	req := &pb.ResumeCounterRequest{RequestId: uuid(), SessionToken: p.token}
	return func(ctx context.Context, conn *grpc.ClientConn) error {
		r, err := pb.NewCounterServiceClient(conn).ResumeCounter(ctx, req)
		if err == nil {
			p.hall.saw(r.Sequence)
			p.paused = false
		}
		return err
	}
}

func (p *teller) callNext(complete string) command {
	req := &pb.CallNextRequest{RequestId: uuid(), SessionToken: p.token, CompleteTicket: complete}
	return func(ctx context.Context, conn *grpc.ClientConn) error {
		r, err := pb.NewCounterServiceClient(conn).CallNext(ctx, req)
		if err == nil {
			p.hall.saw(r.Sequence)
			p.current = r.Ticket // none when nobody waits
		}
		return err
	}
}

// reply is what the commands about one ticket answer.
type reply interface {
	GetTicket() *pb.Ticket
	GetSequence() uint64
}

// set takes over what a reply says about the current ticket; a final or held one is not current any more.
func (p *teller) set(r reply) {
	p.hall.saw(r.GetSequence())
	p.current = r.GetTicket()
	switch p.current.State {
	case pb.TicketState_TICKET_STATE_CALLED, pb.TicketState_TICKET_STATE_SERVING:
	default:
		p.current = nil
	}
}

func (p *teller) start() command {
	req := &pb.StartTicketRequest{RequestId: uuid(), SessionToken: p.token, Ticket: p.current.Id}
	return func(ctx context.Context, conn *grpc.ClientConn) error {
		r, err := pb.NewCounterServiceClient(conn).StartTicket(ctx, req)
		if err == nil {
			p.set(r)
		}
		return err
	}
}

func (p *teller) recall() command {
	req := &pb.RecallTicketRequest{RequestId: uuid(), SessionToken: p.token, Ticket: p.current.Id}
	return func(ctx context.Context, conn *grpc.ClientConn) error {
		r, err := pb.NewCounterServiceClient(conn).RecallTicket(ctx, req)
		if err == nil {
			p.set(r)
		}
		return err
	}
}

func (p *teller) complete() command {
	req := &pb.CompleteTicketRequest{RequestId: uuid(), SessionToken: p.token, Ticket: p.current.Id}
	return func(ctx context.Context, conn *grpc.ClientConn) error {
		r, err := pb.NewCounterServiceClient(conn).CompleteTicket(ctx, req)
		if err == nil {
			p.set(r)
		}
		return err
	}
}

func (p *teller) noShow() command {
	req := &pb.MarkNoShowRequest{RequestId: uuid(), SessionToken: p.token, Ticket: p.current.Id}
	return func(ctx context.Context, conn *grpc.ClientConn) error {
		r, err := pb.NewCounterServiceClient(conn).MarkNoShow(ctx, req)
		if err == nil {
			p.set(r)
		}
		return err
	}
}

func (p *teller) hold() command {
	req := &pb.HoldTicketRequest{RequestId: uuid(), SessionToken: p.token, Ticket: p.current.Id}
	return func(ctx context.Context, conn *grpc.ClientConn) error {
		r, err := pb.NewCounterServiceClient(conn).HoldTicket(ctx, req)
		if err == nil {
			p.set(r)
			p.held = append(p.held, req.Ticket)
		}
		return err
	}
}

func (p *teller) takeUp(ticket string) command {
	req := &pb.ResumeTicketRequest{RequestId: uuid(), SessionToken: p.token, Ticket: ticket}
	return func(ctx context.Context, conn *grpc.ClientConn) error {
		r, err := pb.NewCounterServiceClient(conn).ResumeTicket(ctx, req)
		if err == nil {
			p.set(r)
			p.held = p.held[1:]
		}
		return err
	}
}
