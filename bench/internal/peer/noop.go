package peer

import (
	"context"
	"path/filepath"
)

// noop is what a call costs that does nothing: nothing over gRPC can be faster.
func noop() System {
	return limit("no-op RPC", "the daemon's gRPC server and interceptors, answering a ticket of the usual size at once; process of its own", "noop")
}

// twoSyncs is what a durable call costs a lone caller at the least, if its commit has two syncs, as one of bbolt has.
func twoSyncs() System {
	s := limit("no-op RPC + two syncs", "the same; before it answers, the handler itself writes 4 KiB of a file over and syncs, and then the same with a meta page: no server that syncs twice behind gRPC is faster for one caller", "two-syncs")
	s.IssueOnly, s.OneCaller = true, true
	return s
}

// limit is a front end with nothing behind it.
func limit(name, about, frontEnd string) System {
	return System{Name: name, About: about, Limit: true, Start: func(ctx context.Context, e Env) (Instance, error) {
		r, err := front(ctx, e, frontEnd, filepath.Join(e.Dir, "pages"))
		if err != nil {
			return nil, err
		}
		return r, nil
	}}
}

// fixed always gives the same number.
type fixed struct{}

func (fixed) Issue(context.Context) (uint64, error) { return 123, nil }

func (fixed) CallNext(context.Context, uint32, uint64) (uint64, error) { return 123, nil }

func (fixed) Close() error { return nil }

// synced is the same behind two syncs, for one caller.
type synced struct {
	fixed
	pages *pages
}

func openTwoSyncs(_ context.Context, path string) (store, error) {
	p, err := openPages(path)
	if err != nil {
		return nil, err
	}
	return synced{pages: p}, nil
}

func (s synced) Issue(ctx context.Context) (uint64, error) {
	if err := s.pages.next(); err != nil {
		return 0, err
	}
	if err := s.pages.meta(); err != nil {
		return 0, err
	}
	return s.fixed.Issue(ctx)
}

func (s synced) Close() error {
	s.pages.close()
	return nil
}
