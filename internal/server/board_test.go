package server

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"callerd/internal/branch"
	"callerd/internal/queue"
)

// observed is a board that is looked at after each record.
type observed struct {
	t        *testing.T
	server   *Server
	mu       sync.Mutex // publish is the commit goroutine's
	naive    *naive
	displays []*folded
	joined   map[queue.CounterID]bool
}

func observe(t *testing.T) *observed {
	s := unserved(t, Options{Now: func() time.Time { return time.Unix(0, 0) }})
	return &observed{t: t, server: s, naive: newNaive(), joined: map[queue.CounterID]bool{}}
}

func (o *observed) publish(batch []*queue.Record) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, r := range batch {
		for _, out := range r.Outcomes {
			o.naive.apply(r, out)
		}
		o.server.Publish([]*queue.Record{r})
		if !o.t.Failed() {
			// On a goroutine of its own, which Fatal may end: the branch waits for this one.
			var looking sync.WaitGroup
			looking.Go(func() { o.look(r) })
			looking.Wait()
		}
	}
}

// look compares three ways of knowing the hall: the board's own, the frames', and all records from the beginning.
func (o *observed) look(r *queue.Record) {
	b, n := o.server.board, o.naive
	for _, id := range append([]queue.CounterID{0}, counterIDs(b)...) {
		if !o.joined[id] {
			o.joined[id] = true
			o.displays = append(o.displays, joinBoard(o.t, b, id))
		}
	}
	for _, d := range o.displays {
		for _, sequence := range d.drain(o.t) {
			if sequence != r.Sequence {
				o.t.Fatalf("a frame of %d with record %d", sequence, r.Sequence)
			}
		}
		d.same(o.t, b, r)
		var got hall
		if err := json.Unmarshal([]byte(encode(d.hall)), &got); err != nil {
			o.t.Fatal(err)
		}
		want := n.hall()
		if d.counter != 0 {
			want.Categories, want.Counters, want.Calls = []hallLine{}, []hallCounter{n.counter(d.counter)}, n.latest(d.counter)
		}
		if diff := cmp.Diff(want, plain(got), cmp.AllowUnexported(hall{}, call{}), equalEmpty); diff != "" {
			o.t.Fatalf("after %s, counter %d: -records +frames\n%s", encode(r), d.counter, diff)
		}
	}
}

var equalEmpty = cmp.FilterValues(func(a, b []hallLine) bool { return len(a)+len(b) == 0 }, cmp.Ignore())

// plain leaves out what the naive way does not know: words and times.
func plain(h hall) hall {
	h.Time = ""
	var calls []call
	for _, c := range h.Calls {
		calls = append(calls, call{Ticket: c.Ticket, Number: c.Number, Counter: c.Counter, Sequence: c.Sequence})
	}
	h.Calls = calls
	return h
}

func counterIDs(b *board) (ids []queue.CounterID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, c := range b.counters {
		ids = append(ids, c.id)
	}
	return ids
}

