package branch

import (
	"context"
	"fmt"
	"slices"
	"time"

	"callerd/internal/counter"
	"callerd/internal/queue"
)

// OpenRequest opens a counter.
type OpenRequest struct {
	Request
	Counter    queue.CounterID
	Teller     string
	Categories []queue.CategoryID // nil: the configured ones
	Rule       queue.Rule         // 0: the configured one
	Weights    []uint32           // beside Categories, for queue.Ratio; nil: the configured ones, or 1
	TakeOver   string             // why a session that is on is ended; "": it is not
}

// OpenReply is a session.
type OpenReply struct {
	Token    string
	Epoch    uint64
	Lease    time.Duration
	Paused   bool
	Closed   bool           // the session of a replayed request has ended since
	Current  *queue.Ticket  // carried over the turn of the day
	Held     []queue.Ticket // at this counter, oldest first
	Replayed bool
	Sequence uint64
}

// OpenCounter begins a teller's session at a counter.
func (b *Branch) OpenCounter(ctx context.Context, r OpenRequest) (OpenReply, error) {
	parts := []string{r.Teller, fmt.Sprint(r.Rule, r.Weights), r.TakeOver}
	for _, c := range r.Categories {
		parts = append(parts, string(c))
	}
	req := &request{r.Request, fingerprint("OpenCounter", r.Counter, parts...)}
	var reply OpenReply
	var c *counter.Counter
	o, err := b.do(ctx, req, func(o *operation) error {
		if c = b.state.sets.Load().byCounter[r.Counter]; c == nil {
			return fmt.Errorf("%w: there is no counter %d", ErrUnknownCounter, r.Counter)
		}
		o.lockCounters(c)
		return nil
	}, func(o *operation) error {
		return b.openCounter(o, r, c)
	}, func(o *operation) {
		epoch := c.Epoch()
		if o.seen != nil {
			epoch = o.seen.epoch
		}
		s := c.Session()
		reply = OpenReply{Epoch: epoch, Lease: b.opts.Lease, Closed: s == nil || s.Epoch != epoch, Paused: c.Paused(),
			Token: b.seal(token{r.Counter, epoch, r.ID}), Replayed: o.seen != nil}
		if reply.Closed {
			return // what is there now is another session's
		}
		b.renew(c)
		b.deadlineChanged()
		if t := c.Current(); t != nil {
			v := t.Ticket()
			reply.Current = &v
		}
		for _, t := range c.Held() {
			reply.Held = append(reply.Held, t.Ticket())
		}
	})
	if err != nil {
		return OpenReply{}, err
	}
	reply.Sequence = o.sequence
	return reply, nil
}

func (b *Branch) openCounter(o *operation, r OpenRequest, c *counter.Counter) error {
	def := c.Definition()
	session := queue.Session{Epoch: c.Epoch() + 1, Request: r.ID, Teller: r.Teller, Categories: r.Categories, Rule: r.Rule, Weights: r.Weights}
	if len(session.Categories) == 0 {
		session.Categories = def.Categories
		if len(session.Weights) == 0 {
			session.Weights = def.Weights
		}
	}
	if session.Rule == 0 {
		session.Rule = def.Rule
	}
	for _, id := range session.Categories {
		if b.state.sets.Load().byCategory[id] == nil {
			return fmt.Errorf("%w: %q", ErrUnknownCategory, id)
		}
	}
	if !def.Configured {
		return fmt.Errorf("%w: counter %d is no longer in the configuration", ErrCounterClosed, r.Counter)
	}
	cause := queue.Asked
	if s := c.Session(); s != nil && r.TakeOver != "" {
		cause = queue.TakenOver
		o.lockResources().leave(r.Counter)
	} else if s != nil {
		return fmt.Errorf("%w: the session of %q is on at counter %d", ErrCounterTaken, s.Teller, r.Counter)
	}
	if len(r.Categories) == 0 {
		session.Categories = append(slices.Clone(session.Categories), b.left()...)
	}
	session.Categories, session.Weights = distinct(session.Categories, session.Weights)
	o.emit(&queue.CounterChanged{Verb: queue.OpenCounter, Counter: r.Counter, Session: session, Cause: cause, Note: r.TakeOver})
	return nil
}

// left are the categories that are no longer configured: whoever waits in them is still called, by every session that serves what is
// configured. Also if they have handed out nothing today: somebody may have been transferred there, or be sent back there later. Which
// there are changes under all locks only; the caller holds one.
func (b *Branch) left() (ids []queue.CategoryID) {
	named := map[queue.CategoryID]bool{}
	for _, d := range b.config.Load().Categories {
		named[d.ID] = true
	}
	for _, c := range b.state.sets.Load().categories {
		if !named[c.ID()] {
			ids = append(ids, c.ID())
		}
	}
	return ids
}

