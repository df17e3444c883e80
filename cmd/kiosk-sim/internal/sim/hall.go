package sim

import "sync/atomic"

// hall is what the machines of one hall share: a bell that a kiosk rings so that an idle teller looks
// up, and counts for the progress line.
type hall struct {
	issued, called, served atomic.Int64

	bell chan struct{} // one wake-up a counter is enough
	done chan struct{} // closed when the kiosks are done
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
