package server

import (
	"context"
	"slices"

	"google.golang.org/protobuf/types/known/durationpb"

	"callerd/internal/branch"
	"callerd/internal/queue"
	pb "callerd/proto/callerd/v1"
)

// counterService serves the tellers' consoles.
type counterService struct {
	pb.UnsafeCounterServiceServer
	*Server
}

// mostCategories is how many categories a session may name.
const mostCategories = 100

func (s counterService) OpenCounter(ctx context.Context, r *pb.OpenCounterRequest) (*pb.OpenCounterResponse, error) {
	var f fields
	id, counter, teller, rule := f.request(r.RequestId), f.counter(r.Counter), f.text("teller", r.Teller, 64, true), f.rule(r.Rule)
	var categories []queue.CategoryID
	if len(r.Categories) > mostCategories {
		f.fault("categories", "are %d, at most %d are served by one session", len(r.Categories), mostCategories)
		r.Categories = nil
	}
	for _, c := range r.Categories {
		c := f.category("categories", c)
		if slices.Contains(categories, c) {
			f.fault("categories", "%q is named twice", c)
		}
		categories = append(categories, c)
	}
	if err := f.err(); err != nil {
		return nil, err
	}
	o, err := s.branch.OpenCounter(ctx, branch.OpenRequest{
		Request: branch.Request{ID: id, Actor: queue.Actor{Kind: queue.Teller, Name: teller}},
		Counter: counter, Teller: teller, Categories: categories, Rule: rule})
	if err != nil {
		return nil, err
	}
	c := &pb.Counter{Counter: r.Counter, State: pb.CounterState_COUNTER_STATE_OPEN}
	switch {
	case o.Closed:
		c.State = pb.CounterState_COUNTER_STATE_CLOSED
	case o.Paused:
		c.State = pb.CounterState_COUNTER_STATE_PAUSED
	}
	if t := o.Current; t != nil {
		c.Number, c.Ticket, c.TicketState = t.Number, t.ID.String(), pb.TicketState(t.State)
	}
	return &pb.OpenCounterResponse{SessionToken: o.Token, Epoch: o.Epoch, Lease: durationpb.New(o.Lease), Counter: c,
		Held: ticketProtos(o.Held), Replayed: o.Replayed, Sequence: o.Sequence}, nil
}

func (s counterService) RenewSession(ctx context.Context, r *pb.RenewSessionRequest) (*pb.RenewSessionResponse, error) {
	var f fields
	token := f.token(r.SessionToken)
	if err := f.err(); err != nil {
		return nil, err
	}
	v, err := s.branch.RenewSession(ctx, token)
	if err != nil {
		return nil, err
	}
	return &pb.RenewSessionResponse{Lease: durationpb.New(v.Lease), Sequence: v.Sequence}, nil
}

func (s counterService) PauseCounter(ctx context.Context, r *pb.PauseCounterRequest) (*pb.PauseCounterResponse, error) {
	var f fields
	id, token, reason := f.request(r.RequestId), f.token(r.SessionToken), f.text("reason", r.Reason, 200, false)
	if err := f.err(); err != nil {
		return nil, err
	}
	v, err := s.branch.PauseCounter(ctx, branch.Request{ID: id}, token, reason)
	if err != nil {
		return nil, err
	}
	return &pb.PauseCounterResponse{Replayed: v.Replayed, Sequence: v.Sequence}, nil
}

func (s counterService) ResumeCounter(ctx context.Context, r *pb.ResumeCounterRequest) (*pb.ResumeCounterResponse, error) {
	var f fields
	id, token := f.request(r.RequestId), f.token(r.SessionToken)
	if err := f.err(); err != nil {
		return nil, err
	}
	v, err := s.branch.ResumeCounter(ctx, branch.Request{ID: id}, token)
	if err != nil {
		return nil, err
	}
	return &pb.ResumeCounterResponse{Replayed: v.Replayed, Sequence: v.Sequence}, nil
}

func (s counterService) CloseCounter(ctx context.Context, r *pb.CloseCounterRequest) (*pb.CloseCounterResponse, error) {
	var f fields
	id, token := f.request(r.RequestId), f.token(r.SessionToken)
	if err := f.err(); err != nil {
		return nil, err
	}
	v, err := s.branch.CloseCounter(ctx, branch.Request{ID: id}, token)
	if err != nil {
		return nil, err
	}
	return &pb.CloseCounterResponse{Replayed: v.Replayed, Sequence: v.Sequence}, nil
}

func (s counterService) CallNext(ctx context.Context, r *pb.CallNextRequest) (*pb.CallNextResponse, error) {
	var f fields
	id, token := f.request(r.RequestId), f.token(r.SessionToken)
	var complete queue.TicketID
	if r.CompleteTicket != "" {
		complete = f.ticket("complete_ticket", r.CompleteTicket)
	}
	if err := f.err(); err != nil {
		return nil, err
	}
	c, err := s.branch.CallNext(ctx, branch.Request{ID: id}, token, complete)
	if err != nil {
		return nil, err
	}
	out := &pb.CallNextResponse{Ticket: ticketProto(c.Ticket), Completed: ticketProto(c.Completed), Waiting: uint32(c.Waiting), Held: uint32(c.Held),
		Replayed: c.Replayed, Sequence: c.Sequence}
	if c.Ticket != nil {
		out.Reason = &pb.CallReason{Rule: pb.CallRule(c.Rule), Waited: durationpb.New(c.Waited)}
	}
	return out, nil
}
