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

// mostWeight is the largest weight of the rule Ratio.
const mostWeight = 100

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
	if len(r.Weights) > 0 && len(r.Weights) != len(r.Categories) {
		f.fault("weights", "are %d beside %d categories; name one for each, or none", len(r.Weights), len(r.Categories))
	}
	for _, w := range r.Weights {
		if w < 1 || w > mostWeight {
			f.fault("weights", "%d is not 1 to %d", w, mostWeight)
		}
	}
	actor, why := queue.Actor{Kind: queue.Teller, Name: teller}, ""
	if t := r.TakeOver; t != nil {
		actor = queue.Actor{Kind: queue.Staff, Name: f.text("take_over.who", t.Who, 64, true)}
		why = f.text("take_over.why", t.Why, 200, true)
	}
	if err := f.err(); err != nil {
		return nil, err
	}
	o, err := s.branch.OpenCounter(ctx, branch.OpenRequest{
		Request: branch.Request{ID: id, Actor: actor}, Counter: counter, Teller: teller, Categories: categories, Rule: rule,
		Weights: r.Weights, TakeOver: why})
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
	current, ok := map[pb.CloseCurrent]queue.Verb{0: 0, pb.CloseCurrent_CLOSE_CURRENT_REQUEUE: queue.Requeue, pb.CloseCurrent_CLOSE_CURRENT_HOLD: queue.Hold}[r.Current]
	if !ok {
		f.fault("current", "%d is not what becomes of a current ticket: REQUEUE or HOLD, or leave it out", r.Current)
	}
	if err := f.err(); err != nil {
		return nil, err
	}
	v, err := s.branch.CloseCounter(ctx, branch.Request{ID: id}, token, current)
	if err != nil {
		return nil, err
	}
	return &pb.CloseCounterResponse{Replayed: v.Replayed, Sequence: v.Sequence}, nil
}
