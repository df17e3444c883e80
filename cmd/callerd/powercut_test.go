package main

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"callerd/internal/disktest"
	"callerd/internal/journal"
)

var powerDisks = []struct {
	kind disktest.Kind
	size int64
}{{disktest.Ext4, 128 << 20}, {disktest.XFS, 320 << 20}}

// kill -9 shows nothing about fsync. That this rig can fail is shown in the journal's tests, where the same cuts
// without a sync lose what was said to be on disk.
func TestPowerCutsUnderLoadLoseNothing(t *testing.T) {
	for _, d := range powerDisks {
		t.Run(string(d.kind), func(t *testing.T) {
			t.Parallel()
			disk := disktest.New(t, d.kind, d.size)
			rnd := newRand(t)
			data := filepath.Join(disk.Dir, "data")
			h := newHall(t, rnd, 8, 4)
			n := rounds(t, "CALLERD_POWERCUTS", 5)
			for range n {
				d := start(t, data)
				h.settle(d.conn)
				h.verify(d.conn)
				if rnd.IntN(3) == 0 { // killed just before: what it had not synced, the next one finds and builds upon
					h.work(d.conn, rnd.IntN(300), d.kill)
					d = start(t, data)
				}
				h.work(d.conn, rnd.IntN(1000), func() {
					disk.CutPower(t)
					d.kill()
				})
				disk.Restart(t)
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
			t.Logf("%d power cuts, %d replies, %d tickets", n, h.acks, len(h.numbers))
		})
	}
}

// Whatever a power cut leaves of the very first start, the next start works, and nothing that was handed out is gone.
func TestPowerCutsInTheVeryFirstStart(t *testing.T) {
	for _, d := range powerDisks {
		t.Run(string(d.kind), func(t *testing.T) {
			t.Parallel()
			disk := disktest.New(t, d.kind, d.size)
			rnd := newRand(t)
			data := filepath.Join(disk.Dir, "data")
			found := map[string]int{}
			n := rounds(t, "CALLERD_POWERCUTS_FIRST", 6)
			for range n {
				h := newHall(t, rnd, 2, 1)
				if first := firstStart(rnd.IntN(6), data); first != nil {
					d, _ := launch(t, data)
					for !first() {
					}
					spin(rnd)
					disk.CutPower(t)
					d.kill()
				} else {
					d := start(t, data)
					h.work(d.conn, rnd.IntN(20), func() {
						disk.CutPower(t)
						d.kill()
					})
				}
				disk.Restart(t)
				found[stateOf(t, data)]++
				d := start(t, data)
				h.settle(d.conn)
				h.verify(d.conn)
				h.work(d.conn, 10, d.kill)
				check(t, data)
				if t.Failed() {
					return
				}
				if err := os.RemoveAll(data); err != nil {
					t.Fatal(err)
				}
				disk.Restart(t)
			}
			t.Logf("%d power cuts, which left: %v", n, found)
		})
	}
}

// firstStart is a point that a first start comes to, or nil for the time when it serves.
func firstStart(n int, data string) func() bool {
	exists := func(name string) bool {
		_, err := os.Lstat(filepath.Join(data, name))
		return err == nil
	}
	switch n {
	case 0:
		return func() bool { return exists("") }
	case 1:
		return func() bool { return exists("lock") }
	case 2:
		return func() bool { return exists("journal.db.new") || exists("journal.db") }
	case 3:
		return func() bool { return exists("journal.db") }
	}
	return nil
}

// stateOf says what there is in a data folder.
func stateOf(t *testing.T, data string) string {
	r, err := journal.OpenReader(data)
	switch {
	case err == nil:
		defer r.Close()
		n := 0
		if err := r.Export(t.Context(), 0, func(c []journal.RawBatch) error { n += len(c); return nil }); err != nil {
			t.Error(err)
		}
		if n == 0 {
			return "an empty journal"
		}
		return "a journal"
	case errors.Is(err, os.ErrNotExist):
		if entries, err := os.ReadDir(data); err == nil && len(entries) > 0 {
			return "an unfinished journal"
		}
		return "nothing"
	}
	t.Error(err)
	return "a damaged journal"
}
