package branch

import (
	"context"
	"errors"
	"fmt"
	"time"

	"callerd/internal/queue"
)

// ErrConfigTaken is returned when a configuration acts already and its record is not known to be on disk.
var ErrConfigTaken = errors.New("the configuration acts already, its record waits for the disk")

// Reload takes another configuration while the branch is open. Policies act from the next operation on; what exists is
// defined by a record; another zone or cut takes effect with the next business day. If it cannot be taken nothing changes.
func (b *Branch) Reload(ctx context.Context, c Config) error {
	if c.Zone == nil {
		c.Zone = time.UTC
	}
	if err := c.validate(); err != nil {
		return fmt.Errorf("branch: configuration: %w", err)
	}
	taken := false
	_, err := b.do(ctx, nil, lockAll, func(o *operation) error {
		taken = false
		old := b.config.Load()
		b.config.Store(&c)
		if c.Name != b.state.branch {
			o.emit(&queue.BranchNamed{Name: c.Name})
		}
		if err := b.configure(o, reloading); err != nil {
			b.config.Store(old)
			return err
		}
		taken = true
		return nil
	}, nil)
	if err != nil && taken {
		return fmt.Errorf("%w: %w", ErrConfigTaken, err)
	}
	return err
}

// AcceptClock writes that the wall clock is right although it is far behind the newest record, and opens a business day. It
// is for a journal whose daemon is stopped.
func AcceptClock(ctx context.Context, opts Options) (from, to time.Time, err error) {
	opts.acceptClock = true
	b, err := Open(ctx, opts)
	if err != nil {
		return time.Time{}, time.Time{}, err
	}
	return time.Unix(0, b.accepted.From), time.Unix(0, b.accepted.To), b.Close(ctx)
}
