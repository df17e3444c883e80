package journal

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"callerd/internal/queue"
)

// Reader reads a journal that no daemon has open: all of it, and without changing anything.
type Reader struct {
	path    string
	lock    *lockFile
	file    *os.File
	content *content
}

// Identify tells what the journal in a folder says about itself, also while a daemon has it open. It reads beside the
// daemon, so it may fail when pages change under it; asked again it does not.
func Identify(dir string) (Meta, error) {
	path := filepath.Join(dir, fileName)
	var err error
	for range 5 {
		var c *content
		var closeImage func() error
		if c, closeImage, err = openPath(path); err == nil {
			return c.meta, closeImage()
		}
	}
	return Meta{}, fmt.Errorf("identify journal: %w", explain(path, err))
}

// OpenReader opens the journal in the folder dir. It makes and repairs nothing; a folder without a journal
// is fs.ErrNotExist, one that a daemon has open [ErrLocked].
func OpenReader(dir string) (*Reader, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("read journal: %w", err)
	}
	r := &Reader{path: filepath.Join(dir, fileName)}
	if r.lock, err = lockForReading(dir); err != nil {
		return nil, fmt.Errorf("read journal: %w", err)
	}
	if err := r.open(); err != nil {
		return nil, errors.Join(fmt.Errorf("read journal: %w", explain(r.path, err)), r.Close())
	}
	return r, nil
}

func (r *Reader) open() (err error) {
	if r.file, err = openRegular(r.path); err != nil {
		return err
	}
	if err := flock(r.file, syscall.LOCK_SH); err != nil { // bbolt's own lock
		return err
	}
	info, err := r.file.Stat()
	if err != nil {
		return err
	}
	r.content, err = openContent(r.file, info.Size())
	return err
}

// Meta is what the journal says about itself.
func (r *Reader) Meta() Meta { return r.content.meta }

// Path of the journal's file.
func (r *Reader) Path() string { return r.path }

// Replay calls f for every record there is, in order, and verifies everything.
func (r *Reader) Replay(f func(*queue.Record) error) error {
	c := r.content.again()
	err := c.records(0, f)
	if err == nil {
		err = c.checkPages()
	}
	if err != nil {
		return fmt.Errorf("replay journal: %w", explain(r.path, err))
	}
	return nil
}

// Export calls f for the batches, in order, from the first one that holds a sequence of at least from.
func (r *Reader) Export(ctx context.Context, from uint64, f func([]RawBatch) error) error {
	err := export(ctx, from, f, func(next uint64) ([]RawBatch, uint64, error) {
		return r.content.again().chunk(next, r.content.head.last)
	})
	if err != nil {
		return fmt.Errorf("export journal: %w", explain(r.path, err))
	}
	return nil
}

// Close closes the file and gives the lock up. It may be called again.
func (r *Reader) Close() error {
	var err error
	if r.file != nil {
		err = r.file.Close()
		r.file = nil
	}
	return errors.Join(err, r.lock.release())
}
