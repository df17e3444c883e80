package counter

import (
	"testing"

	"callerd/internal/queue"
)

// The situations that a counter can be in, as far as its own verbs look at them.
const (
	closed = iota
	open
	paused
	busy
	pausedAndBusy
	situations
)

var names = [situations]string{"closed", "open", "paused", "busy", "paused and busy"}

// in makes counter 3 in a situation, after one session.
func in(t *testing.T, situation int) *Counter {
	t.Helper()
	c := New(3)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(c.Apply(opening(1)))
	if situation == busy || situation == pausedAndBusy {
		must(c.Take(&queue.Live{}, queue.Called))
	}
	switch situation {
	case closed:
		must(c.Apply(&queue.CounterChanged{Verb: queue.CloseCounter}))
	case paused, pausedAndBusy:
		must(c.Apply(&queue.CounterChanged{Verb: queue.PauseCounter}))
	}
	return c
}

func opening(epoch uint64) *queue.CounterChanged {
	return &queue.CounterChanged{Verb: queue.OpenCounter, Session: queue.Session{Epoch: epoch, Teller: "t", Categories: []queue.CategoryID{"corporate"}}}
}

func TestEveryVerbInEverySituation(t *testing.T) {
	fits := map[queue.CounterVerb]map[int]bool{
		queue.OpenCounter:   {closed: true},
		queue.PauseCounter:  {open: true, busy: true},
		queue.ResumeCounter: {paused: true, pausedAndBusy: true},
		queue.CloseCounter:  {open: true, paused: true},
	}
	for v := queue.OpenCounter - 1; v <= queue.CloseCounter+1; v++ {
		for s := range situations {
			c := in(t, s)
			session, isPaused, epoch, current := c.session, c.paused, c.epoch, c.current
			o := &queue.CounterChanged{Verb: v}
			if v == queue.OpenCounter {
				o = opening(2)
			}
			err := c.Apply(o)
			if got, want := err == nil, fits[v][s]; got != want {
				t.Errorf("verb %d, %s: got %v, want it to fit: %t", v, names[s], err, want)
			}
			if err != nil && (c.session != session || c.paused != isPaused || c.epoch != epoch || c.current != current) {
				t.Errorf("verb %d, %s: a refusal changed the counter", v, names[s])
			}
			if err != nil {
				continue
			}
			if got, want := c.Session() != nil, v != queue.CloseCounter; got != want {
				t.Errorf("verb %d, %s: a session %t, want %t", v, names[s], got, want)
			}
			if got, want := c.Paused(), v == queue.PauseCounter; got != want {
				t.Errorf("verb %d, %s: paused %t, want %t", v, names[s], got, want)
			}
			if got, want := c.Calls(), v == queue.OpenCounter || v == queue.ResumeCounter; got != want {
				t.Errorf("verb %d, %s: calls %t, want %t", v, names[s], got, want)
			}
		}
	}
}

func TestEverySessionHasTheNextEpoch(t *testing.T) {
	for _, epoch := range []uint64{0, 1, 3} {
		if c := in(t, closed); c.Apply(opening(epoch)) == nil {
			t.Errorf("epoch %d after 1: got a session, want an error", epoch)
		}
	}
	c := in(t, closed)
	o := opening(2)
	if err := c.Apply(o); err != nil || c.Epoch() != 2 {
		t.Fatalf("got epoch %d, %v, want 2", c.Epoch(), err)
	}
	if o.Session.Teller = "another"; c.Session().Teller != "t" {
		t.Error("the session is the record's own, not a copy")
	}
}

func TestACounterServesItsSessionsCategories(t *testing.T) {
	c := in(t, closed)
	c.Define(queue.CounterDefined{ID: 3, Categories: []queue.CategoryID{"personal"}})
	if got := c.Categories(); len(got) != 1 || got[0] != "personal" {
		t.Errorf("closed: got %v, want the configured ones", got)
	}
	if err := c.Apply(opening(2)); err != nil {
		t.Fatal(err)
	}
	if got := c.Categories(); len(got) != 1 || got[0] != "corporate" {
		t.Errorf("open: got %v, want the session's", got)
	}
}

func TestACounterHasOneCurrentTicketAndManyHeld(t *testing.T) {
	c := in(t, open)
	tickets := make([]queue.Live, 5)
	for i := range 3 {
		if err := c.Take(&tickets[i], queue.Held); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Take(&tickets[3], queue.Called); err != nil {
		t.Fatal(err)
	}
	for _, s := range []queue.State{queue.Called, queue.Serving} {
		if c.Take(&tickets[4], s) == nil || c.Current() != &tickets[3] {
			t.Errorf("a second current ticket, %v: got it, want an error", s)
		}
	}
	for _, test := range []struct {
		name  string
		which int
		from  queue.State
		fits  bool
	}{
		{"a held one is not current", 1, queue.Called, false},
		{"the current one is not held", 3, queue.Held, false},
		{"one that is not here is not held", 4, queue.Held, false},
		{"one that is not here is not current", 4, queue.Serving, false},
		{"the middle one of the held", 1, queue.Held, true},
		{"it is not held twice", 1, queue.Held, false},
		{"the current one", 3, queue.Serving, true},
		{"it is not current twice", 3, queue.Serving, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			if err := c.Release(&tickets[test.which], test.from); (err == nil) != test.fits {
				t.Errorf("got %v, want it to fit: %t", err, test.fits)
			}
		})
	}
	if got := c.Held(); len(got) != 2 || got[0] != &tickets[0] || got[1] != &tickets[2] || c.Current() != nil {
		t.Errorf("got %d held, want the first and the third", len(got))
	}
}

func TestANewDayEndsWhatItsRecordDoesNotName(t *testing.T) {
	c := in(t, pausedAndBusy)
	served := c.Current()
	if err := c.Take(&queue.Live{}, queue.Held); err != nil {
		t.Fatal(err)
	}
	d := queue.DayCounter{CounterDefined: queue.CounterDefined{ID: 3}, Epoch: c.Epoch(), Session: c.Session(), Paused: true}
	c.OpenDay(d, served)
	if c.Current() != served || len(c.Held()) != 0 || !c.Paused() || c.Session() == nil || c.Epoch() != 1 {
		t.Errorf("got current %v, %d held, paused %t, want the session and the served ticket alone", c.Current(), len(c.Held()), c.Paused())
	}
	d.Session, d.Paused = nil, false
	c.OpenDay(d, nil)
	if c.Current() != nil || c.Session() != nil || c.Calls() {
		t.Error("got a session, want a closed counter")
	}
	if err := c.Apply(opening(2)); err != nil {
		t.Errorf("the epochs go on: got %v", err)
	}
}
