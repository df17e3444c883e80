package journal

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"callerd/internal/queue"

	"go.etcd.io/bbolt"
)

// Append makes a batch durable: one transaction, synced. Its records follow the last one without gap. A
// record that opens a day begins a new day bucket, named by its sequence; a batch over midnight becomes
// one value in each. One goroutine calls Append.
//
// After an error for which [NoSpace] is true the caller keeps the batch and calls Append again with it,
// until it succeeds. After any other error it is not known whether the batch is on disk: the caller stops
// the process, and the next start finds out.
func (j *Journal) Append(batch []*queue.Record) error {
	j.write.Lock()
	defer j.write.Unlock()
	if len(batch) == 0 {
		return nil
	}
	first, last := batch[0].Sequence, batch[len(batch)-1].Sequence
	err := j.append(batch, last)
	if err == nil {
		j.durable.Store(last)
		return nil
	}
	return fmt.Errorf("append records %d to %d to journal %s: %w", first, last, j.path, err)
}

func (j *Journal) append(batch []*queue.Record, last uint64) error {
	if err := j.ready(); err != nil {
		return err
	}
	if j.head.last == last && j.durable.Load() < last {
		return nil // the transaction that failed had come through; ready has synced it
	}
	next := j.head.last
	for _, r := range batch {
		if next++; r.Sequence != next {
			return fmt.Errorf("record %d cannot follow record %d", r.Sequence, next-1)
		}
	}
	h := j.head
	h.last = last
	parts := split(batch, h.newest == 0)
	values := make([][]byte, len(parts))
	for i, part := range parts {
		var err error
		if values[i], err = j.encoder.batch(i, part.records); err != nil {
			return err
		}
	}
	return j.commit(h, func(tx *bbolt.Tx, h *head) error {
		for i, part := range parts {
			first := part.records[0].Sequence
			if part.opens {
				if _, err := tx.CreateBucket(key(first)); err != nil {
					return fmt.Errorf("day %d: %w", first, err)
				}
				h.newest = first
				if h.oldest == 0 {
					h.oldest = first
				}
			}
			b := tx.Bucket(key(h.newest))
			b.FillPercent = 1 // keys only ever grow: no page is split in the middle
			if err := b.Put(key(first), values[i]); err != nil {
				return fmt.Errorf("batch %d: %w", first, err)
			}
		}
		return nil
	})
}

// commit runs f in a transaction that also writes the head as f leaves it.
func (j *Journal) commit(h head, f func(*bbolt.Tx, *head) error) error {
	err := j.db.Update(func(tx *bbolt.Tx) error {
		if err := f(tx, &h); err != nil {
			return err
		}
		return putHead(tx, h)
	})
	if err == nil {
		err = j.inPlace()
	}
	if err == nil {
		j.head = h
		return nil
	}
	if err = unwrapNoSpace(err); NoSpace(err) {
		j.suspect = true
	} else {
		j.failed = err
	}
	return err
}

// inPlace refuses to go on when the file has been moved or removed under the process: what it is told from then on would
// be in a file that the next start does not find.
func (j *Journal) inPlace() error {
	there, err := os.Stat(j.path)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrMoved, err)
	}
	if !os.SameFile(there, j.opened) {
		return fmt.Errorf("%w: another file is in its place", ErrMoved)
	}
	return nil
}

// ready makes sure that a transaction may begin. After one that found no room the file is opened again,
// because bbolt may have lost its map and its list of free pages, and because the transaction may have
// come through all the same: then its meta page was written and not synced, and the kernel may hold it
// clean after the failed sync. Both are written over with what they hold and synced; only then are the
// pages of the transaction before free to be used again.
func (j *Journal) ready() error {
	if j.closed {
		return ErrClosed
	}
	if j.failed != nil {
		return fmt.Errorf("an earlier append has failed: %w", j.failed)
	}
	if !j.suspect {
		return nil
	}
	if err := j.closeDB(); err != nil {
		j.failed = err
		return err
	}
	if err := j.openAgain(); err != nil {
		err = explain(j.path, err)
		if !NoSpace(err) {
			j.failed = err
		}
		return err
	}
	j.suspect = false
	return nil
}

func (j *Journal) openAgain() error {
	c, closeImage, err := openPath(j.path)
	if err != nil {
		return err
	}
	if err := errors.Join(c.touch(c.recent(), len(c.days)), closeImage()); err != nil {
		return err
	}
	if err := j.openDB(); err != nil {
		return err
	}
	if err := rewriteMetas(j.file, c.image.meta.pageSize); err != nil {
		return errors.Join(err, j.closeDB())
	}
	j.head = c.head
	return nil
}

// part is the records of a batch that go into one day bucket.
type part struct {
	records []*queue.Record
	opens   bool // the first one opens the day
}

// split cuts a batch before each record that opens a day. The very first record of a journal opens one,
// whatever it is.
func split(batch []*queue.Record, opens bool) []part {
	parts := []part{{opens: opens || opensDay(batch[0])}}
	for i, r := range batch {
		if i > 0 && opensDay(r) {
			parts = append(parts, part{opens: true})
		}
		p := &parts[len(parts)-1]
		p.records = append(p.records, r)
	}
	return parts
}

func opensDay(r *queue.Record) bool {
	return slices.ContainsFunc(r.Outcomes, func(o queue.Outcome) bool {
		_, ok := o.(*queue.DayOpened)
		return ok
	})
}
