package growth

import (
	"context"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"callerd/internal/branch"
	"callerd/internal/queue"
	"callerd/internal/server"
	pb "callerd/proto/callerd/v1"
)

const (
	line  = queue.CategoryID("personal")
	other = queue.CategoryID("corporate")
)

// free is a journal that costs nothing and keeps nothing.
type free struct{}

func (free) Replay(func(*queue.Record) error) error { return nil }

func (free) Append([]*queue.Record) error { return nil }

// hall is an open branch in this process, and who waits in it.
type hall struct {
	*branch.Branch
	ids     atomic.Uint64
	tellers [tellers]teller

	mu      sync.Mutex // guards the rest while it is filled
	waiting []queue.TicketID
	place   map[queue.TicketID]int // in waiting
	random  *rand.Rand

	board pb.BranchServiceClient // nil without a server
	ended []func() error
}

// tellers is how many counters there are; the first one is measured, all of them make a past.
const tellers = 64

// teller is one at a counter.
type teller struct {
	token   string
	current queue.TicketID
}

// open opens a branch of two categories with its counters; with a server that displays could see, if it is asked for.
func open(ctx context.Context, j branch.Journal, served bool) (*hall, error) {
	h := &hall{place: map[queue.TicketID]int{}, random: rand.New(rand.NewPCG(1, 2))}
	both := []queue.CategoryID{line, other}
	o := branch.Options{Journal: j, Secret: []byte("a secret of the benchmark"), Lease: time.Hour, Config: branch.Config{Name: queue.Names{En: "Branch"},
		Categories: []queue.CategoryDefined{{ID: line, Prefix: "A", Width: 3}, {ID: other, Prefix: "B", Width: 3}}}}
	for n := range queue.CounterID(tellers) {
		o.Config.Counters = append(o.Config.Counters, queue.CounterDefined{ID: n + 1, Categories: both, Rule: queue.Oldest})
	}
	var s *server.Server
	if served {
		s = server.New(server.Options{Meta: server.Meta{Epoch: "bench"}, Page: http.NotFoundHandler(), Export: func(context.Context, uint64, func([]*pb.JournalBatch) error) error { return nil }})
		o.Publish = s.Publish
	}
	var err error
	if h.Branch, err = branch.Open(ctx, o); err != nil {
		return nil, err
	}
	h.ended = append(h.ended, func() error { return h.Branch.Close(context.WithoutCancel(ctx)) })
	if served {
		err = h.serve(ctx, s)
	}
	if err != nil {
		return nil, errors.Join(err, h.close())
	}
	return h, nil
}

// openCounters begins the tellers' sessions.
func (h *hall) openCounters(ctx context.Context) error {
	for n := range h.tellers {
		r, err := h.OpenCounter(ctx, branch.OpenRequest{Request: h.request(), Counter: queue.CounterID(n + 1), Teller: "t1"})
		if err != nil {
			return err
		}
		h.tellers[n].token = r.Token
	}
	return nil
}

// serve serves on loopback, for the snapshot that only the server can make.
func (h *hall) serve(ctx context.Context, s *server.Server) error {
	calls, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	web, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return errors.Join(err, calls.Close())
	}
	ctx, cancel := context.WithCancel(ctx)
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx, h.Branch, calls, web) }()
	h.ended = append(h.ended, func() error { cancel(); return <-served })
	c, err := grpc.NewClient(calls.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return err
	}
	h.ended = append(h.ended, c.Close)
	h.board = pb.NewBranchServiceClient(c)
	_, err = h.board.GetBranch(ctx, &pb.GetBranchRequest{}) // connects
	return err
}

// close ends it, the last begun first.
func (h *hall) close() error {
	var errs []error
	for i := len(h.ended) - 1; i >= 0; i-- {
		errs = append(errs, h.ended[i]())
	}
	h.ended = nil
	return errors.Join(errs...)
}

// request is one with an id of its own.
func (h *hall) request() branch.Request {
	n := h.ids.Add(1)
	r := branch.Request{Actor: queue.Actor{Kind: queue.Kiosk, Name: "k1"}}
	binary.BigEndian.PutUint64(r.ID[:], mixed(2*n)) // spread, as UUIDs are
	binary.BigEndian.PutUint64(r.ID[8:], mixed(2*n+1))
	return r
}

// mixed spreads numbers one to one over all 64 bits, as splitmix64 does.
func mixed(x uint64) uint64 {
	x *= 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// issue hands out a number; whoever times it notes only afterwards that it waits: with 100,000 waiting that costs as much.
func (h *hall) issue(ctx context.Context) (queue.TicketID, error) {
	r, err := h.IssueTicket(ctx, branch.IssueRequest{Request: h.request(), Category: line})
	return r.Ticket.ID, err
}

// call completes the current ticket of the first counter and calls the next. The same goes for its note.
func (h *hall) call(ctx context.Context) (queue.TicketID, error) { return h.callAt(ctx, &h.tellers[0]) }

func (h *hall) callAt(ctx context.Context, t *teller) (queue.TicketID, error) {
	r, err := h.CallNext(ctx, h.request(), t.token, t.current)
	if err != nil {
		return queue.TicketID{}, err
	}
	if r.Ticket == nil {
		return queue.TicketID{}, errors.New("nobody waits")
	}
	t.current = r.Ticket.ID
	return t.current, nil
}

func (h *hall) add(id queue.TicketID) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.place[id] = len(h.waiting)
	h.waiting = append(h.waiting, id)
}

func (h *hall) remove(id queue.TicketID) {
	h.mu.Lock()
	defer h.mu.Unlock()
	at, last := h.place[id], len(h.waiting)-1
	h.waiting[at] = h.waiting[last]
	h.place[h.waiting[at]] = at
	h.waiting = h.waiting[:last]
	delete(h.place, id)
}

// any is a ticket that waits, somewhere in the line.
func (h *hall) any() queue.TicketID { return h.waiting[h.random.IntN(len(h.waiting))] }

// fill issues so many tickets, many at a time, as a commit takes all that are there.
func (h *hall) fill(ctx context.Context, n int) error {
	return spread(ctx, n, 256, func(ctx context.Context, _ int) error {
		id, err := h.issue(ctx)
		if err == nil {
			h.add(id)
		}
		return err
	})
}

// shrink calls and completes at all counters until so many wait.
func (h *hall) shrink(ctx context.Context, waiting int) error {
	return spread(ctx, len(h.waiting)-waiting, tellers, func(ctx context.Context, n int) error {
		id, err := h.callAt(ctx, &h.tellers[n])
		if err == nil {
			h.remove(id)
		}
		return err
	})
}

// spread carries f out n times from some goroutines, each of which says which it is.
func spread(ctx context.Context, n, goroutines int, f func(context.Context, int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var left atomic.Int64
	left.Store(int64(n))
	var all sync.WaitGroup
	for g := range goroutines {
		all.Go(func() {
			for left.Add(-1) >= 0 && ctx.Err() == nil {
				if err := f(ctx, g); err != nil {
					cancel(err)
				}
			}
		})
	}
	all.Wait()
	return context.Cause(ctx)
}
