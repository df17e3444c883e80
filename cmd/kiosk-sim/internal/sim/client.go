// Package sim plays a hall's machines as real clients: kiosks and consoles over gRPC, displays over
// WebSocket. It acts and records; it judges nothing.
package sim

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	pb "callerd/proto/callerd/v1"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"callerd/cmd/kiosk-sim/internal/history"
)

// client speaks the API: it turns an op into a request and the reply into the op's outcome.
type client struct {
	kiosk   pb.KioskServiceClient
	counter pb.CounterServiceClient
	branch  pb.BranchServiceClient
	desk    pb.ResourceServiceClient
	rec     *history.Recorder
	timeout time.Duration
}

func newClient(conn grpc.ClientConnInterface, rec *history.Recorder, timeout time.Duration) *client {
	return &client{
		kiosk: pb.NewKioskServiceClient(conn), counter: pb.NewCounterServiceClient(conn), branch: pb.NewBranchServiceClient(conn),
		desk: pb.NewResourceServiceClient(conn),
		rec:  rec, timeout: timeout,
	}
}

// attempt sends op once and records it before and after. retryAfter is the server's wish, 0 without one.
func (c *client) attempt(ctx context.Context, op *history.Op, s *session) (retryAfter time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	op.Start = c.rec.Now()
	if op.Intended == 0 {
		op.Intended = op.Start
	}
	op.Outcome, op.End = history.Unknown, history.Never
	op.Code, op.Reason, op.Message = "", "", ""
	c.rec.Sent(op)
	err := c.send(ctx, op, s)
	op.End = c.rec.Now()
	if err == nil {
		op.Outcome = history.OK
	} else {
		retryAfter = refuse(op, err)
	}
	c.rec.Done(op)
	return retryAfter
}

// refuse notes an error: a refusal is an answer, everything else leaves the outcome unknown.
func refuse(op *history.Op, err error) (retryAfter time.Duration) {
	st := status.Convert(err)
	op.Code, op.Message = st.Code().String(), st.Message()
	for _, d := range st.Details() {
		switch d := d.(type) {
		case *errdetails.ErrorInfo:
			op.Reason = d.GetReason()
			if n, err := strconv.ParseUint(d.GetMetadata()["sequence"], 10, 64); err == nil {
				op.Sequence = n
			}
		case *errdetails.RetryInfo:
			retryAfter = d.GetRetryDelay().AsDuration()
		}
	}
	switch st.Code() {
	case codes.NotFound, codes.FailedPrecondition, codes.Aborted, codes.ResourceExhausted, codes.InvalidArgument,
		codes.PermissionDenied, codes.Unauthenticated, codes.Unimplemented:
		op.Outcome = history.Refused
	}
	return retryAfter
}

var errMethod = errors.New("no such method")

func (c *client) send(ctx context.Context, op *history.Op, s *session) error {
	if op.OnResources() {
		return c.sendResources(ctx, op, s)
	}
	switch op.Method {
	case "CallTicket", "RequeueTicket", "TransferTicket", "CheckInTicket":
		return c.sendMove(ctx, op, s)
	case "ListCategories", "GetBranch", "ListTickets", "GetTicket":
		return c.read(ctx, op)
	case "IssueTicket":
		r, err := c.kiosk.IssueTicket(ctx, &pb.IssueTicketRequest{RequestId: op.RequestID, Category: op.Category, Kiosk: op.Client,
			Priority: priorities[op.Priority], PersonKey: op.Person, Reserve: op.Reserve})
		op.Got, op.Ahead = ticket(r.GetTicket()), r.GetAhead()
		return answer(op, r, err)
	case "CancelTicket":
		r, err := c.kiosk.CancelTicket(ctx, &pb.CancelTicketRequest{RequestId: op.RequestID, Ticket: op.Ticket, Reason: "the customer left"})
		op.Got = ticket(r.GetTicket())
		return answer(op, r, err)
	case "OpenCounter":
		return c.open(ctx, op, s)
	case "RenewSession":
		r, err := c.counter.RenewSession(ctx, &pb.RenewSessionRequest{SessionToken: s.token})
		op.Sequence = r.GetSequence()
		return err
	case "PauseCounter":
		r, err := c.counter.PauseCounter(ctx, &pb.PauseCounterRequest{RequestId: op.RequestID, SessionToken: s.token, Reason: "a short break"})
		return answer(op, r, err)
	case "ResumeCounter":
		r, err := c.counter.ResumeCounter(ctx, &pb.ResumeCounterRequest{RequestId: op.RequestID, SessionToken: s.token})
		return answer(op, r, err)
	case "CloseCounter":
		r, err := c.counter.CloseCounter(ctx, &pb.CloseCounterRequest{RequestId: op.RequestID, SessionToken: s.token,
			Current: map[string]pb.CloseCurrent{"requeue": pb.CloseCurrent_CLOSE_CURRENT_REQUEUE, "hold": pb.CloseCurrent_CLOSE_CURRENT_HOLD}[op.Current]})
		return answer(op, r, err)
	case "CallNext":
		r, err := c.counter.CallNext(ctx, &pb.CallNextRequest{RequestId: op.RequestID, SessionToken: s.token, CompleteTicket: op.Complete})
		called(op, r)
		return answer(op, r, err)
	}
	return c.sendTicket(ctx, op, s)
}

