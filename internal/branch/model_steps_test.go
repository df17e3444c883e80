package branch

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"pgregory.net/rapid"

	"callerd/internal/queue"
)

func (p *player) issue(t *rapid.T) {
	r := IssueRequest{Request: p.drawRequest(t), Category: rapid.SampledFrom([]queue.CategoryID{"personal", "personal", "personal", "corporate", "corporate", "vip"}).Draw(t, "category"),
		Priority: rapid.SampledFrom([]queue.PriorityReason{0, 0, 0, queue.Elderly, queue.Military}).Draw(t, "priority"),
		Person:   rapid.SampledFrom([]string{"", "", "", "p"}).Draw(t, "person"), Reserve: rapid.IntRange(0, 5).Draw(t, "reserve") == 0}
	p.ask(t, func(t *rapid.T) {
		want := p.m.issue(r)
		got, err := p.IssueTicket(t.Context(), r)
		p.compare(t, "issue", want, err, got.Replayed, got.Sequence, &got.Ticket, nil)
		if err != nil || got.Replayed || got.Ticket.State != queue.Waiting {
			return
		}
		ahead := len(p.m.lines[place{category: r.Category, lane: queue.PriorityLane}]) - 1
		if r.Priority == 0 {
			ahead += len(p.m.lines[place{category: r.Category}])
		}
		if got.Ahead != ahead {
			t.Fatalf("got %d ahead, want %d", got.Ahead, ahead)
		}
	})
}

// customer cancels or checks in.
func (p *player) customer(t *rapid.T) {
	r, id, verb := p.drawRequest(t), p.drawTicket(t), "cancel"
	if rapid.Bool().Draw(t, "check in") {
		verb = "check in"
		var reserved []queue.TicketID
		for id, c := range p.m.tickets {
			if c.state == queue.Reserved {
				reserved = append(reserved, id)
			}
		}
		if slices.SortFunc(reserved, byText); len(reserved) > 0 {
			id = rapid.SampledFrom(reserved).Draw(t, "reserved")
		}
	}
	p.ask(t, func(t *rapid.T) {
		want := p.m.customer(r, verb, id)
		var got TicketReply
		var err error
		if verb == "cancel" {
			got, err = p.CancelTicket(t.Context(), r, id, "")
		} else {
			got, err = p.CheckInTicket(t.Context(), r, id)
		}
		p.compare(t, verb, want, err, got.Replayed, got.Sequence, &got.Ticket, nil)
	})
}

func (p *player) openCounter(t *rapid.T) {
	lists := [][]queue.CategoryID{{"personal", "corporate"}, {"corporate", "personal"}, {"personal"}, {"corporate"}}
	r := OpenRequest{Request: p.drawRequest(t), Counter: queue.CounterID(rapid.IntRange(1, 4).Draw(t, "counter")),
		Categories: rapid.SampledFrom(lists).Draw(t, "categories"), Rule: rapid.SampledFrom([]queue.Rule{queue.Oldest, queue.Priority, queue.Ratio, queue.Ratio}).Draw(t, "rule")}
	if r.Rule == queue.Ratio {
		r.Weights = rapid.SampledFrom([][]uint32{{1, 1}, {1, 2}, {3, 1}}).Draw(t, "weights")[:len(r.Categories)]
	}
	if rapid.IntRange(0, 3).Draw(t, "take over") == 0 {
		r.TakeOver = "the console is broken"
	}
	p.ask(t, func(t *rapid.T) {
		want := p.m.open(r)
		got, err := p.OpenCounter(t.Context(), r)
		p.compare(t, "open", want, err, got.Replayed, got.Sequence, nil, nil)
		if err != nil {
			return
		}
		d := p.m.desks[r.Counter]
		if got.Epoch != want.epoch || got.Closed != (!d.open || d.epoch != want.epoch) {
			t.Fatalf("open: got epoch %d, closed %t, want %d of %+v", got.Epoch, got.Closed, want.epoch, d)
		}
		if !got.Replayed {
			d.token = got.Token
			p.tokens = append(p.tokens, got.Token)
		}
	})
}

func (p *player) counterVerb(t *rapid.T) {
	verbs := []string{"pause", "resume", "resume", "close", "close and requeue", "close and hold"}
	r, token, verb := p.drawRequest(t), p.drawToken(t), rapid.SampledFrom(verbs).Draw(t, "verb")
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
	var given *queue.TicketID
	if rapid.IntRange(0, 4).Draw(t, "call a given one") == 0 {
		id := p.drawTicket(t)
		given = &id
	}
	p.ask(t, func(t *rapid.T) {
		want := p.m.callNext(r, token, given, complete)
		var got CallReply
		var err error
		if given == nil {
			got, err = p.CallNext(t.Context(), r, token, complete)
		} else {
			got, err = p.CallTicket(t.Context(), r, token, *given, complete)
		}
		p.compare(t, "call", want, err, got.Replayed, got.Sequence, got.Ticket, got.Completed)
		if err != nil || want.call == nil {
			return
		}
		passed := 0
		for _, o := range got.PassedOver {
			passed += int(o.Count)
		}
		if why := (called{got.Rule, got.Overtaken, passed, got.Waited}); why != *want.call {
			t.Fatalf("call: got the reason %+v, want %+v", why, *want.call)
		}
	})
}

