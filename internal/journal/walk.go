package journal

import "bytes"

const (
	elementSize   = 16 // of an entry's header in its page
	bucketSize    = 16 // of a bucket's header in its parent's leaf
	bucketElement = 0x01
	maxDepth      = 32
)

// element is an entry of a bucket: a value, or a bucket in it.
type element struct {
	key, value []byte
	bucket     bool
}

// each calls f for the entries of the tree under a root page, in the order of their keys. Key and value
// may be kept.
func (m *image) each(root uint64, f func(element) error) error {
	w := walk{image: m, f: f}
	return w.tree(root, nil, 0)
}

// eachIn is each for a bucket that is itself an entry, beginning with the last key that is not larger
// than from, or with the first one.
func (m *image) eachIn(e element, from []byte, f func(element) error) error {
	if !e.bucket || len(e.value) < bucketSize {
		return damaged("entry %x is no bucket", e.key)
	}
	w := walk{image: m, from: from, f: f}
	if root := order.Uint64(e.value); root != 0 {
		return w.tree(root, nil, 0)
	}
	b := e.value[bucketSize:] // a small bucket is a page inside its parent's
	if len(b) < pageHeader || order.Uint64(b) != 0 || order.Uint16(b[8:]) != leafPage || order.Uint32(b[12:]) != 0 {
		return damaged("bucket %x is no page", e.key)
	}
	_, err := w.leaf(b, nil)
	return err
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

// tree walks the page with an id and all below it. Its first key must be the one under which its parent has it, if that is
// not nil: by its first key bbolt looks for a page's place in the parent when it writes it elsewhere, and where it does not find
// it, the old place stays and points to a page that is free.
func (w *walk) tree(id uint64, first []byte, depth int) error {
	b, err := w.page(id, branchPage, leafPage)
	if err != nil {
		return err
	}
	if order.Uint16(b[8:]) == leafPage {
		size, err := w.leaf(b, first)
		if err != nil {
			return err
		}
		return w.fits(id, b, size)
	}
	count := int(order.Uint16(b[10:]))
	if depth == maxDepth || count == 0 || pageHeader+count*elementSize > len(b) {
		return damaged("page %d has %d branches", id, count)
	}
	size := pageHeader
	for i := range count {
		e := b[pageHeader+i*elementSize:]
		key, err := branchKey(b, i)
		if err != nil {
			return err
		}
		size += elementSize + len(key)
		if !w.follows(key) || i == 0 && first != nil && !bytes.Equal(key, first) {
			return damaged("page %d: branch %d is out of order", id, i)
		}
		w.floor = key
		if skip, err := w.skips(b, i, count, branchKey); err != nil {
			return err
		} else if skip {
			continue
		}
		if err := w.tree(order.Uint64(e[8:]), key, depth+1); err != nil {
			return err
		}
	}
	return w.fits(id, b, size)
}

// fits checks that a page is as long as what is on it needs: bbolt frees it with all that it claims.
func (w *walk) fits(id uint64, b []byte, size int) error {
	// What fills its pages to the last byte has just those, or, from an older bbolt, one more.
	pageSize := int(w.pageSize)
	exact, older := (size+pageSize-1)/pageSize*pageSize, (size/pageSize+1)*pageSize
	if len(b) != exact && len(b) != older {
		return damaged("page %d has %d bytes, want %d", id, len(b), exact)
	}
	return nil
}

// leaf returns how many bytes of the page are used. Its first key must be the given one, if that is not nil.
func (w *walk) leaf(b, first []byte) (size int, err error) {
	count := int(order.Uint16(b[10:]))
	if size = pageHeader; size+count*elementSize > len(b) || count == 0 && first != nil {
		return size, damaged("a page has %d entries", count)
	}
	for i := range count {
		e := b[pageHeader+i*elementSize:]
		key, err := leafKey(b, i)
		if err != nil {
			return size, err
		}
		value, err := slice(e, order.Uint32(e[4:])+uint32(len(key)), order.Uint32(e[12:]))
		if err != nil {
			return size, err
		}
		size += elementSize + len(key) + len(value)
		flags := order.Uint32(e)
		if flags > bucketElement || !w.follows(key) || i == 0 && first != nil && !bytes.Equal(key, first) {
			return size, damaged("entry %x is out of order", key)
		}
		w.last, w.any = key, true
		if skip, err := w.skips(b, i, count, leafKey); err != nil {
			return size, err
		} else if skip {
			continue
		}
		if err := w.f(element{key: key, value: value, bucket: flags == bucketElement}); err != nil {
			return size, err
		}
	}
	return size, nil
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
