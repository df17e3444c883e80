package proc

import (
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestAProcessIsReadyWhenItSaysSoAndStops(t *testing.T) {
	p, err := Start(t.Context(), Options{Args: []string{"sh", "-c", "echo almost; echo ready; exec sleep 60"}, Ready: func(l string) bool { return l == "ready" }})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Stop(syscall.SIGTERM); err != nil {
		t.Error(err)
	}
	if err := syscall.Kill(p.Pid(), 0); err == nil {
		t.Error("it is still there")
	}
}

func TestAProcessThatEndsBeforeItIsReadySaysWhy(t *testing.T) {
	_, err := Start(t.Context(), Options{Args: []string{"sh", "-c", "echo no disk >&2; exit 3"}, Ready: func(string) bool { return false }})
	if err == nil || !strings.Contains(err.Error(), "no disk") {
		t.Errorf("got %v, want what it wrote to standard error", err)
	}
}

func TestUsageCountsChildrenAndTheirWrites(t *testing.T) {
	dir := t.TempDir()
	script := `(i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; dd if=/dev/zero of="$0/f" bs=4096 count=256 conv=fsync 2>/dev/null; echo ready; exec sleep 60) & wait`
	p, err := Start(t.Context(), Options{Args: []string{"sh", "-c", script, dir}, Ready: func(l string) bool { return l == "ready" }})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Kill()
	u, err := Of(p.Pid())
	if err != nil {
		t.Fatal(err)
	}
	if u.CPU < 10*time.Millisecond || u.RSS < int64(os.Getpagesize()) {
		t.Errorf("got %v of CPU and %d bytes resident, want those of the shell and its child", u.CPU, u.RSS)
	}
}
