package branch

import (
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"callerd/internal/arch"
	"callerd/internal/queue"
)

// idlePipe makes a pipe whose commit goroutine is the test itself.
func idlePipe(j Journal) *pipe {
	opts := Options{Journal: j, Permits: 8, Publish: func([]*queue.Record) {}, Logger: slog.New(slog.DiscardHandler)}
	return newPipe(0, opts, nil, func() int64 { return 0 }, func() {})
}

// claimed claims one more record, and returns its sequence.
func claimed(t *testing.T, p *pipe) uint64 {
	t.Helper()
	if err := p.permit(t.Context()); err != nil {
		t.Fatal(err)
	}
	var h arch.Held
	return p.claim(&h, &queue.Record{}, func(*queue.Record) error { return nil })
}

// A record claimed after a batch was taken, whose caller waits before the batch is begun, was once released by that batch:
// a reply before its commit.
func TestWhoClaimsBetweenTakingAndCommittingWaitsForTheNextBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &memory{}
		p := idlePipe(j)
		claimed(t, p)
		batch := p.take(nil)
		second := claimed(t, p)
		var done atomic.Bool
		go func() {
			if err := p.wait(t.Context(), second); err != nil {
				t.Error(err)
			}
			done.Store(true)
		}()
		synctest.Wait()
		p.commit(batch)
		synctest.Wait()
		if done.Load() {
			t.Errorf("replied at %d while %d is durable", second, j.durable())
		}
		p.commit(p.take(nil))
		synctest.Wait()
		if !done.Load() {
			t.Error("no reply after the commit")
		}
	})
}

// What cannot be applied must not reach the disk: a record is applied before anybody can take it, with the sequence that it will have.
func TestARecordIsAppliedBeforeItCanBeTaken(t *testing.T) {
	p := idlePipe(&memory{})
	claimed(t, p)
	if err := p.permit(t.Context()); err != nil {
		t.Fatal(err)
	}
	var h arch.Held
	applied := false
	at := p.claim(&h, &queue.Record{}, func(r *queue.Record) error {
		if applied = true; len(p.pending) != 1 || r.Sequence != 2 { // we hold the ring's lock
			t.Errorf("record %d is applied while %d can be taken, want 2 while one can", r.Sequence, len(p.pending))
		}
		return nil
	})
	if !applied || at != 2 || len(p.take(nil)) != 2 {
		t.Errorf("got record %d, applied %t, want 2", at, applied)
	}
}

func TestABatchIsInTheOrderOfTheClaims(t *testing.T) {
	p := idlePipe(&memory{})
	var spare []*queue.Record
	want := uint64(0)
	for _, n := range []int{1, 3, 8, 2} {
		for range n {
			claimed(t, p)
		}
		batch := p.take(spare)
		if len(batch) != n {
			t.Fatalf("got a batch of %d, want %d", len(batch), n)
		}
		for _, r := range batch {
			if want++; r.Sequence != want {
				t.Fatalf("got %d, want %d", r.Sequence, want)
			}
		}
		p.commit(batch)
		spare = batch
	}
	if got := len(p.permits); got != 0 {
		t.Errorf("got %d permits in use after all commits, want 0", got)
	}
}
