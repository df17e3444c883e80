package journal

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"callerd/internal/queue"

	"github.com/google/go-cmp/cmp"
	"go.etcd.io/bbolt"
)

// smallJournal makes a journal with some days in it, of which one has more than one page, and returns its
// bytes and its records. The records of the last days are what Open replays.
func smallJournal(t testing.TB) (file []byte, all, recent []*queue.Record) {
	t.Helper()
	dir := t.TempDir()
	j := mustOpen(t, dir)
	all = append(days(3, 70), dayOpened(211, 4))
	all = append(all, issues(212, 9)...)
	appendAll(t, j, all, 9)
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
	defer closeImage()
	return file[:c.image.meta.high*c.pageSize], all, all[140:]
}

// A journal of which one byte is wrong says so, or gives what was written. That holds for what bbolt
// writes into such a file as well.
func TestAFlippedByteIsFoundOrDoesNotMatter(t *testing.T) {
	file, all, recent := smallJournal(t)
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d, %d bytes", seed, len(file))
	rnd := rand.New(rand.NewPCG(seed, 0))
	tries := 500
	if testing.Short() {
		tries = 150
	}
	refused, harmless := 0, 0
	dir := t.TempDir()
	path := filepath.Join(dir, fileName)
	more := issues(221, 40)
	for range tries {
		at, with := rnd.IntN(len(file)), byte(1+rnd.IntN(255))
		if rnd.IntN(2) == 0 { // the headers and the elements behind them hold a page together
			at = at&^4095 + rnd.IntN(256)
		}
		what := fmt.Sprintf("byte %d of page %d ^ %02x", at%4096, at/4096, with)
		broken := bytes.Clone(file)
		broken[at] ^= with
		if err := os.WriteFile(path, broken, 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := readAll(dir)
		accept(t, "read "+what, got, all, err)
		j, err := Open(dir, Options{NoSync: true})
		if err == nil {
			if got, err = replay(j); err == nil {
				accept(t, "replay "+what, got, recent, err)
				appendAll(t, j, more, 3)
				if err := j.Close(); err != nil {
					t.Fatal(err)
				}
				got, err = readAll(dir)
				accept(t, "append "+what, got, append(all[:len(all):len(all)], more...), err)
				harmless++
				continue
			}
			j.Close()
		}
		accept(t, "open "+what, nil, nil, err)
		refused++
		if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, broken) {
			t.Fatalf("%s: the file was changed (%v)", what, err)
		}
	}
	t.Logf("%d refused, %d did not matter", refused, harmless)
	if refused == 0 || harmless == 0 {
		t.Error("got only one of the two: this test tries nothing")
	}
}

// accept fails the test for anything but an honest error or the records as they were.
func accept(t *testing.T, what string, got, want []*queue.Record, err error) {
	t.Helper()
	if err != nil {
		if !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrForeign) {
			t.Fatalf("%s: got %v, want %v", what, err, ErrDamaged)
		}
		return
	}
	if !reflect.DeepEqual(got, want) { // cmp is a hundred times slower
		t.Fatalf("%s: records differ (-got +want):\n%s", what, cmp.Diff(got, want))
	}
}

func TestEveryFlippedByteOfABatchIsFound(t *testing.T) {
	t.Parallel()
	var e encoder
	value, err := e.batch(0, issues(1, 3))
	if err != nil {
		t.Fatal(err)
	}
	for at := range value {
		for bit := range 8 {
			broken := bytes.Clone(value)
			broken[at] ^= 1 << bit
			if _, err := DecodeBatch(1, broken); !errors.Is(err, ErrDamaged) {
				t.Errorf("byte %d, bit %d: got %v, want %v", at, bit, err, ErrDamaged)
			}
		}
		if _, err := DecodeBatch(1, value[:at]); !errors.Is(err, ErrDamaged) {
			t.Errorf("cut at %d: got %v, want %v", at, err, ErrDamaged)
		}
	}
	if _, err := DecodeBatch(2, value); !errors.Is(err, ErrDamaged) {
		t.Errorf("under another key: got %v, want %v", err, ErrDamaged)
	}
}

