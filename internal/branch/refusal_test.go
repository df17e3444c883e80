package branch

import (
	"context"
	"errors"
	"runtime"
	"testing"

	"callerd/internal/queue"
)

// currentVerbs are the verbs on a counter's current ticket.
var currentVerbs = map[string]verb{
	"recall": (*Branch).RecallTicket, "start": (*Branch).StartTicket, "complete": (*Branch).CompleteTicket,
	"no-show": (*Branch).MarkNoShow, "hold": (*Branch).HoldTicket,
}

// scene is a hall in which everything can be named wrongly: counter 1 serves A001, counter 2 has nobody, counter 3 is paused
// with a held ticket, A003 is called at counter 4, A004 waits.
type scene struct {
	*hall
	served, held, called, waiting queue.TicketID
	s1, s2, s3, s4                string
	used                          Request // did something else
	unknown                       queue.TicketID
}

func newScene(t *testing.T) *scene {
	h := open(t)
	s := &scene{hall: h}
	s.served, s.held, s.called, s.waiting = h.issue("personal").ID, h.issue("personal").ID, h.issue("personal").ID, h.issue("personal").ID
	s.s1, s.s2, s.s3, s.s4 = h.counter(1), h.counter(2), h.counter(3), h.counter(4)
	h.next(s.s1)
	h.verb((*Branch).StartTicket, s.s1, s.served)
	h.next(s.s3)
	h.verb((*Branch).HoldTicket, s.s3, s.held)
	ok(h.PauseCounter(t.Context(), h.request(), s.s3, ""))(t)
	h.next(s.s4)
	s.used = h.request()
	ok(h.PublishNotice(t.Context(), s.used, queue.Names{En: "welcome"}))(t)
	s.unknown = queue.TicketID{Day: s.served.Day, Category: "personal", N: 99}
	return s
}

// attempt is one command of the table.
type attempt struct {
	name   string
	used   bool // its id did something else
	token  string
	ticket queue.TicketID
	want   error
}

// try carries out every attempt and checks that no refusal changed anything.
func (s *scene) try(t *testing.T, verb string, v verb, attempts ...attempt) {
	t.Helper()
	for _, a := range attempts {
		t.Run(verb+", "+a.name, func(t *testing.T) {
			r, before := s.request(), s.state.Dump()
			if a.used {
				r = s.used
			}
			_, err := v(s.Branch, t.Context(), r, a.token, a.ticket)
			if !errors.Is(err, a.want) || (err == nil) != (a.want == nil) {
				t.Errorf("got %v, want %v", err, a.want)
			}
			if RefusedAt(err) == 0 {
				t.Errorf("got no sequence at which %q is true", err)
			}
			equal(t, s.state.Dump(), before)
		})
	}
}

func TestTheOrderOfRefusal(t *testing.T) {
	s := newScene(t)
	for name, v := range currentVerbs {
		s.try(t, name, v,
			attempt{"the request id comes first", true, "no token", s.unknown, ErrRequestReused},
			attempt{"then the session", false, "no token", s.unknown, ErrStaleSession},
			attempt{"then the unknown ticket", false, s.s2, s.unknown, ErrUnknownTicket},
			attempt{"then no current ticket", false, s.s2, s.served, ErrNoCurrentTicket},
			attempt{"then another current ticket", false, s.s1, s.called, ErrTicketMoved},
			attempt{"a ticket held at another counter is not current either", false, s.s1, s.held, ErrTicketMoved},
		)
		switch name {
		case "recall", "start", "no-show":
			s.try(t, name, v, attempt{"then its state", false, s.s1, s.served, ErrWrongTicketState})
		}
	}
	for name, v := range currentVerbs {
		want := ErrNoCurrentTicket
		if name != "complete" { // which may name a held one, tried elsewhere
			s.try(t, name, v, attempt{"a ticket held at the counter is not current", false, s.s3, s.held, want})
		}
	}
	s.try(t, "resume", (*Branch).ResumeTicket,
		attempt{"the request id comes first", true, "no token", s.unknown, ErrRequestReused},
		attempt{"then the session", false, "no token", s.unknown, ErrStaleSession},
		attempt{"then the unknown ticket", false, s.s1, s.unknown, ErrUnknownTicket},
		attempt{"then the current ticket", false, s.s1, s.waiting, ErrCounterBusy},
		attempt{"then the pause", false, s.s3, s.waiting, ErrCounterClosed},
		attempt{"then the ticket's state", false, s.s2, s.waiting, ErrWrongTicketState},
		attempt{"also of one called at another counter", false, s.s2, s.called, ErrWrongTicketState},
	)
	s.try(t, "call next", callNext,
		attempt{"the request id comes first", true, "no token", s.unknown, ErrRequestReused},
		attempt{"then the session", false, "no token", s.unknown, ErrStaleSession},
		attempt{"then the unknown ticket", false, s.s1, s.unknown, ErrUnknownTicket},
		attempt{"then no current ticket, which has moved on", false, s.s2, s.served, ErrTicketMoved},
		attempt{"then another current ticket", false, s.s1, s.called, ErrTicketMoved},
		attempt{"then the current ticket, if none is named", false, s.s1, queue.TicketID{}, ErrCounterBusy},
		attempt{"then the pause", false, s.s3, queue.TicketID{}, ErrCounterClosed},
	)
	s.try(t, "cancel", cancelTicket,
		attempt{"the request id comes first", true, "", s.unknown, ErrRequestReused},
		attempt{"then the unknown ticket", false, "", s.unknown, ErrUnknownTicket},
		attempt{"then its state", false, "", s.served, ErrWrongTicketState},
	)
	s.try(t, "pause", sessionVerb((*Branch).ResumeCounter),
		attempt{"the request id comes first", true, "no token", queue.TicketID{}, ErrRequestReused},
		attempt{"then the session", false, "no token", queue.TicketID{}, ErrStaleSession},
	)
	s.try(t, "close", sessionVerb(counterVerbs["close"]),
		attempt{"the request id comes first", true, "no token", queue.TicketID{}, ErrRequestReused},
		attempt{"then the session", false, "no token", queue.TicketID{}, ErrStaleSession},
		attempt{"then the current ticket", false, s.s1, queue.TicketID{}, ErrCounterBusy},
	)
}

