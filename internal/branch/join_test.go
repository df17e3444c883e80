package branch

import (
	"testing"
	"time"
)

// arrivals is a pending batch in the making: each look at its size costs a tick, and one more joins with each look until all have come.
type arrivals struct {
	ns    int64
	size  int
	comes int // how many will have come
	looks int
}

func (c *arrivals) mono() int64 { return c.ns }

func (c *arrivals) look() int {
	c.looks++
	c.ns += int64(10 * time.Microsecond)
	if c.looks > joinRounds && c.size < c.comes { // behind the rounds for those who run anyway
		c.size++
	}
	return c.size
}

// joiningAfter is a joining that has seen batches of n with behind waiting, each taking a millisecond.
func joiningAfter(c *arrivals, n, behind int) *joining {
	j := &joining{mono: c.mono}
	for range 50 {
		j.committed(n, behind, time.Millisecond)
	}
	return j
}

func TestALoneCallerIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	c := &arrivals{size: 1, comes: 1}
	joiningAfter(c, 1, 0).wait(1, c.look)
	if c.looks > joinRounds {
		t.Errorf("got %d looks, want at most the %d for those who are about to run", c.looks, joinRounds)
	}
}

func TestABatchWaitsForThoseWhoWereThereAMomentAgo(t *testing.T) {
	t.Parallel()
	c := &arrivals{size: 2, comes: 8}
	joiningAfter(c, 5, 3).wait(2, c.look)
	if c.size != 8 {
		t.Errorf("got a batch of %d, want all 8", c.size)
	}
}

func TestABatchWaitsAQuarterOfACommitAtMost(t *testing.T) {
	t.Parallel()
	c := &arrivals{size: 2, comes: 2}
	j := joiningAfter(c, 5, 3)
	begun := c.ns
	j.wait(2, c.look)
	if took, most := time.Duration(c.ns-begun), 260*time.Microsecond+joinRounds*10*time.Microsecond; took > most {
		t.Errorf("got a wait of %v, want at most %v", took, most)
	}
	// Wrong once: the next is not delayed, and after many misses in a row hardly any is.
	for range 1000 {
		j.wait(2, c.look)
	}
	begun, c.looks = c.ns, 0
	for range mostSkips {
		j.wait(2, c.look)
		c.looks = 0
	}
	if took, most := time.Duration(c.ns-begun), 2*260*time.Microsecond+mostSkips*joinRounds*10*time.Microsecond; took > most {
		t.Errorf("got %v for %d batches that nobody joins, want at most %v", took, mostSkips, most)
	}
	// They come again: the next try finds out, and from there on every batch waits.
	c.comes = 8
	for range 2 * mostSkips {
		c.size, c.looks = 2, 0
		j.wait(2, c.look)
	}
	if c.size != 8 {
		t.Errorf("got a batch of %d after %d with all there, want 8", c.size, 2*mostSkips)
	}
}

func TestAClockThatStandsStillHoldsNoBatch(t *testing.T) {
	t.Parallel()
	j := joiningAfter(&arrivals{}, 5, 3)
	j.mono = func() int64 { return 0 }
	looks := 0
	j.wait(2, func() int { looks++; return 2 })
	if looks > joinSpins+joinRounds {
		t.Errorf("got %d looks", looks)
	}
}