func (p *player) currentVerb(t *rapid.T) {
	r, token, name := p.drawRequest(t), p.drawToken(t), rapid.SampledFrom(currentVerbNames).Draw(t, "verb")
	id := p.drawMine(t, token)
	p.ask(t, func(t *rapid.T) {
		want := p.m.currentVerb(r, token, name, id)
		got, err := currentVerbs[name](p.Branch, t.Context(), r, token, id)
		p.compare(t, name, want, err, got.Replayed, got.Sequence, &got.Ticket, nil)
	})
}

// drawMine is mostly the current ticket of a session.
func (p *player) drawMine(t *rapid.T, token string) queue.TicketID {
	id := p.drawTicket(t)
	for _, d := range p.m.desks {
		if d.token == token && d.current != nil && rapid.IntRange(0, 3).Draw(t, "the current one") > 0 {
			id = d.current.id
		}
	}
	return id
}

func (p *player) resume(t *rapid.T) {
	r, token, id := p.drawRequest(t), p.drawToken(t), p.drawTicket(t)
	p.ask(t, func(t *rapid.T) {
		want := p.m.resume(r, token, id)
		got, err := p.ResumeTicket(t.Context(), r, token, id)
		p.compare(t, "resume", want, err, got.Replayed, got.Sequence, &got.Ticket, nil)
	})
}

func drawPlace(t *rapid.T) Place {
	to := Place{Where: rapid.SampledFrom([]queue.Where{0, queue.Back, queue.Front, queue.After, queue.After, queue.After, queue.ByIssue}).Draw(t, "where")}
	if to.Where == queue.After {
		to.After = rapid.Uint32Range(0, 3).Draw(t, "after")
	}
	return to
}

func (p *player) requeue(t *rapid.T) {
	r, token, to := p.drawRequest(t), p.drawToken(t), drawPlace(t)
	id := p.drawMine(t, token)
	p.ask(t, func(t *rapid.T) {
		want := p.m.requeue(r, token, id, to)
		got, err := p.RequeueTicket(t.Context(), r, token, id, to)
		p.compare(t, "requeue", want, err, got.Replayed, got.Sequence, &got.Ticket, nil)
	})
}

func (p *player) transfer(t *rapid.T) {
	r := TransferRequest{Request: p.drawRequest(t), Ticket: p.drawTicket(t), Place: drawPlace(t),
		Category: rapid.SampledFrom([]queue.CategoryID{"personal", "personal", "corporate", "corporate", "", "vip"}).Draw(t, "category"),
		Counter:  rapid.SampledFrom([]queue.CounterID{0, 0, 0, 1, 2, 9}).Draw(t, "counter")}
	token := p.drawToken(t)
	p.ask(t, func(t *rapid.T) {
		want := p.m.transfer(r, token)
		got, err := p.TransferTicket(t.Context(), r, token)
		p.compare(t, "transfer", want, err, got.Replayed, got.Sequence, &got.Ticket, nil)
	})
}

func (p *player) reset(t *rapid.T) {
	if rapid.IntRange(0, 3).Draw(t, "seldom") > 0 {
		t.Skip("not now")
	}
	r, id := p.drawRequest(t), rapid.SampledFrom([]queue.CategoryID{"personal", "corporate"}).Draw(t, "category")
	p.ask(t, func(t *rapid.T) {
		want := p.m.reset(r, id)
		got, err := p.ResetCategory(t.Context(), r, id, "why")
		p.compare(t, "reset", want, err, got.Replayed, got.Sequence, nil, nil)
	})
}

func (p *player) acquire(t *rapid.T) {
	names := [][]queue.ResourceName{{"seal"}, {"cash"}, {"cash", "seal"}, {"pen"}}
	r := AcquireRequest{Request: p.drawRequest(t), Names: rapid.SampledFrom(names).Draw(t, "names"), TTL: rapid.SampledFrom([]time.Duration{time.Minute, time.Hour}).Draw(t, "ttl")}
	token := p.drawToken(t)
	p.ask(t, func(t *rapid.T) {
		want := p.m.acquire(r, token)
		got, err := p.AcquireResources(t.Context(), r, token)
		p.compare(t, "acquire", want, err, got.Replayed, got.Sequence, nil, nil)
		if err == nil && got.Fence != want.epoch {
			t.Fatalf("acquire: got fence %d, want %d", got.Fence, want.epoch)
		}
	})
}