func TestTheOtherVerbsAreRefusedInOrder(t *testing.T) {
	s := newScene(t)
	callTicket := func(b *Branch, ctx context.Context, r Request, token string, id queue.TicketID) (TicketReply, error) {
		_, err := b.CallTicket(ctx, r, token, id, queue.TicketID{})
		return TicketReply{}, err
	}
	s.try(t, "call ticket", callTicket,
		attempt{"the request id comes first", true, "no token", s.unknown, ErrRequestReused},
		attempt{"then the session", false, "no token", s.unknown, ErrStaleSession},
		attempt{"then the unknown ticket", false, s.s1, s.unknown, ErrUnknownTicket},
		attempt{"then the current ticket", false, s.s1, s.waiting, ErrCounterBusy},
		attempt{"then the pause", false, s.s3, s.waiting, ErrCounterClosed},
		attempt{"then its state", false, s.s2, s.held, ErrWrongTicketState},
	)
	requeue := func(b *Branch, ctx context.Context, r Request, token string, id queue.TicketID) (TicketReply, error) {
		return b.RequeueTicket(ctx, r, token, id, Place{})
	}
	transfer := func(b *Branch, ctx context.Context, r Request, token string, id queue.TicketID) (TicketReply, error) {
		return b.TransferTicket(ctx, TransferRequest{Request: r, Ticket: id, Category: "corporate"}, token)
	}
	for name, v := range map[string]verb{"requeue": requeue, "transfer": transfer} {
		s.try(t, name, v,
			attempt{"the request id comes first", true, "no token", s.unknown, ErrRequestReused},
			attempt{"then the session", false, "no token", s.unknown, ErrStaleSession},
			attempt{"then the unknown ticket", false, s.s2, s.unknown, ErrUnknownTicket},
			attempt{"then that it is at another counter", false, s.s2, s.served, ErrTicketMoved},
			attempt{"also a held one", false, s.s2, s.held, ErrTicketMoved},
		)
	}
	s.try(t, "requeue", requeue, attempt{"then its state", false, s.s2, s.waiting, ErrWrongTicketState})
	to := func(r TransferRequest) verb {
		return func(b *Branch, ctx context.Context, q Request, token string, id queue.TicketID) (TicketReply, error) {
			r.Request, r.Ticket = q, id
			return b.TransferTicket(ctx, r, token)
		}
	}
	s.try(t, "transfer to nowhere", to(TransferRequest{}), attempt{"names no line", false, s.s1, s.served, ErrUnknownCategory})
	s.try(t, "transfer to no category", to(TransferRequest{Category: "vip"}), attempt{"unknown", false, s.s1, s.served, ErrUnknownCategory})
	s.try(t, "transfer to no counter", to(TransferRequest{Counter: 9}), attempt{"unknown", false, s.s1, s.served, ErrUnknownCounter})
	s.try(t, "check in", func(b *Branch, ctx context.Context, r Request, _ string, id queue.TicketID) (TicketReply, error) {
		return b.CheckInTicket(ctx, r, id)
	},
		attempt{"the request id comes first", true, "", s.unknown, ErrRequestReused},
		attempt{"then the unknown ticket", false, "", s.unknown, ErrUnknownTicket},
		attempt{"then its state", false, "", s.waiting, ErrWrongTicketState},
	)
	s.try(t, "reset", func(b *Branch, ctx context.Context, r Request, _ string, _ queue.TicketID) (TicketReply, error) {
		_, err := b.ResetCategory(ctx, r, "vip", "why")
		return TicketReply{}, err
	},
		attempt{"the request id comes first", true, "", s.unknown, ErrRequestReused},
		attempt{"then the unknown category", false, "", s.unknown, ErrUnknownCategory},
	)
	s.try(t, "acquire", func(b *Branch, ctx context.Context, r Request, token string, _ queue.TicketID) (TicketReply, error) {
		_, err := b.AcquireResources(ctx, AcquireRequest{Request: r, Names: []queue.ResourceName{"pen"}}, token)
		return TicketReply{}, err
	},
		attempt{"the request id comes first", true, "no token", s.unknown, ErrRequestReused},
		attempt{"then the session", false, "no token", s.unknown, ErrStaleSession},
		attempt{"then the unknown resource", false, s.s1, s.unknown, ErrUnknownResource},
	)
	s.try(t, "release", func(b *Branch, ctx context.Context, r Request, token string, _ queue.TicketID) (TicketReply, error) {
		_, err := b.ReleaseResources(ctx, r, token, 0)
		return TicketReply{}, err
	},
		attempt{"the request id comes first", true, "no token", s.unknown, ErrRequestReused},
		attempt{"then the session", false, "no token", s.unknown, ErrStaleSession},
		attempt{"then that nothing is held", false, s.s1, s.unknown, ErrLeaseLost},
	)
}