// sendTicket sends what a console says about one ticket.
func (c *client) sendTicket(ctx context.Context, op *history.Op, s *session) error {
	switch op.Method {
	case "RecallTicket":
		r, err := c.counter.RecallTicket(ctx, &pb.RecallTicketRequest{RequestId: op.RequestID, SessionToken: s.token, Ticket: op.Ticket})
		op.Got = ticket(r.GetTicket())
		return answer(op, r, err)
	case "StartTicket":
		r, err := c.counter.StartTicket(ctx, &pb.StartTicketRequest{RequestId: op.RequestID, SessionToken: s.token, Ticket: op.Ticket})
		op.Got = ticket(r.GetTicket())
		return answer(op, r, err)
	case "CompleteTicket":
		r, err := c.counter.CompleteTicket(ctx, &pb.CompleteTicketRequest{RequestId: op.RequestID, SessionToken: s.token, Ticket: op.Ticket})
		op.Got = ticket(r.GetTicket())
		return answer(op, r, err)
	case "MarkNoShow":
		r, err := c.counter.MarkNoShow(ctx, &pb.MarkNoShowRequest{RequestId: op.RequestID, SessionToken: s.token, Ticket: op.Ticket})
		op.Got = ticket(r.GetTicket())
		return answer(op, r, err)
	case "HoldTicket":
		r, err := c.counter.HoldTicket(ctx, &pb.HoldTicketRequest{RequestId: op.RequestID, SessionToken: s.token, Ticket: op.Ticket})
		op.Got = ticket(r.GetTicket())
		return answer(op, r, err)
	case "ResumeTicket":
		r, err := c.counter.ResumeTicket(ctx, &pb.ResumeTicketRequest{RequestId: op.RequestID, SessionToken: s.token, Ticket: op.Ticket})
		op.Got = ticket(r.GetTicket())
		return answer(op, r, err)
	}
	return fmt.Errorf("%w: %s", errMethod, op.Method)
}

func (c *client) open(ctx context.Context, op *history.Op, s *session) error {
	q := &pb.OpenCounterRequest{
		RequestId: op.RequestID, Counter: op.Counter, Teller: op.Client, Categories: op.Categories, Rule: ruleOf(op.Rule), Weights: op.Weights,
	}
	if op.TakeOver != "" {
		q.TakeOver = &pb.TakeOver{Who: "supervisor", Why: op.TakeOver}
	}
	r, err := c.counter.OpenCounter(ctx, q)
	op.Tickets = nil
	if err == nil {
		*s = session{token: r.GetSessionToken(), epoch: r.GetEpoch(), lease: r.GetLease().AsDuration(), counter: r.GetCounter(), held: r.GetHeld()}
		op.Epoch, op.LeaseMS = r.GetEpoch(), r.GetLease().AsDuration().Milliseconds()
		if n := r.GetCounter(); n != nil {
			op.Hall = &history.Hall{Counters: []history.Counter{counterOf(n)}}
		}
		for _, t := range r.GetHeld() {
			op.Tickets = append(op.Tickets, *ticket(t))
		}
	}
	return answer(op, r, err)
}

func answer(op *history.Op, r interface {
	GetReplayed() bool
	GetSequence() uint64
}, err error) error {
	if err == nil {
		op.Replayed, op.Sequence = r.GetReplayed(), r.GetSequence()
	}
	return err
}
