package main

import (
	"fmt"
	"io"
	"sync/atomic"
	"time"
)

// logWriter writes lines from a goroutine of its own, so that a full pipe or a dead terminal keeps nobody in the hall
// waiting. What it has no room for is dropped and counted, and the next line says so.
type logWriter struct {
	lines   chan []byte // as many as are kept for a slow reader
	dropped atomic.Int64
	done    chan struct{}
}

const (
	keptLines = 1000
	logsEnd   = 2 * time.Second // how long a stop waits for the last lines
)

func newLogWriter(to io.Writer) *logWriter {
	w := &logWriter{lines: make(chan []byte, keptLines), done: make(chan struct{})} // the size is the bound
	go w.run(to)
	return w
}

// Write takes one line. It never waits and never fails.
func (w *logWriter) Write(line []byte) (int, error) {
	select {
	case w.lines <- append([]byte(nil), line...):
	default:
		w.dropped.Add(1)
	}
	return len(line), nil
}

func (w *logWriter) run(to io.Writer) {
	defer close(w.done)
	for line := range w.lines {
		if n := w.dropped.Swap(0); n > 0 {
			fmt.Fprintf(to, "level=WARN msg=\"log lines were dropped, nobody read them\" lines=%d\n", n)
		}
		_, _ = to.Write(line) // a log that cannot be written has nowhere to say so
	}
}

// end writes what is left, if it is read. Nobody writes any more.
func (w *logWriter) end() {
	close(w.lines)
	t := time.NewTimer(logsEnd)
	defer t.Stop()
	select {
	case <-w.done:
	case <-t.C:
	}
}
