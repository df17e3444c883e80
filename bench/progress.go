package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// progress tells how far a run is: a bar on a terminal, a line a step elsewhere.
type progress struct {
	w     io.Writer
	bar   bool
	began time.Time
}

func newProgress(w io.Writer) progress {
	f, ok := w.(*os.File)
	return progress{w: w, bar: ok && term.IsTerminal(int(f.Fd())), began: time.Now()}
}

// line tells something.
func (p progress) line(what string) {
	fmt.Fprintf(p.w, "%5.0fs  %s\n", time.Since(p.began).Seconds(), what)
}

// steps returns what tells of each step of a part.
func (p progress) steps(part string) func(step, steps int, what string) {
	var bar *progressbar.ProgressBar
	return func(step, steps int, what string) {
		if !p.bar {
			p.line(fmt.Sprintf("%s %d/%d: %s", part, step, steps, what))
			return
		}
		if bar == nil {
			bar = progressbar.NewOptions(steps, progressbar.OptionSetWriter(p.w), progressbar.OptionSetWidth(20), progressbar.OptionShowCount(), progressbar.OptionClearOnFinish())
		}
		bar.Describe(fmt.Sprintf("%-8s %-40s", part, what))
		_ = bar.Set(step) // a bar that cannot be drawn is no reason to stop
	}
}
