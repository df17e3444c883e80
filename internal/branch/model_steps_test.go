package branch

import (
	"fmt"
	"maps"
	"time"

	"pgregory.net/rapid"

	"callerd/internal/queue"
)

func (p *player) issue(t *rapid.T) {
	r, c := p.drawRequest(t), rapid.SampledFrom([]queue.CategoryID{"personal", "personal", "corporate", "vip"}).Draw(t, "category")
	p.ask(t, func(t *rapid.T) {
		want := p.m.issue(r, c)
		got, err := p.IssueTicket(t.Context(), r, c)
		p.compare(t, "issue", want, err, got.Replayed, got.Sequence, &got.Ticket, nil)
		if err == nil && !got.Replayed && got.Ahead != len(p.m.line(c))-1 {
			t.Fatalf("got %d ahead, want %d", got.Ahead, len(p.m.line(c))-1)
		}
	})
}

func (p *player) cancel(t *rapid.T) {
	r, id := p.drawRequest(t), p.drawTicket(t)
	p.ask(t, func(t *rapid.T) {
		want := p.m.cancel(r, id)
		got, err := p.CancelTicket(t.Context(), r, id, "")
		p.compare(t, "cancel", want, err, got.Replayed, got.Sequence, &got.Ticket, nil)
	})
}

func (p *player) openCounter(t *rapid.T) {
	lists := [][]queue.CategoryID{{"personal", "corporate"}, {"corporate", "personal"}, {"personal"}, {"corporate"}}
	r := OpenRequest{Request: p.drawRequest(t), Counter: queue.CounterID(rapid.IntRange(1, 4).Draw(t, "counter")),
		Categories: rapid.SampledFrom(lists).Draw(t, "categories"), Rule: rapid.SampledFrom([]queue.Rule{queue.Oldest, queue.Priority}).Draw(t, "rule")}
	p.ask(t, func(t *rapid.T) {
		want, e := p.m.open(r)
		got, err := p.OpenCounter(t.Context(), r)
		p.compare(t, "open", want, err, got.Replayed, got.Sequence, nil, nil)
		if err != nil {
			return
		}
		d := p.m.desks[r.Counter]
		if got.Epoch != e.epoch || got.Closed != (!d.open || d.epoch != e.epoch) {
			t.Fatalf("open: got epoch %d, closed %t, want %d of %+v", got.Epoch, got.Closed, e.epoch, d)
		}
		if !got.Replayed {
			d.token = got.Token
			p.tokens = append(p.tokens, got.Token)
		}
	})
}

func (p *player) counterVerb(t *rapid.T) {
	r, token, verb := p.drawRequest(t), p.drawToken(t), rapid.SampledFrom([]string{"pause", "resume", "resume", "close"}).Draw(t, "verb")
	p.ask(t, func(t *rapid.T) {
		want := p.m.counterVerb(r, token, verb)
		got, err := counterVerbs[verb](p.Branch, t.Context(), r, token)
		p.compare(t, verb, want, err, got.Replayed, got.Sequence, nil, nil)
	})
}

func (p *player) callNext(t *rapid.T) {
	r, token := p.drawRequest(t), p.drawToken(t)
	var complete queue.TicketID
	for _, d := range p.m.desks {
		if d.token == token && d.current != nil && rapid.Bool().Draw(t, "complete the current one") {
			complete = d.current.id
		}
	}
	if complete.IsZero() && rapid.IntRange(0, 9).Draw(t, "complete another") == 0 {
		complete = p.drawTicket(t)
	}
	p.ask(t, func(t *rapid.T) {
		want := p.m.callNext(r, token, complete)
		got, err := p.CallNext(t.Context(), r, token, complete)
		p.compare(t, "call next", want, err, got.Replayed, got.Sequence, got.Ticket, got.Completed)
	})
}

func (p *player) currentVerb(t *rapid.T) {
	r, token, name, id := p.drawRequest(t), p.drawToken(t), rapid.SampledFrom(currentVerbNames).Draw(t, "verb"), p.drawTicket(t)
	for _, d := range p.m.desks {
		if d.token == token && d.current != nil && rapid.IntRange(0, 3).Draw(t, "the current one") > 0 {
			id = d.current.id
		}
	}
	p.ask(t, func(t *rapid.T) {
		want := p.m.currentVerb(r, token, name, id)
		got, err := currentVerbs[name](p.Branch, t.Context(), r, token, id)
		p.compare(t, name, want, err, got.Replayed, got.Sequence, &got.Ticket, nil)
	})
}

