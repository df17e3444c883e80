package server

import (
	"time"

	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"callerd/internal/queue"
	pb "callerd/proto/callerd/v1"
)

func ticketProto(t *queue.Ticket) *pb.Ticket {
	if t == nil {
		return nil
	}
	return &pb.Ticket{
		Id: t.ID.String(), Number: t.Number, Category: string(t.Category), OriginCategory: string(t.ID.Category),
		State: pb.TicketState(t.State), Counter: uint32(t.Counter),
		IssueTime: timestamp(t.Issued), CallTime: timestamp(t.Called), StartTime: timestamp(t.Started), EndTime: timestamp(t.Ended),
		Calls: uint32(t.Calls), Version: t.Version,
	}
}

func ticketProtos(ts []queue.Ticket) (out []*pb.Ticket) {
	for i := range ts {
		out = append(out, ticketProto(&ts[i]))
	}
	return out
}

// timestamp converts Unix nanoseconds; 0 is no time.
func timestamp(ns int64) *timestamppb.Timestamp {
	if ns == 0 {
		return nil
	}
	return timestamppb.New(time.Unix(0, ns))
}

func duration(d *time.Duration) *durationpb.Duration {
	if d == nil {
		return nil
	}
	return durationpb.New(*d)
}

// rule converts the public name of a rule; the numbers of the two are the same, as a test shows.
func (f *fields) rule(r pb.CallRule) queue.Rule {
	if _, ok := pb.CallRule_name[int32(r)]; !ok {
		f.fault("rule", "%d is not a rule: OLDEST or PRIORITY, or leave it out for the configured one", r)
	}
	return queue.Rule(r)
}

func (f *fields) states(ss []pb.TicketState) (out []queue.State) {
	if len(ss) > len(pb.TicketState_name) {
		f.fault("states", "are %d, there are fewer; name each once", len(ss))
		return nil
	}
	for _, s := range ss {
		if _, ok := pb.TicketState_name[int32(s)]; !ok || s == 0 {
			f.fault("states", "%d is not a state of a ticket", s)
		}
		out = append(out, queue.State(s))
	}
	return out
}
