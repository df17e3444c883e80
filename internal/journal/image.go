package journal

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
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

// metaPage is what a file's two meta pages say; the one with the larger transaction counts.
type metaPage struct {
	pageSize, root, freelist, high, txid uint64
}

const (
	pageHeader  = 16
	elementSize = 16
	bucketSize  = 16 // of the header of a bucket in its parent's leaf

	branchPage   = 0x01
	leafPage     = 0x02
	freelistPage = 0x10

	bucketElement = 0x01
	noFreelist    = ^uint64(0)

	metaMagic   = 0xED0CDAED
	metaVersion = 2
	metaBody    = 56 // what the checksum covers
	metaSize    = pageHeader + metaBody + 8
	minPageSize = 1 << 10
	maxPageSize = 64 << 10
	maxPages    = 1 << 40
	maxDepth    = 32
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

// readMetas reads both meta pages. bbolt is content with one, and then takes the transaction before the
// last for the last: an acknowledged batch would be gone without a word. A power cut does not damage one:
// what they say is smaller than a sector.
func readMetas(r io.ReaderAt) (metas [2]metaPage, err error) {
	pages := [2][]byte{make([]byte, metaSize), make([]byte, metaSize)}
	if _, err := r.ReadAt(pages[0], 0); err != nil && err != io.EOF {
		return metas, fmt.Errorf("read meta page 0: %w", err)
	}
	// The second is one page further on, and how large a page is, only a good meta page can tell.
	var errs [2]error
	metas[0], errs[0] = parseMeta(pages[0])
	for size := uint64(minPageSize); size <= maxPageSize; size *= 2 {
		if errs[0] == nil && size != metas[0].pageSize {
			continue
		}
		if _, err := r.ReadAt(pages[1], int64(size)); err != nil && err != io.EOF {
			return metas, fmt.Errorf("read meta page 1: %w", err)
		}
		if metas[1], errs[1] = parseMeta(pages[1]); errs[1] == nil || isMeta(pages[1]) {
			break
		}
	}
	switch {
	case !isMeta(pages[0]) && !isMeta(pages[1]):
		return metas, ErrForeign
	case errs[0] != nil:
		return metas, damaged("meta page 0: %v", errs[0])
	case errs[1] != nil:
		return metas, damaged("meta page 1: %v", errs[1])
	case metas[0].pageSize != metas[1].pageSize,
		metas[0].txid+1 != metas[1].txid && metas[1].txid+1 != metas[0].txid:
		return metas, damaged("the meta pages belong to transactions %d and %d", metas[0].txid, metas[1].txid)
	}
	return metas, nil
}

func isMeta(page []byte) bool { return order.Uint32(page[pageHeader:]) == metaMagic }

func parseMeta(page []byte) (metaPage, error) {
	b := page[pageHeader:]
	sum := fnv.New64a()
	sum.Write(b[:metaBody])
	if sum.Sum64() != order.Uint64(b[metaBody:]) || !isMeta(page) {
		return metaPage{}, errors.New("wrong checksum")
	}
	m := metaPage{
		pageSize: uint64(order.Uint32(b[8:])),
		root:     order.Uint64(b[16:]),
		freelist: order.Uint64(b[32:]),
		high:     order.Uint64(b[40:]),
		txid:     order.Uint64(b[48:]),
	}
	if v := order.Uint32(b[4:]); v != metaVersion {
		return m, fmt.Errorf("version %d of bbolt", v)
	}
	if m.pageSize < minPageSize || m.pageSize > maxPageSize || m.pageSize&(m.pageSize-1) != 0 || m.high > maxPages {
		return m, fmt.Errorf("%d pages of %d bytes", m.high, m.pageSize)
	}
	return m, nil
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

// element is an entry of a bucket: a value, or a bucket in it.
type element struct {
	key, value []byte
	bucket     bool
}

// each calls f for the entries of the tree under a root page, in the order of their keys. Key and value
// may be kept.
func (m *image) each(root uint64, f func(element) error) error {
	w := walk{image: m, f: f}
	return w.tree(root, 0)
}

// eachIn is each for a bucket that is itself an entry, beginning with the last key that is not larger
// than from, or with the first one.
func (m *image) eachIn(e element, from []byte, f func(element) error) error {
	if !e.bucket || len(e.value) < bucketSize {
		return damaged("entry %x is no bucket", e.key)
	}
	w := walk{image: m, from: from, f: f}
	if root := order.Uint64(e.value); root != 0 {
		return w.tree(root, 0)
	}
	b := e.value[bucketSize:] // a small bucket is a page inside its parent's
	if len(b) < pageHeader || order.Uint16(b[8:]) != leafPage {
		return damaged("bucket %x is no page", e.key)
	}
	return w.leaf(b)
}

// walk is one way through a tree.
type walk struct {
	*image
	f     func(element) error
	from  []byte // whatever ends before it is left out
	floor []byte // no key may be smaller
	last  []byte // key of the last entry; every other must be larger
	any   bool   // there was one
}

func (w *walk) tree(id uint64, depth int) error {
	b, err := w.page(id, branchPage, leafPage)
	if err != nil {
		return err
	}
	if order.Uint16(b[8:]) == leafPage {
		return w.leaf(b)
	}
	count := int(order.Uint16(b[10:]))
	if depth == maxDepth || count == 0 || pageHeader+count*elementSize > len(b) {
		return damaged("page %d has %d branches", id, count)
	}
	for i := range count {
		e := b[pageHeader+i*elementSize:]
		key, err := branchKey(b, i)
		if err != nil {
			return err
		}
		if !w.follows(key) {
			return damaged("page %d: branch %d is out of order", id, i)
		}
		w.floor = key
		if skip, err := w.skips(b, i, count, branchKey); skip || err != nil {
			if err != nil {
				return err
			}
			continue
		}
		if err := w.tree(order.Uint64(e[8:]), depth+1); err != nil {
			return err
		}
	}
	return nil
}

func (w *walk) leaf(b []byte) error {
	count := int(order.Uint16(b[10:]))
	if pageHeader+count*elementSize > len(b) {
		return damaged("a page has %d entries", count)
	}
	for i := range count {
		e := b[pageHeader+i*elementSize:]
		key, err := leafKey(b, i)
		if err != nil {
			return err
		}
		value, err := slice(e, order.Uint32(e[4:])+uint32(len(key)), order.Uint32(e[12:]))
		if err != nil {
			return err
		}
		flags := order.Uint32(e)
		if flags > bucketElement || !w.follows(key) {
			return damaged("entry %x is out of order", key)
		}
		w.last, w.any = key, true
		if skip, err := w.skips(b, i, count, leafKey); skip || err != nil {
			if err != nil {
				return err
			}
			continue
		}
		if err := w.f(element{key: key, value: value, bucket: flags == bucketElement}); err != nil {
			return err
		}
	}
	return nil
}

func (w *walk) follows(key []byte) bool {
	return bytes.Compare(key, w.floor) >= 0 && (!w.any || bytes.Compare(key, w.last) > 0)
}

// skips reports whether element i of a page ends before w.from: the next one begins there at the latest.
func (w *walk) skips(b []byte, i, count int, keyOf func([]byte, int) ([]byte, error)) (bool, error) {
	if w.from == nil || i+1 == count {
		return false, nil
	}
	next, err := keyOf(b, i+1)
	return err == nil && bytes.Compare(next, w.from) <= 0, err
}

func branchKey(b []byte, i int) ([]byte, error) {
	e := b[pageHeader+i*elementSize:]
	return slice(e, order.Uint32(e), order.Uint32(e[4:]))
}

func leafKey(b []byte, i int) ([]byte, error) {
	e := b[pageHeader+i*elementSize:]
	return slice(e, order.Uint32(e[4:]), order.Uint32(e[8:]))
}

func slice(b []byte, pos, size uint32) ([]byte, error) {
	if end := uint64(pos) + uint64(size); end > uint64(len(b)) || pos < elementSize {
		return nil, damaged("an entry ends behind its page")
	}
	return b[pos : pos+size : pos+size], nil
}
