package journal

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"callerd/internal/queue"
)

func TestANewJournalIsEmptyAndKnowsItself(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "far", "away")
	j := mustOpen(t, dir)
	m := j.Meta()
	if m.Format != Format || len(m.Epoch) != 16 || len(m.BranchID) != 16 || len(m.Secret) != 32 {
		t.Errorf("got meta %+v", m)
	}
	if got := replayed(t, j); len(got) != 0 {
		t.Errorf("got %d records, want none", len(got))
	}
	for _, name := range []string{fileName, lockName, "."} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm() & 0o077; got != 0 {
			t.Errorf("%s: others may do %o with it, want nothing", name, got)
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	again := mustOpen(t, dir)
	if got := again.Meta(); got.Epoch != m.Epoch || string(got.Secret) != string(m.Secret) || got.BranchID != m.BranchID {
		t.Errorf("got meta %+v the second time, want %+v", got, m)
	}
	if other := mustOpen(t, t.TempDir()); other.Meta().Epoch == m.Epoch {
		t.Error("two journals have the same epoch")
	}
}

func TestWhatWasAppendedComesBackInOrder(t *testing.T) {
	t.Parallel()
	for _, size := range []int{1, 7, 100} {
		t.Run(sizeOf(size), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			j := mustOpen(t, dir)
			want := days(1, 300)
			appendAll(t, j, want, size)
			equal(t, replayed(t, j), want)
			j.Close()
			j = mustOpen(t, dir)
			equal(t, replayed(t, j), want)
			j.Close()
			equal(t, mustReadAll(t, dir), want)
		})
	}
}

func TestReplayBeginsWithTheDayBeforeTheNewest(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	j := mustOpen(t, dir)
	all := days(5, 20)
	appendAll(t, j, all, 7)
	equal(t, replayed(t, j), all[60:])
	j.Close()
	equal(t, mustReadAll(t, dir), all)
	j = mustOpen(t, dir)
	more := issues(101, 3)
	mustAppend(t, j, more)
	equal(t, replayed(t, j), append(slices.Clone(all[60:]), more...))
}

// A request id is honoured for 24 hours, also over a restart after a day of 23.
func TestReplayReachesBackADayAlsoOverAShortOne(t *testing.T) {
	t.Parallel()
	j := mustOpen(t, t.TempDir())
	all := days(4, 5)
	all[10].At = all[15].At - int64(23*time.Hour) // the day before the newest
	appendAll(t, j, all, 3)
	equal(t, replayed(t, j), all[5:])
}

