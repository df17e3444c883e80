package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

// asCallerd in the environment makes the test binary the program itself: the tests start it as a process of its
// own, so that they can kill it.
const asCallerd = "CALLERD_TEST_AS_CALLERD"

func TestMain(m *testing.M) {
	if os.Getenv(asCallerd) != "" {
		main()
	}
	os.Exit(m.Run())
}

// daemon is a callerd that runs as a process.
type daemon struct {
	t    *testing.T
	cmd  *exec.Cmd
	gRPC string // addresses, from what it prints
	http string
	err  lockedBuffer
	done chan struct{} // closed when it has ended
	conn *grpc.ClientConn
}

// lockedBuffer is what a process has written so far.
type lockedBuffer struct {
	mu    sync.Mutex
	b     strings.Builder
	word  string
	heard chan struct{}
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.b.Write(p)
	b.listen()
	return len(p), nil
}

// said is closed when the process has written a word. One word can be waited for at a time.
func (b *lockedBuffer) said(word string) <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.word, b.heard = word, make(chan struct{})
	heard := b.heard
	b.listen()
	return heard
}

func (b *lockedBuffer) listen() {
	if b.heard != nil && strings.Contains(b.b.String(), b.word) {
		close(b.heard)
		b.heard = nil
	}
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// callerd is the program with arguments, not started yet. It dies with the test at the latest.
func callerd(t *testing.T, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(t.Context(), os.Args[0], args...)
	cmd.Env = append(os.Environ(), asCallerd+"=1", "CALLERD_VERIFY=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return cmd
}

// launch starts a daemon on a data folder, and does not wait for anything.
func launch(t *testing.T, data string, args ...string) (*daemon, *bufio.Scanner) {
	t.Helper()
	args = append([]string{"--data", data, "--grpc-addr", "127.0.0.1:0", "--http-addr", "127.0.0.1:0", "--config", configFile(t)}, args...)
	d := &daemon{t: t, cmd: callerd(t, args...), done: make(chan struct{})}
	d.cmd.Stderr = &d.err
	out, err := d.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := d.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.kill() })
	return d, bufio.NewScanner(out)
}

// start starts a daemon and waits until it says that it is open.
func start(t *testing.T, data string, args ...string) *daemon {
	t.Helper()
	d, out := launch(t, data, args...)
	if !d.opened(out) {
		d.kill()
		t.Fatalf("callerd has not opened: %s", d.err.String())
	}
	return d
}

var addresses = regexp.MustCompile(`gRPC for kiosks and consoles +(\S+)|hall display +http://([^/]+)/|(journal) +/`)

// opened reads what the daemon prints until it is open, and reports whether it got there.
func (d *daemon) opened(out *bufio.Scanner) bool {
	for out.Scan() {
		m := addresses.FindStringSubmatch(out.Text())
		switch {
		case m == nil:
		case m[1] != "":
			d.gRPC = m[1]
		case m[2] != "":
			d.http = m[2]
		default: // the last line
			conn, err := grpc.NewClient(d.gRPC, grpc.WithTransportCredentials(insecure.NewCredentials()))
			if err != nil {
				d.t.Error(err)
				return false
			}
			d.conn = conn
			return true
		}
	}
	return false
}

// kill ends the daemon as kill -9 does, and waits until it is gone. It may be called again.
func (d *daemon) kill() {
	d.cmd.Process.Kill()
	d.wait()
}

// wait waits until the daemon has ended and returns how.
func (d *daemon) wait() error {
	select {
	case <-d.done:
		return nil
	default:
	}
	err := d.cmd.Wait()
	close(d.done)
	if d.conn != nil {
		d.conn.Close()
	}
	return err
}

// configFile makes a configuration in whose time zone it is about noon, so that no test meets midnight.
func configFile(t *testing.T) string {
	t.Helper()
	east := 12 - time.Now().UTC().Hour() // POSIX signs: Etc/GMT-3 is three hours east
	zone := fmt.Sprintf("Etc/GMT%+d", -east)
	path := filepath.Join(t.TempDir(), "callerd.yaml")
	if err := os.WriteFile(path, []byte("branch: {time_zone: "+zone+"}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// check runs "callerd check" on a data folder; every fault that it finds is the test's.
func check(t *testing.T, data string) {
	t.Helper()
	out, err := callerd(t, "check", data).CombinedOutput()
	if err != nil {
		t.Fatalf("callerd check: %v\n%s", err, out)
	}
	if !strings.Contains(string(out), "every invariant holds") {
		t.Fatalf("callerd check said\n%s", out)
	}
}

// rounds is how often to do something that can be done more often when there is time.
func rounds(t *testing.T, env string, normal int) int {
	t.Helper()
	s := os.Getenv(env)
	if s == "" {
		if testing.Short() {
			return min(normal, 2)
		}
		return normal
	}
	n, err := strconv.Atoi(s)
	if err != nil {
		t.Fatalf("%s: %v", env, err)
	}
	return n
}

// newRand is a source of randomness whose seed is in the log.
func newRand(t *testing.T) *rand.Rand {
	t.Helper()
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}

// eventually tries until it works. It gives up with the test only.
func eventually(t *testing.T, what string, f func() error) {
	t.Helper()
	again := time.NewTicker(2 * time.Millisecond)
	defer again.Stop()
	var last error
	for {
		if last = f(); last == nil {
			return
		}
		select {
		case <-again.C:
		case <-t.Context().Done():
			t.Fatalf("%s: %v", what, errors.Join(last, context.Cause(t.Context())))
		}
	}
}

// spin lets a random bit of time pass, up to some ten milliseconds.
func spin(rnd *rand.Rand) {
	for range rnd.IntN(300_000) {
		os.Getppid()
	}
}
