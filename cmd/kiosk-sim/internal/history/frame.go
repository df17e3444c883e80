package history

// Frame is one frame that a display received.
type Frame struct {
	Display  string `json:"display"`
	Stream   string `json:"stream"` // hall, or counter/3
	Epoch    string `json:"epoch"`
	Sequence uint64 `json:"sequence"`
	Previous uint64 `json:"previous"`
	At       int64  `json:"at"`
	Snapshot bool   `json:"snapshot,omitempty"`
	// Heartbeat frames are kept too: they say how far a display that heard nothing is.
	Heartbeat bool       `json:"heartbeat,omitempty"`
	Calls     []Call     `json:"calls,omitempty"`
	Waiting   []Category `json:"waiting,omitempty"`
	Counters  []Counter  `json:"counters,omitempty"`
	Day       string     `json:"day,omitempty"`
	Hash      uint64     `json:"hash,omitempty"` // of the bytes as received: displays of one stream see the same
}

// Call is one announcement.
type Call struct {
	Ticket  string `json:"ticket"`
	Number  string `json:"number"`
	Counter uint32 `json:"counter"`
	Recall  bool   `json:"recall,omitempty"`
}

// LinkState says what happened to a display's connection.
type LinkState string

const (
	// Up: connected; After is the frame it asked to resume behind, 0 for a snapshot.
	Up LinkState = "up"
	// Down: the connection ended; Code is the WebSocket close code, 0 when it was cut.
	Down LinkState = "down"
	// Drained: the run is over, and the display was connected until it had everything or no more
	// came: Last is what it had to reach.
	Drained LinkState = "drained"
)

// Link is a change of a display's connection.
type Link struct {
	Display string    `json:"display"`
	Stream  string    `json:"stream"`
	State   LinkState `json:"state"`
	After   uint64    `json:"after,omitempty"`
	Last    uint64    `json:"last,omitempty"`
	Code    int       `json:"code,omitempty"`
	At      int64     `json:"at"`
}

// Entry is a frame or a link, in the order in which one display had them.
type Entry struct {
	Frame *Frame
	Link  *Link
}

// Run is the head of one run's part of a history.
type Run struct {
	ID   string `json:"id"`
	Wall int64  `json:"wall"`
	Seed uint64 `json:"seed"`
	Args string `json:"args,omitempty"`
	// Policies that the daemon was configured with; nil: they are not known, and not judged.
	Policies *Policies `json:"policies,omitempty"`
}

// History is all that the clients of one or more runs saw.
type History struct {
	Runs []Run
	// Ops holds every attempt, in the order of the answers.
	Ops []Op
	// Displays holds what each display had, by "run/display", in order.
	Displays map[string][]Entry
}

// LeftOpen returns the requests whose sessions were not closed, by counter.
func (h *History) LeftOpen() map[uint32]Op {
	open := map[uint32]Op{}
	for _, op := range h.Ops {
		switch {
		case op.Outcome != OK:
		case op.Method == "OpenCounter":
			if op.Epoch >= open[op.Counter].Epoch {
				open[op.Counter] = op
			}
		case op.Method == "CloseCounter" && op.Epoch == open[op.Counter].Epoch:
			delete(open, op.Counter)
		}
	}
	return open
}

// Join appends a later history.
func (h *History) Join(later *History) {
	h.Runs = append(h.Runs, later.Runs...)
	h.Ops = append(h.Ops, later.Ops...)
	for key, entries := range later.Displays {
		h.Displays[key] = append(h.Displays[key], entries...)
	}
}

// Unsettled returns, by client, the first attempts of requests that no answer settled.
func (h *History) Unsettled() map[string][]Op {
	settled := map[string]bool{}
	for _, op := range h.Ops {
		settled[op.RequestID] = settled[op.RequestID] || op.Outcome != Unknown
	}
	open := map[string][]Op{}
	for _, op := range h.Ops {
		if op.Changes() && !settled[op.RequestID] {
			settled[op.RequestID] = true // once
			open[op.Client] = append(open[op.Client], op)
		}
	}
	return open
}