func TestOpenCounterIsRefusedInOrder(t *testing.T) {
	s := newScene(t)
	s.restart(func(o *Options) { o.Config.Counters = o.Config.Counters[:3] }) // counter 4 is not configured any more
	try := func(used bool, counter queue.CounterID, category queue.CategoryID) verb {
		return func(b *Branch, ctx context.Context, r Request, _ string, _ queue.TicketID) (TicketReply, error) {
			_, err := b.OpenCounter(ctx, OpenRequest{Request: r, Counter: counter, Teller: "u", Categories: []queue.CategoryID{category}})
			return TicketReply{}, err
		}
	}
	s.try(t, "open", try(true, 99, "vip"), attempt{"the request id comes first", true, "", queue.TicketID{}, ErrRequestReused})
	s.try(t, "open", try(false, 99, "vip"), attempt{"then the unknown counter", false, "", queue.TicketID{}, ErrUnknownCounter})
	s.try(t, "open", try(false, 1, "vip"), attempt{"then the unknown category", false, "", queue.TicketID{}, ErrUnknownCategory})
	s.try(t, "open", try(false, 4, "personal"), attempt{"then a counter that is no longer configured", false, "", queue.TicketID{}, ErrCounterClosed})
	s.try(t, "open", try(false, 1, "personal"), attempt{"then the session that is on", false, "", queue.TicketID{}, ErrCounterTaken})
}

// callNext, cancelTicket and sessionVerb give other methods the shape of a verb.
func callNext(b *Branch, ctx context.Context, r Request, token string, id queue.TicketID) (TicketReply, error) {
	_, err := b.CallNext(ctx, r, token, id)
	return TicketReply{}, err
}

func cancelTicket(b *Branch, ctx context.Context, r Request, _ string, id queue.TicketID) (TicketReply, error) {
	return b.CancelTicket(ctx, r, id, "")
}

func sessionVerb(f func(*Branch, context.Context, Request, string) (SessionReply, error)) verb {
	return func(b *Branch, ctx context.Context, r Request, token string, _ queue.TicketID) (TicketReply, error) {
		_, err := f(b, ctx, r, token)
		return TicketReply{}, err
	}
}

// A ticket that comes to be between the two looks of a resume is unknown to it: its lock is not held.
func TestResumeOfATicketThatIsJustBeingIssued(t *testing.T) {
	h := open(t)
	s := h.counter(1)
	a1 := queue.TicketID{Day: queue.DayOf(2026, 11, 30), Category: "personal", N: 1}
	issued := make(chan struct{})
	h.clock.once(func() { // the resume has looked for A001, has its counter's lock, and asks for the time
		go func() {
			defer close(issued)
			h.IssueTicket(t.Context(), IssueRequest{Request: h.request(), Category: "personal"})
		}()
		for h.state.find(a1) == nil {
			runtime.Gosched()
		}
	})
	_, err := h.ResumeTicket(t.Context(), h.request(), s, a1)
	refused(t, err, ErrUnknownTicket)
	<-issued
	_, err = h.ResumeTicket(t.Context(), h.request(), s, a1)
	refused(t, err, ErrWrongTicketState)
}
