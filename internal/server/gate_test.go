package server

import (
	"sync"

	"callerd/internal/journal"
	"callerd/internal/queue"
)

// gate is a journal that blocks or fails on demand.
type gate struct {
	*journal.Journal
	mu      sync.Mutex
	changed *sync.Cond
	shut    bool
	err     error
	waiting int
	refused int
}

func newGate(j *journal.Journal) *gate {
	g := &gate{Journal: j}
	g.changed = sync.NewCond(&g.mu)
	return g
}

// Append appends when the gate is open.
func (g *gate) Append(batch []*queue.Record) error {
	g.mu.Lock()
	g.waiting++
	g.changed.Broadcast()
	for g.shut {
		g.changed.Wait()
	}
	g.waiting--
	err := g.err
	if err != nil {
		g.refused++
		g.changed.Broadcast()
	}
	g.mu.Unlock()
	if err != nil {
		return err
	}
	return g.Journal.Append(batch)
}

// close lets every Append wait from now on.
func (g *gate) close() { g.set(func() { g.shut = true }) }

// open lets all Appends through.
func (g *gate) open() { g.set(func() { g.shut, g.err = false, nil }) }

// fail lets every Append fail from now on.
func (g *gate) fail(err error) { g.set(func() { g.err = err }) }

func (g *gate) set(f func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	f()
	g.changed.Broadcast()
}

// await returns once an Append waits, or one was refused since it last was open.
func (g *gate) await() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for g.waiting == 0 && g.refused == 0 {
		g.changed.Wait()
	}
}
