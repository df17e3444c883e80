package sim

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
)

// hall is what the machines of one hall share: a bell that a kiosk rings so that an idle teller looks
// up, and counts for the progress line.
type hall struct {
	issued, called, served atomic.Int64

	bell chan struct{} // one wake-up a counter is enough
	done chan struct{} // closed when the kiosks are done

	mu     sync.Mutex
	recent [64]string // ids handed out lately
	n      int
	gone   []gone // no-shows who will come back
}

// gone is a no-show who comes back at a time.
type gone struct {
	ticket string
	at     int64
}

// handed notes a number that a customer has got.
func (h *hall) handed(id string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.recent[h.n%len(h.recent)] = id
	h.n++
}

// someone returns a number handed out lately, empty when there is none.
func (h *hall) someone(rng *rand.Rand) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.recent[rng.IntN(len(h.recent))]
}

// miss notes a no-show who will come back.
func (h *hall) miss(id string, at int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.gone = append(h.gone, gone{id, at})
}

// late returns a no-show who has come back by now, empty when there is none.
func (h *hall) late(now int64) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i, g := range h.gone {
		if g.at <= now {
			h.gone = append(h.gone[:i], h.gone[i+1:]...)
			return g.ticket
		}
	}
	return ""
}

func (h *hall) ring() {
	select {
	case h.bell <- struct{}{}:
	default:
	}
}

func (h *hall) closing() bool {
	select {
	case <-h.done:
		return true
	default:
		return false
	}
}

// Progress is how far a run is.
type Progress struct{ Issued, Called, Served, Reconnects int64 }
