package peer

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"callerd/bench/internal/proc"
)

// callerd is the daemon with its default options; its configuration has more counters, and leases that outlive the other rows.
func callerd() System {
	return System{
		Name:  "callerd",
		About: "the real binary, default options, no shadow state; configured: as many counters as callers, each serving both categories of the default branch, and leases of 1 h",
		Start: func(ctx context.Context, e Env) (Instance, error) {
			in, _, err := StartCallerd(ctx, e)
			return in, err
		},
	}
}

// StartCallerd starts the daemon and connects to it.
func StartCallerd(ctx context.Context, e Env) (Instance, *Daemon, error) {
	d, err := StartDaemon(ctx, e)
	if err != nil {
		return nil, nil, err
	}
	r, err := dial(e, d.GRPC)
	if err != nil {
		d.Process.Kill()
		return nil, nil, err
	}
	r.servers, r.version = append(r.servers, served{d.Process, syscall.SIGTERM}), d.Version
	return r, d, nil
}

// Daemon is a running callerd.
type Daemon struct {
	Process    *proc.Process
	GRPC, HTTP string // addresses
	Data       string // folder of the journal
	Version    string
}

// StartDaemon starts callerd on the data in e.Dir, new or there already.
func StartDaemon(ctx context.Context, e Env) (*Daemon, error) {
	d := &Daemon{Data: filepath.Join(e.Dir, "data")}
	file := filepath.Join(e.Dir, "callerd.yaml")
	if err := os.WriteFile(file, []byte(configuration(e.Counters)), 0o600); err != nil {
		return nil, err
	}
	args := []string{e.Callerd, "serve", "--grpc-addr", "127.0.0.1:0", "--http-addr", "127.0.0.1:0", "--data", d.Data, "--config", file}
	var err error
	d.Process, err = proc.Start(ctx, proc.Options{Args: args, Log: e.Log, ReadyWithin: 2 * time.Minute, Env: append(unset(os.Environ(), "CALLERD_"), e.Vars...), Ready: func(line string) bool {
		words := strings.Fields(line)
		switch {
		case strings.HasPrefix(line, "callerd"):
			d.Version, _, _ = strings.Cut(line, " is open")
		case strings.HasPrefix(line, "  gRPC"):
			d.GRPC = words[len(words)-1]
		case strings.HasPrefix(line, "  hall display"):
			d.HTTP = strings.Trim(strings.TrimPrefix(words[len(words)-1], "http://"), "/")
		case strings.HasPrefix(line, "  journal"):
			return true
		}
		return false
	}})
	if err != nil {
		return nil, err
	}
	return d, nil
}

// configuration is the default branch with more counters.
func configuration(counters int) string {
	var b strings.Builder
	b.WriteString("branch: {time_zone: UTC}\nsession: {lease: 1h}\ncategories:\n  - {id: personal, prefix: A}\n  - {id: corporate, prefix: B}\ncounters:\n")
	for n := range counters {
		fmt.Fprintf(&b, "  - {counter: %d}\n", n+1)
	}
	return b.String()
}

// unset leaves variables out whose names begin with a prefix: our environment must not set the daemon up.
func unset(env []string, prefix string) (out []string) {
	for _, v := range env {
		if !strings.HasPrefix(v, prefix) {
			out = append(out, v)
		}
	}
	return out
}
