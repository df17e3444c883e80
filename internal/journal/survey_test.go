package journal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.etcd.io/bbolt"
)

// surveyPath in the environment makes the test binary read a journal with bbolt alone and print what it finds.
const surveyPath = "CALLERD_JOURNAL_SURVEY_PATH"

// survey reads everything with a cursor, as one would, and writes one value.
func survey(path string, out io.Writer) error {
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{Timeout: time.Second, FreelistType: bbolt.FreelistMapType})
	if err != nil {
		return err
	}
	err = db.View(func(tx *bbolt.Tx) error {
		return tx.ForEach(func(name []byte, b *bbolt.Bucket) error {
			return b.ForEach(func(k, v []byte) error {
				_, err := fmt.Fprintf(out, "%x %x %x\n", name, k, v)
				return err
			})
		})
	})
	if err != nil {
		return err
	}
	return db.Update(func(tx *bbolt.Tx) error { return tx.Bucket(metaBucket).Put([]byte("survey"), []byte("x")) })
}

// Why the journal has a reader of its own: what bbolt alone does with a file of which one byte is wrong. It is a
// survey, not a check; CALLERD_BBOLT_SURVEY says how many bytes to try.
func TestSurveyOfBboltOnDamagedFiles(t *testing.T) {
	tries := rounds(t, "CALLERD_BBOLT_SURVEY", 0)
	if tries == 0 {
		t.Skip("skipped: CALLERD_BBOLT_SURVEY is not set")
	}
	file, _, _ := smallJournal(t)
	path := filepath.Join(t.TempDir(), fileName)
	try := func(content []byte) (string, []byte) {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		cmd := exec.CommandContext(ctx, os.Args[0])
		cmd.Env = append(os.Environ(), surveyPath+"="+path, "GOMEMLIMIT=500MiB")
		var stderr strings.Builder
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		var exit *exec.ExitError
		switch text := stderr.String(); {
		case err == nil:
			return "read", out
		case ctx.Err() != nil:
			return "did not end", nil
		case strings.Contains(text, "unexpected fault address"), strings.Contains(text, "fatal error"), strings.Contains(text, "SIGBUS"):
			return "killed by a fault", nil
		case strings.Contains(text, "panic:"):
			return "panic", nil
		case errors.As(err, &exit):
			return "error", nil
		default:
			t.Fatal(err)
			return "", nil
		}
	}
	_, want := try(file)
	rnd := newRand(t)
	found := map[string]int{}
	for range tries {
		broken := bytes.Clone(file)
		at := rnd.IntN(len(file)) &^ 4095
		if rnd.IntN(2) == 0 {
			at += rnd.IntN(256)
		} else {
			at += rnd.IntN(4096)
		}
		broken[at] ^= byte(1 + rnd.IntN(255))
		what, got := try(broken)
		if what == "read" && !bytes.Equal(got, want) {
			what = "read something else, without a word"
		}
		found[what]++
	}
	for _, what := range slices.Sorted(maps.Keys(found)) {
		t.Logf("%4d of %d: %s", found[what], tries, what)
	}
}
