package branch

import (
	"context"

	"callerd/internal/queue"
)

// PublishNotice puts a text on every display; empty texts take it away.
func (b *Branch) PublishNotice(ctx context.Context, r Request, text queue.Names) (SessionReply, error) {
	req := &request{r, fingerprint("PublishNotice", 0, text.Zh, text.En, r.Actor.Name)}
	var reply SessionReply
	o, err := b.do(ctx, req, lockAll, func(o *operation) error {
		o.emit(&queue.NoticePublished{Text: text})
		return nil
	}, func(o *operation) { reply.Replayed = o.seen != nil })
	if err != nil {
		return SessionReply{}, err
	}
	reply.Sequence = o.sequence
	return reply, nil
}
