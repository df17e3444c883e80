package journal

import (
	"context"
	"errors"
	"fmt"

	"go.etcd.io/bbolt"
)

// RawBatch is a batch as it is stored.
type RawBatch struct {
	Day   uint64 // name of its day bucket
	First uint64 // sequence of its first record
	Value []byte
}

// exportChunk is about how many bytes of values are handed over at a time.
const exportChunk = 256 << 10

// Export calls f for the batches that are on disk, in order, from the one that holds the sequence from.
// It can run beside Append: each chunk is read in a short transaction of its own and copied, and f may
// block. It ends with what was on disk when it began, and fails when DropDays takes a day away under it.
func (j *Journal) Export(ctx context.Context, from uint64, f func([]RawBatch) error) error {
	durable := j.durable.Load()
	err := export(ctx, from, f, func(next uint64) ([]RawBatch, uint64, error) {
		j.handle.RLock()
		defer j.handle.RUnlock()
		if j.db == nil {
			return nil, 0, ErrClosed
		}
		var chunk []RawBatch
		// The transaction is not read from, for bbolt believes what it reads. It keeps the pages of the
		// day buckets as they are until the image has been read.
		err := j.db.View(func(tx *bbolt.Tx) (err error) {
			c, err := readContent(imageOf(tx, j.file))
			if err == nil {
				chunk, next, err = c.chunk(next, durable)
			}
			return err
		})
		return chunk, next, err
	})
	if err != nil {
		return fmt.Errorf("export journal: %w", explain(j.path, err))
	}
	return nil
}

// export hands over chunk after chunk, until there is none.
func export(ctx context.Context, from uint64, f func([]RawBatch) error, read func(next uint64) ([]RawBatch, uint64, error)) error {
	for next := from; ; {
		chunk, after, err := read(next)
		switch {
		case err != nil || len(chunk) == 0:
			return err
		case next != from && chunk[0].First != next:
			return fmt.Errorf("the day of record %d was dropped meanwhile", next)
		}
		if err := errors.Join(f(chunk), ctx.Err()); err != nil {
			return err
		}
		next = after
	}
}

var errEnough = errors.New("enough")

// chunk copies batches, from the one that holds the sequence next up to the record last, and returns them
// with the sequence that follows.
func (c *content) chunk(next, last uint64) (chunk []RawBatch, after uint64, err error) {
	if next > last {
		return nil, next, nil
	}
	size := 0
	err = c.batches(c.dayOf(next), next, func(day, first uint64, value []byte) (uint64, error) {
		if first > last || size >= exportChunk {
			return 0, errEnough
		}
		n, err := countOf(value)
		if err != nil {
			return 0, err
		}
		chunk = append(chunk, RawBatch{Day: day, First: first, Value: value})
		size += len(value)
		after = first + n
		return after, nil
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return chunk, after, err
}
