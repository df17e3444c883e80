package journal

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// openPath reads the root of the journal at path. The returned function closes the file.
func openPath(path string) (*content, func() error, error) {
	f, err := openRegular(path)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	c, err := openContent(f, info.Size())
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return c, f.Close, nil
}

// openRegular opens a file for reading, and nothing else that may stand in its place.
func openRegular(path string) (*os.File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%w: it is no file", ErrForeign)
	}
	return os.Open(path)
}

// rewriteMetas writes what the two meta pages hold over them, and syncs.
func rewriteMetas(f *os.File, pageSize uint64) error {
	b := make([]byte, 2*pageSize)
	if _, err := f.ReadAt(b, 0); err != nil {
		return fmt.Errorf("read the meta pages: %w", err)
	}
	if _, err := f.WriteAt(b, 0); err != nil {
		return fmt.Errorf("write the meta pages: %w", err)
	}
	if err := f.Sync(); err != nil {
		return fmt.Errorf("sync the meta pages: %w", err)
	}
	return nil
}

// explain says which file an error is about, and what to do.
func explain(path string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, ErrForeign):
		return fmt.Errorf("%s: %w; it was left as it is: move it away, or use another data folder", path, err)
	case errors.Is(err, ErrDamaged):
		return fmt.Errorf("%s: %w; nothing was changed: keep a copy of the folder, then restore it from a backup, "+
			"or move it away to begin anew (numbers start again)", path, err)
	case errors.Is(err, syscall.EIO):
		return fmt.Errorf("%s: %w; the disk cannot read it: keep what can be copied, then restore a backup on another disk", path, err)
	default:
		return fmt.Errorf("%s: %w", path, err)
	}
}
