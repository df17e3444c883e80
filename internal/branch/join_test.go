package branch

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"callerd/internal/queue"
)

// arrivals is a pending batch in the making.
type arrivals struct {
	size   int
	comes  int           // how many there are once somebody waits for them
	waited time.Duration // all patience that was asked for
	waits  int
}

func (a *arrivals) look() int { return a.size }

func (a *arrivals) gather(target int, patience time.Duration) int {
	a.waits++
	a.waited += patience
	a.size = min(target, max(a.size, a.comes))
	return a.size
}

// joiningAfter is a joining that has seen batches of n with behind waiting, each taking as long as took.
func joiningAfter(n, behind int, took time.Duration) *joining {
	j := &joining{}
	for range 100 {
		j.committed(n, behind, took)
	}
	return j
}

func TestALoneCallerIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	a := &arrivals{size: 1}
	joiningAfter(1, 0, time.Millisecond).wait(1, a.look, a.gather)
	if a.waits != 0 {
		t.Errorf("got a wait of %v", a.waited)
	}
}

func TestABatchWaitsForThoseWhoWereThereAMomentAgo(t *testing.T) {
	t.Parallel()
	a := &arrivals{size: 2, comes: 8}
	j := joiningAfter(5, 3, 600*time.Microsecond)
	j.wait(2, a.look, a.gather)
	if a.size != 8 {
		t.Errorf("got a batch of %d, want all 8", a.size)
	}
	if a.waited > 300*time.Microsecond {
		t.Errorf("got a patience of %v, want half of a commit's time at most", a.waited)
	}
	a.size = 2
	if j.wait(2, a.look, a.gather); a.waits != 2 {
		t.Errorf("got %d waits, want another: it was right to wait", a.waits)
	}
}

func TestASlowDiskIsNotWaitedForTwice(t *testing.T) {
	t.Parallel()
	a := &arrivals{size: 2}
	joiningAfter(5, 3, time.Second).wait(2, a.look, a.gather)
	if a.waited != mostPatient {
		t.Errorf("got a patience of %v, want %v", a.waited, mostPatient)
	}
}

func TestABatchThatNobodyJoinsSoonWaitsNoMore(t *testing.T) {
	t.Parallel()
	a := &arrivals{size: 2}
	j := joiningAfter(5, 3, time.Millisecond)
	for range 1000 {
		j.wait(2, a.look, a.gather)
	}
	if most := 1000/mostSkips + 10; a.waits > most {
		t.Errorf("got %d waits in 1000 batches that nobody joined, want at most %d", a.waits, most)
	}
	// They come again: a try finds out, and from there on every batch waits.
	a.comes = 8
	for range mostSkips + 1 {
		a.size = 2
		j.wait(2, a.look, a.gather)
	}
	a.waits = 0
	for range 10 {
		a.size = 2
		j.wait(2, a.look, a.gather)
	}
	if a.waits != 10 {
		t.Errorf("got %d waits in 10 batches that the others join, want 10", a.waits)
	}
}

func TestGatheringEndsWithTheLastOneExpectedOrWithPatience(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := idlePipe(&memory{})
		claimed(t, p)
		began := time.Now()
		if got := p.gather(1, time.Hour); got != 1 || time.Since(began) != 0 {
			t.Errorf("got %d after %v, want the one that is there, at once", got, time.Since(began))
		}
		if got := p.gather(2, time.Millisecond); got != 1 || time.Since(began) != time.Millisecond {
			t.Errorf("got %d after %v, want one after a millisecond", got, time.Since(began))
		}
		claimed(t, p) // behind an aim that was given up: no signal may be left for the next
		go func() {
			<-time.NewTimer(time.Second).C
			claimed(t, p)
			claimed(t, p)
		}()
		if got := p.gather(4, time.Hour); got != 4 || time.Since(began) != time.Millisecond+time.Second {
			t.Errorf("got %d after %v, want four as soon as the fourth has come", got, time.Since(began))
		}
		if p.target != 0 || len(p.full) != 0 {
			t.Errorf("got target %d and %d signals left behind", p.target, len(p.full))
		}
	})
}

// Eight kiosks that ask again 100 us after each reply, and a disk that takes a millisecond: without patience they fall into two groups,
// each waiting for the other's commit.
func TestThoseWhoComeBackTogetherShareTheirCommits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		clock := func() time.Time { return time.Now() }
		var sizes []int
		h := open(t, func(o *Options) { o.Now, o.Verify = clock, false })
		h.journal.hook(func(batch []*queue.Record) error {
			sizes = append(sizes, len(batch))
			<-time.NewTimer(time.Millisecond).C
			return nil
		})
		var kiosks sync.WaitGroup
		for k := range byte(8) {
			kiosks.Go(func() {
				<-time.NewTimer(time.Duration(k) * 400 * time.Microsecond).C // not all at once, at first
				for i := range byte(100) {
					if _, err := h.IssueTicket(t.Context(), IssueRequest{Request: Request{ID: queue.RequestID{1, k, i}}, Category: "personal"}); err != nil {
						t.Error(err)
					}
					<-time.NewTimer(100 * time.Microsecond).C
				}
			})
		}
		kiosks.Wait()
		whole := 0
		for _, n := range sizes {
			if n == 8 {
				whole++
			}
		}
		if whole < 80 {
			t.Errorf("got %d batches of all eight among %d, want at least 80 (%v)", whole, len(sizes), sizes)
		}
		h.close()
	})
}
