package proc

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Usage is what processes have used since they began.
type Usage struct {
	CPU time.Duration // user and system
	RSS int64         // bytes resident now
	// Written is the bytes of the pages that were made dirty. A kernel with large folios counts a whole one for a write of a few bytes.
	Written int64
	// Handed is the bytes given to write calls, those to sockets included.
	Handed int64
}

// tick is the unit of the CPU times in /proc: USER_HZ, 100 on every architecture of Linux that Go knows.
const tick = 10 * time.Millisecond

// Of reads what processes and all that they started have used; what a child that has ended used is its parent's.
func Of(pids ...int) (u Usage, err error) {
	all, err := tree(pids)
	if err != nil {
		return u, err
	}
	for _, pid := range all {
		if err := u.add(pid); err != nil && !os.IsNotExist(err) { // a child may end while we look
			return u, err
		}
	}
	return u, nil
}

// Self is the CPU time that this process has used.
func Self() time.Duration {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		return 0
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// add adds one process.
func (u *Usage) add(pid int) error {
	fields, err := stat(pid)
	if err != nil {
		return err
	}
	for _, at := range [...]int{11, 12, 13, 14} { // utime, stime, cutime, cstime, counted from the state
		n, err := strconv.ParseInt(fields[at], 10, 64)
		if err != nil {
			return fmt.Errorf("/proc/%d/stat: %w", pid, err)
		}
		u.CPU += time.Duration(n) * tick
	}
	pages, err := strconv.ParseInt(fields[21], 10, 64)
	if err != nil {
		return fmt.Errorf("/proc/%d/stat: %w", pid, err)
	}
	u.RSS += pages * int64(os.Getpagesize())
	written, handed, err := counts(fmt.Sprint(pid))
	u.Written += written
	u.Handed += handed
	return err
}

// HandedOver is how many bytes this process has given to write calls.
func HandedOver() (int64, error) {
	_, handed, err := counts("self")
	return handed, err
}

// counts reads write_bytes and wchar of a process.
func counts(pid string) (written, handed int64, err error) {
	b, err := os.ReadFile("/proc/" + pid + "/io")
	if err != nil {
		return 0, 0, err
	}
	for line := range strings.Lines(string(b)) {
		for prefix, to := range map[string]*int64{"write_bytes:": &written, "wchar:": &handed} {
			if v, is := strings.CutPrefix(line, prefix); is {
				if *to, err = strconv.ParseInt(strings.TrimSpace(v), 10, 64); err != nil {
					return 0, 0, fmt.Errorf("/proc/%s/io: %w", pid, err)
				}
			}
		}
	}
	return written, handed, nil
}

// stat returns the fields of /proc/PID/stat behind the program's name, which may hold anything.
func stat(pid int) ([]string, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return nil, err
	}
	fields := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
	if len(fields) < 22 {
		return nil, fmt.Errorf("/proc/%d/stat has %d fields", pid, len(fields))
	}
	return fields, nil
}

// tree returns the processes and all their descendants.
func tree(pids []int) ([]int, error) {
	dirs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return nil, err
	}
	children := map[int][]int{}
	for _, d := range dirs {
		pid, err := strconv.Atoi(filepath.Base(d))
		if err != nil {
			continue
		}
		if f, err := stat(pid); err == nil {
			if parent, err := strconv.Atoi(f[1]); err == nil {
				children[parent] = append(children[parent], pid)
			}
		}
	}
	all := append([]int(nil), pids...)
	for i := 0; i < len(all); i++ {
		all = append(all, children[all[i]]...)
	}
	return all, nil
}
