package growth

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/google/uuid"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"callerd/bench/internal/peer"
	pb "callerd/proto/callerd/v1"
)

// client is the only caller of a daemon, and knows who waits in it.
type client struct {
	daemon  *peer.Daemon
	conn    *grpc.ClientConn
	kiosk   pb.KioskServiceClient
	teller  pb.CounterServiceClient
	token   string   // of the first counter
	waiting []string // ids
	random  *rand.Rand
}

// connect starts a daemon in which so many wait.
func connect(ctx context.Context, e peer.Env, waiting int) (c *client, err error) {
	e.Dir = filepath.Join(e.Dir, fmt.Sprint(waiting))
	if err := os.Mkdir(e.Dir, 0o755); err != nil {
		return nil, err
	}
	c = &client{random: rand.New(rand.NewPCG(1, 2))}
	if c.daemon, err = peer.StartDaemon(ctx, e); err != nil {
		return nil, err
	}
	c.conn, err = grpc.NewClient(c.daemon.GRPC, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err == nil {
		c.kiosk, c.teller = pb.NewKioskServiceClient(c.conn), pb.NewCounterServiceClient(c.conn)
		err = c.fill(ctx, waiting)
	}
	if err == nil {
		var o *pb.OpenCounterResponse
		if o, err = c.teller.OpenCounter(ctx, &pb.OpenCounterRequest{RequestId: uuid.NewString(), Counter: 1, Teller: "t1"}); err == nil {
			c.token = o.SessionToken
		}
	}
	if err != nil {
		return nil, errors.Join(err, c.close())
	}
	return c, nil
}

// close ends the daemon.
func (c *client) close() error {
	var err error
	if c.conn != nil {
		err = c.conn.Close()
	}
	return errors.Join(err, c.daemon.Process.Stop(syscall.SIGTERM))
}

// fill issues n tickets over one stream, as many at once as the daemon reads.
func (c *client) fill(ctx context.Context, n int) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s, err := c.kiosk.IssueTickets(ctx)
	if err != nil {
		return err
	}
	sent := make(chan error, 1) // the sender never waits to tell how it ended
	go func() {
		for range n {
			if err := s.Send(&pb.IssueTicketsRequest{Issue: c.request()}); err != nil {
				sent <- err
				return
			}
		}
		sent <- s.CloseSend()
	}()
	for range n {
		a, err := s.Recv()
		if err != nil {
			return fmt.Errorf("fill: %w", err)
		}
		if a.GetRefused() != nil {
			return fmt.Errorf("fill: %s", a.GetRefused().Message)
		}
		c.waiting = append(c.waiting, a.GetIssued().Ticket.Id)
	}
	return <-sent
}

func (c *client) request() *pb.IssueTicketRequest {
	return &pb.IssueTicketRequest{RequestId: uuid.NewString(), Category: string(line), Kiosk: "k1"}
}

// round does each operation once and reports what it took; as many wait after it as before.
func (c *client) round(ctx context.Context, took func(op string, d time.Duration)) error {
	began := time.Now()
	i, err := c.kiosk.IssueTicket(ctx, c.request())
	if err != nil {
		return fmt.Errorf("%s: %w", opIssue, err)
	}
	took(opIssue, time.Since(began))
	c.waiting = append(c.waiting, i.Ticket.Id)

	ahead := &pb.GetTicketRequest{Ticket: c.waiting[c.any()]}
	began = time.Now()
	if _, err := c.kiosk.GetTicket(ctx, ahead); err != nil {
		return fmt.Errorf("%s: %w", opAhead, err)
	}
	took(opAhead, time.Since(began))

	at, last := c.any(), len(c.waiting)-1
	cancel := &pb.CancelTicketRequest{RequestId: uuid.NewString(), Ticket: c.waiting[at]}
	began = time.Now()
	if _, err := c.kiosk.CancelTicket(ctx, cancel); err != nil {
		return fmt.Errorf("%s: %w", opCancel, err)
	}
	took(opCancel, time.Since(began))
	c.waiting[at] = c.waiting[last]
	c.waiting = c.waiting[:last]

	moved := c.waiting[c.any()]
	transfer := c.transfer(moved, string(other))
	began = time.Now()
	if _, err := c.teller.TransferTicket(ctx, transfer); err != nil {
		return fmt.Errorf("%s: %w", opTransfer, err)
	}
	took(opTransfer, time.Since(began))
	_, err = c.teller.TransferTicket(ctx, c.transfer(moved, string(line))) // back, untimed
	return err
}

func (c *client) transfer(ticket, to string) *pb.TransferTicketRequest {
	return &pb.TransferTicketRequest{RequestId: uuid.NewString(), SessionToken: c.token, Ticket: ticket, To: &pb.TransferTicketRequest_Category{Category: to}}
}

// any is the place of a ticket that waits, somewhere in the line.
func (c *client) any() int { return c.random.IntN(len(c.waiting)) }
