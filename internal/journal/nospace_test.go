package journal

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"syscall"
	"testing"
	"time"

	"callerd/internal/disktest"
	"callerd/internal/queue"
)

// Case 40, the journal's part: no room, the same batch again, room, and on without gap or repeat.
func TestAFullDiskLosesNothing(t *testing.T) {
	disks := []struct {
		kind disktest.Kind
		size int64
	}{{disktest.Ext4, 4 << 20}, {disktest.Tmpfs, 2 << 20}, {disktest.XFS, 320 << 20}}
	for _, d := range disks {
		t.Run(string(d.kind), func(t *testing.T) {
			disk := disktest.New(t, d.kind, d.size)
			seed := uint64(time.Now().UnixNano())
			t.Logf("seed %d", seed)
			rnd := rand.New(rand.NewPCG(seed, 0))
			dir := disk.Dir + "/data"
			j := mustOpen(t, dir)
			next := uint64(1)
			for round := range 12 {
				disk.Fill(t, int64(rnd.IntN(200<<10)))
				batch, refused := appendUntilFull(t, j, rnd, &next)
				for range rnd.IntN(4) {
					if err := j.Append(batch); !NoSpace(err) && err != nil {
						t.Fatal(err)
					} else if err == nil { // the file system found a page somewhere
						next += uint64(len(batch))
						batch, _ = appendUntilFull(t, j, rnd, &next)
					}
					if got := exported(t, j); got != next-1 {
						t.Fatalf("exported up to record %d, on disk are %d", got, next-1)
					}
				}
				if round%3 == 2 { // stopped with no space: the batch was given up
					if err := j.Close(); err != nil {
						t.Fatal(err)
					}
					disk.MakeRoom(t)
					j = mustOpen(t, dir)
					if got := j.durable.Load(); got != next-1 && got != next-1+uint64(len(batch)) {
						t.Fatalf("last record is %d, want %d", got, next-1)
					}
					next = j.durable.Load() + 1
				} else {
					disk.MakeRoom(t)
					mustAppend(t, j, batch)
					next += uint64(len(batch))
				}
				t.Logf("round %d: %v; %d records", round, refused, next-1)
			}
			want := int(next - 1)
			if got := len(replayed(t, j)); got != want {
				t.Errorf("got %d records, want %d", got, want)
			}
			j.Close()
			equal(t, mustReadAll(t, dir), issues(1, want))
		})
	}
}

// appendUntilFull appends until there is no space, and returns the batch that was refused.
func appendUntilFull(t *testing.T, j *Journal, rnd *rand.Rand, next *uint64) ([]*queue.Record, error) {
	for {
		batch := issues(*next, 1+rnd.IntN(300))
		err := j.Append(batch)
		if NoSpace(err) {
			return batch, err
		}
		if err != nil {
			t.Fatal(err)
		}
		*next += uint64(len(batch))
	}
}

// exported is the last sequence that an export hands out.
func exported(t *testing.T, j *Journal) (last uint64) {
	err := j.Export(t.Context(), 0, func(chunk []RawBatch) error {
		b := chunk[len(chunk)-1]
		n, err := countOf(b.Value)
		last = b.First + n - 1
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return last
}

func TestAFullDiskAtTheFirstStartSaysSoAndLeavesNothingInTheWay(t *testing.T) {
	disk := disktest.New(t, disktest.Ext4, 4<<20)
	dir := disk.Dir + "/data"
	for room := int64(0); room < 100<<10; room += 8 << 10 {
		disk.Fill(t, room)
		if j, err := Open(dir, Options{}); err == nil {
			j.Close()
		} else if !NoSpace(err) {
			t.Errorf("with %d bytes: got %v, want ENOSPC", room, err)
		}
		disk.MakeRoom(t)
		j := mustOpen(t, dir)
		mustAppend(t, j, issues(1, 1))
		j.Close()
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
	}
}

// The transaction failed in its very last sync: its batch is in the file all the same.
func TestABatchThatCameThroughAllTheSameIsNotWrittenTwice(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	j := mustOpen(t, dir)
	mustAppend(t, j, issues(1, 2))
	mustAppend(t, j, issues(3, 2))
	// As commit leaves it when bbolt reports an error after it has written the meta page.
	j.head.last, j.suspect = 2, true
	j.durable.Store(2)
	if got := exported(t, j); got != 2 {
		t.Errorf("exported up to record %d, want 2: what is not synced is nobody's business", got)
	}
	mustAppend(t, j, issues(3, 2))
	mustAppend(t, j, issues(5, 1))
	if got := exported(t, j); got != 5 {
		t.Errorf("exported up to record %d, want 5", got)
	}
	j.Close()
	equal(t, mustReadAll(t, dir), issues(1, 5))
}

func TestAfterAnUnknownOutcomeNothingIsWritten(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	j := mustOpen(t, dir)
	mustAppend(t, j, issues(1, 1))
	j.file.Close() // the disk has gone
	for range 2 {
		if err := j.Append(issues(2, 1)); err == nil || NoSpace(err) {
			t.Fatalf("got %v, want another error", err)
		}
	}
	if _, err := j.DropDays(2); err == nil {
		t.Error("dropping days: got no error, want one")
	}
	j.Close()
	equal(t, mustReadAll(t, dir), issues(1, 1))
}

func TestNoSpaceIsFoundInEveryWording(t *testing.T) {
	t.Parallel()
	for _, e := range []syscall.Errno{syscall.ENOSPC, syscall.EDQUOT} {
		for _, err := range []error{e, fmt.Errorf("write: %w", e), errors.New("file sync error: " + e.Error())} {
			if got := unwrapNoSpace(err); !NoSpace(got) || !errors.Is(got, e) {
				t.Errorf("%v: got %v, want %v in it", err, got, e)
			}
		}
	}
	for _, err := range []error{nil, syscall.EIO, errors.New("no space left on device, or so")} {
		if got := unwrapNoSpace(err); NoSpace(got) || got != err {
			t.Errorf("%v: got %v", err, got)
		}
	}
}