func TestABatchOverMidnightGoesIntoBothDays(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	j := mustOpen(t, dir)
	all := days(4, 3) // all of it in one batch: three midnights
	mustAppend(t, j, all)
	var got [][2]uint64
	err := j.Export(t.Context(), 0, func(chunk []RawBatch) error {
		for _, b := range chunk {
			got = append(got, [2]uint64{b.Day, b.First})
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if want := [][2]uint64{{1, 1}, {4, 4}, {7, 7}, {10, 10}}; !slices.Equal(got, want) {
		t.Errorf("got days and batches %v, want %v", got, want)
	}
	j.Close()
	equal(t, mustReadAll(t, dir), all)
}

func TestAJournalMayBeginWithoutADay(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	j := mustOpen(t, dir)
	all := append(issues(1, 3), dayOpened(4, 1), issues(5, 1)[0], dayOpened(6, 2))
	appendAll(t, j, all, 2)
	equal(t, replayed(t, j), all[3:])
	j.Close()
	equal(t, mustReadAll(t, dir), all)
}

func TestASequenceThatDoesNotFollowIsRefused(t *testing.T) {
	t.Parallel()
	j := mustOpen(t, t.TempDir())
	mustAppend(t, j, issues(1, 3))
	holed := issues(4, 3)
	for name, batch := range map[string][]*queue.Record{
		"again":  issues(1, 3),
		"gap":    issues(5, 1),
		"hole":   {holed[0], holed[2]},
		"shared": issues(3, 2),
	} {
		if err := j.Append(batch); err == nil {
			t.Errorf("%s: got no error, want one", name)
		}
	}
	mustAppend(t, j, issues(4, 1))
	if got := len(replayed(t, j)); got != 4 {
		t.Errorf("got %d records, want 4", got)
	}
	if err := j.Append(nil); err != nil {
		t.Errorf("an empty batch: %v", err)
	}
}

func TestAClosedJournalSaysSo(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	j := mustOpen(t, dir)
	for range 2 {
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
	}
	_, dropErr := j.DropDays(2)
	_, replayErr := replay(j)
	for what, err := range map[string]error{
		"append": j.Append(issues(1, 1)),
		"replay": replayErr,
		"drop":   dropErr,
		"export": j.Export(t.Context(), 0, func([]RawBatch) error { return nil }),
	} {
		if !errors.Is(err, ErrClosed) {
			t.Errorf("%s: got %v, want %v", what, err, ErrClosed)
		}
	}
}

func TestAReaderMakesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, d := range []string{dir, filepath.Join(dir, "missing")} {
		if _, err := OpenReader(d); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("got %v, want %v", err, fs.ErrNotExist)
		}
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 0 {
		t.Errorf("got %v in the folder (%v), want nothing", entries, err)
	}
}

func TestAFileThatWasNeverFinishedIsRemoved(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	unfinished := filepath.Join(dir, fileName+".new")
	if err := os.WriteFile(unfinished, []byte("half a journal"), 0o600); err != nil {
		t.Fatal(err)
	}
	j := mustOpen(t, dir)
	mustAppend(t, j, issues(1, 1))
	if _, err := os.Stat(unfinished); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v, want %v", err, fs.ErrNotExist)
	}
}

func TestExportGoesOnBesideAppend(t *testing.T) {
	t.Parallel()
	j := mustOpen(t, t.TempDir())
	all := days(3, 2000)
	appendAll(t, j, all[:3000], 50)
	var appending sync.WaitGroup
	appending.Go(func() { appendAll(t, j, all[3000:], 10) })
	for from := uint64(0); from < 3000; from += 271 {
		next := uint64(0)
		err := j.Export(t.Context(), from, func(chunk []RawBatch) error {
			for _, b := range chunk {
				records, err := DecodeBatch(b.First, b.Value)
				if err != nil {
					return err
				}
				if end := b.First + uint64(len(records)); next == 0 && (b.First > max(from, 1) || end <= from) {
					t.Errorf("from %d: got records %d to %d first", from, b.First, end-1)
				}
				if next != 0 && b.First != next {
					t.Errorf("from %d: got record %d, want %d", from, b.First, next)
				}
				next = b.First + uint64(len(records))
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if next <= 3000 {
			t.Errorf("from %d: the last record was %d, want 3000 at least", from, next-1)
		}
	}
	appending.Wait()
	none := func([]RawBatch) error { t.Error("got a batch, want none"); return nil }
	if err := j.Export(t.Context(), uint64(len(all))+1, none); err != nil {
		t.Error(err)
	}
}

func TestExportOfAReaderIsTheJournals(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	j := mustOpen(t, dir)
	appendAll(t, j, days(3, 2000), 17)
	for _, from := range []uint64{0, 1, 1999, 2001, 4444, 6000, 6001} {
		var live, read []RawBatch
		if err := j.Export(t.Context(), from, func(c []RawBatch) error { live = append(live, c...); return nil }); err != nil {
			t.Fatal(err)
		}
		c, closeImage, err := openPath(j.path) // beside the journal, which nobody writes to
		if err != nil {
			t.Fatal(err)
		}
		r := &Reader{path: j.path, content: c}
		err = r.Export(t.Context(), from, func(c []RawBatch) error { read = append(read, c...); return nil })
		if err := errors.Join(err, closeImage()); err != nil {
			t.Fatal(err)
		}
		if !slices.EqualFunc(live, read, func(a, b RawBatch) bool {
			return a.Day == b.Day && a.First == b.First && string(a.Value) == string(b.Value)
		}) {
			t.Errorf("from %d: got %d batches from the journal and %d from the reader", from, len(live), len(read))
		}
	}
}

func TestDropDaysKeepsTheNewest(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	j := mustOpen(t, dir)
	all := days(6, 100)
	appendAll(t, j, all, 9)
	if _, err := j.DropDays(1); err == nil {
		t.Error("keeping one day: got no error, want one")
	}
	for _, want := range []int{3, 0} {
		if got, err := j.DropDays(3); err != nil || got != want {
			t.Errorf("dropped %d days (%v), want %d", got, err, want)
		}
	}
	more := issues(601, 50)
	appendAll(t, j, more, 1)
	equal(t, replayed(t, j), append(slices.Clone(all[400:]), more...))
	j.Close()
	equal(t, mustReadAll(t, dir), append(slices.Clone(all[300:]), more...))
}

// After short days a replay, and with it a request id's 24 hours, reaches back over more days than are to be kept: those stay.
func TestDropDaysKeepsWhatAReplayNeeds(t *testing.T) {
	t.Parallel()
	j := mustOpen(t, t.TempDir())
	all := days(6, 10)
	for d, hour := range []time.Duration{0, 24, 30, 36, 42, 48} {
		all[d*10].At = testTime.Add(hour * time.Hour).UnixNano()
	}
	appendAll(t, j, all, 10)
	for _, want := range []int{1, 0} {
		if got, err := j.DropDays(2); err != nil || got != want {
			t.Errorf("dropped %d days (%v), want %d", got, err, want)
		}
		equal(t, replayed(t, j), all[10:])
	}
}

func TestAnExportOfADroppedDayFails(t *testing.T) {
	t.Parallel()
	j := mustOpen(t, t.TempDir())
	all := days(4, 3000)
	appendAll(t, j, all, 500)
	err := j.Export(t.Context(), 0, func([]RawBatch) error {
		_, err := j.DropDays(2)
		return err
	})
	if err == nil || !strings.Contains(err.Error(), "dropped") {
		t.Errorf("got %v, want an error that says that the day was dropped", err)
	}
}

func TestALongJournalIsSound(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	j, err := Open(dir, Options{NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	all := days(400, 25) // more days than one page of the root can name
	appendAll(t, j, all, 10)
	if _, err := j.DropDays(150); err != nil {
		t.Fatal(err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	equal(t, mustReadAll(t, dir), all[250*25:])
	equal(t, replayed(t, mustOpen(t, dir)), all[398*25:])
}
