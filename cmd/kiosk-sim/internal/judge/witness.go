package judge

import (
	"fmt"

	"callerd/cmd/kiosk-sim/internal/history"
)

// witness is what the hall displays were told, by sequence: it places what no reply places.
type witness struct {
	frames map[uint64]*history.Frame // first one of each sequence, hall stream, no snapshots
	issued map[string]uint64         // ticket id to the frame that raised the category's count to it
	calls  map[string][]seenCall     // ticket id to its announcements
	states map[uint32][]seenState    // counter to its states
	// snapshots are compared as they are; they place nothing.
	snapshots []*history.Frame
}

type seenCall struct {
	at      uint64
	counter uint32
	recall  bool
}

type seenState struct {
	at    uint64
	state string
}

func witnessOf(h *history.History) *witness {
	w := &witness{frames: map[uint64]*history.Frame{}, issued: map[string]uint64{}, calls: map[string][]seenCall{}, states: map[uint32][]seenState{}}
	for _, entries := range h.Displays {
		day, issued := "", map[string]uint32{}
		for _, e := range entries {
			f := e.Frame
			if f == nil || f.Stream != "hall" || f.Heartbeat {
				continue
			}
			if f.Day != "" {
				day = f.Day
			}
			_, known := w.frames[f.Sequence]
			if !f.Snapshot && !known {
				w.frames[f.Sequence] = f
			}
			for _, c := range f.Waiting {
				if last, ok := issued[c.ID]; ok && c.Issued == last+1 && !f.Snapshot {
					w.issued[fmt.Sprintf("%s/%s/%d", day, c.ID, c.Issued)] = f.Sequence
				}
				issued[c.ID] = c.Issued
			}
			if f.Snapshot {
				w.snapshots = append(w.snapshots, f)
			}
			if f.Snapshot || known {
				continue
			}
			for _, c := range f.Counters {
				w.states[c.Counter] = append(w.states[c.Counter], seenState{f.Sequence, c.State})
			}
			for _, c := range f.Calls {
				w.calls[c.Ticket] = append(w.calls[c.Ticket], seenCall{f.Sequence, c.Counter, c.Recall})
			}
		}
	}
	return w
}
