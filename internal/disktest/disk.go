// Package disktest gives a test file systems of its own: small ones that can be filled up, and ones whose
// power can be cut. It needs Linux, root and loop devices; where they are missing the test is skipped with
// a word.
//
// # Caveats
//
// A power cut here keeps all that the file system has sent to its device, in the order in which it was
// sent, and loses all the rest. A real disk may also lose or reorder what it has in a cache of its own and
// has not been told to flush.
package disktest

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Kind is a kind of file system.
type Kind string

// The kinds. XFS wants 300 MiB at least. A Tmpfs has no power to cut.
const (
	Ext4  Kind = "ext4"
	XFS   Kind = "xfs"
	Tmpfs Kind = "tmpfs"
)

// Disk is a mounted file system.
type Disk struct {
	Dir   string // where it is mounted
	kind  Kind
	image string // backing file; empty for a tmpfs
	size  int64
}

// New makes a file system and mounts it until the test ends.
func New(tb testing.TB, kind Kind, size int64) *Disk {
	tb.Helper()
	if os.Getuid() != 0 {
		tb.Skip("skipped: mounting a file system needs root")
	}
	top := tb.TempDir()
	d := &Disk{Dir: filepath.Join(top, "disk"), kind: kind, size: size}
	if err := os.Mkdir(d.Dir, 0o700); err != nil {
		tb.Fatal(err)
	}
	if kind != Tmpfs {
		d.image = filepath.Join(top, "image")
		if err := makeSparse(d.image, size); err != nil {
			tb.Fatal(err)
		}
		if out, err := exec.Command("mkfs."+string(kind), "-q", d.image).CombinedOutput(); errors.Is(err, exec.ErrNotFound) {
			tb.Skipf("skipped: there is no mkfs.%s here", kind)
		} else if err != nil {
			tb.Fatalf("mkfs.%s: %v: %s", kind, err, out)
		}
	}
	if err := d.mount(); err != nil {
		tb.Skipf("skipped: a file system cannot be mounted here: %v", err)
	}
	tb.Cleanup(func() {
		if err := d.unmount(); err != nil && !errors.Is(err, syscall.EINVAL) { // EINVAL: it is not mounted
			tb.Errorf("unmount: %v", err)
			run("umount", "-l", d.Dir)
		}
	})
	return d
}

// Restart unmounts the file system and mounts it again, as a machine does that gets its power back. No
// process may have a file open on it.
func (d *Disk) Restart(tb testing.TB) {
	tb.Helper()
	if err := d.unmount(); err != nil {
		tb.Fatalf("unmount: %v", err)
	}
	if err := d.mount(); err != nil {
		tb.Fatalf("mount: %v", err)
	}
}

func (d *Disk) mount() error {
	if d.kind == Tmpfs {
		return run("mount", "-t", "tmpfs", "-o", fmt.Sprintf("size=%d", d.size), "tmpfs", d.Dir)
	}
	return run("mount", "-t", string(d.kind), "-o", "loop", d.image, d.Dir)
}

// unmount waits for a while when the file system is busy: a process that is just being started holds all
// files of its parent until it is another program.
func (d *Disk) unmount() error {
	again := time.NewTicker(time.Millisecond)
	defer again.Stop()
	for tries := 0; ; tries++ {
		err := syscall.Unmount(d.Dir, 0) // the loop device goes with it
		if err == nil {
			return nil
		}
		if !errors.Is(err, syscall.EBUSY) || tries == 2000 {
			return fmt.Errorf("%s: %w", d.Dir, err)
		}
		<-again.C
	}
}

// Fill leaves no room on the file system but for the given number of bytes, as far as it can be told.
func (d *Disk) Fill(tb testing.TB, room int64) {
	tb.Helper()
	if err := fill(d.ballast(), room); err != nil {
		tb.Fatalf("fill %s: %v", d.Dir, err)
	}
}

// MakeRoom takes away what Fill has written.
func (d *Disk) MakeRoom(tb testing.TB) {
	tb.Helper()
	if err := os.Remove(d.ballast()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		tb.Fatal(err)
	}
}

func (d *Disk) ballast() string { return filepath.Join(d.Dir, "ballast") }

// fill writes a file until nothing fits any more, not even a byte, and then cuts room off it.
func fill(path string, room int64) (err error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	end := int64(0)
	for _, size := range []int{1 << 20, 64 << 10, 4 << 10, 512} {
		b := make([]byte, size)
		for {
			n, err := f.WriteAt(b, end)
			end += int64(n)
			if errors.Is(err, syscall.ENOSPC) {
				break
			}
			if err != nil {
				return err
			}
		}
	}
	if err := f.Sync(); err != nil {
		return err
	}
	return f.Truncate(max(0, end-room))
}

func makeSparse(path string, size int64) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Truncate(size), f.Close())
}

func run(name string, args ...string) error {
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, strings.TrimSpace(string(out)))
	}
	return nil
}
