package peer

import (
	"context"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"callerd/bench/internal/load"
)

// Fdatasync measures the disk alone: 4 KiB of a file that is there, written over and synced, one after the other.
func Fdatasync(ctx context.Context, dir string, o load.Options) (load.Figures, error) {
	f, err := os.Create(filepath.Join(dir, "fdatasync"))
	if err != nil {
		return load.Figures{}, err
	}
	defer os.Remove(f.Name())
	defer f.Close()
	page := make([]byte, 4096)
	const pages = 4096
	for n := range int64(pages) {
		if _, err := f.WriteAt(page, n*4096); err != nil {
			return load.Figures{}, err
		}
	}
	if err := f.Sync(); err != nil {
		return load.Figures{}, err
	}
	at := int64(0)
	return load.Run(ctx, o, func(context.Context, int) error {
		at = (at + 1) % pages
		if _, err := f.WriteAt(page, at*4096); err != nil {
			return err
		}
		return unix.Fdatasync(int(f.Fd()))
	})
}
