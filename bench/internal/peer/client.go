package peer

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"syscall"

	"github.com/google/uuid"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"callerd/bench/internal/proc"
	pb "callerd/proto/callerd/v1"
)

// category is the one line that everybody takes numbers of.
const category = "personal"

// remote is a system behind gRPC, driven as kiosks and consoles do.
type remote struct {
	conns   []*grpc.ClientConn
	kiosks  []pb.KioskServiceClient
	tellers []pb.CounterServiceClient
	tokens  []string
	current []string // ticket at each caller's counter
	servers []served // in the order in which they are stopped
	version string
}

// served is a process and the signal by which it stops in order.
type served struct {
	*proc.Process
	stop syscall.Signal
}

// dial connects to a front end.
func dial(e Env, addr string) (*remote, error) {
	r := &remote{tokens: make([]string, e.Counters), current: make([]string, e.Counters)}
	for range e.Conns {
		c, err := grpc.NewClient(addr, grpc.WithTransportCredentials(insecure.NewCredentials()))
		if err != nil {
			return nil, errors.Join(err, r.close())
		}
		r.conns = append(r.conns, c)
		r.kiosks = append(r.kiosks, pb.NewKioskServiceClient(c))
		r.tellers = append(r.tellers, pb.NewCounterServiceClient(c))
	}
	return r, nil
}

// Issue implements Instance.
func (r *remote) Issue(ctx context.Context, caller int) (uint64, error) {
	t, err := r.kiosks[caller%len(r.kiosks)].IssueTicket(ctx, &pb.IssueTicketRequest{RequestId: uuid.NewString(), Category: category, Kiosk: "k1"})
	if err != nil {
		return 0, err
	}
	return numberOf(t.Ticket.Id)
}

// Open implements Instance.
func (r *remote) Open(ctx context.Context, callers int) error {
	for n := range callers {
		if r.tokens[n] != "" {
			continue
		}
		o, err := r.tellers[n%len(r.tellers)].OpenCounter(ctx, &pb.OpenCounterRequest{RequestId: uuid.NewString(), Counter: uint32(n + 1), Teller: "t1"})
		if err != nil {
			return fmt.Errorf("open counter %d: %w", n+1, err)
		}
		r.tokens[n] = o.SessionToken
	}
	return nil
}

// CallNext implements Instance.
func (r *remote) CallNext(ctx context.Context, caller int) (uint64, error) {
	c, err := r.tellers[caller%len(r.tellers)].CallNext(ctx, &pb.CallNextRequest{RequestId: uuid.NewString(), SessionToken: r.tokens[caller], CompleteTicket: r.current[caller]})
	if err != nil {
		return 0, err
	}
	r.current[caller] = c.Ticket.GetId()
	if c.Ticket == nil {
		return 0, ErrEmpty
	}
	return numberOf(c.Ticket.Id)
}

// Pids implements Instance.
func (r *remote) Pids() (pids []int) {
	for _, s := range r.servers {
		pids = append(pids, s.Pid())
	}
	return pids
}

// Version implements Instance.
func (r *remote) Version() string { return r.version }

// Stop implements Instance.
func (r *remote) Stop() error {
	errs := []error{r.close()}
	for _, s := range r.servers {
		errs = append(errs, s.Stop(s.stop))
	}
	return errors.Join(errs...)
}

func (r *remote) close() error {
	var errs []error
	for _, c := range r.conns {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}

// numberOf reads the number from a ticket's id.
func numberOf(id string) (uint64, error) {
	n, err := strconv.ParseUint(id[strings.LastIndexByte(id, '/')+1:], 10, 64)
	if err != nil {
		return 0, fmt.Errorf("the ticket's id %q has no number", id)
	}
	return n, nil
}
