package hub

import "sync/atomic"

// Stats is what a hub has done since New, and what it holds now.
type Stats struct {
	Connections   int64 // being served now
	Subscriptions int64 // joined and not closed, connections' own included

	Appended   uint64 // frames
	Delivered  uint64 // frames and snapshots, each counted for each receiver
	Heartbeats uint64 // each counted for each receiver

	Refused    uint64 // frames not above their stream's last
	Lagging    uint64 // subscriptions ended for being too far behind
	Cut        uint64 // connections that took no bytes until the write deadline
	NotAllowed uint64 // connections ended for sending something
}

type counters struct {
	connections, subscriptions        atomic.Int64
	appended, delivered, heartbeats   atomic.Uint64
	refused, lagging, cut, notAllowed atomic.Uint64
}

// Stats reads the counters, one by one.
func (h *Hub) Stats() Stats {
	return Stats{
		Connections:   h.count.connections.Load(),
		Subscriptions: h.count.subscriptions.Load(),
		Appended:      h.count.appended.Load(),
		Delivered:     h.count.delivered.Load(),
		Heartbeats:    h.count.heartbeats.Load(),
		Refused:       h.count.refused.Load(),
		Lagging:       h.count.lagging.Load(),
		Cut:           h.count.cut.Load(),
		NotAllowed:    h.count.notAllowed.Load(),
	}
}

// delivered counts a message that has reached a receiver.
func (h *Hub) delivered(m *Message) {
	if m.heartbeat {
		h.count.heartbeats.Add(1)
		return
	}
	h.count.delivered.Add(1)
}
