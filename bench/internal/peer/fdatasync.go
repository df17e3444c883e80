package peer

import (
	"context"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"callerd/bench/internal/load"
)

// Fdatasync measures the disk alone: 4 KiB of a file that is there, written over and synced, one after the other.
func Fdatasync(ctx context.Context, dir string, o load.Options) (f load.Figures, err error) {
	p, err := openPages(filepath.Join(dir, "fdatasync"))
	if err != nil {
		return load.Figures{}, err
	}
	defer p.close()
	return load.Run(ctx, o, func(context.Context, int) error { return p.next() })
}

// pages is a file that is there in full, so that a page of it can be written over and synced without any new block.
type pages struct {
	file *os.File
	page []byte
	at   int64
}

const (
	pageSize  = 4096
	pageCount = 4096
)

// openPages makes the file.
func openPages(path string) (*pages, error) {
	f, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	p := &pages{file: f, page: make([]byte, pageSize)}
	for n := range int64(pageCount) {
		if _, err := f.WriteAt(p.page, n*pageSize); err != nil {
			p.close()
			return nil, err
		}
	}
	if err := f.Sync(); err != nil {
		p.close()
		return nil, err
	}
	return p, nil
}

// next writes the next page over and syncs; it leaves the first one, which is that of meta.
func (p *pages) next() error {
	p.at = p.at%(pageCount-1) + 1
	return p.over(p.at)
}

// meta writes the first page over and syncs.
func (p *pages) meta() error { return p.over(0) }

func (p *pages) over(at int64) error {
	if _, err := p.file.WriteAt(p.page, at*pageSize); err != nil {
		return err
	}
	return unix.Fdatasync(int(p.file.Fd()))
}

// close removes the file: nobody reads it again.
func (p *pages) close() {
	_ = p.file.Close()
	_ = os.Remove(p.file.Name())
}
