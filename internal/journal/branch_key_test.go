package journal

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// bbolt looks for a page's place in its parent by the page's first key. Where the parent has another key for it, the next
// write leaves the old place behind, which then points to a page that is free and soon another: what was on disk is lost.
func TestABranchWhoseKeyIsNotItsPagesFirstIsFound(t *testing.T) {
	t.Parallel()
	made := t.TempDir()
	j := mustOpen(t, made)
	all := days(1, 200)
	appendAll(t, j, all, 10)
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
	root := order.Uint64(c.days[0].value) * c.pageSize
	page := file[root : root+c.pageSize]
	if order.Uint16(page[8:]) != branchPage {
		t.Fatal("the day has one page only: the test shows nothing")
	}
	for i := range int(order.Uint16(page[10:])) {
		e := pageHeader + i*elementSize
		at := int(root) + e + int(order.Uint32(page[e:])) + 7 // the last byte of its key
		broken := bytes.Clone(file)
		broken[at]-- // now between the last key of the page before and the first of its own
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, fileName), broken, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := readAll(dir); !errors.Is(err, ErrDamaged) {
			t.Errorf("branch %d: read: got %v, want %v", i, err, ErrDamaged)
		}
		j, err := Open(dir, Options{NoSync: true})
		if err != nil {
			if !errors.Is(err, ErrDamaged) {
				t.Errorf("branch %d: open: got %v, want %v", i, err, ErrDamaged)
			}
			continue
		}
		t.Errorf("branch %d: open: got no error, want %v", i, ErrDamaged)
		if err := j.Close(); err != nil {
			t.Error(err)
		}
	}
}
