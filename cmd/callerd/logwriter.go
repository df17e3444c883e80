package main

import (
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"
)

// logWriter writes lines from a goroutine of its own, so that a full pipe or a dead terminal keeps nobody in the hall
// waiting. What it has no room for is dropped and counted, and the next line, or the end, says so.
type logWriter struct {
	lines   chan []byte // as many as are kept for a slow reader
	dropped atomic.Int64
	quit    chan struct{} // closed by end: write what is there, and no more
	done    chan struct{}
	once    sync.Once
}

const (
	keptLines = 1000
	logsEnd   = 2 * time.Second // how long a stop waits for the last lines
)

func newLogWriter(to io.Writer) *logWriter {
	w := &logWriter{lines: make(chan []byte, keptLines), quit: make(chan struct{}), done: make(chan struct{})} // the size is the bound
	go w.run(to)
	return w
}

// Write takes one line. It never waits and never fails, also after the end.
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
	for {
		select {
		case line := <-w.lines:
			w.write(to, line)
		case <-w.quit:
			for len(w.lines) > 0 {
				w.write(to, <-w.lines)
			}
			w.write(to, nil)
			return
		}
	}
}

// write writes a line, and before it how many were dropped. A log that cannot be written has nowhere to say so.
func (w *logWriter) write(to io.Writer, line []byte) {
	if n := w.dropped.Swap(0); n > 0 {
		fmt.Fprintf(to, "level=WARN msg=\"log lines were dropped, nobody read them\" lines=%d\n", n)
	}
	if len(line) > 0 {
		_, _ = to.Write(line)
	}
}

// end writes what is left, if it is read within a moment.
func (w *logWriter) end() {
	w.once.Do(func() { close(w.quit) })
	t := time.NewTimer(logsEnd)
	defer t.Stop()
	select {
	case <-w.done:
	case <-t.C:
	}
}
