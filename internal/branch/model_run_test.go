package branch

import (
	"errors"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"callerd/internal/queue"
)

// player plays the same commands on a branch and on the model.
type player struct {
	*hall
	m      *model
	tokens []string         // of all sessions there ever were, and none
	asked  []func(*rapid.T) // every command, to be asked again with its request id
}

// TestRandomHalls plays random commands, lost consoles, steps of the clock and restarts on a branch and on a naive model. A
// failure prints its seed. For longer runs: CALLERD_MODEL_TIME=5m, or the flags -rapid.checks and -rapid.steps.
func TestRandomHalls(t *testing.T) {
	long, err := time.ParseDuration(os.Getenv("CALLERD_MODEL_TIME"))
	for begin := time.Now(); ; {
		rapid.Check(t, playHall)
		if err != nil || t.Failed() || time.Since(begin) > long {
			return
		}
	}
}

func playHall(t *rapid.T) {
	p := &player{hall: open(t, func(o *Options) { o.Config = policies[rapid.IntRange(0, len(policies)-1).Draw(t, "policies")]() }), tokens: []string{""}}
	p.m = newModel(p.opts.Config)
	actions := map[string]func(*rapid.T){
		"issue": p.issue, "customer": p.customer, "open": p.openCounter, "counter verb": p.counterVerb, "call next": p.callNext,
		"current verb": p.currentVerb, "resume": p.resume, "requeue": p.requeue, "transfer": p.transfer, "reset": p.reset,
		"acquire": p.acquire, "grant": p.grant, "reload": p.reload, "again": p.again, "renew": p.renew,
		"clock": p.stepClock, "expire": p.expireBoth, "restart": p.restartBoth, "": p.check,
	}
	// More of what moves a hall along than of what stops it.
	for _, name := range []string{"issue", "call next", "current verb", "transfer"} {
		for _, more := range []string{" more", " and more"} {
			actions[name+more] = actions[name]
		}
	}
	t.Repeat(actions)
	p.replayed(t)
}

// ask carries out a command now, and keeps it to be asked again.
func (p *player) ask(t *rapid.T, f func(*rapid.T)) {
	p.asked = append(p.asked, f)
	f(t)
}

func (p *player) again(t *rapid.T) {
	if len(p.asked) == 0 {
		t.Skip("nothing was asked yet")
	}
	p.asked[len(p.asked)-1-rapid.IntRange(0, len(p.asked)-1).Draw(t, "how long ago")](t)
}

// drawRequest is a new request id, and sometimes one that was used for something else.
func (p *player) drawRequest(t *rapid.T) Request {
	if used := slices.SortedFunc(maps.Keys(p.m.requests), func(a, b queue.RequestID) int { return slices.Compare(a[:], b[:]) }); len(used) > 0 &&
		rapid.IntRange(0, 15).Draw(t, "reuse") == 0 {
		return Request{ID: rapid.SampledFrom(used).Draw(t, "request")}
	}
	return p.request()
}

// drawTicket is any ticket known, mostly an open one, or one that is not there.
func (p *player) drawTicket(t *rapid.T) queue.TicketID {
	var all, current []queue.TicketID
	for id, c := range p.m.tickets {
		all = append(all, id)
		if c.state.AtCounter() {
			current = append(current, id)
		}
	}
	slices.SortFunc(all, byText)
	slices.SortFunc(current, byText)
	switch n := rapid.IntRange(0, 9).Draw(t, "which"); {
	case n < 7 && len(current) > 0:
		return rapid.SampledFrom(current).Draw(t, "at a counter")
	case n < 9 && len(all) > 0:
		return rapid.SampledFrom(all).Draw(t, "ticket")
	}
	return queue.TicketID{Day: p.m.today, Category: "personal", N: 5000}
}

func byText(a, b queue.TicketID) int { return strings.Compare(a.String(), b.String()) }

// drawToken is mostly that of a session that is on.
func (p *player) drawToken(t *rapid.T) string {
	if n := rapid.IntRange(0, 9).Draw(t, "whose"); n < 8 {
		var on []string
		for _, d := range p.m.desks {
			if d.open {
				on = append(on, d.token)
			}
		}
		if slices.Sort(on); len(on) > 0 {
			return rapid.SampledFrom(on).Draw(t, "session")
		}
	}
	return rapid.SampledFrom(p.tokens).Draw(t, "token")
}

// compare fails the test unless a reply is what the model says.
func (p *player) compare(t *rapid.T, what string, want answer, err error, replayed bool, sequence uint64, ticket, completed *queue.Ticket) {
	t.Helper()
	if !errors.Is(err, want.err) || (err == nil) != (want.err == nil) {
		t.Fatalf("%s: got %v, want %v", what, err, want.err)
	}
	if at := max(sequence, RefusedAt(err)); at == 0 || at > p.journal.durable() {
		t.Fatalf("%s: replied at %d while %d is durable", what, at, p.journal.durable())
	}
	if err != nil {
		return
	}
	if replayed != want.replayed {
		t.Fatalf("%s: replayed %t, want %t", what, replayed, want.replayed)
	}
	for _, pair := range []struct {
		got  *queue.Ticket
		want *card
	}{{ticket, want.ticket}, {completed, want.completed}} {
		if (pair.got == nil) != (pair.want == nil) {
			t.Fatalf("%s: got ticket %+v, want %+v", what, pair.got, pair.want)
		}
		if pair.got != nil {
			sameCard(t, *pair.got, pair.want)
		}
	}
}

func sameCard(t *rapid.T, got queue.Ticket, want *card) {
	t.Helper()
	prefix := map[queue.CategoryID]string{"personal": "A", "corporate": "B"}[want.id.Category]
	if got.ID != want.id || got.Number != queue.FormatNumber(prefix, 3, want.id.N) || got.State != want.state || got.Counter != want.counter ||
		int(got.Calls) != want.calls || got.Category != want.category || got.Overtaken != want.overtaken || got.Bound != want.bound ||
		got.Deadline != unix(want.deadline) || got.Priority != want.priority {
		t.Fatalf("got ticket %+v, want %+v", got, want)
	}
}

func unix(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

// policies are configurations that a hall may be given while it is open.
var policies = []func() Config{
	func() Config { return withResources(config(), "seal", "cash") },
	func() Config {
		c := withResources(config(), "seal", "cash")
		p := Policy{MaxOvertakes: 3, MaxWait: 10 * time.Minute, NoShowAfter: 2 * time.Minute, MaxRecalls: 2, NoShowAtLimit: true, RequeueWithin: 5 * time.Minute,
			CheckInWithin: 10 * time.Minute, HeldWithin: 15 * time.Minute, MaxPerDay: 8, MaxPerPerson: 2, RequeueTo: queue.ByIssue}
		c.Policies = map[queue.CategoryID]Policy{"personal": p, "corporate": p}
		return c
	},
	func() Config {
		c := withResources(config(), "seal")
		p := Policy{MinCalls: 2, MinWait: 30 * time.Second, MaxRecalls: 1, RequeueNumbers: 2, RequeueTo: queue.After, RequeueAfter: 1, MaxOvertakes: 1}
		q := p
		for day := range q.Hours.Week {
			q.Hours.Week[day] = []Window{{9 * time.Hour, 17 * time.Hour}}
		}
		c.Policies = map[queue.CategoryID]Policy{"personal": p, "corporate": q}
		return c
	},
}

func withResources(c Config, names ...queue.ResourceName) Config {
	for _, n := range names {
		c.Resources = append(c.Resources, queue.ResourceDefined{Name: n})
	}
	return c
}
