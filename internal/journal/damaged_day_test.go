package journal

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestADamagedOldDayIsNotDropped(t *testing.T) {
	t.Parallel()
	file, _, _ := smallJournal(t)
	dir := t.TempDir()
	path := filepath.Join(dir, fileName)
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	c, closeImage, err := openPath(path)
	if err != nil {
		t.Fatal(err)
	}
	closeImage()
	root := order.Uint64(c.days[0].value)
	broken := bytes.Clone(file)
	broken[root*c.pageSize+9] ^= 0x40 // the kind of the page
	if err := os.WriteFile(path, broken, 0o600); err != nil {
		t.Fatal(err)
	}
	j := mustOpen(t, dir)
	if n, err := j.DropDays(2); n != 0 || !errors.Is(err, ErrDamaged) {
		t.Errorf("dropped %d days (%v), want none and %v", n, err, ErrDamaged)
	}
	mustAppend(t, j, issues(221, 1)) // today goes on
}

// What is no batch must not be followed as a bucket: bbolt frees every page that a dropped day's buckets name.
func TestADayIsOnlyDroppedIfItIsWhatWasWritten(t *testing.T) {
	t.Parallel()
	file, _, _ := smallJournal(t)
	dir := t.TempDir()
	path := filepath.Join(dir, fileName)
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	c, closeImage, err := openPath(path)
	if err != nil {
		t.Fatal(err)
	}
	closeImage()
	root := order.Uint64(c.days[0].value) * c.pageSize
	if order.Uint16(file[root+8:]) == branchPage {
		root = order.Uint64(file[root+pageHeader+8:]) * c.pageSize
	}
	first := root + pageHeader                                  // its first entry
	second := first + elementSize                               // and the one behind
	value := second + uint64(order.Uint32(file[second+4:])) + 8 // whose value that is
	for what, at := range map[string]uint64{
		"a batch that says it is a bucket": first,
		"a key":                            value - 1,
		"a value":                          value + 20,
	} {
		broken := bytes.Clone(file)
		broken[at] ^= 0x01
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, fileName), broken, 0o600); err != nil {
			t.Fatal(err)
		}
		j := mustOpen(t, dir)
		if n, err := j.DropDays(2); n != 0 || !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: dropped %d days (%v), want none and %v", what, n, err, ErrDamaged)
		}
		mustAppend(t, j, issues(221, 1)) // today goes on
	}
}

// A list of free pages that names a page of an old day has it written over. Dropping the day would then free a page that
// today needs.
func TestADayWithAPageThatWasUsedAgainIsNotDropped(t *testing.T) {
	t.Parallel()
	j := mustOpen(t, t.TempDir())
	appendAll(t, j, days(4, 30), 10)
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile(j.Path())
	if err != nil {
		t.Fatal(err)
	}
	c, closeImage, err := openPath(j.Path())
	if err != nil {
		t.Fatal(err)
	}
	closeImage()
	list := c.image.meta.freelist * c.pageSize
	tried := 0
	for i := range uint64(order.Uint16(file[list+10:])) {
		broken := bytes.Clone(file)
		order.PutUint64(broken[list+pageHeader+8*i:], order.Uint64(c.days[0].value)) // the day's only page
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, fileName), broken, 0o600); err != nil {
			t.Fatal(err)
		}
		j, err := Open(dir, Options{NoSync: true})
		if err != nil {
			continue // the list is out of order
		}
		tried++
		more := issues(121, 500)
		appendAll(t, j, more[:250], 5)
		if n, err := j.DropDays(3); n != 0 || !errors.Is(err, ErrDamaged) {
			t.Errorf("entry %d: dropped %d days (%v), want none and %v", i, n, err, ErrDamaged)
		}
		appendAll(t, j, more[250:], 5)
		if got, err := replay(j); err != nil || got[len(got)-1].Sequence != 620 {
			t.Errorf("entry %d: got %d records (%v), want all up to record 620", i, len(got), err)
		}
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if tried == 0 {
		t.Error("nothing was tried")
	}
}
