package branch

import (
	"context"
	"encoding/binary"
	"errors"
	"reflect"
	"sync"
	"sync/atomic"
	"time"

	"pgregory.net/rapid"

	"callerd/internal/queue"
)

// morning is when the tests begin: a Monday at nine in Shanghai.
var morning = time.Date(2026, 11, 30, 1, 0, 0, 0, time.UTC)

// shanghai is a zone without summer time.
var shanghai = zone("Asia/Shanghai")

func zone(name string) *time.Location {
	z, err := time.LoadLocation(name)
	if err != nil {
		panic(err)
	}
	return z
}

// clock is a wall clock that tests set. It has no monotonic reading: leases follow it.
type clock struct {
	mu     sync.Mutex
	t      time.Time
	during func() // called once, by who asks for the time next
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	t, f := c.t, c.during
	c.during = nil
	c.mu.Unlock()
	if f != nil {
		f()
	}
	return t
}

// once lets something happen in the middle of the next operation, when it asks for the time.
func (c *clock) once(f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.during = f
}

func (c *clock) set(t time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.t = t
}

func (c *clock) step(d time.Duration) { c.set(c.now().Add(d)) }

// config is two categories and four counters that serve both.
func config() Config {
	both := []queue.CategoryID{"personal", "corporate"}
	c := Config{Name: queue.Names{En: "Branch"}, Zone: shanghai}
	c.Categories = []queue.CategoryDefined{
		{ID: "personal", Prefix: "A", Width: 3}, {ID: "corporate", Prefix: "B", Width: 3}}
	for n := queue.CounterID(1); n <= 4; n++ {
		c.Counters = append(c.Counters, queue.CounterDefined{ID: n, Categories: both, Rule: queue.Oldest})
	}
	return c
}

// tb is a test, of the testing package or of rapid.
type tb interface {
	rapid.TB
	Context() context.Context
	Cleanup(func())
}

// hall is an open branch with its journal and its clock, verified when the test ends.
type hall struct {
	*Branch
	tb      tb
	opts    Options
	journal *memory
	clock   *clock
	ids     atomic.Uint64
}

// open opens a hall on an empty journal; change may change its options.
func open(tb tb, change ...func(*Options)) *hall {
	tb.Helper()
	h := &hall{tb: tb, journal: &memory{}, clock: &clock{t: morning}}
	h.opts = Options{Journal: h.journal, Secret: []byte("a secret of the tests' own"), Config: config(), Now: h.clock.now, Verify: true}
	for _, f := range change {
		f(&h.opts)
	}
	h.open()
	tb.Cleanup(func() {
		if !tb.Failed() {
			h.close()
			return
		}
		// After a panic in the middle of an operation its permit is lost, and Close would wait for it.
		closed := make(chan struct{})
		go func() {
			defer close(closed)
			h.Close(context.WithoutCancel(tb.Context()))
		}()
		select {
		case <-closed:
		case <-time.After(5 * time.Second):
		}
	})
	return h
}

func (h *hall) open() {
	h.tb.Helper()
	b, err := Open(h.tb.Context(), h.opts)
	if err != nil {
		h.tb.Fatal(err)
	}
	h.Branch = b
}

// close closes the branch, which compares the live state with what its records make.
func (h *hall) close() {
	h.tb.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(h.tb.Context()), time.Minute)
	defer cancel()
	if err := h.Close(ctx); err != nil && h.Err() == nil {
		h.tb.Error(err)
	}
	if err := h.state.Check(); err != nil {
		h.tb.Error(err)
	}
}

// restart closes the branch and opens it again on the same journal; change may change its options.
func (h *hall) restart(change ...func(*Options)) {
	h.tb.Helper()
	h.close()
	for _, f := range change {
		f(&h.opts)
	}
	h.open()
}

// request makes a request id that the hall has not seen.
func (h *hall) request() Request { return numbered(h.ids.Add(1)) }

// numbered makes the n-th request id.
func numbered(n uint64) Request {
	var id queue.RequestID
	binary.BigEndian.PutUint64(id[8:], n)
	id[0], id[7] = 1, byte(n>>3)
	return Request{ID: id}
}

// issue takes a number of a category.
func (h *hall) issue(c queue.CategoryID) queue.Ticket {
	h.tb.Helper()
	return ok(h.IssueTicket(h.tb.Context(), IssueRequest{Request: h.request(), Category: c}))(h.tb).Ticket
}

// counter opens a counter and returns its session's token.
func (h *hall) counter(n queue.CounterID) string {
	h.tb.Helper()
	return ok(h.OpenCounter(h.tb.Context(), OpenRequest{Request: h.request(), Counter: n, Teller: "t"}))(h.tb).Token
}

// next calls the next ticket, completing one if it is named.
func (h *hall) next(token string, complete ...queue.TicketID) CallReply {
	h.tb.Helper()
	var id queue.TicketID
	if len(complete) > 0 {
		id = complete[0]
	}
	return ok(h.CallNext(h.tb.Context(), h.request(), token, id))(h.tb)
}

// verb is one of the verbs on a counter's ticket.
type verb func(*Branch, context.Context, Request, string, queue.TicketID) (TicketReply, error)

// do carries out a verb.
func (h *hall) verb(v verb, token string, id queue.TicketID) queue.Ticket {
	h.tb.Helper()
	return ok(v(h.Branch, h.tb.Context(), h.request(), token, id))(h.tb).Ticket
}

// ticket reads a ticket.
func (h *hall) ticket(id queue.TicketID) queue.Ticket {
	h.tb.Helper()
	return ok(h.GetTicket(h.tb.Context(), id))(h.tb).Ticket
}

// settle waits until the journal has all that was decided.
func (h *hall) settle() {
	h.tb.Helper()
	ok(h.ListTickets(h.tb.Context(), ListRequest{Size: 1}))(h.tb)
}

// ok returns what a call returned, and fails the test if it returned an error.
func ok[T any](v T, err error) func(tb) T {
	return func(tb tb) T {
		tb.Helper()
		if err != nil {
			tb.Fatalf("got %v, want no error", err)
		}
		return v
	}
}

// refused fails the test unless err is the refusal that is wanted.
func refused(tb rapid.TB, err, want error) {
	tb.Helper()
	if !errors.Is(err, want) {
		tb.Errorf("got %v, want %v", err, want)
	}
}

// records returns what the journal has.
func (h *hall) records() []*queue.Record {
	h.journal.mu.Lock()
	defer h.journal.mu.Unlock()
	return h.journal.records
}

// equal fails the test where two states differ, part by part.
func equal(tb rapid.TB, got, want Dump) {
	tb.Helper()
	g, w := reflect.ValueOf(got), reflect.ValueOf(want)
	for i := range g.NumField() {
		if a, b := g.Field(i).Interface(), w.Field(i).Interface(); !reflect.DeepEqual(a, b) {
			tb.Errorf("%s: got %+v, want %+v", g.Type().Field(i).Name, a, b)
		}
	}
}
