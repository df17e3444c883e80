package journal

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"callerd/internal/queue"

	"go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"
)

// fileName is the journal in its folder.
const fileName = "journal.db"

// Options of a journal. The zero value is good for use.
type Options struct {
	// Logger gets what the journal does by itself. Nil: nothing is logged.
	Logger *slog.Logger
	// Now tells the time, for what people read in the lock file. Nil: time.Now.
	Now func() time.Time
	// NoSync leaves every fsync out. For tests only: it shows that a test of power cuts can fail.
	NoSync bool
}

// Journal is a journal open for writing.
type Journal struct {
	path   string
	opts   Options
	lock   *lockFile
	meta   Meta
	closed bool // guarded by write

	// write is held by whatever writes: Append, DropDays, Close. The fields after it are theirs.
	write   sync.Mutex
	encoder encoder
	head    head  // as of the last transaction known to have committed
	suspect bool  // the last transaction failed: the file must be opened again
	failed  error // the outcome of a transaction is unknown: nothing is written any more

	// handle guards db and file against being replaced; held for reading across one short transaction.
	handle sync.RWMutex
	db     *bbolt.DB   // nil when closed, or when it could not be opened again
	file   *os.File    // db's own
	opened os.FileInfo // which file that is: an open one stays the same whatever happens to its name

	durable atomic.Uint64 // last sequence on disk; what lies behind it is nobody's business yet
}

// Open opens the journal in the folder dir, or makes both. It never changes a file that it does not
// understand: see [ErrLocked], [ErrForeign], [ErrDamaged], [ErrNewerFormat].
func Open(dir string, opts Options) (*Journal, error) {
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("open journal: %w", err)
	}
	if err := makeFolder(dir); err != nil {
		return nil, fmt.Errorf("open journal: %w", err)
	}
	j := &Journal{path: filepath.Join(dir, fileName), opts: opts}
	if j.lock, err = lockForWriting(dir, opts.Now()); err != nil {
		return nil, fmt.Errorf("open journal: %w", err)
	}
	if err := j.openFirst(); err != nil {
		return nil, errors.Join(fmt.Errorf("open journal: %w", explain(j.path, err)), j.Close())
	}
	return j, nil
}

// openFirst opens the file, made now if there is none, after a look at it that believes nothing.
func (j *Journal) openFirst() error {
	if err := create(j.path, j.opts); err != nil {
		return err
	}
	// Also for a file that was there: whoever made it may have been killed before its name was on disk.
	dir := filepath.Dir(j.path)
	if err := errors.Join(syncFolder(dir, j.opts), syncFolder(filepath.Dir(dir), j.opts)); err != nil {
		return err
	}
	c, closeImage, err := openPath(j.path)
	if err != nil {
		return err
	}
	// bbolt will write behind the newest day: its pages must be sound and its own.
	if err := c.touch(c.recent(), len(c.days)); err != nil {
		return errors.Join(err, closeImage())
	}
	if err := closeImage(); err != nil {
		return err
	}
	if err := j.openDB(); err != nil {
		return err
	}
	j.meta, j.head = c.meta, c.head
	// What was read may exist only in the page cache, left there by a process that was killed between
	// writing and syncing, and the kernel may hold it clean after a sync that failed. bbolt would use the pages again
	// that it thinks free, before their successors are on disk. So the meta pages are written over and synced.
	if !j.opts.NoSync {
		if err := rewriteMetas(j.file, c.image.meta.pageSize); err != nil {
			return errors.Join(err, j.closeDB())
		}
	}
	j.durable.Store(j.head.last)
	return nil
}

// openDB opens the file with bbolt.
func (j *Journal) openDB() error {
	j.handle.Lock()
	defer j.handle.Unlock()
	var file *os.File
	db, err := bbolt.Open(j.path, 0o600, &bbolt.Options{
		Timeout:         time.Second, // zero would wait for ever
		FreelistType:    bbolt.FreelistMapType,
		InitialMmapSize: initialMap(),
		NoSync:          j.opts.NoSync,
		NoStatistics:    true,
		OpenFile: func(name string, flag int, mode os.FileMode) (*os.File, error) {
			f, err := os.OpenFile(name, flag&^os.O_CREATE, mode)
			file = f
			return f, err
		},
	})
	if errors.Is(err, berrors.ErrTimeout) {
		return fmt.Errorf("%w: another process has the file open; was the folder copied while it ran?", ErrLocked)
	}
	if err != nil {
		return fmt.Errorf("open it with bbolt: %w", err)
	}
	opened, err := file.Stat()
	if err != nil {
		return errors.Join(err, db.Close())
	}
	j.db, j.file, j.opened = db, file, opened
	return nil
}

// initialMap is the address space for the file: a re-map waits for every reader, so there should be none.
// It is address space only; a 32-bit machine has less to give.
func initialMap() int {
	if strconv.IntSize == 32 {
		return 64 << 20
	}
	return 1 << 30
}

// Meta is what the journal says about itself.
func (j *Journal) Meta() Meta { return j.meta }

// Path of the journal's file.
func (j *Journal) Path() string { return j.path }

// Replay calls f for each record in order, beginning with the one that opened the day before the newest, or an
// earlier day if that began less than 24 hours before the newest, and verifies all that it reads. A record may be kept; f must not write to the journal.
func (j *Journal) Replay(f func(*queue.Record) error) error {
	j.write.Lock()
	defer j.write.Unlock()
	if j.closed {
		return ErrClosed
	}
	c, closeImage, err := openPath(j.path)
	if err == nil {
		var from int
		if from, err = c.replayFrom(); err == nil {
			err = c.recordsAhead(from, f)
		}
		err = errors.Join(err, closeImage())
	}
	if err != nil {
		return fmt.Errorf("replay journal: %w", explain(j.path, err))
	}
	return nil
}

// Close closes the journal. It waits for an Append that runs, and may be called again.
func (j *Journal) Close() error {
	j.write.Lock()
	defer j.write.Unlock()
	if j.closed {
		return nil
	}
	j.closed = true
	err := errors.Join(j.closeDB(), j.lock.release())
	if err != nil {
		return fmt.Errorf("close journal %s: %w", j.path, err)
	}
	return nil
}

func (j *Journal) closeDB() error {
	j.handle.Lock()
	defer j.handle.Unlock()
	if j.db == nil {
		return nil
	}
	err := j.db.Close()
	j.db, j.file = nil, nil
	return err
}
