//go:build unix

package hub

import (
	"errors"
	"syscall"
)

// writeOnce gives the kernel what it takes at once.
func writeOnce(fd uintptr, b []byte) (int, error) {
	for {
		n, err := syscall.Write(int(fd), b)
		switch {
		case err == nil:
			return n, nil
		case errors.Is(err, syscall.EAGAIN):
			return 0, nil
		case err != syscall.EINTR:
			return 0, err
		}
	}
}
