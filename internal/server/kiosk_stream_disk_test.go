package server

import (
	"context"
	"io"
	"testing"
	"testing/synctest"

	"google.golang.org/grpc"

	"callerd/internal/branch"
	"callerd/internal/queue"
	pb "callerd/proto/callerd/v1"
)

// heldJournal appends a batch for each that it is let.
type heldJournal struct {
	memoryJournal
	let chan struct{} // nil: all
}

func (j *heldJournal) Append(batch []*queue.Record) error {
	if j.let != nil {
		<-j.let
	}
	return j.memoryJournal.Append(batch)
}

// sentStream is the server's end of a stream on which n requests have come.
type sentStream struct {
	grpc.ServerStream
	ctx    context.Context
	n, got int
	leaves func(*pb.IssueTicketsResponse)
}

func (s *sentStream) Context() context.Context { return s.ctx }

func (s *sentStream) Recv() (*pb.IssueTicketsRequest, error) {
	if s.got == s.n {
		return nil, io.EOF
	}
	s.got++
	return &pb.IssueTicketsRequest{Issue: &pb.IssueTicketRequest{RequestId: requestID(s.got), Category: "personal"}}, nil
}

func (s *sentStream) Send(a *pb.IssueTicketsResponse) error {
	s.leaves(a)
	return nil
}

// It looks where an answer leaves: until a client has it, the disk may have it too.
func TestAnAnswerOfAStreamLeavesBehindTheDisk(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, j := unserved(t, Options{}), &heldJournal{}
		b, err := branch.Open(t.Context(), branch.Options{Journal: j, Publish: s.Publish, Secret: make([]byte, 32), Config: testConfig()})
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait() // the commit goroutine waits for records
		s.branch, j.let = b, make(chan struct{})
		left, early := 0, 0
		stream := &sentStream{ctx: t.Context(), n: 3 * mostUnanswered, leaves: func(a *pb.IssueTicketsResponse) {
			if left++; a.GetIssued().GetSequence() > b.Sequence() {
				early++
			}
		}}
		ended := make(chan error, 1)
		go func() { ended <- kioskService{Server: s}.IssueTickets(stream) }()
		synctest.Wait() // all that may leave has left
		if left != 0 || stream.got < mostUnanswered || stream.got > mostUnanswered+2 {
			t.Errorf("got %d answers and %d requests read with nothing on disk, want no answer and about %d", left, stream.got, mostUnanswered)
		}
		for before := -1; left < stream.n && left > before; {
			before = left
			j.let <- struct{}{} // a batch
			synctest.Wait()
		}
		close(j.let)
		if err := <-ended; err != nil || left != stream.n || early > 0 {
			t.Errorf("got %v and %d of %d answers, %d of them before the disk had what they tell", err, left, stream.n, early)
		}
		if err := b.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}
