package branch

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"syscall"
	"time"

	"callerd/internal/arch"
	"callerd/internal/queue"
)

// pipe carries the records from those who decide to the one goroutine that commits, and holds back every
// reply until the disk has what it tells.
type pipe struct {
	journal Journal
	publish func([]*queue.Record)
	logger  *slog.Logger
	mono    func() int64
	shadow  *shadow // nil unless verifying; the commit goroutine's
	joining joining // the commit goroutine's

	// permits bounds the records that are claimed and not yet durable. Its size is that bound.
	permits chan struct{}
	wake    chan struct{} // one slot: there are records
	full    chan struct{} // one slot: there are as many as target
	stop    chan struct{} // closed: no more operations
	giveUp  chan struct{} // closed: end even if there is no room
	done    chan struct{} // closed: the commit goroutine has ended
	failed  chan struct{} // closed: a commit's outcome is unknown
	opened  func()        // called when admission opens again

	lock    arch.RankedLock // the last of all ranks; guards the next three
	head    uint64          // last claimed sequence
	target  int             // as many pending records are told of in full, once; 0: not
	pending []*queue.Record // claimed, not yet taken by the commit goroutine

	mu       sync.Mutex // a leaf: nothing is taken or waited for under it; guards the rest
	durable  uint64
	ending   uint64        // last sequence of the batch that is being committed
	current  *batch        // that batch
	next     *batch        // the one after it
	closed   error         // why nothing is admitted; nil: open
	shut     chan struct{} // closed while there is no space, for those who wait for a permit
	failure  error
	openedAt int64 // monotonic ns at which admission last opened: leases begin anew
	stopping bool
	gaveUp   bool
}

// batch is what the waiters of one commit wait for.
type batch struct {
	done chan struct{}
	err  error // before done is closed
}

func newBatch() *batch { return &batch{done: make(chan struct{})} }

const retryEvery = 250 * time.Millisecond // after no space

func newPipe(head uint64, opts Options, shadow *shadow, mono func() int64, opened func()) *pipe {
	p := &pipe{
		journal: opts.Journal, publish: opts.Publish, logger: opts.Logger, mono: mono, shadow: shadow, opened: opened,
		permits: make(chan struct{}, opts.Permits),
		wake:    make(chan struct{}, 1), full: make(chan struct{}, 1), stop: make(chan struct{}), giveUp: make(chan struct{}),
		done: make(chan struct{}), failed: make(chan struct{}), shut: make(chan struct{}),
		head: head, durable: head, ending: head, current: newBatch(), next: newBatch(), openedAt: mono(),
	}
	p.lock.Init(arch.RankJournal, 0)
	return p
}

// permit waits for room for one more record.
func (p *pipe) permit(ctx context.Context) error {
	p.mu.Lock()
	closed, shut := p.closed, p.shut
	p.mu.Unlock()
	if closed != nil {
		return closed
	}
	select {
	case p.permits <- struct{}{}:
		return p.permitted()
	default:
	}
	select {
	case p.permits <- struct{}{}:
		return p.permitted()
	case <-ctx.Done():
		return fmt.Errorf("%w: %d records wait for the disk", ErrJournalBehind, cap(p.permits))
	case <-p.stop:
		return ErrStopping
	case <-shut:
		return ErrNoSpace
	case <-p.failed:
		return p.admitting()
	}
}

// permitted looks again whether the branch is stopping: who passes here is waited for by the commit goroutine.
func (p *pipe) permitted() error {
	select {
	case <-p.stop:
		p.giveBack()
		return ErrStopping
	default:
		return nil
	}
}

// giveBack returns a permit that was not used up.
func (p *pipe) giveBack() {
	<-p.permits
	p.signal()
}

// signal wakes the commit goroutine.
func (p *pipe) signal() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// claim gives a record the next sequence and a place in the next batch, in one step. It uses up a permit.
//
// It is applied before anybody can take it to the disk. One that cannot be applied ends the process, and the lock, which is not let
// go, keeps everybody else from claiming while it does.
func (p *pipe) claim(h *arch.Held, r *queue.Record, apply func(*queue.Record) error) uint64 {
	p.lock.Lock(h)
	r.Sequence = p.head + 1
	if err := apply(r); err != nil {
		impossible(err)
	}
	p.head++
	p.pending = append(p.pending, r)
	if p.target != 0 && len(p.pending) >= p.target {
		p.target = 0
		p.full <- struct{}{} // there is room: whoever set the target has emptied it
	}
	p.lock.Unlock(h)
	p.signal()
	return r.Sequence
}

// headSequence returns the last claimed sequence.
func (p *pipe) headSequence(h *arch.Held) uint64 {
	p.lock.Lock(h)
	defer p.lock.Unlock(h)
	return p.head
}

// wait returns nil once all up to a sequence is durable. The end of a batch is a reason to look again, no more:
// who claims between the taking of a batch and its commit may wait with that one though it belongs to the next.
func (p *pipe) wait(ctx context.Context, sequence uint64) error {
	for {
		b, err := p.batchOf(sequence)
		if b == nil {
			return err
		}
		select {
		case <-b.done:
			if b.err != nil {
				return b.err
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// batchOf returns the batch to wait with for a sequence; nil when there is nothing to wait for: it is durable, or err
// says why it cannot be told.
func (p *pipe) batchOf(sequence uint64) (*batch, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.closed != nil && !errors.Is(p.closed, ErrStopping):
		return nil, p.closed
	case sequence <= p.durable:
		return nil, nil
	case sequence <= p.ending:
		return p.current, nil
	}
	return p.next, nil
}

func (p *pipe) admitting() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.closed
}

func (p *pipe) durableSequence() uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.durable
}

func (p *pipe) err() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.failure
}

// beginAnew lets leases and what else runs only while commands are admitted begin anew in full.
func (p *pipe) beginAnew() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.openedAt = p.mono()
}

// admittedSince returns when admission last opened, in monotonic ns; ok is false while it is closed.
func (p *pipe) admittedSince() (at int64, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.openedAt, p.closed == nil
}

// take returns the pending records, nil when there are none, after letting others join.
func (p *pipe) take(spare []*queue.Record) []*queue.Record {
	if n := p.waiting(); n > 0 {
		p.joining.wait(n, p.waiting, p.gather)
	}
	var h arch.Held
	p.lock.Lock(&h)
	defer p.lock.Unlock(&h)
	b := p.pending
	clear(spare[:cap(spare)])
	p.pending = spare[:0]
	return b
}

// noSpace reports whether an error says that the disk is full.
func noSpace(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}
