//go:build !linux

package main

import "time"

// sinceBoot is nil: this system does not tell the time since it started with its sleep included.
func sinceBoot() func() time.Duration { return nil }
