package sim

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	mrand "math/rand/v2"
	"time"

	pb "callerd/proto/callerd/v1"

	"callerd/cmd/kiosk-sim/internal/history"
)

// ErrGaveUp is returned when a request had no outcome within the time that its client allows.
var ErrGaveUp = errors.New("no outcome")

// session is what a console got from OpenCounter.
type session struct {
	token   string
	epoch   uint64
	lease   time.Duration
	counter *pb.Counter
	held    []*pb.Ticket
}

// actor is one machine of the hall: it has a name, its own random numbers and a due time.
type actor struct {
	name string
	cfg  *Config
	c    *client
	rng  *mrand.Rand
	// due is when the next request should leave, on the recorder's clock.
	due int64
}

func newActor(name string, cfg *Config, c *client) actor {
	return actor{name: name, cfg: cfg, c: c, rng: stream(cfg.Seed, name), due: c.rec.Now()}
}

// chance is true with probability p.
func (a *actor) chance(p float64) bool { return a.rng.Float64() < p }

// settle sends op until its outcome is known, always with the same request id. Some are sent twice
// on purpose: at once or afterwards.
func (a *actor) settle(ctx context.Context, op history.Op, s *session) (history.Op, error) {
	op.Client = a.name
	op.Intended = a.due
	if now := a.c.rec.Now(); a.cfg.Full || op.Intended > now || !op.Changes() {
		op.Intended = now
	}
	doubled := false
	if op.Changes() {
		if op.RequestID == "" {
			op.RequestID = newID()
		}
		doubled = a.chance(a.cfg.Retry)
	}
	twins := doubled && op.Method != "OpenCounter" && a.chance(0.5)
	for began := a.c.rec.Now(); ; {
		op.Try++
		op.Told = history.Told{}
		var after time.Duration
		if twins {
			after, twins, doubled = a.both(ctx, &op, s), false, false
		} else {
			after = a.c.attempt(ctx, &op, s)
		}
		switch {
		case op.Outcome == history.OK && doubled:
			return op, a.again(ctx, op, s)
		case op.Outcome != history.Unknown:
			return op, nil
		case ctx.Err() != nil:
			return op, ctx.Err()
		case time.Duration(a.c.rec.Now()-began) > a.cfg.GiveUp:
			return op, fmt.Errorf("%w: %s of %s after %d attempts and %v: %s: %s", ErrGaveUp, op.Method, a.name, op.Try, a.cfg.GiveUp, op.Code, op.Message)
		}
		// The jitter is not drawn from the actor's stream: a retry must not shift its choices.
		back := time.Duration(5<<min(op.Try, 6)) * time.Millisecond // up to 320 ms
		if err := a.sleep(ctx, max(after, back/2+mrand.N(back))); err != nil {
			return op, err
		}
	}
}

// both sends op twice at the same time and keeps the more telling answer.
func (a *actor) both(ctx context.Context, op *history.Op, s *session) (after time.Duration) {
	twin := *op
	twin.Try++
	done := make(chan struct{})
	go func() {
		defer close(done)
		a.c.attempt(ctx, &twin, s)
	}()
	after = a.c.attempt(ctx, op, s)
	<-done
	op.Try = twin.Try
	if better(&twin, op) {
		*op = twin
	}
	return after
}

func better(a, b *history.Op) bool {
	rank := map[history.Outcome]int{history.Unknown: 0, history.Refused: 1, history.OK: 2}
	if rank[a.Outcome] != rank[b.Outcome] {
		return rank[a.Outcome] > rank[b.Outcome]
	}
	return a.Got != nil && b.Got == nil
}

// again sends a settled request once more; the judge compares the answers. It counts as nothing
// when that answer stays out.
func (a *actor) again(ctx context.Context, op history.Op, s *session) error {
	var spare session
	if s != nil {
		spare = *s
	}
	op.Try++
	op.Intended = 0
	op.Got, op.Completed, op.Sequence, op.Replayed, op.Told = nil, nil, 0, false, history.Told{}
	a.c.attempt(ctx, &op, &spare)
	return ctx.Err()
}

// sleep waits for a real time.
func (a *actor) sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// real turns a hall time into a real one.
func (a *actor) real(d time.Duration) time.Duration { return time.Duration(float64(d) / a.cfg.Speed) }

// newID makes a random UUID (version 4). Ids are never drawn from the seed: two runs with one seed
// are two runs, not one that repeats itself.
func newID() string {
	var b [16]byte
	rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
