package branch

import (
	"runtime"
	"time"

	"callerd/internal/arch"
)

// joining decides how long a batch is kept open for those who are about to decide: one sync serves them all. It belongs to the commit
// goroutine.
//
// Whoever was told of the last batch comes back, if he comes back at all, soon after it, and a batch that goes without him makes him wait
// for two. So a batch waits, for at most half of what a commit takes, until it has as many as there were callers a
// moment ago, and only as long as that keeps being right: a caller alone never waits, and arrivals that follow no commit soon cost nothing
// but a try now and then.
type joining struct {
	commit  time.Duration // what a commit takes, smoothed
	callers int           // in the last batch and behind it
	skip    int           // batches until the next try
	backoff int           // how many were skipped after the last try that failed
}

const (
	joinRounds  = 4 // how often runnable callers may join, whatever is expected
	mostPatient = 500 * time.Microsecond
	mostSkips   = 64
)

// committed learns from a batch of n, after which behind were waiting already.
func (j *joining) committed(n, behind int, took time.Duration) {
	j.commit += (took - j.commit) / 8
	j.callers = n + behind
}

// wait lets others join a batch of n; size tells how many it has, and gather waits until it has that many, or so long, and
// tells the same. It holds no lock.
func (j *joining) wait(n int, size func() int, gather func(target int, patience time.Duration) int) {
	for range joinRounds {
		runtime.Gosched()
		m := size()
		if m == n {
			break
		}
		n = m
	}
	missing, patience := j.callers-n, min(j.commit/2, mostPatient)
	if missing <= 0 || patience <= 0 {
		return
	}
	if j.skip > 0 {
		j.skip--
		return
	}
	if came := gather(j.callers, patience) - n; 2*came >= missing {
		j.backoff = 0
		return
	}
	j.backoff = min(max(1, 2*j.backoff), mostSkips)
	j.skip = j.backoff
}

// gather waits until target records are pending, but only so long; it returns how many are.
func (p *pipe) gather(target int, patience time.Duration) int {
	if n := p.aim(target); n >= target {
		return n
	}
	t := time.NewTimer(patience)
	defer t.Stop()
	select {
	case <-p.full:
	case <-t.C:
	}
	return p.aim(0)
}

// aim lets claim say so in full when as many records are pending, 0 for never, and returns how many are.
func (p *pipe) aim(target int) int {
	var h arch.Held
	p.lock.Lock(&h)
	defer p.lock.Unlock(&h)
	select { // of an aim before
	case <-p.full:
	default:
	}
	if p.target = target; len(p.pending) >= target {
		p.target = 0
	}
	return len(p.pending)
}
