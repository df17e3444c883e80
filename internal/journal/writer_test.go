package journal

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"callerd/internal/queue"
)

// The test binary is also a program that appends to a journal and says what is on disk, until it dies.
const (
	writerDir    = "CALLERD_JOURNAL_WRITER"
	writerNoSync = "CALLERD_JOURNAL_WRITER_NOSYNC"
	writerSeed   = "CALLERD_JOURNAL_WRITER_SEED"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(writerDir); dir != "" {
		if err := write(dir, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if path := os.Getenv(surveyPath); path != "" {
		if err := survey(path, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// write appends batches of the records that history makes, and prints the last sequence after each.
func write(dir string, out io.Writer) error {
	seed, err := strconv.ParseUint(os.Getenv(writerSeed), 10, 64)
	if err != nil {
		return err
	}
	rnd := rand.New(rand.NewPCG(seed, 0))
	j, err := Open(dir, Options{NoSync: os.Getenv(writerNoSync) != ""})
	if err != nil {
		return err
	}
	last := uint64(0)
	err = j.Replay(func(r *queue.Record) error { last = r.Sequence; return nil })
	if err != nil {
		return err
	}
	for {
		n := 1
		if rnd.IntN(2) == 0 {
			n = 1 + rnd.IntN(64)
		}
		if err := j.Append(history(last+1, n)); err != nil {
			return err
		}
		last += uint64(n)
		if _, err := fmt.Fprintln(out, last); err != nil {
			return err
		}
		if rnd.IntN(100) == 0 {
			if _, err := j.DropDays(4); err != nil {
				return err
			}
		}
	}
}

// history is the records first to first+n-1 of the one history that writers write: a new day every 500.
func history(first uint64, n int) []*queue.Record {
	records := issues(first, n)
	for i, r := range records {
		if r.Sequence%500 == 1 {
			records[i] = dayOpened(r.Sequence, int(r.Sequence/500)+1)
		}
	}
	return records
}

// writer is such a program, running.
type writer struct {
	t     *testing.T
	cmd   *exec.Cmd
	out   *bufio.Scanner
	errs  strings.Builder
	acked uint64 // the last sequence it has said
}

func startWriter(t *testing.T, dir string, seed uint64, noSync bool) *writer {
	t.Helper()
	w := &writer{t: t, cmd: exec.Command(os.Args[0])}
	w.cmd.Env = append(os.Environ(), writerDir+"="+dir, writerSeed+"="+strconv.FormatUint(seed, 10))
	if noSync {
		w.cmd.Env = append(w.cmd.Env, writerNoSync+"=1")
	}
	w.cmd.Stderr = &w.errs
	out, err := w.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	w.out = bufio.NewScanner(out)
	if err := w.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return w
}

// await waits until the writer has said n times that something is on disk.
func (w *writer) await(n int) {
	w.t.Helper()
	for ; n > 0; n-- {
		if !w.say() {
			w.kill()
			w.t.Fatalf("the writer has stopped: %s", w.errs.String())
		}
	}
}

func (w *writer) say() bool {
	if !w.out.Scan() {
		return false
	}
	n, err := strconv.ParseUint(w.out.Text(), 10, 64)
	if err != nil {
		w.t.Errorf("the writer said %q", w.out.Text())
		return false
	}
	w.acked = n
	return true
}

// kill ends the writer as kill -9 does and takes note of all that it has said.
func (w *writer) kill() {
	w.cmd.Process.Kill()
	for w.say() {
	}
	w.cmd.Wait() // it was killed
}

// verify reads all that is in the folder and holds it against what has been said to be on disk.
func verify(dir string, acked uint64) error {
	records, err := readAll(dir)
	if acked == 0 && errors.Is(err, fs.ErrNotExist) { // the power went before there was a file
		return nil
	}
	if err != nil {
		return err
	}
	if len(records) == 0 {
		if acked > 0 {
			return fmt.Errorf("the journal is empty, %d records were on disk", acked)
		}
		return nil
	}
	first, last := records[0].Sequence, records[len(records)-1].Sequence
	if last < acked {
		return fmt.Errorf("the last record is %d, records up to %d were on disk", last, acked)
	}
	for i, r := range history(first, len(records)) {
		if got, want := records[i], r; got.Sequence != want.Sequence || got.At != want.At || got.Request != want.Request {
			return fmt.Errorf("got record %+v, want %+v", got, want)
		}
	}
	return nil
}

// rounds is how often to do something that can be done more often when there is time.
func rounds(t *testing.T, env string, normal int) int {
	t.Helper()
	s := os.Getenv(env)
	if s == "" {
		return normal
	}
	n, err := strconv.Atoi(s)
	if err != nil {
		t.Fatalf("%s: %v", env, err)
	}
	return n
}

func newRand(t *testing.T) *rand.Rand {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}

func TestKillingTheWriterLosesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	rnd := newRand(t)
	acked := uint64(0)
	for range rounds(t, "CALLERD_CRASH_ROUNDS", 10) {
		w := startWriter(t, dir, rnd.Uint64(), false)
		w.await(1 + rnd.IntN(60))
		w.kill()
		acked = w.acked
		if err := verify(dir, acked); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d records", acked)
}
