package branch

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"callerd/internal/arch"
	"callerd/internal/counter"
	"callerd/internal/queue"
)

// operation is one command or read on its way through its locks. It belongs to one goroutine.
type operation struct {
	b        *Branch
	held     arch.Held
	counters []*counter.Counter // locked, by ascending id
	lines    []*queue.Category  // locked, by ascending index
	shard    *requestShard      // locked
	desk     *resources         // locked
	at       int64              // Unix ns
	actor    queue.Actor
	outcomes []queue.Outcome
	seen     *seen  // what the request did before; nil: it is new
	turning  bool   // opens a business day itself
	sequence uint64 // at which the reply is true
}

// request is what do needs of a changing operation: its id and what a retry must have in common with it.
type request struct {
	Request
	fingerprint uint64
}

// do carries out one operation, in this order:
//
//  1. a permit, the only thing that may wait, and it obeys ctx; reads (req nil and nothing emitted) use none up;
//  2. plan takes the locks, counters then lines; its error is a refusal, kept until the request id was looked up;
//  3. the request id's shard, and the look-up: what it did before is done no second time;
//  4. decide emits outcomes or refuses; it changes nothing;
//  5. the sequence is claimed, the outcomes are applied: this cannot fail;
//  6. report reads what the reply needs, and the locks go;
//  7. the wait for the disk.
//
// Errors errMoved of plan or decide start over: a ticket was not any more where it was looked for.
func (b *Branch) do(ctx context.Context, req *request, plan, decide func(*operation) error, report func(*operation)) (*operation, error) {
	o, refused, err := b.begin(ctx, req, plan, decide, report)
	if err != nil {
		return nil, err
	}
	return b.finish(ctx, o, refused)
}

// begin is do up to the wait for the disk: nothing of it may leave the process before finish. An error says that nothing was
// decided, a refusal that something was.
func (b *Branch) begin(ctx context.Context, req *request, plan, decide func(*operation) error, report func(*operation)) (o *operation, refused, err error) {
	o = &operation{b: b}
	for {
		if decide != nil {
			if err := b.pipe.permit(ctx); err != nil {
				return nil, nil, err
			}
		}
		refused = o.underLocks(req, plan, decide, report)
		assertFree(&o.held)
		if decide != nil && len(o.outcomes) == 0 {
			b.pipe.giveBack()
		}
		if refused == errAnotherDay {
			if err := b.openDay(ctx); err != nil {
				return nil, nil, err
			}
		} else if refused != errMoved {
			return o, refused, nil
		}
	}
}

// finish waits until what begin decided, or what a refusal refers to, is on disk.
func (b *Branch) finish(ctx context.Context, o *operation, refused error) (*operation, error) {
	if err := b.pipe.wait(ctx, o.sequence); err != nil {
		return nil, err
	}
	if refused != nil {
		return o, &refusal{refused, o.sequence}
	}
	return o, nil
}

// errMoved and errAnotherDay start an operation over; they never leave do.
var (
	errMoved      = fmt.Errorf("the ticket has moved between two looks")
	errAnotherDay = fmt.Errorf("another business day has come")
)

// underLocks is what an operation does while it holds its locks.
func (o *operation) underLocks(req *request, plan, decide func(*operation) error, report func(*operation)) (refused error) {
	defer o.unlock()
	o.outcomes, o.seen = o.outcomes[:0], nil
	refused = plan(o)
	if refused == errMoved {
		return refused
	}
	o.at = o.b.now()
	if o.at >= o.b.state.day.Load().end && decide != nil && !o.turning {
		return errAnotherDay
	}
	record := &queue.Record{At: o.at}
	if req != nil {
		o.shard = o.b.state.requests.shard(req.ID)
		o.shard.lock.Lock(&o.held)
		if e, ok := o.shard.find(req.ID, o.at); ok {
			o.sequence = o.b.pipe.headSequence(&o.held)
			if e.fingerprint != req.fingerprint {
				return fmt.Errorf("%w: it was used at sequence %d for something else", ErrRequestReused, e.sequence)
			}
			o.seen, refused = &e, nil
			if report != nil {
				report(o)
			}
			return nil
		}
		record.Request, record.Fingerprint = req.ID, req.fingerprint
		o.actor = req.Actor
	}
	if refused == nil && decide != nil {
		refused = decide(o)
	}
	if refused != nil || len(o.outcomes) == 0 {
		o.outcomes = o.outcomes[:0]
		o.sequence = o.b.pipe.headSequence(&o.held)
	} else {
		record.At, record.Actor, record.Outcomes = o.at, o.actor, o.outcomes
		o.sequence = o.b.pipe.claim(&o.held, record, o.b.state.Apply)
	}
	if refused == nil && report != nil {
		report(o)
	}
	return refused
}

