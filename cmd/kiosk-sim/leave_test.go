package main

import (
	"strings"
	"testing"
)

// A run that fails leaves no session behind, and does not say that all is well.
func TestAFailedRunClosesItsCounters(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		hall *fakeHall
		args []string
		want string
	}{
		{"its consoles give up", newFakeHall(4, "never answers a call"), []string{"--give-up", "100ms"}, "no outcome"},
		{"one of its counters is not there", newFakeHall(3, ""), nil, "configure counters 1 to 4"},
		{"it ends before it knows its sessions", newFakeHall(3, "loses the first openings"), nil, "configure counters 1 to 4"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			code, out := play(t, c.hall, append(c.args, "--displays", "0")...)
			if code != exitUsage || !strings.Contains(out, c.want) {
				t.Errorf("got %d, want %d and %q\n%s", code, exitUsage, c.want, out)
			}
			if strings.Contains(out, "all checks hold") || !strings.Contains(out, "the run did not end") {
				t.Errorf("it says that all is well, or not that it did not end:\n%s", out)
			}
			c.hall.mu.Lock()
			defer c.hall.mu.Unlock()
			for n, k := range c.hall.counters {
				if k.open {
					t.Errorf("counter %d was left open", n)
				}
			}
		})
	}
}
