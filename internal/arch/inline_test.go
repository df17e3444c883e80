//go:build !race && !lockyield && !lockrank && (amd64 || arm64)

package arch_test

import (
	"os/exec"
	"strings"
	"testing"
)

// The compiler says which functions it inlines; it keeps its answer in the build
// cache, so asking takes a moment once and nothing later.
func TestFastPathsAreInlined(t *testing.T) {
	out, err := exec.Command("go", "build", "-gcflags=-m", ".").CombinedOutput()
	if err != nil {
		t.Skipf("cannot ask the compiler: %v\n%s", err, out)
	}
	for _, want := range []string{
		"can inline (*TicketLock).Lock",
		"can inline (*TicketLock).TryLock",
		"can inline (*TicketLock).Unlock",
		"can inline (*RankedLock).Lock",
		"can inline (*RankedLock).TryLock",
		"can inline (*RankedLock).Unlock",
		"can inline (*Held).AssertNone",
		"can inline (*Held).AssertHeld",
	} {
		if !strings.Contains(string(out), want+"\n") {
			t.Errorf("the compiler does not say %q", want)
		}
	}
}
