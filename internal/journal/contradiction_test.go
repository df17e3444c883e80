package journal

import (
	"bytes"
	"errors"
	"hash/fnv"
	"os"
	"path/filepath"
	"testing"

	"go.etcd.io/bbolt"
)

// Each way in which the pages of a journal can contradict one another is found, the ways of which a random byte is no
// example as well.
func TestPagesThatContradictEachOtherAreFound(t *testing.T) {
	t.Parallel()
	j := mustOpen(t, t.TempDir())
	appendAll(t, j, days(4, 200), 10)
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
	meta := c.image.meta
	file = file[:meta.high*c.pageSize]
	list := meta.freelist*c.pageSize + pageHeader
	count := uint64(order.Uint16(file[list-6:]))
	if count == 0 || count >= 0xFFFF {
		t.Fatalf("got %d free pages", count)
	}
	rootOf := func(day int) uint64 { return order.Uint64(c.days[day].value) }
	leafOf := func(day, i int) uint64 { // the i-th page of a day
		return order.Uint64(file[rootOf(day)*c.pageSize+pageHeader+uint64(i)*elementSize+8:])
	}
	pagesOf := func(days ...int) map[uint64]bool {
		ids := map[uint64]bool{}
		for _, day := range days {
			ids[rootOf(day)] = true
			for i := range int(order.Uint16(file[rootOf(day)*c.pageSize+10:])) {
				ids[leafOf(day, i)] = true
			}
		}
		return ids
	}
	var longer uint64 // a page at which Open looks, in front of one at which it does not
	for id := range pagesOf(2, 3) {
		if pagesOf(0, 1)[id+1] {
			longer = id
		}
	}
	free := func(ids ...uint64) func(b []byte) { // a list of free pages
		return func(b []byte) {
			order.PutUint16(b[list-6:], uint16(len(ids)))
			for i, id := range ids {
				order.PutUint64(b[list+8*uint64(i):], id)
			}
		}
	}
	cases := map[string]func(b []byte){
		"a page of today is free":            free(leafOf(3, 0)),
		"the root is free":                   free(meta.root),
		"the list of free pages is free":     free(meta.freelist),
		"a meta page is free":                free(1),
		"a page behind the last one is free": free(meta.high),
		"a page is free twice":               free(order.Uint64(file[list:]), order.Uint64(file[list:])),
		"more pages are free than fit":       func(b []byte) { order.PutUint16(b[list-6:], 0xFFFE) },
		"two branches point to one page": func(b []byte) {
			copy(b[rootOf(3)*c.pageSize+pageHeader+elementSize+8:][:8], file[rootOf(3)*c.pageSize+pageHeader+8:])
		},
		"a branch points to its own page":        func(b []byte) { order.PutUint64(b[rootOf(3)*c.pageSize+pageHeader+8:], rootOf(3)) },
		"a branch points to a page of yesterday": func(b []byte) { order.PutUint64(b[rootOf(3)*c.pageSize+pageHeader+8:], leafOf(2, 0)) },
		"a page goes on behind the last one": func(b []byte) {
			order.PutUint32(b[rootOf(3)*c.pageSize+12:], uint32(meta.high-rootOf(3)))
		},
		"a page goes on into an old day": func(b []byte) { order.PutUint32(b[longer*c.pageSize+12:], 1) },
		"the older meta page is too old": func(b []byte) {
			at := (meta.txid + 1) % 2 * c.pageSize
			order.PutUint64(b[at+pageHeader+48:], meta.txid-3)
			sealMeta(b[at:])
		},
		"both meta pages are of one transaction": func(b []byte) {
			at := (meta.txid + 1) % 2 * c.pageSize
			order.PutUint64(b[at+pageHeader+48:], meta.txid)
			sealMeta(b[at:])
		},
	}
	for what, do := range cases {
		broken := bytes.Clone(file)
		do(broken)
		if bytes.Equal(broken, file) {
			t.Errorf("%s: nothing is different", what)
		}
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, fileName), broken, 0o600); err != nil {
			t.Fatal(err)
		}
		j, err := Open(dir, Options{NoSync: true})
		if !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: got %v, want %v", what, err, ErrDamaged)
		}
		if err == nil {
			j.Close()
		}
	}
}

func sealMeta(page []byte) {
	b := page[pageHeader:]
	sum := fnv.New64a()
	sum.Write(b[:metaBody])
	order.PutUint64(b[metaBody:], sum.Sum64())
}

// A day that is gone, and what the head says, do not go together.
func TestAMissingDayIsFound(t *testing.T) {
	t.Parallel()
	for missing, inOpen := range []bool{true, false, true, true} {
		dir := t.TempDir()
		j := mustOpen(t, dir)
		appendAll(t, j, days(4, 20), 10)
		err := j.db.Update(func(tx *bbolt.Tx) error {
			return errors.Join(tx.DeleteBucket(key(uint64(missing*20+1))), putHead(tx, j.head))
		})
		if err := errors.Join(err, j.Close()); err != nil {
			t.Fatal(err)
		}
		if _, err := readAll(dir); !errors.Is(err, ErrDamaged) {
			t.Errorf("day %d: read: got %v, want %v", missing, err, ErrDamaged)
		}
		j, err = Open(dir, Options{NoSync: true})
		if got := errors.Is(err, ErrDamaged); got != inOpen {
			t.Errorf("day %d: open: got %v", missing, err)
		}
		if err == nil {
			j.Close()
		}
	}
}
