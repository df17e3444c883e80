// Package growth measures what an operation costs as the day goes on: with more tickets behind the hall, and with more people in
// it. It runs in this process, on a journal that costs nothing, so that what grows can be seen beside a disk that does not.
package growth

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"callerd/bench/internal/result"
	"callerd/internal/branch"
	"callerd/internal/journal"
	"callerd/internal/queue"
	pb "callerd/proto/callerd/v1"
)

// Point is a state of the hall.
type Point struct {
	Today   int `json:"today"`   // tickets issued
	Waiting int `json:"waiting"` // of them
}

// Row is the cost of one operation at a point.
type Row struct {
	Point
	Op      string  `json:"op"`
	Journal string  `json:"journal"`
	Ns      float64 `json:"ns_per_op"` // median of chunks
	Ratio   float64 `json:"ratio"`     // to the same operation at the first point
}

// Options of a run. Points of the same day stand one behind the other, with fewer waiting each time.
type Options struct {
	Points   []Point
	Real     []Point // with the real journal too: issue and call next, one after the other
	Chunk    int     // operations that are timed together, at most
	Rounds   int     // chunks of each operation
	Dir      string  // for the real journal
	Progress func(step, steps int, what string)
}

// small is a day that is made anew for each round, so that the operations themselves do not make it another one.
const small = 20000

// Run measures all operations at all points.
func Run(ctx context.Context, o Options) (rows []Row, err error) {
	if err := warm(ctx, o); err != nil {
		return nil, err
	}
	var h *hall
	defer func() {
		if h != nil {
			err = errors.Join(err, h.close())
		}
	}()
	for i, p := range o.Points {
		o.Progress(i+1, len(o.Points)+len(o.Real), fmt.Sprintf("%d today, %d waiting", p.Today, p.Waiting))
		if h != nil && (p.Today <= small || o.Points[i-1].Today != p.Today) {
			if err := h.close(); err != nil {
				return nil, err
			}
			h = nil
		}
		took := map[string][]float64{}
		chunk := max(1, min(o.Chunk, p.Waiting/2))
		for n := range max(o.Rounds, o.Rounds*o.Chunk/chunk/4) {
			if h != nil && p.Today <= small {
				if err := h.close(); err != nil {
					return nil, err
				}
				h = nil
			}
			if h == nil {
				if h, err = day(ctx, free{}, p.Today, true); err != nil {
					return nil, err
				}
			}
			if err := h.shrink(ctx, p.Waiting); err != nil {
				return nil, err
			}
			if n == 0 && p.Today > small {
				// Or what the filling left, a gigabyte, is collected while the first rounds are timed. The caches are cold behind it.
				runtime.GC()
				if err := h.round(ctx, chunk, map[string][]float64{}); err != nil {
					return nil, fmt.Errorf("%d today, %d waiting: %w", p.Today, p.Waiting, err)
				}
			}
			if err := h.round(ctx, chunk, took); err != nil {
				return nil, fmt.Errorf("%d today, %d waiting: %w", p.Today, p.Waiting, err)
			}
		}
		for _, op := range ops {
			rows = append(rows, Row{Point: p, Op: op, Journal: "none", Ns: result.Median(took[op])})
		}
	}
	for i, p := range o.Real {
		o.Progress(len(o.Points)+i+1, len(o.Points)+len(o.Real), fmt.Sprintf("%d today, %d waiting, real journal", p.Today, p.Waiting))
		real, err := onDisk(ctx, o, p)
		if err != nil {
			return nil, err
		}
		rows = append(rows, real...)
	}
	ratios(rows)
	return rows, nil
}

// warm runs everything some times for nothing: the first point is the measure of all others.
func warm(ctx context.Context, o Options) error {
	h, err := day(ctx, free{}, 4*o.Chunk, true)
	if err != nil {
		return err
	}
	for range o.Rounds {
		if err = h.round(ctx, o.Chunk, map[string][]float64{}); err != nil {
			break
		}
	}
	return errors.Join(err, h.close())
}

// ratios compares each row with the first of its operation and journal.
func ratios(rows []Row) {
	for i := range rows {
		for j := range rows {
			if rows[j].Op == rows[i].Op && rows[j].Journal == rows[i].Journal {
				rows[i].Ratio = rows[i].Ns / rows[j].Ns
				break
			}
		}
	}
}

// day opens a hall in which so many tickets have been issued, all of them waiting.
func day(ctx context.Context, j branch.Journal, today int, served bool) (*hall, error) {
	h, err := open(ctx, j, served)
	if err != nil {
		return nil, err
	}
	err = h.openCounters(ctx)
	if err == nil {
		err = h.fill(ctx, today)
	}
	if err != nil {
		return nil, errors.Join(err, h.close())
	}
	return h, nil
}

