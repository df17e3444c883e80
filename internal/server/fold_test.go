package server

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"callerd/internal/hub"
	"callerd/internal/queue"
)

// folded is a display that knows the protocol and nothing else: it makes the hall of the frames of one stream.
type folded struct {
	counter queue.CounterID // 0: the hall's stream
	sub     *hub.Subscription
	last    uint64
	hall    map[string]any
}

// joinBoard puts a display on a stream of a board.
func joinBoard(t *testing.T, b *board, counter queue.CounterID) *folded {
	t.Helper()
	sub, known, err := b.join(counter, "", 0)
	if err != nil || !known {
		t.Fatalf("counter %d: got %t, %v", counter, known, err)
	}
	t.Cleanup(sub.Close)
	return &folded{counter: counter, sub: sub}
}

var ended = func() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}()

// drain takes all frames that are there; it returns their sequences.
func (d *folded) drain(t *testing.T) (sequences []uint64) {
	t.Helper()
	for {
		m, err := d.sub.Next(ended)
		if err != nil {
			return sequences
		}
		var f struct {
			Sequence, Previous uint64
			Events             []map[string]any
		}
		if err := json.Unmarshal(encodeFrame(m.Value), &f); err != nil {
			t.Fatal(err)
		}
		if f.Events[0]["type"] != "snapshot" {
			if f.Previous != d.last {
				t.Fatalf("counter %d: frame %d is behind %d, want one behind %d", d.counter, f.Sequence, f.Previous, d.last)
			}
			sequences = append(sequences, f.Sequence)
		}
		d.last = f.Sequence
		for _, e := range f.Events {
			d.apply(t, e)
		}
	}
}

func (d *folded) apply(t *testing.T, e map[string]any) {
	t.Helper()
	kind := e["type"]
	delete(e, "type")
	switch kind {
	case "snapshot", "day":
		d.hall = e["hall"].(map[string]any)
	case "called", "recalled":
		calls := slices.DeleteFunc(d.hall["calls"].([]any), func(c any) bool {
			k := c.(map[string]any)
			return k["ticket"] == e["ticket"] && k["counter"] == e["counter"]
		})
		calls = append([]any{e}, calls...)
		d.hall["calls"] = calls[:min(len(calls), 6)]
	case "counter":
		d.replace(t, "counters", "counter", e)
	case "waiting":
		d.replace(t, "categories", "category", e)
	case "notice":
		d.hall["notice"] = e["text"]
	default:
		t.Fatalf("an event of type %v", kind)
	}
}

// replace changes one item of a list; there is no new one but in a day event. A counter is replaced whole, of a category only
// the counts are told.
func (d *folded) replace(t *testing.T, list, key string, e map[string]any) {
	t.Helper()
	for _, item := range d.hall[list].([]any) {
		m := item.(map[string]any)
		if m[key] != e[key] {
			continue
		}
		if list == "counters" {
			clear(m)
		}
		for k, v := range e {
			m[k] = v
		}
		return
	}
	t.Fatalf("counter %d: an event of %s %v, which the snapshot did not have", d.counter, key, e[key])
}

// snapshotOf is what a display that joined now would be given first.
func snapshotOf(t *testing.T, b *board, counter queue.CounterID) map[string]any {
	t.Helper()
	b.mu.Lock()
	e := b.snapshot("snapshot", counter)
	b.mu.Unlock()
	raw, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]any
	if err := json.Unmarshal(raw, &m); err != nil {
		t.Fatal(err)
	}
	h := m["hall"].(map[string]any)
	delete(h, "time")
	return h
}

// same compares the hall that a display made with what the board has.
func (d *folded) same(t *testing.T, b *board, r *queue.Record) {
	t.Helper()
	got := map[string]any{}
	for k, v := range d.hall {
		if k != "time" {
			got[k] = v
		}
	}
	want := snapshotOf(t, b, d.counter)
	if a, b := encode(got), encode(want); a != b {
		t.Fatalf("after %s counter %d:\nfolded   %s\nsnapshot %s", encode(r), d.counter, a, b)
	}
}

func encode(v any) string {
	b, err := json.Marshal(v) // sorts the keys
	if err != nil {
		return fmt.Sprint(err)
	}
	return string(b)
}
