package peer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/google/uuid"

	pb "callerd/proto/callerd/v1"
)

// callerdStream is the same daemon for a gateway: the callers of a connection share one IssueTickets stream.
func callerdStream() System {
	return System{
		Name:      "callerd, IssueTickets",
		About:     "the same, one IssueTickets stream a connection, shared by its callers as a gateway shares it among its kiosks",
		IssueOnly: true,
		Start: func(ctx context.Context, e Env) (Instance, error) {
			in, _, err := StartCallerd(ctx, e)
			if err != nil {
				return nil, err
			}
			g := &gateway{remote: in.(*remote)}
			for _, k := range g.kiosks {
				s, err := openStream(k)
				if err != nil {
					return nil, errors.Join(err, g.Stop())
				}
				g.streams = append(g.streams, s)
			}
			return g, nil
		},
	}
}

// gateway is a remote whose numbers come over streams.
type gateway struct {
	*remote
	streams []*issueStream
}

// Issue implements Instance.
func (g *gateway) Issue(ctx context.Context, caller int) (uint64, error) {
	return g.streams[caller%len(g.streams)].issue(ctx)
}

// Stop implements Instance.
func (g *gateway) Stop() error {
	var errs []error
	for _, s := range g.streams {
		errs = append(errs, s.close())
	}
	return errors.Join(append(errs, g.remote.Stop())...)
}

// issueStream is one stream and those who wait for its answers, which come in the order of the requests.
type issueStream struct {
	stream interface {
		Send(*pb.IssueTicketsRequest) error
		Recv() (*pb.IssueTicketsResponse, error)
		CloseSend() error
	}
	cancel context.CancelFunc
	ended  chan struct{}

	mu      sync.Mutex // held across Send: requests and those who wait for them are in one order
	waiting []chan *pb.IssueTicketsResponse
	err     error
}

func openStream(k pb.KioskServiceClient) (*issueStream, error) {
	// Of its own: it lives as long as the system, not as the call that opens it.
	ctx, cancel := context.WithCancel(context.Background())
	s, err := k.IssueTickets(ctx)
	if err != nil {
		cancel()
		return nil, err
	}
	i := &issueStream{stream: s, cancel: cancel, ended: make(chan struct{})}
	go i.receive()
	return i, nil
}

func (s *issueStream) receive() {
	defer close(s.ended)
	for {
		a, err := s.stream.Recv()
		s.mu.Lock()
		if err != nil {
			s.err = err
			for _, w := range s.waiting {
				close(w)
			}
			s.mu.Unlock()
			return
		}
		w := s.waiting[0]
		s.waiting = s.waiting[1:]
		s.mu.Unlock()
		w <- a // it has room
	}
}

func (s *issueStream) issue(ctx context.Context) (uint64, error) {
	id := uuid.NewString()
	answer := make(chan *pb.IssueTicketsResponse, 1)
	s.mu.Lock()
	err := s.err
	if err == nil {
		if err = s.stream.Send(&pb.IssueTicketsRequest{Issue: &pb.IssueTicketRequest{RequestId: id, Category: category, Kiosk: "k1"}}); err == nil {
			s.waiting = append(s.waiting, answer)
		}
	}
	s.mu.Unlock()
	if err != nil {
		return 0, err
	}
	select {
	case a := <-answer:
		switch {
		case a == nil:
			return 0, errors.New("the stream has ended")
		case a.RequestId != id:
			return 0, fmt.Errorf("got the answer to %s for %s", a.RequestId, id)
		case a.GetRefused() != nil:
			return 0, errors.New(a.GetRefused().Message)
		}
		return numberOf(a.GetIssued().Ticket.Id)
	case <-ctx.Done():
		return 0, context.Cause(ctx)
	}
}

func (s *issueStream) close() error {
	defer s.cancel()
	err := s.stream.CloseSend()
	<-s.ended
	if s.err != nil && !errors.Is(s.err, io.EOF) {
		err = errors.Join(err, s.err)
	}
	return err
}
