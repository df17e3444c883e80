package journal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"go.etcd.io/bbolt"
)

// Whatever bbolt itself makes of a file is no damage to the image: buckets in buckets, small and large values, deleted
// ones, every size of page, either kind of free list, and a file in use between two transactions.
func TestAnImageOfWhatBboltMakesIsSound(t *testing.T) {
	t.Parallel()
	rnd := newRand(t)
	pages := 0
	for range rounds(t, "CALLERD_BBOLT_SHAPES", 6) {
		size := 1024 << rnd.IntN(7)
		kind := []bbolt.FreelistType{bbolt.FreelistMapType, bbolt.FreelistArrayType}[rnd.IntN(2)]
		path := filepath.Join(t.TempDir(), "shape")
		options := &bbolt.Options{PageSize: size, FreelistType: kind, NoSync: true, NoGrowSync: rnd.IntN(2) == 0}
		what := fmt.Sprintf("pages of %d bytes, free list %s", size, kind)
		for range 1 + rnd.IntN(3) {
			db, err := bbolt.Open(path, 0o600, options)
			if err != nil {
				t.Fatal(err)
			}
			for range 1 + rnd.IntN(20) {
				giveUp := errors.New("given up")
				err := db.Update(func(tx *bbolt.Tx) error {
					root := tx.Cursor().Bucket()
					for range rnd.IntN(6) {
						if err := change(root, rnd, size, 0); err != nil {
							return err
						}
					}
					if rnd.IntN(8) == 0 {
						return giveUp
					}
					return nil
				})
				if err != nil && !errors.Is(err, giveUp) {
					t.Fatal(err)
				}
				pages += mustBeSound(t, what+", in use", path, db)
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
		}
		db, err := bbolt.Open(path, 0o600, options)
		if err != nil {
			t.Fatal(err)
		}
		pages += mustBeSound(t, what, path, db)
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d pages", pages)
}

// change does one thing to a bucket, or to one in it.
func change(b *bbolt.Bucket, rnd *rand.Rand, pageSize, depth int) error {
	name := fmt.Appendf(nil, "%0*d", 1+rnd.IntN(3), rnd.IntN(60))
	if depth > 0 && rnd.IntN(3) == 0 { // many in a row
		b.FillPercent = []float64{0.1, 0.5, 1}[rnd.IntN(3)]
		first, step, n := rnd.IntN(500), 1+rnd.IntN(3), rnd.IntN(300)
		length, remove := rnd.IntN(60), rnd.IntN(2) == 0
		for i := range n {
			k := fmt.Appendf(nil, "k%08d", first+i*step)
			if v := b.Get(k); v == nil && b.Bucket(k) != nil {
				continue
			}
			var err error
			if remove {
				err = b.Delete(k)
			} else {
				err = b.Put(k, make([]byte, length))
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	inner := b.Bucket(name)
	switch {
	case inner != nil && rnd.IntN(5) == 0:
		return b.DeleteBucket(name)
	case inner != nil:
		return change(inner, rnd, pageSize, depth+1)
	case depth == 0 || depth < 4 && b.Get(name) == nil && rnd.IntN(3) == 0:
		inner, err := b.CreateBucketIfNotExists(name)
		if err != nil {
			return err
		}
		return change(inner, rnd, pageSize, depth+1)
	}
	// One value, often one that ends near the end of a page.
	n := rnd.IntN(3 * pageSize)
	if rnd.IntN(2) == 0 {
		n = max(0, (1+rnd.IntN(3))*pageSize-pageHeader-elementSize-len(name)+rnd.IntN(5)-2)
	}
	if rnd.IntN(4) == 0 {
		return b.Delete(name)
	}
	return b.Put(name, make([]byte, n))
}

// mustBeSound reads a file with an image and with bbolt and returns how many pages it has.
func mustBeSound(t *testing.T, what, path string, db *bbolt.DB) int {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	m, err := openImage(f, info.Size())
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	var got, want bytes.Buffer
	if err := m.each(m.meta.root, dump(m, &got)); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	if err := (&content{image: m}).checkPages(); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	err = db.View(func(tx *bbolt.Tx) error { return dumpBucket(tx.Cursor().Bucket(), &want) })
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Bytes(), want.Bytes()) {
		t.Fatalf("%s: the image reads something else", what)
	}
	return int(m.meta.high)
}

func dump(m *image, out io.Writer) func(element) error {
	return func(e element) error {
		if !e.bucket {
			_, err := fmt.Fprintf(out, "%x=%x;", e.key, e.value)
			return err
		}
		fmt.Fprintf(out, "%x{", e.key)
		err := m.eachIn(e, nil, dump(m, out))
		fmt.Fprint(out, "}")
		return err
	}
}

func dumpBucket(b *bbolt.Bucket, out io.Writer) error {
	return b.ForEach(func(k, v []byte) error {
		if v != nil {
			_, err := fmt.Fprintf(out, "%x=%x;", k, v)
			return err
		}
		fmt.Fprintf(out, "%x{", k)
		err := dumpBucket(b.Bucket(k), out)
		fmt.Fprint(out, "}")
		return err
	})
}