// emit adds an outcome to the record in the making.
func (o *operation) emit(out queue.Outcome) { o.outcomes = append(o.outcomes, out) }

// actAs makes the teller of the counter's session the actor. The caller holds the counter's lock.
func (o *operation) actAs(c *counter.Counter) {
	if s := c.Session(); s != nil {
		o.actor = queue.Actor{Kind: queue.Teller, Name: s.Teller}
	}
}

// lockCounters takes the locks of counters, in the global order, each once.
func (o *operation) lockCounters(cs ...*counter.Counter) {
	slices.SortFunc(cs, func(a, b *counter.Counter) int { return cmp.Compare(a.ID(), b.ID()) })
	for _, c := range slices.Compact(cs) {
		c.Lock(&o.held)
		o.counters = append(o.counters, c)
	}
}

// lockLines takes the locks of categories, in the global order, each once.
func (o *operation) lockLines(cs ...*queue.Category) {
	slices.SortFunc(cs, func(a, b *queue.Category) int { return cmp.Compare(a.Index(), b.Index()) })
	for _, c := range slices.Compact(cs) {
		c.Lock(&o.held)
		o.lines = append(o.lines, c)
	}
}

// lockTicket takes the locks that guard the ticket: its counter's, if it is at one, and its line's.
func (o *operation) lockTicket(id queue.TicketID) (*queue.Live, error) {
	t := o.b.state.find(id)
	if t == nil {
		return nil, unknown(id)
	}
	return t, o.lockPlaces(nil, t)
}

// lockPlaces takes the locks that guard tickets (those that are nil have none), and that of a counter, unless it is
// nil, with the lines it calls from.
func (o *operation) lockPlaces(at *counter.Counter, ts ...*queue.Live) error {
	var counters []*counter.Counter
	var lines []*queue.Category
	var places []queue.Place
	ts = slices.DeleteFunc(ts, func(t *queue.Live) bool { return t == nil })
	for _, t := range ts {
		places = append(places, t.Place())
	}
	s := o.b.state.sets.Load() // after the places: it has what they name
	for _, p := range places {
		if p.Counter != 0 {
			counters = append(counters, s.byCounter[p.Counter])
		}
		lines = append(lines, s.categories[p.Category])
	}
	if at != nil {
		counters = append(counters, at)
	}
	o.lockCounters(counters...)
	if at != nil {
		lines = append(lines, s.linesOf(at)...)
	}
	o.lockLines(lines...)
	for i, t := range ts {
		if t.Place() != places[i] {
			return errMoved
		}
	}
	return nil
}

// lockResources takes the lock of the shared resources; decide calls it, behind the request id's.
func (o *operation) lockResources() *resources {
	if o.desk == nil {
		o.desk = &o.b.state.resources
		o.desk.lock.Lock(&o.held)
	}
	return o.desk
}

// unlock lets go of everything.
func (o *operation) unlock() {
	if o.desk != nil {
		o.desk.call()
		o.desk.lock.Unlock(&o.held)
		o.desk = nil
	}
	if o.shard != nil {
		o.shard.lock.Unlock(&o.held)
		o.shard = nil
	}
	for _, c := range slices.Backward(o.lines) {
		c.Unlock(&o.held)
	}
	for _, c := range slices.Backward(o.counters) {
		c.Unlock(&o.held)
	}
	o.lines, o.counters = o.lines[:0], o.counters[:0]
}
