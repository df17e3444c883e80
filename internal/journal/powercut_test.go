package journal

import (
	"errors"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"callerd/internal/disktest"
)

var powerDisks = []struct {
	kind disktest.Kind
	size int64
}{{disktest.Ext4, 64 << 20}, {disktest.XFS, 320 << 20}}

func TestAPowerCutLosesNothingThatWasOnDisk(t *testing.T) {
	for _, d := range powerDisks {
		t.Run(string(d.kind), func(t *testing.T) {
			t.Parallel()
			disk := disktest.New(t, d.kind, d.size)
			rnd := newRand(t)
			n := rounds(t, "CALLERD_POWERCUTS", 5)
			acked := uint64(0)
			for i := range n {
				acked = max(acked, cutOnce(t, disk, rnd, false))
				if err := verify(disk.Dir+"/data", acked); err != nil {
					t.Fatalf("cut %d of %d: %v", i+1, n, err)
				}
			}
			t.Logf("%d cuts, %d records", n, acked)
		})
	}
}

// The same rig with NoSync must lose something, or it would show nothing.
func TestWithoutSyncAPowerCutLosesWhatWasSaidToBeOnDisk(t *testing.T) {
	for _, d := range powerDisks {
		t.Run(string(d.kind), func(t *testing.T) {
			t.Parallel()
			disk := disktest.New(t, d.kind, d.size)
			rnd := newRand(t)
			const cuts = 20
			for i := range cuts {
				acked := cutOnce(t, disk, rnd, true)
				if err := verify(disk.Dir+"/data", acked); err != nil {
					t.Logf("cut %d: %v", i+1, err)
					return
				}
			}
			t.Errorf("nothing was lost in %d power cuts without a sync", cuts)
		})
	}
}

// What a process wrote that was killed before it could sync is in the page cache only. The next start reads it and
// tells of it, so Open has it synced.
func TestWhatAStartHasReadIsOnDisk(t *testing.T) {
	for _, d := range powerDisks {
		t.Run(string(d.kind), func(t *testing.T) {
			t.Parallel()
			disk := disktest.New(t, d.kind, d.size)
			dir := disk.Dir + "/data"
			mustOpen(t, dir).Close()
			for range 3 {
				w := startWriter(t, dir, newRand(t).Uint64(), true)
				w.await(20)
				w.kill()
				j := mustOpen(t, dir)
				records := replayed(t, j)
				disk.CutPower(t)
				if err := j.Close(); err != nil {
					t.Fatal(err)
				}
				disk.Restart(t)
				if err := verify(dir, records[len(records)-1].Sequence); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// cutOnce runs a writer, cuts the power at some moment and switches it on again. In some rounds an earlier
// writer is killed just before: what it wrote and did not sync, the next one finds and builds upon.
func cutOnce(t *testing.T, disk *disktest.Disk, rnd *rand.Rand, noSync bool) (acked uint64) {
	t.Helper()
	dir := disk.Dir + "/data"
	if rnd.IntN(3) == 0 {
		w := startWriter(t, dir, rnd.Uint64(), noSync)
		w.await(1 + rnd.IntN(10))
		w.kill()
		acked = w.acked
	}
	w := startWriter(t, dir, rnd.Uint64(), noSync)
	w.await(rnd.IntN(60))
	disk.CutPower(t)
	w.kill()
	disk.Restart(t)
	return max(acked, w.acked)
}

// Whatever the power cut leaves of a first start, the next start works.
func TestAPowerCutInTheVeryFirstStart(t *testing.T) {
	for _, d := range powerDisks {
		t.Run(string(d.kind), func(t *testing.T) {
			t.Parallel()
			disk := disktest.New(t, d.kind, d.size)
			rnd := newRand(t)
			dir := disk.Dir + "/data"
			found := map[string]int{}
			n := rounds(t, "CALLERD_POWERCUTS_FIRST", 10)
			for i := range n {
				w := startWriter(t, dir, rnd.Uint64(), false)
				awaitState(dir, rnd)
				disk.CutPower(t)
				w.kill()
				disk.Restart(t)
				found[stateOf(dir)]++
				first := w.acked
				if _, err := os.Stat(filepath.Join(dir, fileName)); err == nil || first > 0 {
					if err := verify(dir, first); err != nil {
						t.Fatalf("cut %d of %d: %v", i+1, n, err)
					}
				}
				w = startWriter(t, dir, rnd.Uint64(), false)
				w.await(2)
				w.kill()
				if err := verify(dir, max(first, w.acked)); err != nil {
					t.Fatalf("cut %d of %d: %v", i+1, n, err)
				}
				if err := os.RemoveAll(dir); err != nil {
					t.Fatal(err)
				}
				disk.Restart(t)
			}
			t.Logf("%d cuts, found: %v", n, found)
		})
	}
}

// A first start is killed before the new file's name is on disk. The next start finds the file in the page cache, says that
// records are on disk, and the power goes.
func TestAPowerCutAfterAStartThatWasKilledBeforeTheNameWasOnDisk(t *testing.T) {
	for _, d := range powerDisks {
		t.Run(string(d.kind), func(t *testing.T) {
			t.Parallel()
			disk := disktest.New(t, d.kind, d.size)
			dir := disk.Dir + "/data"
			if err := os.Mkdir(dir, 0o700); err != nil { // nor is the folder's
				t.Fatal(err)
			}
			path := filepath.Join(dir, fileName)
			opts := Options{Logger: slog.New(slog.DiscardHandler), Now: time.Now}
			if err := errors.Join(initialize(path+".new", opts), os.Rename(path+".new", path)); err != nil {
				t.Fatal(err)
			}
			w := startWriter(t, dir, newRand(t).Uint64(), false)
			w.await(5)
			disk.CutPower(t)
			w.kill()
			disk.Restart(t)
			if err := verify(dir, w.acked); err != nil {
				t.Error(err)
			}
		})
	}
}

// awaitState waits until a first start has come to a certain point, and a random bit further.
func awaitState(dir string, rnd *rand.Rand) {
	path := filepath.Join(dir, fileName)
	reached := []func() bool{
		func() bool { return exists(dir) },
		func() bool { return exists(filepath.Join(dir, lockName)) },
		func() bool { return exists(path+".new") || exists(path) },
		func() bool { return sizeAtLeast(path+".new", 1) || exists(path) },
		func() bool { return exists(path) },
		func() bool { return sizeAtLeast(path, 1<<20) }, // bbolt grows it for the first batch
	}[rnd.IntN(6)]
	for !reached() {
	}
	for range rnd.IntN(2000) { // a few microseconds each
		exists(dir)
	}
}

func stateOf(dir string) string {
	path := filepath.Join(dir, fileName)
	switch {
	case exists(path):
		return "journal"
	case exists(path + ".new"):
		return "unfinished journal"
	case exists(dir):
		return "folder"
	}
	return "nothing"
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, os.ErrNotExist)
}

func sizeAtLeast(path string, size int64) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Size() >= size
}
