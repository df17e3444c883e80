package server

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	spb "google.golang.org/genproto/googleapis/rpc/status"

	pb "callerd/proto/callerd/v1"
)

type issuing = grpc.BidiStreamingClient[pb.IssueTicketsRequest, pb.IssueTicketsResponse]

func (r *rig) issuing(t *testing.T) issuing {
	t.Helper()
	s, err := r.kiosk.IssueTickets(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func send(t *testing.T, s issuing, q *pb.IssueTicketRequest) {
	t.Helper()
	if err := s.Send(&pb.IssueTicketsRequest{Issue: q}); err != nil {
		t.Fatal(err)
	}
}

// answer is the next of a stream, as IssueTicket would have returned it.
func answer(t *testing.T, s issuing) (id string, v *pb.IssueTicketResponse, err error) {
	t.Helper()
	a, err := s.Recv()
	if err != nil {
		t.Fatal(err)
	}
	if f := a.GetRefused(); f != nil {
		// As the proto file promises: the same bytes are a google.rpc.Status.
		raw, _ := proto.Marshal(f)
		st := &spb.Status{}
		if err := proto.Unmarshal(raw, st); err != nil {
			t.Fatal(err)
		}
		return a.RequestId, nil, status.ErrorProto(st)
	}
	return a.RequestId, a.GetIssued(), nil
}

func TestAStreamAnswersEachRequestAsIssueTicketWould(t *testing.T) {
	t.Parallel()
	stream, unary := start(t, Options{}), start(t, Options{})
	s := stream.issuing(t)
	requests := []*pb.IssueTicketRequest{
		{RequestId: requestID(1), Category: "personal", Kiosk: "k1"},
		{RequestId: requestID(2), Category: "corporate", Priority: pb.Priority_PRIORITY_ELDERLY},
		{RequestId: "no uuid", Category: "personal", Kiosk: string(make([]byte, 65))},
		{RequestId: requestID(3), Category: "loans"},
		{RequestId: requestID(1), Category: "personal", Kiosk: "k1"},
		{RequestId: requestID(1), Category: "corporate"},
		nil,
		{RequestId: requestID(4), Category: "personal", Reserve: true},
		{RequestId: requestID(5), Category: "personal"},
	}
	for _, q := range requests {
		send(t, s, q)
	}
	if err := s.CloseSend(); err != nil {
		t.Fatal(err)
	}
	for i, q := range requests {
		id, got, err := answer(t, s)
		want, wantErr := unary.kiosk.IssueTicket(t.Context(), q)
		if id != q.GetRequestId() {
			t.Fatalf("request %d: got the answer to %q", i, id)
		}
		if !proto.Equal(status.Convert(err).Proto(), status.Convert(wantErr).Proto()) {
			t.Errorf("request %d: got %v, want %v", i, err, wantErr)
		}
		for _, v := range []*pb.IssueTicketResponse{got, want} { // two branches, two clocks
			if v != nil {
				v.Ticket.IssueTime, v.Ticket.Deadline, v.Ticket.Version, v.Sequence = nil, nil, 0, 0
			}
		}
		if !proto.Equal(got, want) {
			t.Errorf("request %d: got %v, want %v", i, got, want)
		}
	}
	if _, err := s.Recv(); !errors.Is(err, io.EOF) {
		t.Errorf("got %v at the end, want EOF", err)
	}
}

func TestAStreamAnswersNothingThatIsNotOnDisk(t *testing.T) {
	t.Parallel()
	r := start(t, Options{})
	s := r.issuing(t)
	r.gate.close()
	const n = 3 * mostUnanswered
	go func() {
		for i := range n {
			if err := s.Send(&pb.IssueTicketsRequest{Issue: &pb.IssueTicketRequest{RequestId: requestID(i + 1), Category: "personal"}}); err != nil {
				t.Error(err)
			}
		}
		if err := s.CloseSend(); err != nil {
			t.Error(err)
		}
	}()
	r.gate.await()
	durable := r.b.Sequence()
	r.gate.open()
	for i := range n {
		id, v, err := answer(t, s)
		if err != nil || id != requestID(i+1) || v.Ticket.Number != fmt.Sprintf("A%03d", i+1) {
			t.Fatalf("got %v, %v for %s, want A%03d", v, err, id, i+1)
		}
		if v.Sequence <= durable {
			t.Fatalf("got an answer at sequence %d while the disk had %d", v.Sequence, durable)
		}
		if on := r.b.Sequence(); v.Sequence > on {
			t.Fatalf("got an answer at sequence %d while the disk has %d", v.Sequence, on)
		}
	}
}

func TestARefusalOfTheDiskIsAnAnswerOfTheStream(t *testing.T) {
	t.Parallel()
	r := start(t, Options{CallTimeout: 50 * time.Millisecond})
	s := r.issuing(t)
	r.gate.close()
	send(t, s, &pb.IssueTicketRequest{RequestId: requestID(1), Category: "personal"})
	if _, _, err := answer(t, s); refused(err).code != codes.DeadlineExceeded {
		t.Errorf("got %v, want DeadlineExceeded as for a call", err)
	}
	r.gate.open()
	send(t, s, &pb.IssueTicketRequest{RequestId: requestID(1), Category: "personal"})
	if _, v, err := answer(t, s); err != nil || v.Ticket.Number != "A001" || !v.Replayed {
		t.Errorf("got %v, %v, want A001 again on the same stream", v, err)
	}
	r.gate.fail(errors.New("the disk is gone"))
	send(t, s, &pb.IssueTicketRequest{RequestId: requestID(2), Category: "personal"})
	if _, _, err := answer(t, s); refused(err).info.Reason != "STORE_FAILED" {
		t.Errorf("got %v, want STORE_FAILED", err)
	}
}

func TestAStoppingServerAnswersWhatItDecidedAndEndsTheStream(t *testing.T) {
	t.Parallel()
	r := start(t, Options{StopTimeout: time.Hour})
	s, w := r.issuing(t), r.watch(t.Context(), t, "", 0)
	w.must(t)
	r.gate.close()
	send(t, s, &pb.IssueTicketRequest{RequestId: requestID(1), Category: "personal"})
	r.gate.await()
	stopped := make(chan struct{})
	go func() { defer close(stopped); r.stop() }()
	if _, err := w.next(t); refused(err).info.Reason != "STOPPING" {
		t.Errorf("got %v, want STOPPING", err)
	}
	r.gate.open()
	if _, v, err := answer(t, s); err != nil || v.Ticket.Number != "A001" {
		t.Errorf("got %v, %v, want what was decided", v, err)
	}
	if _, err := s.Recv(); refused(err).info.Reason != "STOPPING" {
		t.Errorf("got %v, want the stream to end with STOPPING", err)
	}
	<-stopped // although the client never ended its stream
}

// A request's id comes back with its refusal, and a stream that is not read keeps a thousand of them: so a long one is cut. One such stream
// once held 64 MiB.
func TestALongRequestIDIsNotKept(t *testing.T) {
	t.Parallel()
	s := start(t, Options{}).issuing(t)
	long := strings.Repeat("号", 20_000)
	send(t, s, &pb.IssueTicketRequest{RequestId: long, Category: "personal"})
	id, _, err := answer(t, s)
	if status.Code(err) != codes.InvalidArgument || !strings.HasPrefix(long, id) || len(id) == 0 || len(id) > mostEcho {
		t.Errorf("got %v and an id of %d bytes, want InvalidArgument and the beginning of what was sent", status.Code(err), len(id))
	}
}
