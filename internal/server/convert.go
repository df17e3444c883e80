package server

import (
	"time"

	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"callerd/internal/branch"
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
		Calls: uint32(t.Calls), Version: t.Version, Priority: pb.Priority(t.Priority), BoundCounter: uint32(t.Bound),
		Overtaken: t.Overtaken, Deadline: timestamp(t.Deadline),
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
	if r < 0 || r > pb.CallRule_CALL_RULE_RATIO {
		f.fault("rule", "%d is not a rule to choose: OLDEST, PRIORITY or RATIO, or leave it out for the configured one", r)
	}
	return queue.Rule(r)
}

func (f *fields) priority(p pb.Priority) queue.PriorityReason {
	if _, ok := pb.Priority_name[int32(p)]; !ok {
		f.fault("priority", "%d is not a reason for the priority lane: ELDERLY, DISABLED, PREGNANT or MILITARY, or leave it out", p)
	}
	return queue.PriorityReason(p)
}

// place converts where in a line. The numbers of the two enums are the same, as a test shows.
func (f *fields) place(w pb.Where, after uint32) branch.Place {
	if _, ok := pb.Where_name[int32(w)]; !ok {
		f.fault("where", "%d is not a place: BACK, FRONT, AFTER or BY_ISSUE, or leave it out", w)
	}
	if after != 0 && w != pb.Where_WHERE_AFTER {
		f.fault("after", "goes with where AFTER only")
	}
	return branch.Place{Where: queue.Where(w), After: after}
}

func reasonProto(rule queue.Rule, waited time.Duration, overtaken uint32, passed []queue.PassedOver) *pb.CallReason {
	r := &pb.CallReason{Rule: pb.CallRule(rule), Waited: durationpb.New(waited), Overtaken: overtaken}
	for _, p := range passed {
		r.PassedOver = append(r.PassedOver, &pb.PassedOver{Category: string(p.Category), PriorityLane: p.Lane == queue.PriorityLane, Count: p.Count, First: p.First.String()})
	}
	return r
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
