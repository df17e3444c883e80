package journal

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"callerd/internal/queue"
)

// Whatever is decoded comes back the same when it is stored again; anything else is ErrDamaged, and
// nothing panics.
func FuzzDecodeBatch(f *testing.F) {
	var e encoder
	n := int64(0)
	for i, kind := range kinds {
		first := uint64(i) + 1
		value, err := e.batch(0, []*queue.Record{{Sequence: first, Outcomes: []queue.Outcome{
			kind, filled(f, kind, func() int64 { n++; return n }),
		}}})
		if err != nil {
			f.Fatal(err)
		}
		f.Add(first, bytes.Clone(value), true)
	}
	f.Add(uint64(0), []byte{}, false)
	f.Fuzz(func(t *testing.T, first uint64, value []byte, fix bool) {
		if fix && len(value) > crcSize {
			value = seal(bytes.Clone(value)) // most of what there is to find lies behind the CRC
		}
		count, countErr := countOf(value)
		records, err := DecodeBatch(first, value)
		if err != nil {
			if !errors.Is(err, ErrDamaged) {
				t.Errorf("got %v, want %v", err, ErrDamaged)
			}
			return
		}
		if countErr == nil && count != uint64(len(records)) {
			t.Errorf("got %d records, counted %d", len(records), count)
		}
		var e encoder
		again, err := e.batch(0, records)
		if err != nil {
			t.Fatal(err)
		}
		got, err := DecodeBatch(first, again)
		if err != nil {
			t.Fatal(err)
		}
		equal(t, got, records)
	})
}

// A file may say anything: it is read, or refused; nothing panics and nothing goes on for ever.
func FuzzOpenReader(f *testing.F) {
	dir := f.TempDir()
	j, err := Open(dir, Options{NoSync: true})
	if err != nil {
		f.Fatal(err)
	}
	appendAll(f, j, days(2, 40), 3)
	if err := j.Close(); err != nil {
		f.Fatal(err)
	}
	c, closeImage, err := openPath(j.Path())
	if err != nil {
		f.Fatal(err)
	}
	closeImage()
	file, err := os.ReadFile(j.Path())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(file[:c.image.meta.high*c.pageSize])
	f.Fuzz(func(t *testing.T, file []byte) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, fileName), file, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := readAll(dir); err != nil && !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrForeign) && !errors.Is(err, ErrNewerFormat) {
			t.Errorf("got %v, want %v", err, ErrDamaged)
		}
	})
}
