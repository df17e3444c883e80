package branch

import (
	"context"
	"fmt"

	"callerd/internal/queue"
)

// ResetCategory expires every open ticket of a category's series, by a person and with a reason; numbers go on. One that
// is being served is served to its end.
func (b *Branch) ResetCategory(ctx context.Context, r Request, id queue.CategoryID, why string) (SessionReply, error) {
	req := &request{r, fingerprint("ResetCategory", 0, string(id), why, r.Actor.Name)}
	var reply SessionReply
	o, err := b.do(ctx, req, lockAll, func(o *operation) error {
		c := b.state.sets.Load().byCategory[id]
		if c == nil {
			return fmt.Errorf("%w: %q", ErrUnknownCategory, id)
		}
		o.emit(&queue.CategoryReset{Category: id, Why: why})
		c.Each(b.state.day.Load().Day, 1, func(t *queue.Live) bool {
			if _, ok := queue.Next(t.State, queue.Expire); ok {
				o.emit(b.outcome(o, t, queue.Expire, 0))
			}
			return true
		})
		return nil
	}, func(o *operation) { reply.Replayed = o.seen != nil })
	if err != nil {
		return SessionReply{}, err
	}
	reply.Sequence = o.sequence
	return reply, nil
}
