package journal

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
)

var (
	// ErrLocked is returned when another process has the journal open.
	ErrLocked = errors.New("journal is in use")
	// ErrForeign is returned when the file in the journal's place was not made by callerd.
	ErrForeign = errors.New("not a callerd journal")
	// ErrDamaged is returned when the journal does not say what was written to it.
	ErrDamaged = errors.New("journal is damaged")
	// ErrNewerFormat is returned when a newer program has made the journal.
	ErrNewerFormat = errors.New("journal has a newer format")
	// ErrMoved is returned when the journal's file was moved or removed while it was open.
	ErrMoved = errors.New("journal was moved while it was open")
	// ErrClosed is returned when the journal has been closed.
	ErrClosed = errors.New("journal is closed")
)

// NoSpace reports whether an error of [Journal.Append] means that there was no room: the caller keeps its
// batch and calls Append again with it. After any other error the outcome is unknown.
func NoSpace(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// unwrapNoSpace makes NoSpace true for the errors that bbolt passes on as text only (growing the file).
func unwrapNoSpace(err error) error {
	if err == nil || NoSpace(err) {
		return err
	}
	for _, e := range []syscall.Errno{syscall.ENOSPC, syscall.EDQUOT} {
		if strings.HasSuffix(err.Error(), e.Error()) {
			return fmt.Errorf("%v: %w", err, e)
		}
	}
	return err
}

func damaged(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrDamaged, fmt.Sprintf(format, args...))
}
