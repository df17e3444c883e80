package peer

import (
	"context"
	"errors"
	"strconv"
	"time"
)

// local is a store that the callers use without an RPC layer.
type local struct {
	store
	server  *served // nil: it is in our process
	version string
	current []uint64
}

// Issue implements Instance.
func (l *local) Issue(ctx context.Context, _ int) (uint64, error) { return l.store.Issue(ctx) }

// Open implements Instance.
func (l *local) Open(context.Context, int) error { return nil }

// CallNext implements Instance.
func (l *local) CallNext(ctx context.Context, caller int) (uint64, error) {
	n, err := l.store.CallNext(ctx, uint32(caller+1), l.current[caller])
	if err != nil {
		return 0, err
	}
	if l.current[caller] = n; n == 0 {
		return 0, ErrEmpty
	}
	return n, nil
}

// Pids implements Instance.
func (l *local) Pids() []int {
	if l.server == nil {
		return nil
	}
	return []int{l.server.Pid()}
}

// Version implements Instance.
func (l *local) Version() string { return l.version }

// Stop implements Instance.
func (l *local) Stop() error {
	err := l.Close()
	if l.server != nil {
		err = errors.Join(err, l.server.Stop(l.server.stop))
	}
	return err
}

// now is a time as it is stored where there is no type for it.
func now() string { return strconv.FormatInt(time.Now().UnixNano(), 10) }