func (p *player) resume(t *rapid.T) {
	r, token, id := p.drawRequest(t), p.drawToken(t), p.drawTicket(t)
	p.ask(t, func(t *rapid.T) {
		want := p.m.resume(r, token, id)
		got, err := p.ResumeTicket(t.Context(), r, token, id)
		p.compare(t, "resume", want, err, got.Replayed, got.Sequence, &got.Ticket, nil)
	})
}

func (p *player) renew(t *rapid.T) {
	token := p.drawToken(t)
	want := answer{}
	if p.m.session(token) == nil {
		want.err = ErrStaleSession
	}
	got, err := p.RenewSession(t.Context(), token)
	p.compare(t, "renew", want, err, false, got.Sequence, nil, nil)
}

// stepClock moves the wall clock: mostly a little, sometimes over a lease, over midnight, or back.
func (p *player) stepClock(t *rapid.T) {
	d := rapid.SampledFrom([]time.Duration{time.Second, 20 * time.Second, DefaultLease, time.Hour, 9 * time.Hour, 24 * time.Hour, 50 * time.Hour,
		-time.Second, -time.Hour, -5 * time.Hour}).Draw(t, "step")
	p.clock.step(d)
	p.m.now = p.clock.now()
}

// expireBoth does what the daemon's driver does. Consoles that were lost are found here.
func (p *player) expireBoth(t *rapid.T) {
	p.m.expire()
	if err := p.Expire(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func (p *player) restartBoth(t *rapid.T) {
	p.restart()
	p.m.turn()
	p.m.last, p.m.admitted = p.m.at(), p.m.now
	for _, d := range p.m.desks {
		d.lease = time.Time{}
	}
}

// check compares the whole hall with the model's.
func (p *player) check(t *rapid.T) {
	if err := p.state.Check(); err != nil {
		t.Fatal(err)
	}
	d := p.state.Dump()
	if d.Day != p.m.today || d.Last != p.m.last.UnixNano() || d.End != p.m.end.UnixNano() {
		t.Fatalf("got %v until %d at %d, want %v until %d at %d", d.Day, d.End, d.Last, p.m.today, p.m.end.UnixNano(), p.m.last.UnixNano())
	}
	known := 0
	for _, c := range d.Categories {
		id := c.Definition.ID
		if c.Issued != p.m.issued[id] || c.Serving != p.m.serving[id] {
			t.Fatalf("%s: got issued %d, serving %d, want %d, %d", id, c.Issued, c.Serving, p.m.issued[id], p.m.serving[id])
		}
		var line []queue.TicketID
		for _, w := range p.m.line(id) {
			line = append(line, w.id)
		}
		if fmt.Sprint(c.Line) != fmt.Sprint(line) {
			t.Fatalf("%s: got line %v, want %v", id, c.Line, line)
		}
		for _, v := range append(c.Tickets, c.Before...) {
			if m := p.m.tickets[v.ID]; m == nil {
				t.Fatalf("got %v, want no such ticket", v.ID)
			} else {
				sameCard(t, v, m)
				known++
			}
		}
	}
	for id, v := range d.Carried {
		if m := p.m.tickets[id]; m != nil && p.m.day-m.day > 1 {
			sameCard(t, v, m)
			known++
		}
	}
	if known != len(p.m.tickets) {
		t.Fatalf("got %d tickets, want %d", known, len(p.m.tickets))
	}
	p.checkDesks(t, d)
}

func (p *player) checkDesks(t *rapid.T, d Dump) {
	for _, c := range d.Counters {
		want := p.m.desks[c.Definition.ID]
		var current queue.TicketID
		if want.current != nil {
			current = want.current.id
		}
		var held []queue.TicketID
		for _, h := range want.held {
			held = append(held, h.id)
		}
		if (c.Session != nil) != want.open || c.Paused != want.paused || c.Epoch != want.epoch || c.Current != current || fmt.Sprint(c.Held) != fmt.Sprint(held) {
			t.Fatalf("counter %d: got %+v, want %+v", c.Definition.ID, c, want)
		}
	}
}

// replayed compares the live state with what a replay of the journal makes, whole. Request ids that are too old to be
// honoured are forgotten at different times.
func (p *player) replayed(t *rapid.T) {
	p.settle() // a turn of the day by Expire is not waited for
	made := NewState()
	if err := p.journal.Replay(made.Apply); err != nil {
		t.Fatal(err)
	}
	live, again := p.state.Dump(), made.Dump()
	for _, d := range []Dump{live, again} {
		maps.DeleteFunc(d.Requests, func(_ queue.RequestID, e RequestDump) bool { return live.Last-e.At > int64(24*time.Hour) })
	}
	equal(t, again, live)
	if t.Failed() {
		t.FailNow()
	}
}
