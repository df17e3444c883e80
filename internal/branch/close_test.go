package branch

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"callerd/internal/queue"
)

func TestCloseRefusesWhatComesAfterAndMayBeCalledAgain(t *testing.T) {
	h := open(t)
	a1 := h.issue("personal")
	for range 3 {
		if err := h.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	_, err := h.IssueTicket(t.Context(), IssueRequest{Request: h.request(), Category: "personal"})
	refused(t, err, ErrStopping)
	refused(t, h.Admitting(), ErrStopping)
	if got := h.ticket(a1.ID); got != a1 { // what is on disk may be read
		t.Errorf("got %+v, want %+v", got, a1)
	}
}

func TestCloseCommitsWhatWasDecided(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := open(t, func(o *Options) { o.Permits = 2 })
		g := h.journal.gate()
		first := issues(h, h.request())
		synctest.Wait()
		second := issues(h, h.request())
		synctest.Wait()
		third := issues(h, h.request()) // waits for a permit
		synctest.Wait()
		closed := make(chan error, 1)
		go func() { closed <- h.Close(t.Context()) }()
		synctest.Wait()
		if got := <-third; !errors.Is(got.err, ErrStopping) {
			t.Errorf("who waits for a permit: got %v, want %v", got.err, ErrStopping)
		}
		select {
		case err := <-closed:
			t.Fatalf("closed (%v) before the commit", err)
		default:
		}
		g.open(h.journal)
		for _, c := range []<-chan outcome{first, second} {
			if got := <-c; got.err != nil {
				t.Errorf("what was decided: got %v, want a number", got.err)
			}
		}
		if err := <-closed; err != nil {
			t.Error(err)
		}
	})
}

func TestCloseWithoutSpaceGivesUpWhenItsTimeIsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := open(t)
		h.issue("personal")
		before := h.journal.durable()
		h.journal.hook(full)
		r := h.request()
		_, err := h.IssueTicket(t.Context(), IssueRequest{Request: r, Category: "personal"})
		refused(t, err, ErrNoSpace)

		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		begin := time.Now()
		refused(t, h.Close(ctx), ErrNoSpace)
		if got := time.Since(begin); got != 5*time.Second {
			t.Errorf("gave up after %v, want 5s", got)
		}
		refused(t, h.Close(ctx), ErrNoSpace)
		_, err = h.IssueTicket(t.Context(), IssueRequest{Request: h.request(), Category: "personal"})
		refused(t, err, ErrNoSpace)
		if got := h.journal.durable(); got != before {
			t.Errorf("%d is durable, want %d", got, before)
		}
		h.journal.hook(nil)
		h.open()
		if got := ok(h.IssueTicket(t.Context(), IssueRequest{Request: r, Category: "personal"}))(t); got.Replayed || got.Ticket.Number != "A002" {
			t.Errorf("got %+v, want A002: nobody was told of the first try", got)
		}
	})
}

func TestCloseWithoutSpaceStillCommitsIfRoomIsMade(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := open(t)
		h.journal.hook(full)
		r := h.request()
		_, err := h.IssueTicket(t.Context(), IssueRequest{Request: r, Category: "personal"})
		refused(t, err, ErrNoSpace)
		closed := make(chan error, 1)
		go func() { closed <- h.Close(t.Context()) }()
		time.Sleep(time.Minute)
		h.journal.hook(nil)
		if err := <-closed; err != nil {
			t.Error(err)
		}
		refused(t, h.Admitting(), ErrStopping)
		h.open()
		if got := ok(h.IssueTicket(t.Context(), IssueRequest{Request: r, Category: "personal"}))(t); !got.Replayed || got.Ticket.Number != "A001" {
			t.Errorf("got %+v, want A001 replayed", got)
		}
	})
}

// Whatever was answered before or while the branch closed is on disk, and the branch ends.
func TestCloseBesideOperations(t *testing.T) {
	rounds := 200
	if testing.Short() || raceEnabled {
		rounds = 40
	}
	for round := range rounds {
		h := open(t, func(o *Options) { o.Permits = 1 + round%3 })
		var told atomic.Uint64
		var wg sync.WaitGroup
		started := make(chan struct{}, 4) // one word of each
		for range 4 {
			wg.Go(func() {
				for i := 0; ; i++ {
					reply, err := h.IssueTicket(t.Context(), IssueRequest{Request: h.request(), Category: "personal"})
					if i == 0 {
						started <- struct{}{}
					}
					if errors.Is(err, ErrStopping) {
						return
					}
					if err != nil || reply.Sequence > h.journal.durable() {
						t.Errorf("got %v at %d while %d is durable", err, reply.Sequence, h.journal.durable())
						return
					}
					told.Add(1)
				}
			})
		}
		<-started
		for range 2 {
			wg.Go(func() {
				if err := h.Close(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		issued := uint64(0)
		for _, r := range h.records() {
			if o, ok := r.Outcomes[0].(*queue.TicketChanged); ok && o.Verb == queue.Issue {
				issued++
			}
		}
		if issued != told.Load() {
			t.Fatalf("round %d: %d numbers on disk, %d told", round, issued, told.Load())
		}
	}
}

// A start that fails leaves no goroutine and no wait behind.
func TestOpenRefusesWhatItCannotKeep(t *testing.T) {
	tests := []struct {
		name   string
		change func(*Options)
	}{
		{"a short secret", func(o *Options) { o.Secret = make([]byte, 15) }},
		{"a zone without a name that can be loaded", func(o *Options) { o.Config.Zone = time.FixedZone("Here", 3600) }},
		{"a cut of a day", func(o *Options) { o.Config.Cut = 24 * time.Hour }},
		{"a cut before midnight", func(o *Options) { o.Config.Cut = -1 }},
		{"a category without a name", func(o *Options) { o.Config.Categories[0].ID = "" }},
		{"counter 0", func(o *Options) { o.Config.Counters[0].ID = 0 }},
		{"a counter of five digits", func(o *Options) { o.Config.Counters[0].ID = 10000 }},
		{"a journal that fails", func(o *Options) { o.Journal = &memory{before: func([]*queue.Record) error { return syscall.EIO }} }},
		{"a journal with a gap", func(o *Options) {
			o.Journal = &memory{records: []*queue.Record{
				{Sequence: 1, Outcomes: []queue.Outcome{&queue.DayOpened{Day: queue.DayOf(2026, 11, 30)}}},
				{Sequence: 3, Outcomes: []queue.Outcome{&queue.Started{}}}}}
		}},
		{"a journal that begins without a day", func(o *Options) {
			o.Journal = &memory{records: []*queue.Record{{Sequence: 1, Outcomes: []queue.Outcome{&queue.Started{}}}}}
		}},
		{"a record that is impossible", func(o *Options) {
			o.Journal = &memory{records: []*queue.Record{
				{Sequence: 1, Outcomes: []queue.Outcome{&queue.DayOpened{Day: queue.DayOf(2026, 11, 30)}}},
				{Sequence: 2, Outcomes: []queue.Outcome{&queue.TicketChanged{Verb: queue.Issue, To: queue.Waiting, Category: "personal"}}}}}
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			o := Options{Journal: &memory{}, Secret: make([]byte, 16), Config: config()}
			test.change(&o)
			if b, err := Open(t.Context(), o); err == nil {
				b.Close(t.Context())
				t.Error("got a branch, want an error")
			}
		})
	}
}
