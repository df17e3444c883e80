package server

import (
	"context"
	"errors"
	"io"
	"testing"
	"time"

	"google.golang.org/grpc"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	reflectionpb "google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/known/durationpb"

	pb "callerd/proto/callerd/v1"
)

func callNext(t *testing.T, r *rig, n int, token string) (*pb.CallNextResponse, error) {
	t.Helper()
	return r.counter.CallNext(t.Context(), &pb.CallNextRequest{RequestId: requestID(n), SessionToken: token})
}

// services are all that the proto files define.
func services() (out []protoreflect.ServiceDescriptor) {
	protoregistry.GlobalFiles.RangeFilesByPackage("callerd.v1", func(f protoreflect.FileDescriptor) bool {
		for i := range f.Services().Len() {
			out = append(out, f.Services().Get(i))
		}
		return true
	})
	return out
}

// step is one method at work; it returns what was replied.
type step struct {
	method string
	do     func(context.Context) (proto.Message, error)
}

func TestEveryMethodWorks(t *testing.T) {
	t.Parallel()
	r := start(t, Options{})
	var token string
	var fence uint64
	tickets := map[string]string{}
	n := 0
	id := func() string { n++; return requestID(n) }
	issue := func(ctx context.Context) (proto.Message, error) {
		v, err := r.kiosk.IssueTicket(ctx, &pb.IssueTicketRequest{RequestId: id(), Category: "personal"})
		if err == nil {
			tickets[v.Ticket.Number] = v.Ticket.Id
		}
		return v, err
	}
	steps := []step{
		{"ListCategories", func(ctx context.Context) (proto.Message, error) {
			return r.kiosk.ListCategories(ctx, &pb.ListCategoriesRequest{})
		}},
		{"IssueTicket", issue}, {"IssueTicket", issue}, {"IssueTicket", issue}, {"IssueTicket", issue},
		{"IssueTickets", func(ctx context.Context) (proto.Message, error) {
			s, err := r.kiosk.IssueTickets(ctx)
			if err != nil {
				return nil, err
			}
			if err := s.Send(&pb.IssueTicketsRequest{Issue: &pb.IssueTicketRequest{RequestId: id(), Category: "corporate"}}); err != nil {
				return nil, err
			}
			v, err := s.Recv()
			return v.GetIssued(), err
		}},
		{"GetTicket", func(ctx context.Context) (proto.Message, error) {
			return r.kiosk.GetTicket(ctx, &pb.GetTicketRequest{Ticket: tickets["A001"]})
		}},
		{"CancelTicket", func(ctx context.Context) (proto.Message, error) {
			return r.kiosk.CancelTicket(ctx, &pb.CancelTicketRequest{RequestId: id(), Ticket: tickets["A004"], Reason: "left"})
		}},
		{"OpenCounter", func(ctx context.Context) (proto.Message, error) {
			v, err := r.counter.OpenCounter(ctx, &pb.OpenCounterRequest{RequestId: id(), Counter: 3, Teller: "t", Categories: []string{"personal"}, Rule: pb.CallRule_CALL_RULE_PRIORITY})
			token = v.GetSessionToken()
			return v, err
		}},
		{"RenewSession", func(ctx context.Context) (proto.Message, error) {
			return r.counter.RenewSession(ctx, &pb.RenewSessionRequest{SessionToken: token})
		}},
		{"PauseCounter", func(ctx context.Context) (proto.Message, error) {
			return r.counter.PauseCounter(ctx, &pb.PauseCounterRequest{RequestId: id(), SessionToken: token, Reason: "tea"})
		}},
		{"ResumeCounter", func(ctx context.Context) (proto.Message, error) {
			return r.counter.ResumeCounter(ctx, &pb.ResumeCounterRequest{RequestId: id(), SessionToken: token})
		}},
		{"CallNext", func(ctx context.Context) (proto.Message, error) {
			return r.counter.CallNext(ctx, &pb.CallNextRequest{RequestId: id(), SessionToken: token})
		}},
		{"RecallTicket", func(ctx context.Context) (proto.Message, error) {
			return r.counter.RecallTicket(ctx, &pb.RecallTicketRequest{RequestId: id(), SessionToken: token, Ticket: tickets["A001"]})
		}},
		{"HoldTicket", func(ctx context.Context) (proto.Message, error) {
			return r.counter.HoldTicket(ctx, &pb.HoldTicketRequest{RequestId: id(), SessionToken: token, Ticket: tickets["A001"]})
		}},
		{"ResumeTicket", func(ctx context.Context) (proto.Message, error) {
			return r.counter.ResumeTicket(ctx, &pb.ResumeTicketRequest{RequestId: id(), SessionToken: token, Ticket: tickets["A001"]})
		}},
		{"StartTicket", func(ctx context.Context) (proto.Message, error) {
			return r.counter.StartTicket(ctx, &pb.StartTicketRequest{RequestId: id(), SessionToken: token, Ticket: tickets["A001"]})
		}},
		{"CompleteTicket", func(ctx context.Context) (proto.Message, error) {
			return r.counter.CompleteTicket(ctx, &pb.CompleteTicketRequest{RequestId: id(), SessionToken: token, Ticket: tickets["A001"]})
		}},
		{"CallNext", func(ctx context.Context) (proto.Message, error) {
			return r.counter.CallNext(ctx, &pb.CallNextRequest{RequestId: id(), SessionToken: token})
		}},
		{"MarkNoShow", func(ctx context.Context) (proto.Message, error) {
			return r.counter.MarkNoShow(ctx, &pb.MarkNoShowRequest{RequestId: id(), SessionToken: token, Ticket: tickets["A002"]})
		}},
		{"CloseCounter", func(ctx context.Context) (proto.Message, error) {
			return r.counter.CloseCounter(ctx, &pb.CloseCounterRequest{RequestId: id(), SessionToken: token})
		}},
		{"OpenCounter", func(ctx context.Context) (proto.Message, error) {
			v, err := r.counter.OpenCounter(ctx, &pb.OpenCounterRequest{RequestId: id(), Counter: 1, Teller: "t", Categories: []string{"personal", "corporate"},
				Rule: pb.CallRule_CALL_RULE_RATIO, Weights: []uint32{2, 1}})
			token = v.GetSessionToken()
			return v, err
		}},
		{"OpenCounter", func(ctx context.Context) (proto.Message, error) {
			v, err := r.counter.OpenCounter(ctx, &pb.OpenCounterRequest{RequestId: id(), Counter: 1, Teller: "u", TakeOver: &pb.TakeOver{Who: "s", Why: "t is ill"}})
			token = v.GetSessionToken()
			return v, err
		}},
		{"IssueTicket", func(ctx context.Context) (proto.Message, error) {
			v, err := r.kiosk.IssueTicket(ctx, &pb.IssueTicketRequest{RequestId: id(), Category: "corporate", Reserve: true, Priority: pb.Priority_PRIORITY_ELDERLY, PersonKey: "p"})
			tickets["B001"] = v.GetTicket().GetId()
			return v, err
		}},
		{"CheckInTicket", func(ctx context.Context) (proto.Message, error) {
			return r.kiosk.CheckInTicket(ctx, &pb.CheckInTicketRequest{RequestId: id(), Ticket: tickets["B001"]})
		}},
		{"CallTicket", func(ctx context.Context) (proto.Message, error) {
			return r.counter.CallTicket(ctx, &pb.CallTicketRequest{RequestId: id(), SessionToken: token, Ticket: tickets["B001"]})
		}},
		{"TransferTicket", func(ctx context.Context) (proto.Message, error) {
			return r.counter.TransferTicket(ctx, &pb.TransferTicketRequest{RequestId: id(), SessionToken: token, Ticket: tickets["B001"],
				To: &pb.TransferTicketRequest_Category{Category: "personal"}, Where: pb.Where_WHERE_FRONT, Reason: "wrong line"})
		}},
		{"RequeueTicket", func(ctx context.Context) (proto.Message, error) {
			return r.counter.RequeueTicket(ctx, &pb.RequeueTicketRequest{RequestId: id(), SessionToken: token, Ticket: tickets["A002"], Where: pb.Where_WHERE_AFTER, After: 1})
		}},
		{"ResetCategory", func(ctx context.Context) (proto.Message, error) {
			return r.hall.ResetCategory(ctx, &pb.ResetCategoryRequest{RequestId: id(), Category: "personal", Who: "s", Why: "fire alarm"})
		}},
		{"AcquireResources", func(ctx context.Context) (proto.Message, error) {
			v, err := r.desk.AcquireResources(ctx, &pb.AcquireResourcesRequest{RequestId: id(), SessionToken: token, Names: []string{"seal"}, Ttl: durationpb.New(time.Minute)})
			fence = v.GetFence()
			return v, err
		}},
		{"RenewResources", func(ctx context.Context) (proto.Message, error) {
			return r.desk.RenewResources(ctx, &pb.RenewResourcesRequest{RequestId: id(), SessionToken: token, Fence: fence, Ttl: durationpb.New(time.Minute)})
		}},
		{"ListResources", func(ctx context.Context) (proto.Message, error) {
			return r.desk.ListResources(ctx, &pb.ListResourcesRequest{})
		}},
		{"ReleaseResources", func(ctx context.Context) (proto.Message, error) {
			return r.desk.ReleaseResources(ctx, &pb.ReleaseResourcesRequest{RequestId: id(), SessionToken: token, Fence: fence})
		}},
		{"PublishNotice", func(ctx context.Context) (proto.Message, error) {
			return r.hall.PublishNotice(ctx, &pb.PublishNoticeRequest{RequestId: id(), Who: "manager", Text: &pb.LocalizedText{En: "Hello"}})
		}},
		{"ListTickets", func(ctx context.Context) (proto.Message, error) {
			return r.hall.ListTickets(ctx, &pb.ListTicketsRequest{})
		}},
		{"GetBranch", func(ctx context.Context) (proto.Message, error) { return r.hall.GetBranch(ctx, &pb.GetBranchRequest{}) }},
		{"WatchBranch", func(ctx context.Context) (proto.Message, error) {
			return first(r.hall.WatchBranch(ctx, &pb.WatchBranchRequest{}))
		}},
		{"ExportJournal", func(ctx context.Context) (proto.Message, error) {
			return first(r.hall.ExportJournal(ctx, &pb.ExportJournalRequest{}))
		}},
	}
	worked := map[string]bool{}
	var last uint64
	for _, s := range steps {
		ctx, cancel := context.WithCancel(t.Context())
		v, err := s.do(ctx)
		cancel()
		if err != nil {
			t.Errorf("%s: %v", s.method, err)
			continue
		}
		worked[s.method] = true
		if sequence, has := sequenceOf(v); has && sequence < last {
			t.Errorf("%s: got sequence %d after %d", s.method, sequence, last)
		} else if has {
			last = sequence
		}
	}
	for _, d := range services() {
		for i := range d.Methods().Len() {
			if m := d.Methods().Get(i); !worked[string(m.Name())] {
				t.Errorf("%s has not worked here", m.FullName())
			}
		}
	}
}

