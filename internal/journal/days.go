package journal

import (
	"fmt"

	"go.etcd.io/bbolt"
)

// DropDays drops whole days, oldest first, until keep are left, and returns how many it dropped. keep is
// at least 2: [Journal.Replay] begins with the day before the newest. Each day is a transaction of its
// own, between which Append goes on; the file does not shrink, its pages are used again.
func (j *Journal) DropDays(keep int) (int, error) {
	if keep < 2 {
		return 0, fmt.Errorf("drop days of journal %s: keep %d, want at least 2", j.path, keep)
	}
	for n := 0; ; n++ {
		more, err := j.dropDay(keep)
		if err != nil {
			return n, fmt.Errorf("drop days of journal %s: %w", j.path, err)
		}
		if !more {
			return n, nil
		}
		j.opts.Logger.Info("dropped an old day from the journal", "path", j.path)
	}
}

func (j *Journal) dropDay(keep int) (bool, error) {
	j.write.Lock()
	defer j.write.Unlock()
	if err := j.ready(); err != nil {
		return false, err
	}
	c, closeImage, err := openPath(j.path)
	if err != nil {
		return false, explain(j.path, err)
	}
	defer closeImage()
	if len(c.days) <= keep {
		return false, nil
	}
	// A replay needs the oldest: after short days more of them than keep says.
	if from, err := c.replayFrom(); err != nil || from == 0 {
		return false, explain(j.path, err)
	}
	// bbolt frees what the day's pages point to: they must be sound and the day's own.
	if err := c.touch(0, 1); err != nil {
		return false, explain(j.path, err)
	}
	oldest, err := sequence(c.days[1].key)
	if err != nil {
		return false, err
	}
	return true, j.commit(j.head, func(tx *bbolt.Tx, h *head) error {
		h.oldest = oldest
		return tx.DeleteBucket(c.days[0].key)
	})
}
