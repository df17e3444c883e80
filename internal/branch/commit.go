package branch

import (
	"context"
	"fmt"
	"time"

	"callerd/internal/arch"
	"callerd/internal/queue"
)

// run is the commit goroutine. It ends after close, when the last permit is back, or after a failure.
func (p *pipe) run() {
	defer close(p.done)
	var spare []*queue.Record
	stop := p.stop
	for {
		batch := p.take(spare)
		spare = batch
		if len(batch) > 0 {
			begun := p.mono()
			if !p.commit(batch) {
				return
			}
			p.joining.committed(len(batch), p.waiting(), time.Duration(p.mono()-begun))
			continue
		}
		if stop == nil && len(p.permits) == 0 {
			return
		}
		select {
		case <-p.wake:
		case <-stop:
			stop = nil
		}
	}
}

// waiting counts the records that wait for the next batch.
func (p *pipe) waiting() int {
	var h arch.Held
	p.lock.Lock(&h)
	defer p.lock.Unlock(&h)
	return len(p.pending)
}

// commit writes one batch and tells of it: the displays first, then those who wait. It reports whether to go on.
func (p *pipe) commit(records []*queue.Record) bool {
	last := records[len(records)-1].Sequence
	p.mu.Lock()
	p.ending, p.current, p.next = last, p.next, newBatch()
	p.mu.Unlock()

	err := p.journal.Append(records)
	if noSpace(err) {
		p.logger.Error("no space for the journal: no commands are admitted until there is", "error", err)
		p.closeAdmission(fmt.Errorf("%w: %v", ErrNoSpace, err))
	}
	for noSpace(err) {
		if !p.pause() {
			p.logger.Error("giving up records that found no space; nobody was told of them", "records", len(records), "from", records[0].Sequence)
			p.mu.Lock()
			p.gaveUp = true
			p.mu.Unlock()
			return false
		}
		err = p.journal.Append(records)
	}
	if err == nil && p.shadow != nil {
		err = p.shadow.applyAll(records)
	}
	if err != nil {
		p.fail(fmt.Errorf("%w: %w", ErrStoreFailed, err))
		return false
	}
	p.publish(records)
	if p.committed(last) {
		p.logger.Info("there is space again", "sequence", last)
		p.opened()
	}
	for range records {
		<-p.permits
	}
	return true
}

// committed releases the waiters of the current batch, and opens admission if it was closed for lack of space,
// which it reports.
func (p *pipe) committed(last uint64) (opened bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.durable = last
	if p.current.err == nil {
		close(p.current.done)
	}
	if p.next.err == nil {
		return false
	}
	p.next, p.shut = newBatch(), make(chan struct{})
	p.closed, p.openedAt = nil, p.mono()
	if p.stopping {
		p.closed = ErrStopping
	}
	return true
}

// closeAdmission refuses everything until the disk has room, those who wait already included.
func (p *pipe) closeAdmission(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = err
	close(p.shut)
	p.release(err)
}

// release ends all waiting with an error. The caller holds mu.
func (p *pipe) release(err error) {
	for _, b := range [...]*batch{p.current, p.next} {
		if b.err == nil {
			b.err = err
			close(b.done)
		}
	}
}

// fail ends everything: what the last batch became is unknown.
func (p *pipe) fail(err error) {
	p.logger.Error("the store failed; the process must be restarted", "error", err)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed, p.failure = err, err
	p.release(err)
	close(p.failed)
}

// pause waits before the next try; it reports false when it is time to give up.
func (p *pipe) pause() bool {
	t := time.NewTimer(retryEvery)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-p.giveUp:
		return false
	}
}

// close ends admission and waits for the commit goroutine; when ctx ends first, what finds no space is given up.
func (p *pipe) close(ctx context.Context) error {
	p.mu.Lock()
	if !p.stopping {
		p.stopping = true
		if p.closed == nil {
			p.closed = ErrStopping
		}
		close(p.stop)
	}
	p.mu.Unlock()
	select {
	case <-p.done:
	case <-ctx.Done():
		p.mu.Lock()
		select {
		case <-p.giveUp:
		default:
			close(p.giveUp)
		}
		p.mu.Unlock()
		if !p.endedWithin(lastMoment) {
			return fmt.Errorf("%w: a write to the disk does not end", ErrStoreFailed)
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.gaveUp {
		return fmt.Errorf("%w: the last decisions were not written; nobody was told of them", ErrNoSpace)
	}
	return p.failure
}

// lastMoment is how long a stop waits, after its time was up, for a write that may just be ending.
const lastMoment = time.Second

// endedWithin waits for the commit goroutine, which may be inside a write that a dying disk never ends.
func (p *pipe) endedWithin(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-p.done:
		return true
	case <-t.C:
		return false
	}
}
