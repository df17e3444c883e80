package server

import (
	"context"

	"callerd/internal/branch"
	"callerd/internal/queue"
	pb "callerd/proto/callerd/v1"
)

func (s counterService) CallNext(ctx context.Context, r *pb.CallNextRequest) (*pb.CallNextResponse, error) {
	var f fields
	id, token, complete := f.request(r.RequestId), f.token(r.SessionToken), f.complete(r.CompleteTicket)
	if err := f.err(); err != nil {
		return nil, err
	}
	c, err := s.branch.CallNext(ctx, branch.Request{ID: id}, token, complete)
	if err != nil {
		return nil, err
	}
	return &pb.CallNextResponse{Ticket: ticketProto(c.Ticket), Reason: callReason(c), Completed: ticketProto(c.Completed), Waiting: uint32(c.Waiting),
		Held: uint32(c.Held), Reserved: uint32(c.Reserved), Replayed: c.Replayed, Sequence: c.Sequence}, nil
}

func (s counterService) CallTicket(ctx context.Context, r *pb.CallTicketRequest) (*pb.CallTicketResponse, error) {
	var f fields
	id, token, ticket, complete := f.request(r.RequestId), f.token(r.SessionToken), f.ticket("ticket", r.Ticket), f.complete(r.CompleteTicket)
	if err := f.err(); err != nil {
		return nil, err
	}
	c, err := s.branch.CallTicket(ctx, branch.Request{ID: id}, token, ticket, complete)
	if err != nil {
		return nil, err
	}
	return &pb.CallTicketResponse{Ticket: ticketProto(c.Ticket), Reason: callReason(c), Completed: ticketProto(c.Completed), Waiting: uint32(c.Waiting),
		Held: uint32(c.Held), Reserved: uint32(c.Reserved), Replayed: c.Replayed, Sequence: c.Sequence}, nil
}

// complete reads the ticket to be completed beside a call; "" is none.
func (f *fields) complete(id string) queue.TicketID {
	if id == "" {
		return queue.TicketID{}
	}
	return f.ticket("complete_ticket", id)
}

// callReason says why the ticket was called; nil when nobody was.
func callReason(c branch.CallReply) *pb.CallReason {
	if c.Ticket == nil {
		return nil
	}
	return reasonProto(c.Rule, c.Waited, c.Overtaken, c.PassedOver)
}