func TestAFileThatWasCutShortIsRefused(t *testing.T) {
	t.Parallel()
	file, _, _ := smallJournal(t)
	dir := t.TempDir()
	path := filepath.Join(dir, fileName)
	for size := 0; size < len(file); size += 509 {
		if err := os.WriteFile(path, file[:size], 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := Open(dir, Options{})
		if !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrForeign) {
			t.Errorf("%d bytes: got %v, want %v or %v", size, err, ErrDamaged, ErrForeign)
		}
		if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, file[:size]) {
			t.Fatalf("%d bytes: the file was changed (%v)", size, err)
		}
	}
}

// A page that is an older copy of itself is what a lost write leaves behind. Only for a meta page there is
// no telling: it is where a file says what is newest.
func TestAPageThatWentBackInTimeIsFound(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	j := mustOpen(t, dir)
	mustAppend(t, j, []*queue.Record{dayOpened(1, 1)})
	var before []byte
	tried := 0
	for next := uint64(2); next < 40; next++ {
		mustAppend(t, j, issues(next, 1))
		after, err := os.ReadFile(j.Path())
		if err != nil {
			t.Fatal(err)
		}
		for p := 2 * 4096; p+4096 <= len(before) && p < len(after); p += 4096 {
			if bytes.Equal(before[p:p+4096], after[p:p+4096]) {
				continue
			}
			broken := bytes.Clone(after)
			copy(broken[p:p+4096], before[p:])
			other := t.TempDir()
			if err := os.WriteFile(filepath.Join(other, fileName), broken, 0o600); err != nil {
				t.Fatal(err)
			}
			if got, err := readAll(other); err == nil {
				t.Errorf("record %d, page %d: got %d records and no error, want %v", next, p/4096, len(got), ErrDamaged)
			}
			tried++
		}
		before = after
	}
	if tried == 0 {
		t.Error("nothing was tried")
	}
}

// Case 42: a damaged or foreign file is refused with the path and what to do, and never overwritten.
func TestAForeignFileIsRefusedAndLeftAlone(t *testing.T) {
	t.Parallel()
	foreign := map[string]func(path string) error{
		"empty":  func(path string) error { return os.WriteFile(path, nil, 0o600) },
		"zeros":  func(path string) error { return os.WriteFile(path, make([]byte, 64<<10), 0o600) },
		"text":   func(path string) error { return os.WriteFile(path, []byte("numbers of today: A001\n"), 0o600) },
		"folder": func(path string) error { return os.Mkdir(path, 0o700) },
		"bbolt": func(path string) error {
			db, err := bbolt.Open(path, 0o600, nil)
			if err != nil {
				return err
			}
			err = db.Update(func(tx *bbolt.Tx) error {
				b, err := tx.CreateBucket([]byte("somebody else's"))
				if err != nil {
					return err
				}
				return b.Put([]byte("k"), []byte("v"))
			})
			return errors.Join(err, db.Close())
		},
	}
	for name, write := range foreign {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			path := filepath.Join(dir, fileName)
			if err := write(path); err != nil {
				t.Fatal(err)
			}
			before, _ := os.ReadFile(path)
			_, openErr := Open(dir, Options{})
			_, readErr := OpenReader(dir)
			for _, err := range []error{openErr, readErr} {
				if !errors.Is(err, ErrForeign) {
					t.Fatalf("got %v, want %v", err, ErrForeign)
				}
				for _, want := range []string{path, "move it away"} {
					if !strings.Contains(err.Error(), want) {
						t.Errorf("got %q, want it to say %q", err, want)
					}
				}
			}
			if after, _ := os.ReadFile(path); !bytes.Equal(after, before) {
				t.Error("the file was changed")
			}
		})
	}
}

func TestANewerFormatIsRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	j := mustOpen(t, dir)
	err := j.db.Update(func(tx *bbolt.Tx) error {
		return putIdentity(tx.Bucket(metaBucket), Format+1, testTime)
	})
	if err := errors.Join(err, j.Close()); err != nil {
		t.Fatal(err)
	}
	_, openErr := Open(dir, Options{})
	_, readErr := OpenReader(dir)
	for _, err := range []error{openErr, readErr} {
		if !errors.Is(err, ErrNewerFormat) || !strings.Contains(err.Error(), "newer program") {
			t.Errorf("got %v, want %v", err, ErrNewerFormat)
		}
	}
}
