package disktest

import (
	"fmt"
	"os"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	goingDown  = 0x8004587d // EXT4_IOC_SHUTDOWN, XFS_IOC_GOINGDOWN: _IOR('X', 125, __u32)
	noLogFlush = 2          // nothing more goes to the device, not even what the log holds
)

// CutPower stops the file system as a loss of power does: what it has not sent to its device is lost, and
// nothing can be written any more until Restart.
func (d *Disk) CutPower(tb testing.TB) {
	tb.Helper()
	f, err := os.Open(d.Dir)
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	how := uint32(noLogFlush)
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, f.Fd(), goingDown, uintptr(unsafe.Pointer(&how)))
	if errno != 0 {
		tb.Fatal(fmt.Errorf("cut the power of %s: %w", d.Dir, errno))
	}
}
