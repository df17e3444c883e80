package server

import (
	"context"

	"callerd/internal/branch"
	"callerd/internal/queue"
	pb "callerd/proto/callerd/v1"
)

// kioskService hands out numbers.
type kioskService struct {
	pb.UnsafeKioskServiceServer
	*Server
}

func (s kioskService) ListCategories(ctx context.Context, _ *pb.ListCategoriesRequest) (*pb.ListCategoriesResponse, error) {
	if err := s.branch.Admitting(); err != nil {
		return nil, err
	}
	b := s.board
	b.mu.Lock()
	defer b.mu.Unlock()
	r := &pb.ListCategoriesResponse{Sequence: b.sequence}
	for _, l := range b.lines {
		r.Categories = append(r.Categories, l.view().proto())
	}
	return r, nil
}

func (s kioskService) IssueTicket(ctx context.Context, r *pb.IssueTicketRequest) (*pb.IssueTicketResponse, error) {
	q, err := issueRequest(r)
	if err != nil {
		return nil, err
	}
	t, err := s.branch.IssueTicket(ctx, q)
	if err != nil {
		return nil, err
	}
	return issueResponse(&t), nil
}

func issueRequest(r *pb.IssueTicketRequest) (branch.IssueRequest, error) {
	var f fields
	id, category := f.request(r.GetRequestId()), f.category("category", r.GetCategory())
	q := branch.IssueRequest{Request: branch.Request{ID: id, Actor: queue.Actor{Kind: queue.Kiosk, Name: f.text("kiosk", r.GetKiosk(), 64, false)}},
		Category: category, Priority: f.priority(r.GetPriority()), Person: f.text("person_key", r.GetPersonKey(), 64, false), Reserve: r.GetReserve()}
	return q, f.err()
}

func issueResponse(t *branch.TicketReply) *pb.IssueTicketResponse {
	return &pb.IssueTicketResponse{Ticket: ticketProto(&t.Ticket), Ahead: uint32(t.Ahead), EstimatedWait: duration(t.Estimate),
		Replayed: t.Replayed, Sequence: t.Sequence}
}

func (s kioskService) CheckInTicket(ctx context.Context, r *pb.CheckInTicketRequest) (*pb.CheckInTicketResponse, error) {
	var f fields
	id, ticket := f.request(r.RequestId), f.ticket("ticket", r.Ticket)
	if err := f.err(); err != nil {
		return nil, err
	}
	t, err := s.branch.CheckInTicket(ctx, branch.Request{ID: id, Actor: queue.Actor{Kind: queue.Kiosk}}, ticket)
	if err != nil {
		return nil, err
	}
	return &pb.CheckInTicketResponse{Ticket: ticketProto(&t.Ticket), Ahead: uint32(t.Ahead), EstimatedWait: duration(t.Estimate),
		Replayed: t.Replayed, Sequence: t.Sequence}, nil
}

func (s kioskService) GetTicket(ctx context.Context, r *pb.GetTicketRequest) (*pb.GetTicketResponse, error) {
	var f fields
	id := f.ticket("ticket", r.Ticket)
	if err := f.err(); err != nil {
		return nil, err
	}
	t, err := s.branch.GetTicket(ctx, id)
	if err != nil {
		return nil, err
	}
	return &pb.GetTicketResponse{Ticket: ticketProto(&t.Ticket), Ahead: uint32(t.Ahead), EstimatedWait: duration(t.Estimate), Sequence: t.Sequence}, nil
}

func (s kioskService) CancelTicket(ctx context.Context, r *pb.CancelTicketRequest) (*pb.CancelTicketResponse, error) {
	var f fields
	id, ticket, reason := f.request(r.RequestId), f.ticket("ticket", r.Ticket), f.text("reason", r.Reason, 200, false)
	if err := f.err(); err != nil {
		return nil, err
	}
	t, err := s.branch.CancelTicket(ctx, branch.Request{ID: id, Actor: queue.Actor{Kind: queue.Kiosk}}, ticket, reason)
	if err != nil {
		return nil, err
	}
	return &pb.CancelTicketResponse{Ticket: ticketProto(&t.Ticket), Replayed: t.Replayed, Sequence: t.Sequence}, nil
}