// distinct copies a list of categories and the weights beside it, without what comes a second time: nobody is passed over
// twice by one call.
func distinct(categories []queue.CategoryID, weights []uint32) (cs []queue.CategoryID, ws []uint32) {
	for i, c := range categories {
		if slices.Contains(cs, c) {
			continue
		}
		cs = append(cs, c)
		if i < len(weights) {
			ws = append(ws, weights[i])
		}
	}
	return cs, ws
}

func (b *Branch) deadlineChanged() {
	select {
	case b.changed <- struct{}{}:
	default:
	}
}

// SessionReply answers a verb of a session.
type SessionReply struct {
	Lease    time.Duration
	Replayed bool
	Sequence uint64
}

// RenewSession is the console's heartbeat: it renews the lease before it waits, and writes nothing.
func (b *Branch) RenewSession(ctx context.Context, sessionToken string) (SessionReply, error) {
	s := b.session(sessionToken)
	o, err := b.do(ctx, nil, s.lock, nil, nil)
	if err != nil {
		return SessionReply{}, err
	}
	return SessionReply{Lease: b.opts.Lease, Sequence: o.sequence}, nil
}

// PauseCounter stops the counter's calling; pausing a paused one changes nothing.
func (b *Branch) PauseCounter(ctx context.Context, r Request, sessionToken, reason string) (SessionReply, error) {
	return b.sessionVerb(ctx, r, sessionToken, "PauseCounter", reason, func(o *operation, c *counter.Counter) error {
		if !c.Paused() {
			o.emit(&queue.CounterChanged{Verb: queue.PauseCounter, Counter: c.ID(), Note: reason})
		}
		return nil
	})
}

// ResumeCounter ends a pause; resuming a counter that is not paused changes nothing.
func (b *Branch) ResumeCounter(ctx context.Context, r Request, sessionToken string) (SessionReply, error) {
	return b.sessionVerb(ctx, r, sessionToken, "ResumeCounter", "", func(o *operation, c *counter.Counter) error {
		if c.Paused() {
			o.emit(&queue.CounterChanged{Verb: queue.ResumeCounter, Counter: c.ID()})
		}
		return nil
	})
}

// CloseCounter ends the session. A current ticket is refused, unless the request says what becomes of it: queue.Requeue (to
// its place in the line) or queue.Hold.
func (b *Branch) CloseCounter(ctx context.Context, r Request, sessionToken string, current queue.Verb) (SessionReply, error) {
	return b.sessionVerb(ctx, r, sessionToken, "CloseCounter", current.String(), func(o *operation, c *counter.Counter) error {
		if t := c.Current(); t != nil {
			if current != queue.Requeue && current != queue.Hold {
				return busy(c, t)
			}
			out := b.outcome(o, t, current, 0)
			if current == queue.Hold {
				out.Counter = c.ID()
			} else {
				b.place(o, out, t, Place{Where: queue.Kept})
			}
			o.emit(out)
		}
		b.closeCounter(o, c, queue.Asked)
		return nil
	})
}

func (b *Branch) sessionVerb(ctx context.Context, r Request, sessionToken, method, reason string, decide func(*operation, *counter.Counter) error) (SessionReply, error) {
	s := b.session(sessionToken)
	req := &request{r, fingerprint(method, s.token.counter, reason)}
	reply := SessionReply{Lease: b.opts.Lease}
	o, err := b.do(ctx, req, func(o *operation) error {
		err := s.lock(o)
		if s.counter != nil {
			b.lockLinesToClose(o, s.counter)
		}
		return err
	}, func(o *operation) error {
		o.actAs(s.counter)
		return decide(o, s.counter)
	}, func(o *operation) { reply.Replayed = o.seen != nil })
	if err != nil {
		return SessionReply{}, err
	}
	reply.Sequence = o.sequence
	return reply, nil
}

// session is a command's claim to a counter.
type session struct {
	b       *Branch
	token   token
	counter *counter.Counter // nil: the token is none of this branch
}

func (b *Branch) session(sessionToken string) *session {
	t := b.unseal(sessionToken)
	return &session{b: b, token: t, counter: b.state.sets.Load().byCounter[t.counter]}
}

// lock takes the counter's lock, checks the session and renews its lease.
func (s *session) lock(o *operation) error {
	if s.counter == nil {
		return fmt.Errorf("%w: the token is not one of this branch", ErrStaleSession)
	}
	o.lockCounters(s.counter)
	return s.check()
}

// check looks whether the session is still on, and renews its lease. The caller holds the counter's lock.
func (s *session) check() error {
	cur := s.counter.Session()
	if cur == nil || cur.Epoch != s.token.epoch || cur.Request != s.token.request {
		return fmt.Errorf("%w: the session %d of counter %d has ended; open the counter again", ErrStaleSession, s.token.epoch, s.token.counter)
	}
	s.b.renew(s.counter)
	return nil
}

// busy is the refusal that meets a current ticket.
func busy(c *counter.Counter, t *queue.Live) error {
	return &currentError{fmt.Errorf("%w: %s (%v) is current at counter %d", ErrCounterBusy, t.Number, t.ID, c.ID()), t.ID}
}