// grant renews or releases.
func (p *player) grant(t *rapid.T) {
	r, token := p.drawRequest(t), p.drawToken(t)
	fence := p.m.fence - min(p.m.fence, rapid.Uint64Range(0, 2).Draw(t, "fence"))
	ttl := rapid.SampledFrom([]time.Duration{0, time.Minute, time.Hour}).Draw(t, "ttl")
	p.ask(t, func(t *rapid.T) {
		want := p.m.grant(r, token, fence, ttl)
		var got Grant
		var err error
		if ttl == 0 {
			got, err = p.ReleaseResources(t.Context(), r, token, fence)
		} else {
			got, err = p.RenewResources(t.Context(), r, token, fence, ttl)
		}
		p.compare(t, "grant", want, err, got.Replayed, got.Sequence, nil, nil)
	})
}

// reload changes the policies of the open hall.
func (p *player) reload(t *rapid.T) {
	p.opts.Config = rapid.SampledFrom(policies).Draw(t, "policies")()
	p.m.reload(p.opts.Config)
	if err := p.Reload(t.Context(), p.opts.Config); err != nil {
		t.Fatal(err)
	}
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
		-time.Second, -10 * time.Minute, -time.Hour, -5 * time.Hour, -30 * time.Hour, 5 * time.Minute, 15 * time.Minute}).Draw(t, "step")
	p.clock.step(d)
	p.Branch.now() // the hall's clock sees every step
	p.m.step(d)
}

// expireBoth does what the daemon's driver does. Consoles that were lost are found here.
func (p *player) expireBoth(t *rapid.T) {
	p.m.expire()
	if err := p.Expire(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func (p *player) restartBoth(t *rapid.T) {
	p.close()
	if p.m.last.Sub(p.m.now) > time.Hour {
		if _, err := Open(t.Context(), p.opts); !errors.Is(err, ErrClockBehind) {
			t.Fatalf("got %v, want %v", err, ErrClockBehind)
		}
		if _, _, err := AcceptClock(t.Context(), p.opts); err != nil {
			t.Fatal(err)
		}
		p.m.accept()
		p.m.restart()
	}
	p.hall.open()
	p.m.restart()
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
		for lane := range c.Lanes {
			if line := p.m.ids(place{category: id, lane: queue.Lane(lane)}); fmt.Sprint(c.Lanes[lane]) != fmt.Sprint(line) {
				t.Fatalf("%s: got lane %v, want %v", id, c.Lanes[lane], line)
			}
		}
		for _, v := range append(c.Tickets, c.Before...) {
			if m := p.m.tickets[v.ID]; m == nil {
				t.Fatalf("got %v, want no such ticket", v.ID)
			} else {
				sameCard(t, v, m)
				m.key, m.first = v.Key, v.First
				known++
			}
		}
	}
	for id, v := range d.Carried {
		if m := p.m.tickets[id]; m != nil && p.m.day-m.day > 1 {
			sameCard(t, v, m)
			m.key, m.first = v.Key, v.First
			known++
		}
	}
	if known != len(p.m.tickets) {
		t.Fatalf("got %d tickets, want %d", known, len(p.m.tickets))
	}
	p.checkDesks(t, d)
	for _, r := range d.Resources {
		if x := p.m.things[r.Name]; r.Configured != x.configured || r.Counter != x.counter || r.Fence != x.fence || r.Counter != 0 && r.Until != x.until.UnixNano() {
			t.Fatalf("got resource %+v, want %+v", r, x)
		}
	}
}

// ids lists who stands in a line.
func (m *model) ids(in place) (ids []queue.TicketID) {
	for _, c := range m.lines[in] {
		ids = append(ids, c.id)
	}
	return ids
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
		if own := p.m.ids(place{counter: c.Definition.ID}); fmt.Sprint(c.Own) != fmt.Sprint(own) {
			t.Fatalf("counter %d: got own line %v, want %v", c.Definition.ID, c.Own, own)
		}
		if (c.Session != nil) != want.open || c.Paused != want.paused || c.Epoch != want.epoch || c.Current != current || fmt.Sprint(c.Held) != fmt.Sprint(held) {
			t.Fatalf("counter %d: got %+v, want %+v", c.Definition.ID, c, want)
		}
	}
}

// replayed compares the live state with what a replay of the journal makes, whole. Request ids that are too old to be
// honoured are forgotten at different times, and a replay does not reach back over two days that were short.
func (p *player) replayed(t *rapid.T) {
	p.settle() // a turn of the day by Expire is not waited for
	made, begins := NewState(), uint64(0)
	if err := p.journal.Replay(func(r *queue.Record) error {
		if begins == 0 {
			begins = r.Sequence
		}
		return made.Apply(r)
	}); err != nil {
		t.Fatal(err)
	}
	live, again := p.state.Dump(), made.Dump()
	for _, d := range []Dump{live, again} {
		maps.DeleteFunc(d.Requests, func(_ queue.RequestID, e RequestDump) bool {
			return live.Last-e.At > int64(24*time.Hour) || e.Sequence < begins
		})
	}
	equal(t, again, live)
	if t.Failed() {
		t.FailNow()
	}
}