// first is the first message of a stream.
func first[T any](stream grpc.ServerStreamingClient[T], err error) (proto.Message, error) {
	if err != nil {
		return nil, err
	}
	m, err := stream.Recv()
	if errors.Is(err, io.EOF) {
		return nil, errors.New("the stream is empty")
	}
	return any(m).(proto.Message), err
}

func sequenceOf(m proto.Message) (uint64, bool) {
	f := m.ProtoReflect().Descriptor().Fields().ByName("sequence")
	if f == nil {
		return 0, false
	}
	return m.ProtoReflect().Get(f).Uint(), true
}

func TestEveryReplyNamesItsSequence(t *testing.T) {
	t.Parallel()
	for _, d := range services() {
		for i := range d.Methods().Len() {
			m := d.Methods().Get(i)
			switch m.Name() {
			case "GetBranch", "ExportJournal", "IssueTickets": // in the branch; in every batch; in what was issued
				continue
			}
			if m.Output().Fields().ByName("sequence") == nil {
				t.Errorf("%s has no sequence", m.Output().FullName())
			}
		}
	}
}

func TestHealthAndReflectionAreServed(t *testing.T) {
	t.Parallel()
	r := start(t, Options{})
	for _, service := range []string{"", "callerd.v1.KioskService", "callerd.v1.CounterService", "callerd.v1.BranchService", "callerd.v1.ResourceService"} {
		v, err := healthpb.NewHealthClient(r.conn).Check(t.Context(), &healthpb.HealthCheckRequest{Service: service})
		if err != nil || v.Status != healthpb.HealthCheckResponse_SERVING {
			t.Errorf("%q: got %v, %v, want SERVING", service, v, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	s, err := reflectionpb.NewServerReflectionClient(r.conn).ServerReflectionInfo(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Send(&reflectionpb.ServerReflectionRequest{MessageRequest: &reflectionpb.ServerReflectionRequest_ListServices{}}); err != nil {
		t.Fatal(err)
	}
	v, err := s.Recv()
	if err != nil || len(v.GetListServicesResponse().GetService()) < 6 {
		t.Errorf("got %v, %v, want our four services, health and reflection", v, err)
	}
}
