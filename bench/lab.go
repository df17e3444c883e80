package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"callerd/bench/internal/peer"
)

// lab is where everything is measured: the folders, the binaries, and who is told how far it is.
type lab struct {
	root    string // of the repository
	dir     string // a folder of this run on the disk that is measured
	sockets string // a folder of this run with a short name
	self    string
	callerd string
	out     io.Writer
	say     progress
}

// open makes the folders and builds the daemon. close removes the folders.
func (c *common) open(ctx context.Context, s *streams) (l *lab, err error) {
	l = &lab{out: s.out, say: newProgress(s.err)}
	defer func() {
		if err != nil {
			err = errors.Join(err, l.close())
		}
	}()
	if l.root, err = repository(); err != nil {
		return l, err
	}
	for _, p := range [...]*string{&c.Dir, &c.Results, &c.Plots} {
		if !filepath.IsAbs(*p) {
			*p = filepath.Join(l.root, *p)
		}
	}
	if l.self, err = os.Executable(); err != nil {
		return l, err
	}
	if err = os.MkdirAll(c.Dir, 0o755); err != nil {
		return l, fmt.Errorf("--dir: %w", err)
	}
	if err = onDisk(c.Dir); err != nil {
		return l, fmt.Errorf("--dir: %w", err)
	}
	if l.dir, err = os.MkdirTemp(c.Dir, "run-"); err != nil {
		return l, fmt.Errorf("--dir: %w", err)
	}
	if l.sockets, err = os.MkdirTemp("", "cb-"); err != nil {
		return l, err
	}
	// PostgreSQL runs as a user of its own.
	if err = errors.Join(os.Chmod(l.dir, 0o755), os.Chmod(l.sockets, 0o755)); err != nil {
		return l, err
	}
	l.say.line("building callerd")
	l.callerd = filepath.Join(l.dir, "callerd")
	return l, l.build(ctx, l.callerd)
}

// build builds the daemon, with more flags if there are any.
func (l *lab) build(ctx context.Context, to string, flags ...string) error {
	version, err := exec.CommandContext(ctx, "git", "-C", l.root, "describe", "--tags", "--always", "--dirty").Output()
	if err != nil {
		version = []byte("unknown")
	}
	args := append([]string{"build", "-o", to, "-ldflags", "-X main.stamped=" + strings.TrimSpace(string(version))}, flags...)
	build := exec.CommandContext(ctx, "go", append(args, "./cmd/callerd")...)
	build.Dir = l.root
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build callerd: %w: %s", err, out)
	}
	return nil
}

// close removes what was made.
func (l *lab) close() error {
	var errs []error
	for _, d := range [...]string{l.dir, l.sockets} {
		if d != "" {
			errs = append(errs, os.RemoveAll(d))
		}
	}
	return errors.Join(errs...)
}

// env is what systems are started with, in folders of their own under a name.
func (l *lab) env(name string, counters int) (peer.Env, error) {
	e := peer.Env{Dir: filepath.Join(l.dir, name), Sockets: filepath.Join(l.sockets, name), Self: l.self, Callerd: l.callerd, Counters: counters, Conns: connections}
	return e, errors.Join(os.MkdirAll(e.Dir, 0o755), os.MkdirAll(e.Sockets, 0o755))
}

// connections is how many gRPC connections the callers of every system share; fewer callers use one each.
const connections = 8

// repository finds the folder of the product's module above the working directory.
func repository() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		mod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil && strings.HasPrefix(string(mod), "module callerd\n") {
			return dir, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", errors.New("run it inside callerd's repository")
		}
		dir = up
	}
}

// onDisk refuses a file system in memory, where a sync costs nothing and every comparison is wrong.
func onDisk(dir string) error {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return err
	}
	if s.Type == unix.TMPFS_MAGIC || s.Type == unix.RAMFS_MAGIC {
		return fmt.Errorf("%s is in memory; name a folder on a disk", dir)
	}
	return nil
}
