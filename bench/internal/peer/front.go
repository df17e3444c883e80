package peer

import (
	"context"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"syscall"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/timestamppb"

	"callerd/bench/internal/proc"
	"callerd/internal/server"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	pb "callerd/proto/callerd/v1"
)

// store is what a front end keeps its tickets in. It is durable when a method returns.
type store interface {
	Issue(ctx context.Context) (number uint64, err error)
	// CallNext completes a ticket, if it is not 0, and takes the oldest that waits, 0 if none does.
	CallNext(ctx context.Context, counter uint32, complete uint64) (number uint64, err error)
	Close() error
}

// FrontEnds are the stores that [ServeFront] can put behind gRPC, by the hidden command's argument. Each is opened with an address.
func FrontEnds() map[string]func(ctx context.Context, addr string) (store, error) {
	return map[string]func(context.Context, string) (store, error){
		"noop":         func(context.Context, string) (store, error) { return fixed{}, nil },
		"two-syncs":    openTwoSyncs,
		"postgres":     openPostgres,
		"redis":        openRedis,
		"redis-pooled": openRedisPooled,
		"etcd":         openEtcd,
	}
}

// ServeFront serves a store behind the same gRPC server that callerd has, until ctx ends. It says on out where.
func ServeFront(ctx context.Context, out io.Writer, name, addr string) error {
	open, ok := FrontEnds()[name]
	if !ok {
		return fmt.Errorf("no front end %q", name)
	}
	s, err := open(ctx, addr)
	if err != nil {
		return err
	}
	defer s.Close()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	g := server.NewGRPC(server.Options{})
	day := time.Now().Format(time.DateOnly)
	pb.RegisterKioskServiceServer(g, &kiosk{store: s, day: day})
	pb.RegisterCounterServiceServer(g, &teller{store: s, day: day})
	stop := context.AfterFunc(ctx, g.Stop)
	defer stop()
	fmt.Fprintln(out, readyMark, l.Addr())
	return g.Serve(l)
}

const readyMark = "front end on"

// kiosk is a KioskService that issues.
type kiosk struct {
	pb.UnimplementedKioskServiceServer
	store store
	day   string
}

func (k *kiosk) IssueTicket(ctx context.Context, _ *pb.IssueTicketRequest) (*pb.IssueTicketResponse, error) {
	n, err := k.store.Issue(ctx)
	if err != nil {
		return nil, said(err)
	}
	return &pb.IssueTicketResponse{Ticket: ticket(k.day, n, pb.TicketState_TICKET_STATE_WAITING), Ahead: 7, Sequence: n}, nil
}

// said keeps the words of an error, which the daemon's interceptor would leave in a log that nobody has.
func said(err error) error { return status.Error(codes.Unknown, err.Error()) }

// teller is a CounterService that opens counters and calls.
type teller struct {
	pb.UnimplementedCounterServiceServer
	store store
	day   string
}

// OpenCounter gives the counter's number as the token: a session is not what is compared.
func (t *teller) OpenCounter(_ context.Context, r *pb.OpenCounterRequest) (*pb.OpenCounterResponse, error) {
	return &pb.OpenCounterResponse{SessionToken: strconv.Itoa(int(r.Counter))}, nil
}

func (t *teller) CallNext(ctx context.Context, r *pb.CallNextRequest) (*pb.CallNextResponse, error) {
	counter, err := strconv.ParseUint(r.SessionToken, 10, 32)
	if err != nil {
		return nil, err
	}
	out := &pb.CallNextResponse{}
	var complete uint64
	if r.CompleteTicket != "" {
		if complete, err = numberOf(r.CompleteTicket); err != nil {
			return nil, err
		}
		out.Completed = ticket(t.day, complete, pb.TicketState_TICKET_STATE_COMPLETED)
	}
	n, err := t.store.CallNext(ctx, uint32(counter), complete)
	if err != nil {
		return nil, said(err)
	}
	if n != 0 {
		out.Ticket = ticket(t.day, n, pb.TicketState_TICKET_STATE_CALLED)
		out.Ticket.Counter = uint32(counter)
	}
	return out, nil
}

// ticket is a reply's ticket, with the fields that callerd's has.
func ticket(day string, n uint64, state pb.TicketState) *pb.Ticket {
	return &pb.Ticket{Id: day + "/" + category + "/" + strconv.FormatUint(n, 10), Number: fmt.Sprintf("A%03d", n), Category: category, OriginCategory: category,
		State: state, IssueTime: timestamppb.Now(), Version: n}
}

// behind puts a front end before a server that runs, which is stopped after it. It stops the server if that fails.
func behind(ctx context.Context, e Env, name, addr string, s served, version string) (*remote, error) {
	r, err := front(ctx, e, name, addr)
	if err != nil {
		s.Kill()
		return nil, err
	}
	r.servers = append(r.servers, s)
	r.version = version + "; " + r.version
	return r, nil
}

// front starts a front end as a process of its own and connects to it.
func front(ctx context.Context, e Env, name, addr string) (*remote, error) {
	var at string
	p, err := proc.Start(ctx, proc.Options{Args: []string{e.Self, "serve-front", name, addr}, Ready: func(line string) (ok bool) {
		at, ok = strings.CutPrefix(line, readyMark+" ")
		return ok
	}})
	if err != nil {
		return nil, err
	}
	r, err := dial(e, at)
	if err != nil {
		p.Kill()
		return nil, err
	}
	r.servers = append(r.servers, served{p, syscall.SIGTERM})
	r.version = "grpc-go " + grpc.Version
	return r, nil
}
