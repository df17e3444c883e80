package server

import (
	"testing"
	"time"

	"callerd/internal/hub"
	"callerd/internal/queue"
)

// sameAfterSilence replays records on a board that makes all frames and on one that makes the last ones only: who joins or resumes later
// must see the same.
func sameAfterSilence(t *testing.T, records []*queue.Record, loud uint64) {
	t.Helper()
	var boards [2]*board
	for i := range boards {
		s := unserved(t, Options{Now: func() time.Time { return time.Unix(0, 0) }, Head: hub.DefaultHistory + loud*uint64(i)})
		for _, r := range records {
			s.Publish([]*queue.Record{r})
		}
		boards[i] = s.board
	}
	all, last := boards[0], boards[1]
	if all.silent != nil || last.loud != loud || last.silent != nil {
		t.Fatalf("got boards that speak from %d and %d on, want 0 and %d", all.loud, last.loud, loud)
	}
	for _, id := range append([]queue.CounterID{0}, counterIDs(all)...) {
		stream := hallStream
		if id != 0 {
			stream = counterStream(id)
		}
		if got, want := last.hub.Last(stream), all.hub.Last(stream); got != want {
			t.Errorf("loud from %d: got %d as the last frame of %s, want %d", loud, got, stream, want)
		}
		if got, want := encode(joined(t, last, id)), encode(joined(t, all, id)); got != want {
			t.Errorf("loud from %d, counter %d: got\n%s\nwant\n%s", loud, id, got, want)
		}
		for i, r := range records {
			if r.Sequence < loud || r.Sequence > loud+20 && i < len(records)-20 { // each is told all that follows
				continue
			}
			if got, want := missed(t, last, id, r.Sequence), missed(t, all, id, r.Sequence); got != want {
				t.Fatalf("loud from %d, counter %d behind %d: got %s\nwant %s", loud, id, r.Sequence, got, want)
			}
		}
	}
}

// joined is the hall as one sees it who joins.
func joined(t *testing.T, b *board, counter queue.CounterID) map[string]any {
	d := joinBoard(t, b, counter)
	d.drain(t)
	return d.hall
}

// missed is all that a display gets which resumes behind a sequence.
func missed(t *testing.T, b *board, counter queue.CounterID, after uint64) string {
	t.Helper()
	sub, _, err := b.join(counter, b.epoch, after)
	if err != nil {
		t.Fatal(err)
	}
	defer sub.Close()
	text := ""
	for {
		m, err := sub.Next(ended)
		if err != nil {
			return text
		}
		text += string(encodeFrame(m.Value)) + "\n"
	}
}
