package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"

	pb "callerd/proto/callerd/v1"
)

// Who sets deadlines.
const (
	reservers = 16 // kiosks
	holders   = 8  // tellers who hold tickets or say no-show
	callers   = 4  // tellers who call a ticket and wait until the system says no-show
	borrowers = 2  // tellers who borrow a thing and never give it back
)

// dueHall is people and machines that set deadlines, over any number of lives of the daemon, and wait for them to pass.
type dueHall struct {
	t     *testing.T
	conn  atomic.Pointer[grpc.ClientConn]
	lines []string
	spans map[string]time.Duration // by category
	runs  []life                   // the lives of the daemon, without the one that goes on
	born  time.Time
	all   sync.WaitGroup
	stop  chan struct{} // closed when nobody is killed any more
	more  chan struct{} // one slot: look again, there are more

	mu     sync.Mutex
	wanted int                  // reservations that somebody is to make
	due    []time.Time          // of those that are kept in tickets and acknowledged
	set    map[string]bool      // what was acknowledged, as the audit calls it
	heard  map[uint32]time.Time // when the newest answered call of each counter was sent
}

// everybody begins; so many tickets are to be held or no-shows.
func (h *dueHall) everybody(rnd *rand.Rand, held int) {
	for range reservers {
		r := fork(rnd)
		h.all.Go(func() { h.reserve(r) })
	}
	counter := uint32(0)
	seat := func(work func(*desk)) {
		counter++
		c := &desk{dueHall: h, counter: counter, rnd: fork(rnd)}
		h.all.Go(func() { work(c) })
	}
	for i := range holders {
		seat(func(c *desk) { c.hold(held*(i+1)/holders - held*i/holders) })
	}
	for range callers {
		seat((*desk).callAndWait)
	}
	for i := range borrowers {
		seat(func(c *desk) { c.borrow(fmt.Sprintf("thing-%d", i)) })
	}
}

// noted takes note of an acknowledged deadline; at is the zero time for one that begins anew when the daemon starts.
func (h *dueHall) noted(what string, at time.Time) {
	h.mu.Lock()
	h.set[what] = true
	if !at.IsZero() {
		h.due = append(h.due, at)
	}
	h.mu.Unlock()
	select {
	case h.more <- struct{}{}:
	default:
	}
}

// want lets so many more reservations be made.
func (h *dueHall) want(n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.wanted += n
}

// wants takes one of the reservations that are to be made; false: no more are.
func (h *dueHall) wants() bool {
	for {
		stopped := h.stopped()
		h.mu.Lock()
		ok := h.wanted > 0
		if ok {
			h.wanted--
		}
		h.mu.Unlock()
		if ok || stopped {
			return ok
		}
		h.tick(2 * time.Millisecond)
	}
}

// ahead are the times at which what was acknowledged comes due from now on. It waits until there are so many, and has more
// made if need be: however slow the machine is, something comes due in each life and each death of the daemon.
func (h *dueHall) ahead(want int) []time.Time {
	for {
		h.mu.Lock()
		slices.SortFunc(h.due, time.Time.Compare)
		i, _ := slices.BinarySearchFunc(h.due, time.Now(), time.Time.Compare)
		ahead := slices.Clone(h.due[i:])
		if h.wanted == 0 {
			h.wanted = max(0, want-len(ahead))
		}
		h.mu.Unlock()
		if len(ahead) >= want {
			return ahead
		}
		select {
		case <-h.more:
		case <-h.t.Context().Done():
			h.t.FailNow()
		}
	}
}

// until waits for a time.
func (h *dueHall) until(at time.Time) {
	timer := time.NewTimer(time.Until(at))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-h.t.Context().Done():
	}
}

// tick waits a little, and reports whether the test still goes on.
func (h *dueHall) tick(d time.Duration) bool {
	h.until(time.Now().Add(d))
	return h.t.Context().Err() == nil
}

// stopped reports whether nobody is killed any more.
func (h *dueHall) stopped() bool {
	select {
	case <-h.stop:
		return true
	case <-h.t.Context().Done():
		return true
	default:
		return false
	}
}

// answered asks, the same request again and again, until there is an answer.
func answered[R any](h *dueHall, ask func(context.Context, *grpc.ClientConn) (R, error)) (R, error) {
	for {
		r, err := ask(h.t.Context(), h.conn.Load())
		if err == nil || !unanswered(err) || !h.tick(2*time.Millisecond) {
			return r, err
		}
	}
}

func (h *dueHall) line(rnd *rand.Rand) string { return h.lines[rnd.IntN(len(h.lines))] }

func (h *dueHall) issue(category string, reserve bool) (*pb.Ticket, error) {
	q := &pb.IssueTicketRequest{RequestId: uuid(), Category: category, Reserve: reserve}
	r, err := answered(h, func(ctx context.Context, c *grpc.ClientConn) (*pb.IssueTicketResponse, error) {
		return pb.NewKioskServiceClient(c).IssueTicket(ctx, q)
	})
	return r.GetTicket(), err
}

// reserve makes reservations that nobody checks in.
func (h *dueHall) reserve(rnd *rand.Rand) {
	for h.wants() {
		t, err := h.issue(h.line(rnd), true)
		if err != nil {
			h.failed("reserve", err)
			return
		}
		h.noted("reserved "+t.Id, t.Deadline.AsTime())
	}
}

// failed takes note of an error that no kill explains.
func (h *dueHall) failed(what string, err error) {
	if h.t.Context().Err() == nil {
		h.t.Errorf("%s: %v", what, err)
	}
}
