package sim

import (
	"context"
	"errors"
	"sync"
)

// group owns goroutines: the first error stops all, and who made it waits for it.
type group struct {
	ctx    context.Context
	cancel context.CancelFunc
	wg     sync.WaitGroup
	mu     sync.Mutex
	err    error
}

func newGroup(ctx context.Context) *group {
	ctx, cancel := context.WithCancel(ctx)
	return &group{ctx: ctx, cancel: cancel}
}

func (g *group) start(run func(context.Context) error) {
	g.wg.Go(func() {
		err := run(g.ctx)
		if err == nil {
			return
		}
		g.mu.Lock()
		if g.err == nil || errors.Is(g.err, context.Canceled) {
			g.err = err
		}
		g.mu.Unlock()
		g.cancel()
	})
}

// wait waits for all and returns the first error.
func (g *group) wait() error {
	g.wg.Wait()
	g.cancel()
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.err
}

// stop ends all, waits, and returns the first error that was not the end itself.
func (g *group) stop() error {
	g.cancel()
	if err := g.wait(); !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}
