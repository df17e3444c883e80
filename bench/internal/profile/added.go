package profile

import (
	"context"
	_ "embed" // the file that is added
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// added is a file of the daemon's main package that only the benchmark's build has: the product itself takes no profiles.
//
//go:embed added.go.txt
var added []byte

// variable names the folder of the profiles to the added file.
const variable = "BENCH_PROFILES"

// Overlay writes what go build -overlay wants to be told, so that the file is added to the daemon, and returns its name.
func Overlay(repository, dir string) (string, error) {
	source := filepath.Join(dir, "added.go")
	if err := os.WriteFile(source, added, 0o644); err != nil {
		return "", err
	}
	b, err := json.Marshal(map[string]map[string]string{"Replace": {filepath.Join(repository, "cmd", "callerd", "added.go"): source}})
	if err != nil {
		return "", err
	}
	name := filepath.Join(dir, "overlay.json")
	return name, os.WriteFile(name, b, 0o644)
}

// recorder takes profiles of a daemon with the added file.
type recorder struct {
	dir string
	pid int
	n   int // of the profile that was begun last
}

// begin begins a profile.
func (r *recorder) begin(ctx context.Context) error {
	r.n++
	return r.toggle(ctx, r.file()+".part")
}

// end ends it; then it is in file.
func (r *recorder) end(ctx context.Context) error { return r.toggle(ctx, r.file()) }

// file is where the last profile is.
func (r *recorder) file() string { return filepath.Join(r.dir, fmt.Sprintf("%d.pb.gz", r.n)) }

// toggle sends the signal and waits until a file is there.
func (r *recorder) toggle(ctx context.Context, file string) error {
	if err := syscall.Kill(r.pid, syscall.SIGUSR1); err != nil {
		return fmt.Errorf("profile: signal: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	t := time.NewTicker(time.Millisecond)
	defer t.Stop()
	for {
		if _, err := os.Stat(file); err == nil {
			return nil
		}
		select {
		case <-t.C:
		case <-ctx.Done():
			return fmt.Errorf("profile: %s did not come: %w", filepath.Base(file), context.Cause(ctx))
		}
	}
}
