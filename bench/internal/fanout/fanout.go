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
	Env          peer.Env
	Displays     []int
	Dead         int // beside as many displays, in a row of its own
	Alternations int // how often each row is measured, in turns
	Calls        func(displays int) int
	Progress     func(step, steps int, what string)
}

// The servers.
const (
	Callerd = "callerd"
	Loop    = "bare gorilla loop"
)

// Row is one server with so many displays, and so many beside them that never read.
type Row struct {
	Server   string    `json:"server"`
	Displays int       `json:"displays"`
	Dead     int       `json:"dead"`
	Samples  []Figures `json:"samples"`
	Failed   string    `json:"failed,omitempty"` // why its figures do not count
}

// mostDisplays is how many WebSockets the daemon serves at once.
const mostDisplays = 5000

// Run measures all rows, those of as many displays in turns. A row that fails is not measured again; only the end of ctx is an error.
func Run(ctx context.Context, o Options) (rows []*Row, err error) {
	if err := raiseLimit(2*mostDisplays + 1000); err != nil {
		return nil, err
	}
	step, steps := 0, 3*len(o.Displays)*o.Alternations
	for _, n := range o.Displays {
		three := []*Row{{Server: Callerd, Displays: n}, {Server: Callerd, Displays: n, Dead: o.Dead}, {Server: Loop, Displays: n}}
		rows = append(rows, three...)
		size := 200 // of the loop's frames: that of callerd's, which is measured first
		for a := range o.Alternations {
			for i := range three {
				r := three[(i+a)%len(three)]
				step++
				o.Progress(step, steps, fmt.Sprintf("%s, %d displays, %d that never read", r.Server, r.Displays, r.Dead))
				if r.Failed != "" {
					continue
				}
				f, err := r.once(ctx, o, a, size)
				if ctx.Err() != nil {
					return nil, context.Cause(ctx)
				}
				if err != nil {
					r.Failed = err.Error()
					continue
				}
				size = max(size, f.Bytes)
				r.Samples = append(r.Samples, f)
			}
		}
	}
	return rows, nil
}

// once measures a row once.
func (r *Row) once(ctx context.Context, o Options, alternation, size int) (Figures, error) {
	if r.Server == Loop {
		return loop(ctx, o, r.Displays, size)
	}
	return daemon(ctx, o, min(r.Displays, mostDisplays-r.Dead), r.Dead, alternation)
}

// daemon measures callerd.
func daemon(ctx context.Context, o Options, displays, dead, alternation int) (f Figures, err error) {
	e := o.Env
	e.Dir = filepath.Join(o.Env.Dir, fmt.Sprint(displays, "-", dead, "-", alternation))
	if err := os.Mkdir(e.Dir, 0o755); err != nil {
		return f, err
	}
	log := &cuts{}
	e.Log = log
	d, err := peer.StartDaemon(ctx, e)
	if err != nil {
		return f, err
	}
	defer os.RemoveAll(e.Dir)
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
