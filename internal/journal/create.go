package journal

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	journalv1 "callerd/proto/journal/v1"

	"go.etcd.io/bbolt"
)

// create makes an empty journal at path if there is nothing. Until the file is whole it has another name:
// most of the states in which a power cut leaves a new bbolt file do not open.
func create(path string, opts Options) error {
	unfinished := path + ".new"
	switch err := os.Remove(unfinished); {
	case err == nil:
		opts.Logger.Info("removed a journal that was never finished", "path", unfinished)
	case !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("remove an unfinished journal: %w", err)
	}
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := initialize(unfinished, opts); err != nil {
		return fmt.Errorf("make it: %w", err)
	}
	if c, closeImage, err := openPath(unfinished); err != nil {
		return fmt.Errorf("make it: %w", err)
	} else if err := errors.Join(c.checkPages(), closeImage()); err != nil {
		return fmt.Errorf("make it: %w", err)
	}
	if err := os.Rename(unfinished, path); err != nil {
		return fmt.Errorf("make it: %w", err)
	}
	opts.Logger.Info("made a new journal", "path", path)
	return syncFolder(filepath.Dir(path), opts)
}

// initialize makes a journal without records, synced and closed.
func initialize(path string, opts Options) error {
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{
		Timeout:      time.Second,
		FreelistType: bbolt.FreelistMapType,
		NoSync:       opts.NoSync,
	})
	if err != nil {
		return err
	}
	err = db.Update(func(tx *bbolt.Tx) error {
		b, err := tx.CreateBucket(metaBucket)
		if err != nil {
			return err
		}
		if err := putIdentity(b, Format, opts.Now()); err != nil {
			return err
		}
		return putHead(tx, head{})
	})
	return errors.Join(err, db.Close())
}

func putIdentity(b *bbolt.Bucket, format uint32, made time.Time) error {
	return putSealed(b, identityKey, &journalv1.Identity{
		Format:   format,
		BranchId: hex.EncodeToString(random(8)),
		Epoch:    hex.EncodeToString(random(8)),
		Secret:   random(32),
		Made:     made.UnixNano(),
	})
}

// random never fails: crypto/rand ends the process when the system has no randomness.
func random(n int) []byte {
	b := make([]byte, n)
	rand.Read(b)
	return b
}

// makeFolder makes a folder and those above it, and syncs the entry of each that it made: a journal is
// only as durable as the way to it.
func makeFolder(dir string) error {
	info, err := os.Stat(dir)
	switch {
	case err == nil && !info.IsDir():
		return fmt.Errorf("%s is not a folder", dir)
	case err == nil:
		return nil
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	parent := filepath.Dir(dir)
	if err := makeFolder(parent); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return syncFolder(parent, Options{})
}

func syncFolder(dir string, opts Options) error {
	if opts.NoSync {
		return nil
	}
	f, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("sync folder: %w", err)
	}
	err = f.Sync()
	if errors.Is(err, syscall.EINVAL) {
		err = nil // this file system has nothing to sync there
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("sync folder: %w", err)
	}
	return nil
}
