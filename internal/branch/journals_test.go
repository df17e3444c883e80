package branch

import (
	"sync"

	"callerd/internal/queue"
)

// memory is a journal in memory. A hook may block an Append or refuse it.
type memory struct {
	mu      sync.Mutex
	records []*queue.Record
	before  func(batch []*queue.Record) error // called before each Append, without the lock
}

func (m *memory) Append(batch []*queue.Record) error {
	m.mu.Lock()
	before := m.before
	m.mu.Unlock()
	if before != nil {
		if err := before(batch); err != nil {
			return err
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.records = append(m.records, batch...)
	return nil
}

// Replay begins at the DayOpened before the newest, as the one on disk does.
func (m *memory) Replay(f func(*queue.Record) error) error {
	m.mu.Lock()
	records := m.records
	m.mu.Unlock()
	from, newest := 0, 0
	for i, r := range records {
		if _, opens := r.Outcomes[0].(*queue.DayOpened); opens {
			from, newest = newest, i
		}
	}
	for _, r := range records[from:] {
		if err := f(r); err != nil {
			return err
		}
	}
	return nil
}

// hook sets what is called before each Append.
func (m *memory) hook(f func([]*queue.Record) error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.before = f
}

// durable returns the newest sequence that the journal has.
func (m *memory) durable() uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.records) == 0 {
		return 0
	}
	return m.records[len(m.records)-1].Sequence
}

// gate blocks every Append from now on, until it is opened. Each that arrives is announced.
type gate struct {
	arrived chan struct{} // one slot: the commit goroutine is one
	through chan error
}

func (m *memory) gate() *gate {
	g := &gate{make(chan struct{}, 1), make(chan error)}
	m.hook(func([]*queue.Record) error {
		g.arrived <- struct{}{}
		return <-g.through
	})
	return g
}

// open lets the Append that waits, and all others, through.
func (g *gate) open(m *memory) {
	m.hook(nil)
	close(g.through)
}
