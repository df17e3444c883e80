package main

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// describe prints what machine it is and what else it does: absolute figures are those of this machine at this time.
func (l *lab) describe() {
	var u unix.Utsname
	_ = unix.Uname(&u) // for people only
	busy, _ := os.ReadFile("/proc/loadavg")
	fmt.Fprintf(l.out, "%s; %s, %d processors (%s); Linux %s; load before the start %s\n", time.Now().Format(time.DateTime), runtime.Version(), runtime.NumCPU(), model(),
		unix.ByteSliceToString(u.Release[:]), strings.Join(strings.Fields(string(busy))[:min(3, len(strings.Fields(string(busy))))], " "))
}

// model is what the processor is called.
func model() string {
	b, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return runtime.GOARCH
	}
	for line := range strings.Lines(string(b)) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return runtime.GOARCH
}
