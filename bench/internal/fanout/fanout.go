// Package fanout measures how long a call takes to the last of many displays, over real WebSockets to the real daemon, beside the
// plainest loop that writes to one connection after the other; and what displays that never read do to the others.
package fanout

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"callerd/bench/internal/peer"
	"callerd/bench/internal/proc"
)

// Options of a run.
type Options struct {
	Env      peer.Env
	Displays []int
	Dead     int // beside as many displays, in one more run of each
	Calls    func(displays int) int
	Progress func(step, steps int, what string)
}

// Row is one run.
type Row struct {
	Server string `json:"server"`
	Figures
	Failed string `json:"failed,omitempty"`
}

// mostDisplays is how many WebSockets the daemon serves at once.
const mostDisplays = 5000

// Run measures all. A run that fails has a failed row.
func Run(ctx context.Context, o Options) (rows []Row, err error) {
	if err := raiseLimit(2*mostDisplays + 1000); err != nil {
		return nil, err
	}
	steps := 3 * len(o.Displays)
	for i, n := range o.Displays {
		size := 0
		for k, dead := range [...]int{0, o.Dead} {
			o.Progress(3*i+k+1, steps, fmt.Sprintf("callerd, %d displays, %d that never read", n, dead))
			f, err := daemon(ctx, o, min(n, mostDisplays-dead), dead)
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			size = max(size, f.Bytes)
			rows = append(rows, row("callerd", f, n, dead, err))
		}
		o.Progress(3*i+3, steps, fmt.Sprintf("bare loop, %d displays", n))
		f, err := loop(ctx, o, n, max(size, 200))
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		rows = append(rows, row("bare gorilla loop", f, n, 0, err))
	}
	return rows, nil
}

func row(server string, f Figures, displays, dead int, err error) Row {
	r := Row{Server: server, Figures: f}
	if err != nil {
		r.Displays, r.Dead, r.Failed = displays, dead, err.Error()
	}
	return r
}

// daemon measures callerd.
func daemon(ctx context.Context, o Options, displays, dead int) (f Figures, err error) {
	e := o.Env
	e.Dir = filepath.Join(o.Env.Dir, fmt.Sprint(displays, "-", dead))
	if err := os.Mkdir(e.Dir, 0o755); err != nil {
		return f, err
	}
	log := &cuts{}
	e.Log = log
	d, err := peer.StartDaemon(ctx, e)
	if err != nil {
		return f, err
	}
	defer d.Process.Kill()
	f, err = client(ctx, o, d.Process, displays, "--web", d.HTTP, "--grpc", d.GRPC, "--dead", strconv.Itoa(dead))
	f.DeadLogged = log.count()
	return f, err
}

// loop measures the bare loop.
func loop(ctx context.Context, o Options, displays, size int) (f Figures, err error) {
	var addr string
	p, err := proc.Start(ctx, proc.Options{Args: []string{o.Env.Self, "serve-bare"}, Ready: func(line string) (ok bool) {
		addr, ok = strings.CutPrefix(line, bareMark+" ")
		return ok
	}})
	if err != nil {
		return f, err
	}
	defer p.Kill()
	return client(ctx, o, p, displays, "--web", addr, "--size", strconv.Itoa(size))
}

// client runs the displays in a process of their own.
func client(ctx context.Context, o Options, server *proc.Process, displays int, args ...string) (f Figures, err error) {
	args = append([]string{"displays", "--displays", strconv.Itoa(displays), "--pid", strconv.Itoa(server.Pid()), "--calls", strconv.Itoa(o.Calls(displays))}, args...)
	c := exec.CommandContext(ctx, o.Env.Self, args...)
	c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	if err := c.Run(); err != nil {
		return f, fmt.Errorf("displays: %w: %s", err, bytes.TrimSpace(errs.Bytes()))
	}
	err = json.Unmarshal(out.Bytes(), &f)
	return f, err
}

// cuts counts in the daemon's log, where an operator would, the displays that were cut for taking nothing.
type cuts struct {
	mu   sync.Mutex
	rest []byte
	n    int
}

func (c *cuts) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.rest = append(c.rest, b...)
	for {
		line, rest, whole := bytes.Cut(c.rest, []byte("\n"))
		if !whole {
			return len(b), nil
		}
		c.rest = rest
		if bytes.Contains(line, []byte("display gone")) && (bytes.Contains(line, []byte("timeout")) || bytes.Contains(line, []byte("too far behind"))) {
			c.n++
		}
	}
}

func (c *cuts) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.n
}

// raiseLimit lets the processes that we start have so many open files; the Go runtime raises the soft limit to the hard one by itself.
func raiseLimit(files uint64) error {
	var l unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &l); err != nil {
		return err
	}
	if l.Max >= files {
		return nil
	}
	l.Cur, l.Max = files, files
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &l); err != nil {
		return fmt.Errorf("%d open files are needed (ulimit -Hn): %w", files, err)
	}
	return nil
}
