package branch

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"

	"callerd/internal/queue"
)

// credits is what categories have saved up under the rule Ratio, one for each list of categories and weights. What is
// saved is guarded by the lines of the list; mu, a leaf, guards the finding of it.
type credits struct {
	mu sync.Mutex
	by map[string]*queue.Credits
}

func creditKey(categories []queue.CategoryID, weights []uint32) string {
	var b strings.Builder
	for i, c := range categories {
		w := uint32(1)
		if i < len(weights) {
			w = weights[i]
		}
		fmt.Fprintf(&b, "%s=%d ", c, w)
	}
	return b.String()
}

// saved returns what a list has saved, nil for nothing. The caller holds the locks of its lines.
func (c *credits) saved(categories []queue.CategoryID, weights []uint32) []int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.by[creditKey(categories, weights)]; e != nil {
		return e.Saved
	}
	return nil
}

// set replaces what a list has saved. The caller holds the locks of its lines.
func (c *credits) set(e queue.Credits) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.by == nil {
		c.by = map[string]*queue.Credits{}
	}
	c.by[creditKey(e.Categories, e.Weights)] = &e
}

// all returns every list's credits, in an order that is the same for the same lists.
func (c *credits) all() (out []queue.Credits) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range c.by {
		out = append(out, *e)
	}
	slices.SortFunc(out, func(a, b queue.Credits) int {
		return cmp.Compare(creditKey(a.Categories, a.Weights), creditKey(b.Categories, b.Weights))
	})
	return out
}

// reset replaces everything. The caller holds all locks.
func (c *credits) reset(all []queue.Credits) {
	c.mu.Lock()
	c.by = nil
	c.mu.Unlock()
	for _, e := range all {
		c.set(e)
	}
}
