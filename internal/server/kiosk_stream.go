package server

import (
	"context"
	"errors"
	"io"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/status"

	"callerd/internal/branch"
	pb "callerd/proto/callerd/v1"
)

// mostUnanswered is how many requests of one IssueTickets stream may be unanswered; it reads no more until one is.
const mostUnanswered = 1024

// mostEcho is how many bytes of a request's id are kept for its answer. A UUID has 36; a refused id may fill a message, and a stream
// that is not read would keep a thousand of them.
const mostEcho = 64

type issueStream = grpc.BidiStreamingServer[pb.IssueTicketsRequest, pb.IssueTicketsResponse]

// unanswered is a request of a stream on its way to the disk.
type unanswered struct {
	id     string          // as it was sent, or its beginning
	ctx    context.Context // with the deadline of a call
	cancel context.CancelFunc
	ticket *branch.DecidedTicket
	err    error // nothing was decided
}

// IssueTickets decides in one goroutine, in the order of the requests, and answers in another, in the same order: a request need
// not wait for the disk before the next one is decided, so that one sync serves many.
//
// When the server stops, what was decided is answered, and the stream ends with STOPPING.
func (s kioskService) IssueTickets(stream issueStream) error {
	decided := make(chan unanswered, mostUnanswered) // its size is the bound
	var broken error                                 // before decided is closed
	go func() {                                      // it ends with the stream: Recv fails once this method has returned
		defer close(decided)
		for {
			r, err := stream.Recv()
			if errors.Is(err, io.EOF) {
				return
			}
			if err == nil {
				err = context.Cause(stream.Context())
			}
			if err != nil {
				broken = err
				return
			}
			select {
			case decided <- s.decide(stream.Context(), r.GetIssue()):
			case <-stream.Context().Done(): // nobody answers any more
			}
		}
	}()
	for {
		select {
		case u, more := <-decided:
			if !more {
				return broken
			}
			if err := stream.Send(s.answer(u)); err != nil {
				return err
			}
		case <-stream.Context().Done():
			return s.answerRest(stream, decided)
		}
	}
}

// answerRest answers what is decided already when a stream ends early.
func (s kioskService) answerRest(stream issueStream, decided <-chan unanswered) error {
	cause := context.Cause(stream.Context())
	for errors.Is(cause, branch.ErrStopping) {
		select {
		case u, more := <-decided:
			if !more {
				return cause
			}
			if err := stream.Send(s.answer(u)); err != nil {
				return err
			}
		default:
			return cause
		}
	}
	return cause
}

// decide is the part of IssueTicket that may be repeated for the next request at once.
func (s kioskService) decide(ctx context.Context, r *pb.IssueTicketRequest) unanswered {
	u := unanswered{id: r.GetRequestId()}
	if len(u.id) > mostEcho { // it is refused below
		u.id = strings.Clone(strings.ToValidUTF8(u.id[:mostEcho], ""))
	}
	q, err := issueRequest(r)
	if err != nil {
		u.err = err
		return u
	}
	// Without the stream's end: the deadline bounds it, and a stopping server answers what it decided.
	u.ctx, u.cancel = context.WithTimeout(context.WithoutCancel(ctx), s.opts.CallTimeout)
	u.ticket, u.err = s.branch.DecideTicket(u.ctx, q)
	return u
}

// answer waits until the disk has what it tells.
func (s kioskService) answer(u unanswered) *pb.IssueTicketsResponse {
	if u.cancel != nil {
		defer u.cancel()
	}
	err := u.err
	if err == nil {
		var t branch.TicketReply
		if t, err = u.ticket.Wait(u.ctx); err == nil {
			return &pb.IssueTicketsResponse{RequestId: u.id, Outcome: &pb.IssueTicketsResponse_Issued{Issued: issueResponse(&t)}}
		}
	}
	st := status.Convert(s.convert(err, pb.KioskService_IssueTickets_FullMethodName)).Proto()
	return &pb.IssueTicketsResponse{RequestId: u.id, Outcome: &pb.IssueTicketsResponse_Refused{
		Refused: &pb.Refusal{Code: st.Code, Message: st.Message, Details: st.Details}}}
}
