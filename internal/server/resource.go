package server

import (
	"context"
	"slices"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"callerd/internal/branch"
	"callerd/internal/queue"
	pb "callerd/proto/callerd/v1"
)

// resourceService shares what several counters need and of which there is one.
type resourceService struct {
	pb.UnsafeResourceServiceServer
	*Server
}

// The bounds of a grant's lease, and how many resources may be asked for together.
const (
	leastTTL      = time.Second
	mostTTL       = time.Hour
	mostResources = 20
)

func (s resourceService) AcquireResources(ctx context.Context, r *pb.AcquireResourcesRequest) (*pb.AcquireResourcesResponse, error) {
	var f fields
	id, token, ttl := f.request(r.RequestId), f.token(r.SessionToken), f.ttl(r.Ttl)
	q := branch.AcquireRequest{Request: branch.Request{ID: id}, TTL: ttl, Names: f.resources(r.Names)}
	if w := r.Wait; w != nil {
		if q.Wait = w.AsDuration(); !w.IsValid() || q.Wait < 0 {
			f.fault("wait", "is not a time from 0 on")
		}
	}
	if err := f.err(); err != nil {
		return nil, err
	}
	ctx, end := s.unlessStopping(ctx)
	defer end()
	g, err := s.branch.AcquireResources(ctx, q, token)
	if err != nil {
		return nil, err
	}
	return &pb.AcquireResourcesResponse{Fence: g.Fence, Until: timestamppb.New(g.Until), Replayed: g.Replayed, Sequence: g.Sequence}, nil
}

func (s resourceService) RenewResources(ctx context.Context, r *pb.RenewResourcesRequest) (*pb.RenewResourcesResponse, error) {
	var f fields
	id, token, ttl := f.request(r.RequestId), f.token(r.SessionToken), f.ttl(r.Ttl)
	f.fence(r.Fence)
	if err := f.err(); err != nil {
		return nil, err
	}
	g, err := s.branch.RenewResources(ctx, branch.Request{ID: id}, token, r.Fence, ttl)
	if err != nil {
		return nil, err
	}
	return &pb.RenewResourcesResponse{Until: timestamppb.New(g.Until), Replayed: g.Replayed, Sequence: g.Sequence}, nil
}

func (s resourceService) ReleaseResources(ctx context.Context, r *pb.ReleaseResourcesRequest) (*pb.ReleaseResourcesResponse, error) {
	var f fields
	id, token := f.request(r.RequestId), f.token(r.SessionToken)
	f.fence(r.Fence)
	if err := f.err(); err != nil {
		return nil, err
	}
	g, err := s.branch.ReleaseResources(ctx, branch.Request{ID: id}, token, r.Fence)
	if err != nil {
		return nil, err
	}
	return &pb.ReleaseResourcesResponse{Replayed: g.Replayed, Sequence: g.Sequence}, nil
}

func (s resourceService) ListResources(ctx context.Context, _ *pb.ListResourcesRequest) (*pb.ListResourcesResponse, error) {
	all, sequence, err := s.branch.ListResources(ctx)
	if err != nil {
		return nil, err
	}
	out := &pb.ListResourcesResponse{Sequence: sequence}
	for _, r := range all {
		out.Resources = append(out.Resources, &pb.Resource{Name: string(r.Name), Title: textOf(r.Title).proto(), Counter: uint32(r.Counter),
			Fence: r.Fence, Until: timestamp(r.Until), Waiting: uint32(r.Waiting)})
	}
	return out, nil
}

func (f *fields) ttl(d *durationpb.Duration) time.Duration {
	ttl := d.AsDuration()
	if d == nil || !d.IsValid() || ttl < leastTTL || ttl > mostTTL {
		f.fault("ttl", "is required, from %v to %v: how long the grant lives without a renewal", leastTTL, mostTTL)
	}
	return ttl
}

func (f *fields) fence(n uint64) {
	if n == 0 {
		f.fault("fence", "is required: AcquireResources gives it")
	}
}

func (f *fields) resources(names []string) (out []queue.ResourceName) {
	if len(names) == 0 || len(names) > mostResources {
		f.fault("names", "are %d, want 1 to %d; ListResources tells which there are", len(names), mostResources)
		return nil
	}
	for _, n := range names {
		r := queue.ResourceName(n)
		if queue.CategoryID(n).Validate() != nil {
			f.fault("names", "%s is not a resource's name: 1 to 32 of a-z, 0-9 and '-', a letter first", shorten(n))
		} else if slices.Contains(out, r) {
			f.fault("names", "%q is named twice", n)
		}
		out = append(out, r)
	}
	return out
}
