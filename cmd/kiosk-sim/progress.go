package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"callerd/cmd/kiosk-sim/internal/sim"
)

// progress shows how far a run is: a bar on a terminal, a line every few seconds elsewhere. stop ends it
// and waits.
func progress(w io.Writer, hall *sim.Sim, customers int64) (stop func()) {
	f, ok := w.(*os.File)
	bar := ok && term.IsTerminal(int(f.Fd()))
	every, show := 3*time.Second, func(p sim.Progress) {
		fmt.Fprintf(w, "issued %d, called %d, served %d, display reconnects %d\n", p.Issued, p.Called, p.Served, p.Reconnects)
	}
	if bar {
		every, show = 100*time.Millisecond, drawn(w, customers)
	}
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		t := time.NewTicker(every)
		defer t.Stop()
		for {
			select {
			case <-t.C:
				show(hall.Progress())
			case <-done:
				show(hall.Progress())
				if bar {
					fmt.Fprintln(w)
				}
				return
			}
		}
	})
	return func() {
		close(done)
		wg.Wait()
	}
}

// drawn is the bar. Without a number of customers it spins.
func drawn(w io.Writer, customers int64) func(sim.Progress) {
	if customers == 0 {
		customers = -1
	}
	bar := progressbar.NewOptions64(customers, progressbar.OptionSetWriter(w), progressbar.OptionSetWidth(30), progressbar.OptionShowCount(),
		progressbar.OptionShowIts(), progressbar.OptionSetItsString("customers"), progressbar.OptionThrottle(0))
	return func(p sim.Progress) {
		bar.Describe(fmt.Sprintf("issued %d called %d", p.Issued, p.Called))
		// A bar that cannot be drawn is no reason to stop.
		_ = bar.Set64(p.Served)
	}
}
