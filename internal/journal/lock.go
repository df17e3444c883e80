package journal

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// lockName is the file whose lock says that a process has the journal in its folder. bbolt's own lock is
// on the inode of the journal: after a move and a copy back it would let a second daemon in.
const lockName = "lock"

// lockFile is a held lock. The text in the file is for people and says who holds it.
type lockFile struct{ f *os.File }

// lockForWriting takes the folder's lock for this process alone.
func lockForWriting(dir string, now time.Time) (*lockFile, error) {
	f, err := os.OpenFile(filepath.Join(dir, lockName), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the journal's lock: %w", err)
	}
	if err := flock(f, syscall.LOCK_EX); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	text := fmt.Sprintf("pid %d since %s\n", os.Getpid(), now.Format(time.RFC3339))
	if err := errors.Join(f.Truncate(0), writeAt(f, text)); err != nil && !NoSpace(err) {
		return nil, errors.Join(fmt.Errorf("write the journal's lock: %w", err), f.Close())
	}
	return &lockFile{f}, nil
}

// lockForReading takes the folder's lock together with other readers. A copy of a journal may have none.
func lockForReading(dir string) (*lockFile, error) {
	f, err := os.Open(filepath.Join(dir, lockName))
	if errors.Is(err, fs.ErrNotExist) {
		return &lockFile{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("open the journal's lock: %w", err)
	}
	if err := flock(f, syscall.LOCK_SH); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &lockFile{f}, nil
}

// release gives the lock up. The file stays: removing it would let two processes lock two files.
func (l *lockFile) release() error {
	if l.f == nil {
		return nil
	}
	l.f.Truncate(0) // a reader cannot, and leaves the text alone
	// A child that another goroutine is just starting has the file open too, until it runs: closing would leave it locked.
	err := errors.Join(syscall.Flock(int(l.f.Fd()), syscall.LOCK_UN), l.f.Close())
	l.f = nil
	return err
}

// flock locks f or says at once who has it.
func flock(f *os.File, how int) error {
	for {
		err := syscall.Flock(int(f.Fd()), how|syscall.LOCK_NB)
		switch {
		case err == nil:
			return nil
		case errors.Is(err, syscall.EINTR):
			continue
		case !errors.Is(err, syscall.EWOULDBLOCK):
			return fmt.Errorf("lock %s: %w", f.Name(), err)
		}
		text, err := io.ReadAll(io.NewSectionReader(f, 0, 200))
		who := strings.TrimSpace(string(text))
		if err != nil || !strings.HasPrefix(who, "pid ") {
			who = "another process that reads it, such as callerd check"
		}
		return fmt.Errorf("%w: %s is held by %s; stop that process first", ErrLocked, f.Name(), who)
	}
}

func writeAt(f *os.File, text string) error {
	_, err := f.WriteAt([]byte(text), 0)
	return err
}
