package arch_test

import (
	"context"
	"sync"
	"testing"

	"callerd/internal/arch"
)

// ranked returns a lock with a place in the order.
func ranked(rank arch.Rank, id uint64) *arch.RankedLock {
	l := new(arch.RankedLock)
	l.Init(rank, id)
	return l
}

func TestRankNames(t *testing.T) {
	for rank, want := range map[arch.Rank]string{
		0:                    "rank(0)",
		arch.RankCounter:     "counter",
		arch.RankLine:        "line",
		arch.RankRequests:    "requests",
		arch.RankResources:   "resources",
		arch.RankDeadlines:   "deadlines",
		arch.RankJournal:     "journal",
		arch.RankJournal + 1: "rank(7)",
	} {
		if got := rank.String(); got != want {
			t.Errorf("rank %d: got %q, want %q", uint8(rank), got, want)
		}
	}
}

// The right order passes in either build, with any order of release.
func TestRightOrderPasses(t *testing.T) {
	counter, line1, line2 := ranked(arch.RankCounter, 9), ranked(arch.RankLine, 1), ranked(arch.RankLine, 2)
	journal := ranked(arch.RankJournal, 1)
	var h arch.Held
	for range 3 {
		h.AssertNone()
		counter.Lock(&h)
		line1.Lock(&h)
		if err := line2.LockContext(context.Background(), &h); err != nil {
			t.Fatal(err)
		}
		if err := journal.TryLockContext(context.Background(), arch.Backoff{}, &h); err != nil {
			t.Fatal(err)
		}
		h.AssertHeld(counter)
		h.AssertHeld(line1)
		h.AssertHeld(line2)
		h.AssertHeld(journal)
		line1.Unlock(&h)
		journal.Unlock(&h)
		counter.Unlock(&h)
		h.AssertHeld(line2)
		line2.Unlock(&h)
	}
	h.AssertNone()
}

func TestTryLockMayComeOutOfOrder(t *testing.T) {
	counter, line := ranked(arch.RankCounter, 1), ranked(arch.RankLine, 1)
	var h arch.Held
	line.Lock(&h)
	if !counter.TryLock(&h) {
		t.Fatal("TryLock failed on a free lock")
	}
	h.AssertHeld(counter)
	line.Unlock(&h)
	counter.Unlock(&h)
	h.AssertNone()
}

func TestWhatIsNotLockedIsNotHeld(t *testing.T) {
	line := ranked(arch.RankLine, 1)
	var mine, other arch.Held
	line.Lock(&other)
	if line.TryLock(&mine) {
		t.Error("TryLock of a locked lock succeeded")
	}
	if err := line.TryLockContext(t.Context(), arch.Backoff{Tries: 2}, &mine); err == nil {
		t.Error("TryLockContext of a locked lock succeeded")
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := line.LockContext(ctx, &mine); err == nil {
		t.Error("LockContext with a dead context succeeded")
	}
	mine.AssertNone()
	line.Unlock(&other)
}

// Operations that take any two of the locks, by rank, do not block each other.
func TestRankedLocksUnderLoad(t *testing.T) {
	locks := []*arch.RankedLock{
		ranked(arch.RankCounter, 1), ranked(arch.RankCounter, 2),
		ranked(arch.RankLine, 1), ranked(arch.RankLine, 2), ranked(arch.RankJournal, 1),
	}
	counts := make([]int, len(locks))
	const goroutines, rounds = 16, 500
	var wg sync.WaitGroup
	for range goroutines {
		wg.Go(func() {
			var h arch.Held
			for range rounds {
				for i := range locks {
					for j := i + 1; j < len(locks); j++ {
						locks[i].Lock(&h)
						locks[j].Lock(&h)
						counts[i]++
						counts[j]++
						locks[i].Unlock(&h)
						locks[j].Unlock(&h)
						h.AssertNone()
					}
				}
			}
		})
	}
	wg.Wait()
	for i, got := range counts {
		if want := goroutines * rounds * (len(locks) - 1); got != want {
			t.Errorf("lock %d: counted %d, want %d", i, got, want)
		}
	}
}
