// Package proc runs the processes that are measured: it knows when they are ready, reads what the kernel says they used, and
// leaves none behind.
package proc

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Options of a process.
type Options struct {
	Args []string // program and arguments
	Dir  string
	Env  []string            // nil: ours
	User *syscall.Credential // nil: ours
	// Ready looks at a line of standard output; true says that it serves. Nil: it is ready when it has started.
	Ready func(line string) bool
	// ReadyWithin bounds the wait. Zero: 30 s.
	ReadyWithin time.Duration
	// Log gets standard error too. Nil: its end is kept, for errors.
	Log io.Writer
}

// Process is one that runs.
type Process struct {
	cmd    *exec.Cmd
	errors tail
	done   chan struct{} // closed when it has ended and was waited for
	err    error         // before done is closed
}

// Start runs a program and waits until it is ready. It dies with us, however we end.
func Start(ctx context.Context, o Options) (*Process, error) {
	if o.ReadyWithin == 0 {
		o.ReadyWithin = 30 * time.Second
	}
	// Not of ctx: who started it stops it in order.
	p := &Process{cmd: exec.Command(o.Args[0], o.Args[1:]...), done: make(chan struct{})}
	p.cmd.Dir, p.cmd.Env, p.cmd.Stderr = o.Dir, o.Env, &p.errors
	if o.Log != nil {
		p.cmd.Stderr = io.MultiWriter(&p.errors, o.Log)
	}
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL, Credential: o.User}
	p.cmd.WaitDelay = time.Second
	out, in := io.Pipe()
	p.cmd.Stdout = in
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", o.Args[0], err)
	}
	ready := make(chan struct{})
	go p.listen(out, o.Ready, ready)
	go func() {
		p.err = p.cmd.Wait()
		_ = in.Close()
		close(p.done)
	}()
	within, cancel := context.WithTimeout(ctx, o.ReadyWithin)
	defer cancel()
	select {
	case <-ready:
		return p, nil
	case <-p.done:
		return nil, fmt.Errorf("%s ended before it was ready: %w: %s", o.Args[0], p.err, p.errors.String())
	case <-within.Done():
		p.Kill()
		return nil, fmt.Errorf("%s was not ready: %w: %s", o.Args[0], context.Cause(within), p.errors.String())
	}
}

// listen reads standard output to its end.
func (p *Process) listen(out io.Reader, is func(string) bool, ready chan<- struct{}) {
	told := is == nil
	if told {
		close(ready)
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if !told && is(lines.Text()) {
			told = true
			close(ready)
		}
	}
	_, _ = io.Copy(io.Discard, out)
}

// Pid is its process id.
func (p *Process) Pid() int { return p.cmd.Process.Pid }

// Done is closed when it has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Log is the end of what it wrote to standard error.
func (p *Process) Log() string { return p.errors.String() }

// Stop asks it to end with a signal, and kills it if it does not within 15 s.
func (p *Process) Stop(sig syscall.Signal) error {
	_ = p.cmd.Process.Signal(sig) // it may have ended
	t := time.NewTimer(15 * time.Second)
	defer t.Stop()
	select {
	case <-p.done:
	case <-t.C:
		p.Kill()
		return fmt.Errorf("%s did not end and was killed", p.cmd.Path)
	}
	var exit *exec.ExitError
	if errors.As(p.err, &exit) && exit.ExitCode() > 0 {
		return fmt.Errorf("%s ended with %w: %s", p.cmd.Path, p.err, p.errors.String())
	}
	return nil
}

// Kill ends it and its group at once, as kill -9 does, and waits.
func (p *Process) Kill() {
	_ = syscall.Kill(-p.Pid(), syscall.SIGKILL)
	<-p.done
}

// tail keeps the end of what is written to it.
type tail struct {
	mu  sync.Mutex
	end []byte
}

const tailSize = 2048

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.end = append(t.end, b...)
	if more := len(t.end) - tailSize; more > 0 {
		t.end = bytes.Clone(t.end[more:])
	}
	return len(b), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.TrimSpace(string(t.end))
}
