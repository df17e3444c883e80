package sim

import "callerd/cmd/kiosk-sim/internal/history"

// wireFrame is a frame of the display protocol, as far as the judge looks at it.
type wireFrame struct {
	Epoch    string      `json:"epoch"`
	Sequence uint64      `json:"sequence"`
	Previous uint64      `json:"previous"`
	Events   []wireEvent `json:"events"`
}

type wireEvent struct {
	Type        string    `json:"type"`
	Ticket      string    `json:"ticket"`
	Number      string    `json:"number"`
	Counter     uint32    `json:"counter"`
	State       string    `json:"state"`
	TicketState string    `json:"ticket_state"`
	Category    string    `json:"category"`
	Waiting     uint32    `json:"waiting"`
	Issued      uint32    `json:"issued"`
	Serving     uint32    `json:"serving"`
	Hall        *wireHall `json:"hall"`
}

type wireHall struct {
	Day        string      `json:"business_day"`
	Categories []wireEvent `json:"categories"`
	Counters   []wireEvent `json:"counters"`
}

func (w *wireFrame) frame() *history.Frame {
	f := &history.Frame{Epoch: w.Epoch, Sequence: w.Sequence, Previous: w.Previous}
	for _, e := range w.Events {
		switch e.Type {
		case "snapshot", "day":
			f.Snapshot = f.Snapshot || e.Type == "snapshot"
			if e.Hall == nil {
				continue
			}
			f.Day = e.Hall.Day
			for _, c := range e.Hall.Categories {
				f.Waiting = append(f.Waiting, c.category())
			}
			for _, c := range e.Hall.Counters {
				f.Counters = append(f.Counters, c.counter())
			}
		case "called", "recalled":
			f.Calls = append(f.Calls, history.Call{Ticket: e.Ticket, Number: e.Number, Counter: e.Counter, Recall: e.Type == "recalled"})
		case "counter":
			f.Counters = append(f.Counters, e.counter())
		case "waiting":
			f.Waiting = append(f.Waiting, e.category())
		case "heartbeat":
			f.Heartbeat = true
		}
	}
	return f
}

func (e wireEvent) category() history.Category {
	return history.Category{ID: e.Category, Issued: e.Issued, Serving: e.Serving, Waiting: e.Waiting}
}

func (e wireEvent) counter() history.Counter {
	return history.Counter{Counter: e.Counter, State: e.State, Number: e.Number, Ticket: e.Ticket, TicketState: e.TicketState}
}
