package sim

import (
	"context"
	"slices"
	"time"

	"callerd/cmd/kiosk-sim/internal/history"
)

// borrow takes some of the shared resources for a service, asking in any order, crosswise to the others.
func (k *console) borrow(ctx context.Context) error {
	all := k.cfg.Resources
	if len(all) == 0 || !k.chance(k.cfg.Mix.Acquire) {
		return nil
	}
	if k.chance(0.3) {
		if _, err := k.settle(ctx, history.Op{Method: "ListResources"}, nil); err != nil {
			return err
		}
	}
	names := slices.Clone(all)
	k.rng.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	op := history.Op{Method: "AcquireResources"}
	op.Names = names[:1+k.rng.IntN(len(names))]
	op.TTL = int64(time.Second) * int64(1+k.rng.IntN(3))
	if k.chance(0.8) {
		op.Wait = int64(time.Duration(k.rng.IntN(500)) * time.Millisecond)
	}
	op, err := k.command(ctx, op)
	if err != nil || op.Outcome != history.OK {
		return err
	}
	k.fence = op.Granted
	return nil
}

// giveBack returns what was borrowed; some keep it, and it is taken from them when its time is over.
func (k *console) giveBack(ctx context.Context) error {
	if k.fence == 0 {
		return nil
	}
	op := history.Op{Method: "ReleaseResources"}
	if op.Fence, k.fence = k.fence, 0; k.chance(k.cfg.Mix.Keep) {
		k.kept = op.Fence
		return nil
	}
	if k.chance(0.2) {
		renew := history.Op{Method: "RenewResources"}
		renew.Fence, renew.TTL = op.Fence, int64(time.Second)
		if _, err := k.command(ctx, renew); err != nil {
			return err
		}
	}
	if _, err := k.command(ctx, op); err != nil {
		return err
	}
	if k.kept == 0 || !k.chance(0.3) {
		return nil
	}
	op.RequestID, op.Fence, k.kept = "", k.kept, 0 // late: it may be somebody else's by now
	_, err := k.command(ctx, op)
	return err
}
