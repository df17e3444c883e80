package branch

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"callerd/internal/queue"
)

// machine is a hall on a machine whose clock may be set while it runs.
type machine struct {
	*hall
	up  time.Duration // since it started, sleep included
	log bytes.Buffer
}

func newMachine(t *testing.T, change ...func(*Options)) *machine {
	m := &machine{}
	m.hall = open(t, func(o *Options) {
		o.Boot = func() time.Duration { return m.up }
		o.Logger = slog.New(slog.NewTextHandler(&m.log, nil))
		p := Policy{CheckInWithin: 3 * time.Minute}
		o.Config.Policies = map[queue.CategoryID]Policy{"personal": p}
		for _, f := range change {
			f(o)
		}
	})
	return m
}

// pass lets time pass; set sets the wall clock alone.
func (m *machine) pass(d time.Duration) { m.up += d; m.clock.step(d) }
func (m *machine) set(d time.Duration)  { m.clock.step(d) }

// is checks the branch's own time, counted from when it was opened.
func (m *machine) is(want time.Duration) {
	m.tb.Helper()
	if got := time.Duration(m.Branch.now() - morning.UnixNano()); got != want {
		m.tb.Errorf("got %v since the morning, want %v", got, want)
	}
}

func TestAClockSetBackTenMinutesGoesAtHalfSpeed(t *testing.T) {
	m := newMachine(t)
	a1 := ok(m.IssueTicket(t.Context(), IssueRequest{Request: m.request(), Category: "personal", Reserve: true}))(t).Ticket
	m.set(-10 * time.Minute)
	m.is(0)
	m.pass(4 * time.Minute)
	m.is(2 * time.Minute)
	m.expire()
	if got := m.ticket(a1.ID).State; got != queue.Reserved {
		t.Errorf("got %v after two minutes of three", got)
	}
	m.pass(2 * time.Minute)
	m.expire()
	if got := m.ticket(a1.ID); got.State != queue.Expired || got.Ended-got.Issued != int64(3*time.Minute) {
		t.Errorf("got %v, want it EXPIRED although the wall clock is behind", got.State)
	}
	m.pass(14 * time.Minute)
	m.is(10 * time.Minute)
	m.pass(time.Minute)
	m.is(11 * time.Minute)
	if m.log.Len() > 0 && strings.Contains(m.log.String(), "not believed") {
		t.Errorf("got an alarm: %s", m.log.String())
	}
}

func TestAClockSetFarBackIsNotBelieved(t *testing.T) {
	m := newMachine(t)
	m.set(-3 * time.Hour)
	m.pass(10 * time.Minute)
	m.is(10 * time.Minute)
	if !strings.Contains(m.log.String(), "not believed") {
		t.Error("got no alarm")
	}
	m.set(3 * time.Hour)
	m.pass(time.Minute)
	m.is(11 * time.Minute)
	if !strings.Contains(m.log.String(), "believed again") {
		t.Error("got no end of the alarm")
	}
}

func TestAClockSetForward(t *testing.T) {
	for _, test := range []struct {
		name      string
		set, pass time.Duration
		want      time.Duration
	}{
		{"half an hour is taken at once", 30 * time.Minute, 0, 30 * time.Minute},
		{"three hours are not believed", 3 * time.Hour, time.Minute, time.Minute},
		{"a machine that slept for three hours is", 0, 3 * time.Hour, 3 * time.Hour},
		{"nor a day", 24 * time.Hour, 0, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			m := newMachine(t)
			m.is(0)
			m.set(test.set)
			m.pass(test.pass)
			m.is(test.want)
		})
	}
}

func TestAWeekSwitchedOff(t *testing.T) {
	h := open(t)
	a1 := h.issue("personal")
	s := h.counter(1)
	h.next(s)
	h.close()
	h.clock.step(7 * 24 * time.Hour)
	h.open()
	if got := h.ticket(a1.ID); got.State != queue.Expired {
		t.Errorf("got %v of last week, want EXPIRED and readable", got.State)
	}
	if got := h.issue("personal"); got.Number != "A001" || got.ID.Day != queue.DayOf(2026, 12, 7) {
		t.Errorf("got %v, want A001 of a week later", got.ID)
	}
}

// A clock far behind the newest record: not serving until somebody accepts it. A date that was used before gets a run
// number; no id comes twice, however often.
func TestAClockFarBehindAtTheStartMustBeAccepted(t *testing.T) {
	h := open(t, func(o *Options) { o.Config = withResources(o.Config, "seal") })
	used := map[queue.TicketID]bool{}
	issue := func() queue.TicketID {
		t.Helper()
		v := h.issue("personal")
		if used[v.ID] {
			t.Fatalf("%v comes twice", v.ID)
		}
		used[v.ID] = true
		return v.ID
	}
	open := issue()
	last := h.ids.Load()
	token := h.counter(1)
	g := ok(h.AcquireResources(t.Context(), AcquireRequest{Request: h.request(), Names: []queue.ResourceName{"seal"}, TTL: time.Minute}, token))(t)
	for _, back := range []time.Duration{5 * time.Hour, 49 * time.Hour, 30 * time.Hour} {
		h.close()
		h.clock.step(-back)
		if _, err := Open(t.Context(), h.opts); err == nil || !strings.Contains(err.Error(), "clock accept") {
			t.Fatalf("got %v, want a refusal that says what to do", err)
		}
		from, to, err := AcceptClock(t.Context(), h.opts)
		if err != nil || to.Sub(h.clock.now()) != 0 || from.Sub(to) < back-time.Hour {
			t.Fatalf("got from %v to %v, %v", from, to, err)
		}
		h.open()
		issue()
		if back == 5*time.Hour {
			if got := h.ticket(open).State; got != queue.Expired {
				t.Errorf("got %v of the day before, want EXPIRED", got)
			}
			if again := ok(h.IssueTicket(t.Context(), IssueRequest{Request: numbered(last), Category: "personal"}))(t); !again.Replayed {
				t.Error("a request from before is new")
			}
			h.clock.step(time.Minute)
			h.expire() // leases and grants began anew with the start
			h.clock.step(time.Minute)
			h.expire()
			if held := h.state.resources.held(1, g.Fence); len(held) != 0 {
				t.Errorf("got %+v held by a time that is over", held)
			}
		}
		for range 3 { // over the dates that were used before, and beyond
			h.clock.step(24 * time.Hour)
			issue()
		}
		h.restart()
		issue()
	}
	if _, _, err := AcceptClock(t.Context(), h.opts); err == nil {
		t.Error("got a clock accepted that is not behind")
	}
}
