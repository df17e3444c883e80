package main

import (
	"log/slog"
	"math"
	"os"
	"runtime/debug"

	"github.com/KimMachineGun/automemlimit/memlimit"
)

// The live heap of a branch is some megabytes and most of what a call allocates dies with it, so with Go's default the collector would run
// many times a second to free little. GOGC and GOMEMLIMIT, when set, have the last word.
const (
	garbage     = 400 // percent of the live heap
	memoryShare = 0.5 // of the machine's memory, or of the control group's: from there on the collector works harder
)

func collectSeldom(logger *slog.Logger) {
	provider := memlimit.ApplyFallback(memlimit.FromCgroup, memlimit.FromSystem)
	limit, err := memlimit.Set(memlimit.WithRatio(memoryShare), memlimit.WithProvider(provider))
	if err != nil || limit == math.MaxInt64 { // nothing would bound the garbage
		logger.Info("no limit of memory is known: the collector runs as by Go's default", "error", err)
		return
	}
	if _, set := os.LookupEnv("GOGC"); !set {
		debug.SetGCPercent(garbage)
	}
}