func TestTheBoardIsWhatTheRecordsAndTheFramesMakeOfIt(t *testing.T) {
	t.Parallel()
	happened := map[string]int{}
	for seed := range uint64(3) {
		t.Logf("seed %d", seed)
		j := &memoryJournal{}
		w := &walk{t: t, rand: rand.New(rand.NewPCG(seed, 0))}
		w.now.Store(time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC).UnixNano())
		conf := testConfig()
		p := branch.Policy{NoShowAfter: 30 * time.Second, CheckInWithin: 10 * time.Minute, HeldWithin: 15 * time.Minute, RequeueWithin: 10 * time.Minute, MaxOvertakes: 5}
		conf.Policies = map[queue.CategoryID]branch.Policy{"personal": p, "vip": p}
		for run := range 3 { // each start replays what was before and has another configuration
			switch run {
			case 1: // a category and a counter less, perhaps while their tickets and sessions are there
				conf.Categories, conf.Counters = conf.Categories[:1], slices.Delete(conf.Counters, 1, 2)
			case 2: // another category, in front; a counter more, and other words
				conf.Categories = append([]queue.CategoryDefined{{ID: "vip", Prefix: "V", Width: 2}}, conf.Categories...)
				conf.Counters = append(conf.Counters, queue.CounterDefined{ID: 9, Categories: []queue.CategoryID{"vip"}, Rule: queue.Priority})
				conf.Name.En = "Another"
			}
			o := observe(t)
			b, err := branch.Open(t.Context(), branch.Options{Journal: j, Publish: o.publish, Secret: make([]byte, 32), Config: conf, Verify: true,
				Now: func() time.Time { return time.Unix(0, w.now.Load()).UTC() }})
			if err != nil {
				t.Fatal(err)
			}
			w.b = b
			for i := 0; i < 700 && !t.Failed(); i++ {
				w.step()
			}
			for _, id := range w.issued { // makes up the counts of overtakes, which Close compares
				_, _ = b.GetTicket(t.Context(), id)
			}
			if err := b.Close(context.Background()); err != nil {
				t.Fatalf("%.2000v", err)
			}
			if t.Failed() {
				return
			}
		}
		for range 2 {
			sameAfterSilence(t, j.records, j.records[w.rand.IntN(len(j.records))].Sequence)
		}
		for _, r := range j.records {
			for _, o := range r.Outcomes {
				for _, kind := range what(o) {
					happened[kind]++
				}
			}
		}
	}
	for _, kind := range []string{"issue", "call", "recall", "start", "complete", "no-show", "requeue", "hold", "resume", "cancel", "transfer",
		"check in", "reserve", "expire", "bound", "unbound", "time up", "take over", "lease ended", "reset", "day", "notice"} {
		if happened[kind] < 2 {
			t.Errorf("got %d times %s, want the walk to come by", happened[kind], kind)
		}
	}
}

// what are the kinds of an outcome that the board must have met.
func what(o queue.Outcome) (kinds []string) {
	cause := map[queue.Cause]string{queue.LeaseEnded: "lease ended", queue.TakenOver: "take over", queue.TimeUp: "time up", queue.Unbound: "unbound"}
	switch o := o.(type) {
	case *queue.TicketChanged:
		kinds = append(kinds, o.Verb.String(), cause[o.Cause])
		if o.Bound != 0 {
			kinds = append(kinds, "bound")
		}
	case *queue.CounterChanged:
		kinds = append(kinds, cause[o.Cause])
	case *queue.CategoryReset:
		kinds = append(kinds, "reset")
	case *queue.DayOpened:
		kinds = append(kinds, "day")
	case *queue.NoticePublished:
		kinds = append(kinds, "notice")
	}
	return kinds
}

func TestARecordThatConcernsNobodyMakesNoFrame(t *testing.T) {
	t.Parallel()
	o := observe(t)
	b, err := branch.Open(t.Context(), branch.Options{Journal: &memoryJournal{}, Publish: o.publish, Secret: make([]byte, 32), Config: testConfig()})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close(context.Background())
	h := o.server.hub
	before := []uint64{h.Last(hallStream), h.Last(counterStream(1)), h.Last(counterStream(2))}
	issue, err := b.IssueTicket(t.Context(), branch.IssueRequest{Request: branch.Request{ID: queue.RequestID{1}}, Category: "personal"})
	if err != nil {
		t.Fatal(err)
	}
	if got := h.Last(hallStream); got != issue.Sequence {
		t.Errorf("got the hall's last frame %d, want %d", got, issue.Sequence)
	}
	open, err := b.OpenCounter(t.Context(), branch.OpenRequest{Request: branch.Request{ID: queue.RequestID{2}}, Counter: 1, Teller: "t"})
	if err != nil {
		t.Fatal(err)
	}
	if got := h.Last(counterStream(1)); got != open.Sequence {
		t.Errorf("got counter 1's last frame %d, want %d", got, open.Sequence)
	}
	if got := h.Last(counterStream(2)); got != before[2] {
		t.Errorf("got counter 2's last frame %d, want %d: neither record concerns it", got, before[2])
	}
	o.publish([]*queue.Record{{Sequence: open.Sequence + 1, Outcomes: []queue.Outcome{&queue.Started{Branch: testConfig().Name}}}})
	if got := h.Last(hallStream); got != open.Sequence {
		t.Errorf("got the hall's last frame %d, want %d: a start without a change is nothing to see", got, open.Sequence)
	}
}
