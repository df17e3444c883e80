package journal

import (
	"errors"
	"fmt"
	"hash/fnv"
	"io"
)

// metaPage is what a file's two meta pages say; the one with the larger transaction counts.
type metaPage struct {
	pageSize, root, freelist, high, txid uint64
}

const (
	metaMagic   = 0xED0CDAED
	metaVersion = 2
	metaBody    = 56 // what the checksum covers
	metaSize    = pageHeader + metaBody + 8
	minPageSize = 1 << 10
	maxPageSize = 64 << 10
	maxPages    = 1 << 40
)

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
