package journal

import (
	"encoding/binary"
	"fmt"
	"io"
	"slices"

	"go.etcd.io/bbolt"
)

// An image is a bbolt file read without believing it: every page is looked at through bounds, none is
// visited twice, and the two lists of what is used and what is free are held against each other. Where
// bbolt would panic, run in circles or be killed for touching memory behind the end of the file, an image
// returns [ErrDamaged]. It knows the file format of bbolt, version 2, which has not changed since 2014.
type image struct {
	r        io.ReaderAt
	pageSize uint64
	meta     metaPage
	used     map[uint64]bool // pages visited
	free     map[uint64]bool // pages in the freelist
}

const (
	pageHeader = 16

	branchPage   = 0x01
	leafPage     = 0x02
	freelistPage = 0x10

	noFreelist = ^uint64(0)
)

var order = binary.NativeEndian // bbolt writes the memory of its machine

// openImage reads the meta pages and the freelist of a file of the given size.
func openImage(r io.ReaderAt, size int64) (*image, error) {
	m := &image{r: r, used: map[uint64]bool{}, free: map[uint64]bool{}}
	metas, err := readMetas(r)
	if err != nil {
		return nil, err
	}
	m.meta = metas[0]
	if metas[1].txid > metas[0].txid {
		m.meta = metas[1]
	}
	m.pageSize = m.meta.pageSize
	if want := m.meta.high * m.pageSize; uint64(size) < want {
		return nil, damaged("the file has %d bytes of %d: it was cut short", size, want)
	}
	m.used[0], m.used[1] = true, true
	return m, m.readFreelist()
}

// imageOf is what a transaction sees; it may be read as long as the transaction is open.
func imageOf(tx *bbolt.Tx, r io.ReaderAt) *image {
	pageSize := uint64(tx.DB().Info().PageSize)
	return &image{
		r:        r,
		pageSize: pageSize,
		meta: metaPage{
			root: uint64(tx.Cursor().Bucket().Root()),
			high: uint64(tx.Size()) / pageSize,
			txid: uint64(tx.ID()),
		},
		used: map[uint64]bool{},
	}
}

// page reads a page with its overflow and takes note that it is used.
func (m *image) page(id uint64, flags ...uint16) ([]byte, error) {
	if id < 2 || id >= m.meta.high {
		return nil, damaged("page %d of %d", id, m.meta.high)
	}
	b := make([]byte, m.pageSize)
	if _, err := m.r.ReadAt(b, int64(id*m.pageSize)); err != nil {
		return nil, fmt.Errorf("read page %d: %w", id, err)
	}
	overflow := uint64(order.Uint32(b[12:]))
	switch {
	case order.Uint64(b) != id:
		return nil, damaged("page %d says that it is page %d", id, order.Uint64(b))
	case !slices.Contains(flags, order.Uint16(b[8:])):
		return nil, damaged("page %d is of the kind %#x", id, order.Uint16(b[8:]))
	case overflow >= m.meta.high-id:
		return nil, damaged("page %d goes on for %d pages", id, overflow)
	}
	for i := id; i <= id+overflow; i++ {
		if m.used[i] || m.free[i] {
			return nil, damaged("page %d is used twice", i)
		}
		m.used[i] = true
	}
	if overflow > 0 {
		b = append(b, make([]byte, overflow*m.pageSize)...)
		if _, err := m.r.ReadAt(b[m.pageSize:], int64((id+1)*m.pageSize)); err != nil {
			return nil, fmt.Errorf("read page %d: %w", id, err)
		}
	}
	return b, nil
}

func (m *image) readFreelist() error {
	if m.meta.freelist == noFreelist {
		return damaged("the list of free pages is missing")
	}
	b, err := m.page(m.meta.freelist, freelistPage)
	if err != nil {
		return err
	}
	count, ids := uint64(order.Uint16(b[10:])), b[pageHeader:]
	if count == 0xFFFF {
		count, ids = order.Uint64(ids), ids[8:]
	}
	if count > uint64(len(ids)/8) {
		return damaged("%d free pages are listed in %d bytes", count, len(ids))
	}
	last := uint64(1)
	for i := range count {
		id := order.Uint64(ids[i*8:])
		if id <= last || id >= m.meta.high || m.used[id] {
			return damaged("page %d in the list of free pages", id)
		}
		m.free[id], last = true, id
	}
	return nil
}
