package server

import (
	"context"

	"callerd/internal/branch"
	"callerd/internal/queue"
	pb "callerd/proto/callerd/v1"
)

func (s counterService) RequeueTicket(ctx context.Context, r *pb.RequeueTicketRequest) (*pb.RequeueTicketResponse, error) {
	var f fields
	id, token, ticket, to := f.request(r.RequestId), f.token(r.SessionToken), f.ticket("ticket", r.Ticket), f.place(r.Where, r.After)
	if err := f.err(); err != nil {
		return nil, err
	}
	t, err := s.branch.RequeueTicket(ctx, branch.Request{ID: id}, token, ticket, to)
	if err != nil {
		return nil, err
	}
	return &pb.RequeueTicketResponse{Ticket: ticketProto(&t.Ticket), Ahead: uint32(t.Ahead), Replayed: t.Replayed, Sequence: t.Sequence}, nil
}

func (s counterService) TransferTicket(ctx context.Context, r *pb.TransferTicketRequest) (*pb.TransferTicketResponse, error) {
	var f fields
	id, token := f.request(r.RequestId), f.token(r.SessionToken)
	q := branch.TransferRequest{Request: branch.Request{ID: id}, Ticket: f.ticket("ticket", r.Ticket), Place: f.place(r.Where, r.After),
		Note: f.text("reason", r.Reason, 200, false)}
	switch to := r.To.(type) {
	case *pb.TransferTicketRequest_Category:
		q.Category = f.category("category", to.Category)
	case *pb.TransferTicketRequest_Counter:
		q.Counter = f.counter(to.Counter)
	default:
		f.fault("to", "is required: a category, or a counter")
	}
	if err := f.err(); err != nil {
		return nil, err
	}
	t, err := s.branch.TransferTicket(ctx, q, token)
	if err != nil {
		return nil, err
	}
	return &pb.TransferTicketResponse{Ticket: ticketProto(&t.Ticket), Ahead: uint32(t.Ahead), Replayed: t.Replayed, Sequence: t.Sequence}, nil
}

func (s branchService) ResetCategory(ctx context.Context, r *pb.ResetCategoryRequest) (*pb.ResetCategoryResponse, error) {
	var f fields
	id, category, who, why := f.request(r.RequestId), f.category("category", r.Category), f.text("who", r.Who, 64, true), f.text("why", r.Why, 200, true)
	if err := f.err(); err != nil {
		return nil, err
	}
	v, err := s.branch.ResetCategory(ctx, branch.Request{ID: id, Actor: queue.Actor{Kind: queue.Staff, Name: who}}, category, why)
	if err != nil {
		return nil, err
	}
	return &pb.ResetCategoryResponse{Replayed: v.Replayed, Sequence: v.Sequence}, nil
}
