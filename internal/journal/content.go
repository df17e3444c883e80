package journal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"callerd/internal/queue"
)

// content is a journal as an image shows it: what the file says about itself, and where its days are.
type content struct {
	*image
	meta Meta
	head head
	days []element // in order; the key is the name
}

// openContent reads all that stands in the root of the file.
func openContent(r io.ReaderAt, size int64) (*content, error) {
	image, err := openImage(r, size)
	if err != nil {
		return nil, err
	}
	return readContent(image)
}

func readContent(image *image) (*content, error) {
	c := &content{image: image}
	var identity, head []byte
	own := false
	err := c.each(image.meta.root, func(e element) error {
		if string(e.key) != string(metaBucket) {
			c.days = append(c.days, e)
			return nil
		}
		own = true
		return c.eachIn(e, nil, func(e element) error {
			switch string(e.key) {
			case string(identityKey):
				identity = e.value
			case string(headKey):
				head = e.value
			}
			return nil
		})
	})
	switch {
	case err != nil:
		return nil, err
	case !own:
		return nil, fmt.Errorf("%w: another program's bbolt database", ErrForeign)
	}
	if c.meta, err = loadMeta(identity); err != nil {
		return nil, err
	}
	if c.head, err = loadHead(head); err != nil {
		return nil, err
	}
	if c.head.transaction != c.image.meta.txid {
		return nil, damaged("its head is of transaction %d, its meta page of %d", c.head.transaction, c.image.meta.txid)
	}
	return c, c.checkDays()
}

// checkDays holds the list of days against the head.
func (c *content) checkDays() error {
	var oldest, newest uint64
	for i, day := range c.days {
		name, err := sequence(day.key)
		if err != nil {
			return err
		}
		if !day.bucket || name == 0 {
			return damaged("day %d is no bucket", name)
		}
		if i == 0 {
			oldest = name
		}
		newest = name
	}
	if oldest != c.head.oldest || newest != c.head.newest {
		return damaged("it has the days %d to %d of %d to %d", oldest, newest, c.head.oldest, c.head.newest)
	}
	return nil
}

// recent is the index of the day before the newest, or of the newest when it is the only one.
func (c *content) recent() int { return max(0, len(c.days)-2) }

// reach is how far back a replay reaches at least: for so long a request id gives the same outcome again.
const reach = 24 * time.Hour

// replayFrom is the index of the day with which a replay begins: the day before the newest, or an earlier one if that
// began less than reach before the newest. A day has 23 hours once a year, and fewer when its turn is moved.
func (c *content) replayFrom() (int, error) {
	i := c.recent()
	if i == 0 {
		return 0, nil
	}
	newest, err := c.openedAt(len(c.days) - 1)
	for ; err == nil && i > 0; i-- {
		var at int64
		if at, err = c.openedAt(i); err == nil && newest-at >= int64(reach) {
			break
		}
	}
	return i, err
}

// openedAt is when the first record of the day with index i was made, Unix nanoseconds.
func (c *content) openedAt(i int) (at int64, err error) {
	err = c.again().eachIn(c.days[i], nil, func(e element) error {
		first, err := sequence(e.key)
		if err != nil {
			return err
		}
		records, err := DecodeBatch(first, e.value)
		if err != nil {
			return err
		}
		at = records[0].At
		return errEnough
	})
	switch {
	case err == nil:
		return 0, damaged("day %x is empty", c.days[i].key)
	case !errors.Is(err, errEnough):
		return 0, err
	}
	return at, nil
}

// dayOf is the index of the day that holds a sequence, or of the oldest.
func (c *content) dayOf(sequence uint64) int {
	n, found := slices.BinarySearchFunc(c.days, key(sequence), func(e element, k []byte) int {
		return bytes.Compare(e.key, k)
	})
	if !found {
		n--
	}
	return max(0, n)
}

// batches calls f for the stored batches in order, from the one that holds the sequence start in the day
// with index i, and checks that they follow each other without gap up to the head. f returns the sequence
// that comes next.
func (c *content) batches(i int, start uint64, f func(day, first uint64, value []byte) (uint64, error)) error {
	var next uint64 // 0: not known yet
	for ; i < len(c.days); i++ {
		day, err := sequence(c.days[i].key)
		if err != nil {
			return err
		}
		if next != 0 && next != day {
			return damaged("day %d begins where record %d should be", day, next)
		}
		if start <= day {
			next = day
		}
		any := false
		err = c.eachIn(c.days[i], key(start), func(e element) error {
			first, err := sequence(e.key)
			if err != nil {
				return err
			}
			if e.bucket || next != 0 && first != next || next == 0 && first > start {
				return damaged("batch %d is where record %d should be", first, max(next, start))
			}
			any = true
			if next, err = f(day, first, e.value); err != nil {
				return fmt.Errorf("batch %d: %w", first, err)
			}
			return nil
		})
		switch {
		case err != nil:
			return fmt.Errorf("day %d: %w", day, err)
		case !any:
			return damaged("day %d is empty", day)
		}
	}
	if last := c.head.last; len(c.days) > 0 && next != last+1 {
		return damaged("the last record is %d of %d", next-1, last)
	}
	return nil
}

// records calls f for the records of the days from index i on, in order.
func (c *content) records(i int, f func(*queue.Record) error) error {
	return c.batches(i, 0, func(_, first uint64, value []byte) (uint64, error) {
		records, err := DecodeBatch(first, value)
		if err != nil {
			return 0, err
		}
		for _, r := range records {
			if err := f(r); err != nil {
				return 0, recordError(r, err)
			}
		}
		return first + uint64(len(records)), nil
	})
}

func recordError(r *queue.Record, err error) error {
	return fmt.Errorf("record %d: %w", r.Sequence, err)
}

// touch visits all pages of the days from index i up to, not including, n, and checks that each holds the batches that
// it should, without a gap from its name to the day after: bbolt follows what says that it is a bucket, and frees what
// a day's pages name, also where something else has been written over them.
func (c *content) touch(i, n int) error {
	for ; i < n; i++ {
		next, err := sequence(c.days[i].key)
		if err != nil {
			return err
		}
		err = c.eachIn(c.days[i], nil, func(e element) error {
			first, err := sequence(e.key)
			if err != nil {
				return err
			}
			if e.bucket || first != next {
				return damaged("batch %d is where record %d should be", first, next)
			}
			count, err := countOf(e.value)
			next += count
			return err
		})
		if err != nil {
			return fmt.Errorf("day %x: %w", c.days[i].key, err)
		}
		end := c.head.last + 1
		if i+1 < len(c.days) {
			if end, err = sequence(c.days[i+1].key); err != nil {
				return err
			}
		}
		if next != end {
			return damaged("day %x ends with record %d of %d", c.days[i].key, next-1, end-1)
		}
	}
	return nil
}

// checkPages finds the pages that are neither used nor free, after all days have been visited.
func (c *content) checkPages() error {
	for id := uint64(0); id < c.image.meta.high; id++ {
		if !c.used[id] && !c.free[id] {
			return damaged("page %d is neither used nor free", id)
		}
	}
	return nil
}

// again returns c with the pages of its days not visited yet.
func (c *content) again() *content {
	image := *c.image
	image.used = maps.Clone(image.used)
	fresh := *c
	fresh.image = &image
	return &fresh
}