// The operations.
const (
	opIssue    = "issue"
	opCancel   = "cancel"
	opAhead    = "people ahead"
	opCall     = "call next"
	opTransfer = "transfer"
	opRequeue  = "requeue, to the middle"
	opSnapshot = "display snapshot, over gRPC"
)

var ops = [...]string{opIssue, opCancel, opAhead, opCall, opTransfer, opRequeue, opSnapshot}

// round times one chunk of each operation; as many wait after it as before.
func (h *hall) round(ctx context.Context, chunk int, took map[string][]float64) error {
	timed := func(op string, n int, f func() error) error {
		began := time.Now()
		for range n {
			if err := f(); err != nil {
				return fmt.Errorf("%s: %w", op, err)
			}
		}
		took[op] = append(took[op], float64(time.Since(began))/float64(n))
		return nil
	}
	// What is picked and what is noted is so outside the time: in a great hall a look at a list of our own waits for memory, too.
	picked := make([]queue.TicketID, 0, chunk)
	pick := func() { // different ones
		picked = picked[:0]
		for range chunk {
			picked = append(picked, h.any())
			h.remove(picked[len(picked)-1])
		}
	}
	next := 0
	each := func(f func(queue.TicketID) error) func() error {
		next = 0
		return func() error { next++; return f(picked[next-1]) }
	}
	noted := func(f func(context.Context) (queue.TicketID, error)) func() error {
		picked = picked[:0]
		return func() error { id, err := f(ctx); picked = append(picked, id); return err }
	}
	if err := timed(opIssue, chunk, noted(h.issue)); err != nil {
		return err
	}
	for _, id := range picked {
		h.add(id)
	}
	pick()
	if err := timed(opCancel, chunk, each(func(id queue.TicketID) error { _, err := h.CancelTicket(ctx, h.request(), id, ""); return err })); err != nil {
		return err
	}
	picked = picked[:0]
	for range chunk {
		picked = append(picked, h.any())
	}
	if err := timed(opAhead, chunk, each(func(id queue.TicketID) error { _, err := h.GetTicket(ctx, id); return err })); err != nil {
		return err
	}
	if err := timed(opCall, chunk, noted(h.call)); err != nil {
		return err
	}
	for _, id := range picked {
		h.remove(id)
	}
	if err := h.fill(ctx, chunk); err != nil {
		return err
	}
	pick()
	move := func(to queue.CategoryID) func() error {
		return each(func(id queue.TicketID) error {
			_, err := h.TransferTicket(ctx, branch.TransferRequest{Request: h.request(), Ticket: id, Category: to}, h.tellers[0].token)
			return err
		})
	}
	if err := timed(opTransfer, chunk, move(other)); err != nil {
		return err
	}
	back := move(line)
	for _, id := range picked {
		if err := back(); err != nil {
			return err
		}
		h.add(id)
	}
	if err := h.requeues(ctx, chunk, took); err != nil {
		return err
	}
	return timed(opSnapshot, max(1, chunk/5), func() error { _, err := h.board.GetBranch(ctx, &pb.GetBranchRequest{}); return err })
}

// requeues times the way back to the middle of the line, each behind a call that is not timed.
func (h *hall) requeues(ctx context.Context, chunk int, took map[string][]float64) error {
	middle := branch.Place{Where: queue.After, After: uint32(len(h.waiting) / 2)}
	var all time.Duration
	for range chunk {
		id, err := h.call(ctx)
		if err != nil {
			return err
		}
		h.remove(id)
		began := time.Now()
		if _, err := h.RequeueTicket(ctx, h.request(), h.tellers[0].token, h.tellers[0].current, middle); err != nil {
			return fmt.Errorf("%s: %w", opRequeue, err)
		}
		all += time.Since(began)
		h.add(h.tellers[0].current)
		h.tellers[0].current = queue.TicketID{}
	}
	took[opRequeue] = append(took[opRequeue], float64(all)/float64(chunk))
	return nil
}

// onDisk times issue and call next with the real journal.
func onDisk(ctx context.Context, o Options, p Point) (rows []Row, err error) {
	dir := fmt.Sprintf("%s/%d-%d", o.Dir, p.Today, p.Waiting)
	j, err := journal.Open(dir, journal.Options{})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, j.Close()) }()
	h, err := day(ctx, j, p.Today, false)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(h.close(), err) }()
	if err := h.shrink(ctx, p.Waiting); err != nil {
		return nil, err
	}
	for _, op := range [...]struct {
		name string
		do   func(context.Context) (queue.TicketID, error)
	}{{opIssue, h.issue}, {opCall, h.call}} {
		var took []float64
		for range max(1, o.Chunk/5) {
			began := time.Now()
			if _, err := op.do(ctx); err != nil {
				return nil, err
			}
			took = append(took, float64(time.Since(began)))
		}
		rows = append(rows, Row{Point: p, Op: op.name, Journal: "real", Ns: result.Median(took)})
	}
	return rows, nil
}
