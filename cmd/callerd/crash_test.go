package main

import (
	"path/filepath"
	"testing"
)

// Case 4: kill -9 at any moment under load, again and again. Every acknowledged ticket is there with its number, no
// number twice, none missing, the ticket at each counter still there; who got no answer asks again and gets the one
// outcome.
func TestCrashesUnderLoadLoseNothing(t *testing.T) {
	t.Parallel()
	rnd := newRand(t)
	data := filepath.Join(t.TempDir(), "data")
	h := newHall(t, rnd, 8, 4)
	n := rounds(t, "CALLERD_CRASH_ROUNDS", 5)
	for range n {
		if rnd.IntN(4) == 0 { // killed while it starts
			d, _ := launch(t, data)
			spin(rnd)
			d.kill()
		}
		d := start(t, data)
		h.settle(d.conn)
		h.verify(d.conn)
		h.work(d.conn, rnd.IntN(1500), d.kill)
		check(t, data)
		if t.Failed() {
			return
		}
	}
	d := start(t, data)
	h.settle(d.conn)
	h.verify(d.conn)
	d.kill()
	check(t, data)
	t.Logf("%d crashes, %d replies, %d tickets", n, h.acks, len(h.numbers))
}
