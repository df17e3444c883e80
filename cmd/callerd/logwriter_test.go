package main

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
)

// A log that nobody reads keeps nobody waiting, and what is lost is said.
func TestALogThatIsNotReadDropsLinesAndSaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, pipe := io.Pipe()
		w := newLogWriter(pipe)
		const lines = keptLines + 100
		for i := range lines {
			fmt.Fprintf(w, "line %d\n", i)
			synctest.Wait()
		}
		var out bytes.Buffer
		read := make(chan error)
		go func() {
			_, err := io.Copy(&out, r)
			read <- err
		}()
		synctest.Wait()
		w.end()
		pipe.Close()
		if err := <-read; err != nil {
			t.Fatal(err)
		}
		got := strings.Count(out.String(), "line ")
		if want := fmt.Sprintf("lines=%d", lines-got); got >= lines || !strings.Contains(out.String(), want) {
			t.Errorf("got %d lines of %d, want the rest counted as %s", got, lines, want)
		}
	})
}

func TestALogThatIsNeverReadDoesNotHoldTheStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, pipe := io.Pipe()
		w := newLogWriter(pipe)
		fmt.Fprintln(w, "nobody reads this")
		w.end() // returns
		r.Close()
	})
}
