package sim

import (
	"context"
	"time"

	pb "callerd/proto/callerd/v1"

	"google.golang.org/protobuf/types/known/durationpb"

	"callerd/cmd/kiosk-sim/internal/history"
)

// sendMove sends what moves a ticket out of turn, or in from afar.
func (c *client) sendMove(ctx context.Context, op *history.Op, s *session) error {
	switch op.Method {
	case "CallTicket":
		r, err := c.counter.CallTicket(ctx, &pb.CallTicketRequest{RequestId: op.RequestID, SessionToken: s.token, Ticket: op.Ticket, CompleteTicket: op.Complete})
		called(op, r)
		return answer(op, r, err)
	case "RequeueTicket":
		r, err := c.counter.RequeueTicket(ctx, &pb.RequeueTicketRequest{RequestId: op.RequestID, SessionToken: s.token, Ticket: op.Ticket, Where: where(op.Where), After: op.After})
		op.Got, op.Ahead = ticket(r.GetTicket()), r.GetAhead()
		return answer(op, r, err)
	case "TransferTicket":
		q := &pb.TransferTicketRequest{RequestId: op.RequestID, SessionToken: s.token, Ticket: op.Ticket, Where: where(op.Where), After: op.After, Reason: "somebody else does this"}
		if op.To != 0 {
			q.To = &pb.TransferTicketRequest_Counter{Counter: op.To}
		} else {
			q.To = &pb.TransferTicketRequest_Category{Category: op.Into}
		}
		r, err := c.counter.TransferTicket(ctx, q)
		op.Got, op.Ahead = ticket(r.GetTicket()), r.GetAhead()
		return answer(op, r, err)
	}
	r, err := c.kiosk.CheckInTicket(ctx, &pb.CheckInTicketRequest{RequestId: op.RequestID, Ticket: op.Ticket})
	op.Got, op.Ahead = ticket(r.GetTicket()), r.GetAhead()
	return answer(op, r, err)
}

// sendResources sends what is about shared resources.
func (c *client) sendResources(ctx context.Context, op *history.Op, s *session) error {
	ttl := durationpb.New(time.Duration(op.TTL))
	switch op.Method {
	case "AcquireResources":
		r, err := c.desk.AcquireResources(ctx, &pb.AcquireResourcesRequest{RequestId: op.RequestID, SessionToken: s.token, Names: op.Names, Ttl: ttl, Wait: durationpb.New(time.Duration(op.Wait))})
		if err == nil {
			op.Granted, op.Until = r.GetFence(), r.GetUntil().AsTime().UnixNano()
		}
		return answer(op, r, err)
	case "RenewResources":
		r, err := c.desk.RenewResources(ctx, &pb.RenewResourcesRequest{RequestId: op.RequestID, SessionToken: s.token, Fence: op.Fence, Ttl: ttl})
		if err == nil {
			op.Until = r.GetUntil().AsTime().UnixNano()
		}
		return answer(op, r, err)
	case "ReleaseResources":
		r, err := c.desk.ReleaseResources(ctx, &pb.ReleaseResourcesRequest{RequestId: op.RequestID, SessionToken: s.token, Fence: op.Fence})
		return answer(op, r, err)
	}
	r, err := c.desk.ListResources(ctx, &pb.ListResourcesRequest{})
	op.Sequence, op.Resources = r.GetSequence(), nil
	for _, e := range r.GetResources() {
		one := history.Resource{Name: e.GetName(), Counter: e.GetCounter(), Fence: e.GetFence(), Waiting: e.GetWaiting()}
		if e.GetUntil() != nil {
			one.Until = e.GetUntil().AsTime().UnixNano()
		}
		op.Resources = append(op.Resources, one)
	}
	return err
}

// callReply is what CallNext and CallTicket answer.
type callReply interface {
	GetTicket() *pb.Ticket
	GetCompleted() *pb.Ticket
	GetReason() *pb.CallReason
	GetWaiting() uint32
	GetHeld() uint32
	GetReserved() uint32
}

func called(op *history.Op, r callReply) {
	op.Got, op.Completed, op.Waiting, op.Held, op.Reserved = ticket(r.GetTicket()), ticket(r.GetCompleted()), r.GetWaiting(), r.GetHeld(), r.GetReserved()
	op.Why = nil
	if op.Got == nil {
		return
	}
	why := r.GetReason()
	op.Why = &history.Reason{Rule: word(why.GetRule(), "CALL_RULE_"), Waited: int64(why.GetWaited().AsDuration()), Overtaken: why.GetOvertaken()}
	for _, p := range why.GetPassedOver() {
		op.Why.PassedOver = append(op.Why.PassedOver, history.PassedOver{Category: p.GetCategory(), Priority: p.GetPriorityLane(), Count: p.GetCount(), First: p.GetFirst()})
	}
}

func where(w string) pb.Where {
	return map[string]pb.Where{history.Back: pb.Where_WHERE_BACK, history.Front: pb.Where_WHERE_FRONT, history.After: pb.Where_WHERE_AFTER, history.ByIssue: pb.Where_WHERE_BY_ISSUE}[w]
}

func ruleOf(word string) pb.CallRule {
	switch word {
	case "priority":
		return pb.CallRule_CALL_RULE_PRIORITY
	case "ratio":
		return pb.CallRule_CALL_RULE_RATIO
	}
	return pb.CallRule_CALL_RULE_OLDEST
}

// priorities are the reasons for the priority lane.
var priorities = map[string]pb.Priority{
	"elderly": pb.Priority_PRIORITY_ELDERLY, "disabled": pb.Priority_PRIORITY_DISABLED,
	"pregnant": pb.Priority_PRIORITY_PREGNANT, "military": pb.Priority_PRIORITY_MILITARY,
}
