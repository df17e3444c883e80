package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	pb "callerd/proto/callerd/v1"

	"github.com/gorilla/websocket"
)

type fakeCall struct {
	ticket *pb.Ticket
	recall bool
}

type fakeFrame struct {
	sequence uint64
	streams  []string // none: the hall only
	events   []map[string]any
}

func (h *fakeHall) view(n uint32) *pb.Counter {
	c := h.counters[n]
	v := &pb.Counter{Counter: n, State: pb.CounterState_COUNTER_STATE_CLOSED}
	if c.open {
		v.State = pb.CounterState_COUNTER_STATE_OPEN
	}
	if c.paused {
		v.State = pb.CounterState_COUNTER_STATE_PAUSED
	}
	if c.current != nil {
		v.Number, v.Ticket, v.TicketState = c.current.Number, c.current.Id, c.current.State
	}
	return v
}

func counterEvent(v *pb.Counter) map[string]any {
	e := map[string]any{"type": "counter", "counter": v.Counter, "state": strings.ToLower(strings.TrimPrefix(v.State.String(), "COUNTER_STATE_"))}
	if v.Ticket != "" {
		e["number"], e["ticket"], e["ticket_state"] = v.Number, v.Ticket, strings.ToLower(strings.TrimPrefix(v.TicketState.String(), "TICKET_STATE_"))
	}
	return e
}

func categoryEvent(c *pb.Category) map[string]any {
	return map[string]any{"type": "waiting", "category": c.Id, "waiting": c.Waiting, "issued": c.Issued, "serving": c.Serving}
}

// publish adds the frame of the record just made; h.mu must be held.
func (h *fakeHall) publish(calls []fakeCall, counters []uint32, line string) {
	f := fakeFrame{sequence: h.sequence}
	for _, c := range calls {
		e := map[string]any{"type": "called", "ticket": c.ticket.Id, "number": c.ticket.Number, "counter": c.ticket.Counter}
		if c.recall {
			e["type"] = "recalled"
		}
		if h.due("announces another number") {
			e["number"] = "Z999"
		}
		f.events = append(f.events, e)
	}
	for _, n := range counters {
		f.events = append(f.events, counterEvent(h.view(n)))
		f.streams = append(f.streams, fmt.Sprint("counter/", n))
	}
	for _, c := range h.categories() {
		if c.Id == line {
			f.events = append(f.events, categoryEvent(c))
		}
	}
	if len(f.events) == 0 || len(calls) > 0 && h.due("hides a call") {
		return
	}
	h.frames = append(h.frames, f)
	close(h.changed)
	h.changed = make(chan struct{})
}

func (h *fakeHall) snapshot(stream string) map[string]any {
	var last uint64
	for _, f := range h.frames {
		if f.concerns(stream) {
			last = f.sequence
		}
	}
	hall := map[string]any{"business_day": fakeDay}
	var counters, categories []any
	for n := range h.counters {
		if stream == "hall" || stream == fmt.Sprint("counter/", n) {
			counters = append(counters, counterEvent(h.view(n)))
		}
	}
	for _, c := range h.categories() {
		if stream == "hall" {
			categories = append(categories, categoryEvent(c))
		}
	}
	hall["counters"], hall["categories"] = counters, categories
	return map[string]any{"epoch": "fake", "sequence": last, "previous": 0, "events": []any{map[string]any{"type": "snapshot", "hall": hall}}}
}

func (f *fakeFrame) concerns(stream string) bool {
	return stream == "hall" || slices.Contains(f.streams, stream)
}

func (f *fakeFrame) on(stream string) (events []map[string]any) {
	for _, e := range f.events {
		if stream == "hall" || e["type"] != "waiting" && fmt.Sprint("counter/", e["counter"]) == stream {
			events = append(events, e)
		}
	}
	return events
}

// ServeHTTP is a display's connection; every so many frames it is cut, so that the display resumes.
func (h *fakeHall) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	stream := "hall"
	if q.Get("view") == "counter" {
		stream = "counter/" + q.Get("counter")
	}
	var up websocket.Upgrader
	conn, err := up.Upgrade(w, r, nil)
	if err != nil {
		return
	}
	defer conn.Close()
	var last uint64
	fmt.Sscan(q.Get("after"), &last)
	h.mu.Lock()
	next := len(h.frames)
	var first map[string]any
	if q.Get("epoch") != "fake" {
		first = h.snapshot(stream)
		last = first["sequence"].(uint64)
	} else {
		next = slices.IndexFunc(h.frames, func(f fakeFrame) bool { return f.sequence > last })
		if next < 0 {
			next = len(h.frames)
		}
		if h.cheat == "repeats after a resume" && next > 0 && last > 0 {
			next--
		}
	}
	h.mu.Unlock()
	if first != nil && send(conn, first) != nil {
		return
	}
	for sent := 0; sent < 200; {
		h.mu.Lock()
		frames, changed := h.frames[next:], h.changed
		h.mu.Unlock()
		for _, f := range frames {
			next++
			if !f.concerns(stream) {
				continue
			}
			if send(conn, map[string]any{"epoch": "fake", "sequence": f.sequence, "previous": last, "events": f.on(stream)}) != nil {
				return
			}
			last = f.sequence
			if sent++; sent == 200 {
				break
			}
		}
		if len(frames) > 0 {
			continue
		}
		select {
		case <-changed:
		case <-r.Context().Done():
			return
		}
	}
	conn.WriteMessage(websocket.CloseMessage, websocket.FormatCloseMessage(4001, "come back"))
}

func send(conn *websocket.Conn, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return conn.WriteMessage(websocket.TextMessage, b)
}
