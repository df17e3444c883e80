package server

import (
	"context"

	"callerd/internal/branch"
	"callerd/internal/queue"
	pb "callerd/proto/callerd/v1"
)

// ticketRequest is what every verb on a named ticket asks with.
type ticketRequest interface {
	GetRequestId() string
	GetSessionToken() string
	GetTicket() string
}

// ticketVerb checks the fields of a verb on a named ticket and does it.
func ticketVerb(ctx context.Context, r ticketRequest, do func(context.Context, branch.Request, string, queue.TicketID) (branch.TicketReply, error)) (*pb.Ticket, branch.TicketReply, error) {
	var f fields
	id, token, ticket := f.request(r.GetRequestId()), f.token(r.GetSessionToken()), f.ticket("ticket", r.GetTicket())
	if err := f.err(); err != nil {
		return nil, branch.TicketReply{}, err
	}
	t, err := do(ctx, branch.Request{ID: id}, token, ticket)
	if err != nil {
		return nil, branch.TicketReply{}, err
	}
	return ticketProto(&t.Ticket), t, nil
}

func (s counterService) RecallTicket(ctx context.Context, r *pb.RecallTicketRequest) (*pb.RecallTicketResponse, error) {
	t, v, err := ticketVerb(ctx, r, s.branch.RecallTicket)
	if err != nil {
		return nil, err
	}
	return &pb.RecallTicketResponse{Ticket: t, Replayed: v.Replayed, Sequence: v.Sequence}, nil
}

func (s counterService) StartTicket(ctx context.Context, r *pb.StartTicketRequest) (*pb.StartTicketResponse, error) {
	t, v, err := ticketVerb(ctx, r, s.branch.StartTicket)
	if err != nil {
		return nil, err
	}
	return &pb.StartTicketResponse{Ticket: t, Replayed: v.Replayed, Sequence: v.Sequence}, nil
}

func (s counterService) CompleteTicket(ctx context.Context, r *pb.CompleteTicketRequest) (*pb.CompleteTicketResponse, error) {
	t, v, err := ticketVerb(ctx, r, s.branch.CompleteTicket)
	if err != nil {
		return nil, err
	}
	return &pb.CompleteTicketResponse{Ticket: t, Replayed: v.Replayed, Sequence: v.Sequence}, nil
}

func (s counterService) MarkNoShow(ctx context.Context, r *pb.MarkNoShowRequest) (*pb.MarkNoShowResponse, error) {
	t, v, err := ticketVerb(ctx, r, s.branch.MarkNoShow)
	if err != nil {
		return nil, err
	}
	return &pb.MarkNoShowResponse{Ticket: t, Replayed: v.Replayed, Sequence: v.Sequence}, nil
}

func (s counterService) HoldTicket(ctx context.Context, r *pb.HoldTicketRequest) (*pb.HoldTicketResponse, error) {
	t, v, err := ticketVerb(ctx, r, s.branch.HoldTicket)
	if err != nil {
		return nil, err
	}
	return &pb.HoldTicketResponse{Ticket: t, Replayed: v.Replayed, Sequence: v.Sequence}, nil
}

func (s counterService) ResumeTicket(ctx context.Context, r *pb.ResumeTicketRequest) (*pb.ResumeTicketResponse, error) {
	t, v, err := ticketVerb(ctx, r, s.branch.ResumeTicket)
	if err != nil {
		return nil, err
	}
	return &pb.ResumeTicketResponse{Ticket: t, Replayed: v.Replayed, Sequence: v.Sequence}, nil
}
