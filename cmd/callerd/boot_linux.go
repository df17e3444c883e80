package main

import (
	"time"

	"golang.org/x/sys/unix"
)

// sinceBoot is the time since the machine started, its sleep included: by it a jump of the wall clock is told from a long
// sleep. Nil: the system does not tell.
func sinceBoot() func() time.Duration {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_BOOTTIME, &t) != nil {
		return nil
	}
	return func() time.Duration {
		var t unix.Timespec
		_ = unix.ClockGettime(unix.CLOCK_BOOTTIME, &t) // it did not fail before
		return time.Duration(t.Nano())
	}
}
