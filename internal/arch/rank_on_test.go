//go:build lockrank

package arch_test

import (
	"context"
	"testing"

	"callerd/internal/arch"
)

// Every way to break the order, made on purpose, panics before it waits, and the
// message names the locks. Each test has fresh locks and a chain that holds
// counter 3 and line 2.
func TestWrongOrderPanics(t *testing.T) {
	for _, c := range []struct {
		name string
		do   func(h *arch.Held, counter, line *arch.RankedLock)
		want []string
	}{
		{"a smaller rank after a larger one",
			func(h *arch.Held, _, _ *arch.RankedLock) { ranked(arch.RankCounter, 4).Lock(h) },
			[]string{"Lock of counter 4", "holding line 2", "smaller rank"}},
		{"a smaller rank after a larger one, with a context",
			func(h *arch.Held, _, _ *arch.RankedLock) {
				_ = ranked(arch.RankCounter, 4).LockContext(context.Background(), h)
			},
			[]string{"LockContext of counter 4", "holding line 2", "smaller rank"}},
		{"a smaller rank after a larger one, tried again and again",
			func(h *arch.Held, _, _ *arch.RankedLock) {
				_ = ranked(arch.RankCounter, 4).TryLockContext(context.Background(), arch.Backoff{Tries: 1}, h)
			},
			[]string{"TryLockContext of counter 4", "holding line 2", "smaller rank"}},
		{"a smaller id within a rank",
			func(h *arch.Held, _, _ *arch.RankedLock) { ranked(arch.RankLine, 1).Lock(h) },
			[]string{"Lock of line 1", "holding line 2", "smaller id"}},
		{"the same id within a rank",
			func(h *arch.Held, _, _ *arch.RankedLock) { ranked(arch.RankLine, 2).Lock(h) },
			[]string{"Lock of line 2", "holding line 2", "smaller id"}},
		{"the same lock twice",
			func(h *arch.Held, _, line *arch.RankedLock) { line.Lock(h) },
			[]string{"Lock of line 2 a second time", "holding counter 3, line 2"}},
		{"the same lock twice, tried",
			func(h *arch.Held, counter, _ *arch.RankedLock) { counter.TryLock(h) },
			[]string{"TryLock of counter 3 a second time", "holding counter 3, line 2"}},
		{"a lock after one that was tried out of order",
			func(h *arch.Held, _, _ *arch.RankedLock) {
				ranked(arch.RankCounter, 7).TryLock(h)
				ranked(arch.RankCounter, 5).Lock(h)
			},
			[]string{"Lock of counter 5", "smaller rank"}},
		{"unlock of one that is not held",
			func(h *arch.Held, _, _ *arch.RankedLock) { ranked(arch.RankResources, 1).Unlock(h) },
			[]string{"Unlock of resources 1, which is not held", "holding counter 3, line 2"}},
		{"unlock by a chain that does not hold it",
			func(_ *arch.Held, counter, _ *arch.RankedLock) { counter.Unlock(new(arch.Held)) },
			[]string{"Unlock of counter 3, which is not held", "holding nothing"}},
		{"lock before Init",
			func(h *arch.Held, _, _ *arch.RankedLock) { new(arch.RankedLock).Lock(h) },
			[]string{"Lock before Init"}},
		{"try before Init",
			func(h *arch.Held, _, _ *arch.RankedLock) { new(arch.RankedLock).TryLock(h) },
			[]string{"TryLock before Init"}},
		{"unlock before Init",
			func(h *arch.Held, _, _ *arch.RankedLock) { new(arch.RankedLock).Unlock(h) },
			[]string{"Unlock before Init"}},
		{"Init with no rank",
			func(*arch.Held, *arch.RankedLock, *arch.RankedLock) { new(arch.RankedLock).Init(0, 1) },
			[]string{"Init with rank(0)"}},
		{"a second Init",
			func(_ *arch.Held, counter, _ *arch.RankedLock) { counter.Init(arch.RankLine, 1) },
			[]string{"Init of counter 3 a second time"}},
		{"lock without a chain",
			func(*arch.Held, *arch.RankedLock, *arch.RankedLock) { ranked(arch.RankJournal, 1).Lock(nil) },
			[]string{"Lock with a nil *Held"}},
		{"unlock without a chain",
			func(_ *arch.Held, counter, _ *arch.RankedLock) { counter.Unlock(nil) },
			[]string{"Unlock with a nil *Held"}},
		{"waiting while something is held",
			func(h *arch.Held, _, _ *arch.RankedLock) { h.AssertNone() },
			[]string{"about to wait while holding counter 3, line 2"}},
		{"a lock that must be held and is not",
			func(h *arch.Held, _, _ *arch.RankedLock) { h.AssertHeld(ranked(arch.RankLine, 5)) },
			[]string{"line 5 must be held here", "holding counter 3, line 2"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			counter, line := ranked(arch.RankCounter, 3), ranked(arch.RankLine, 2)
			var h arch.Held
			counter.Lock(&h)
			line.Lock(&h)
			mustPanic(t, func() { c.do(&h, counter, line) }, append(c.want, "arch: lock order: ")...)
			h.AssertHeld(counter)
			h.AssertHeld(line)
		})
	}
}
