package branch

import (
	"runtime"
	"time"
)

// joining decides how long a batch is kept open for those who are about to decide: one sync serves them all. It belongs to the commit
// goroutine.
//
// Whoever was told of the last batch comes back, if he comes back at all, within a fraction of what the disk takes; a batch
// that goes without them makes them wait for two. So a batch waits, for at most a quarter of what a commit takes, until it has as many as
// there were callers a moment ago, and only as long as that keeps being right: a caller alone never waits, and arrivals that
// follow no commit soon cost nothing but a try now and then.
type joining struct {
	mono    func() int64
	commit  time.Duration // what a commit takes, smoothed
	callers int           // in the last batch and behind it
	skip    int           // batches until the next try
	backoff int           // how many were skipped after the last try that failed
}

const (
	joinRounds  = 4    // how often runnable callers may join, whatever is expected
	joinSpins   = 4096 // bounds a wait when the clock does not move
	mostPatient = 250 * time.Microsecond
	mostSkips   = 64
)

// committed learns from a batch of n, after which behind were waiting already.
func (j *joining) committed(n, behind int, took time.Duration) {
	j.commit += (took - j.commit) / 8
	j.callers = n + behind
}

// wait lets others join a batch of n; size tells how many it has. It holds no lock.
func (j *joining) wait(n int, size func() int) {
	for range joinRounds {
		runtime.Gosched()
		m := size()
		if m == n {
			break
		}
		n = m
	}
	patience := min(j.commit/4, mostPatient)
	if n == 0 || n >= j.callers || patience <= 0 {
		return
	}
	if j.skip > 0 {
		j.skip--
		return
	}
	missing, begun := j.callers-n, j.mono()
	for range joinSpins {
		if n = size(); n >= j.callers || time.Duration(j.mono()-begun) >= patience {
			break
		}
		runtime.Gosched()
	}
	if came := n - (j.callers - missing); 2*came >= missing {
		j.backoff = 0
		return
	}
	j.backoff = min(max(1, 2*j.backoff), mostSkips)
	j.skip = j.backoff
}
