package branch

import (
	"context"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"callerd/internal/queue"
)

// Nothing is granted to somebody who has gone before it was decided: nobody would know of it until its time is up.
func TestNothingIsGrantedToWhoHasGone(t *testing.T) {
	t.Parallel()
	h, s := deskHall(t)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := h.AcquireResources(gone, h.acquireRequest(0, "seal"), s[0])
	refused(t, err, context.Canceled)
	h.acquire(s[1], "seal")
}

// Who waits at a counter that is taken over is told at once, not at the end of his wait.
func TestWhoWaitsAtACounterThatIsTakenOverIsTold(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h, s := deskHall(t)
		h.acquire(s[0], "seal")
		begin, told := time.Now(), make(chan error, 1)
		go func() {
			_, err := h.AcquireResources(t.Context(), h.acquireRequest(time.Hour, "seal"), s[1])
			told <- err
		}()
		synctest.Wait()
		ok(h.OpenCounter(t.Context(), OpenRequest{Request: h.request(), Counter: 2, Teller: "u", TakeOver: "ill"}))(t)
		refused(t, <-told, ErrStaleSession)
		if waited := time.Since(begin); waited != 0 {
			t.Errorf("waited %v, want to be told at once", waited)
		}
	})
}

// What the configuration no longer names is given nobody new.
func TestNobodyIsTransferredToWhatIsGone(t *testing.T) {
	t.Parallel()
	h := open(t)
	a1, b1, token := h.issue("personal").ID, h.issue("corporate").ID, h.counter(1)
	h.counter(2)
	few := without(h.opts.Config, "corporate")
	few.Counters = few.Counters[:1]
	if err := h.Reload(t.Context(), few); err != nil {
		t.Fatal(err)
	}
	_, err := h.TransferTicket(t.Context(), TransferRequest{Request: h.request(), Ticket: a1, Category: "corporate"}, token)
	refused(t, err, ErrCategoryClosed)
	_, err = h.TransferTicket(t.Context(), TransferRequest{Request: h.request(), Ticket: a1, Counter: 2}, token)
	refused(t, err, ErrCounterClosed)
	h.transfer(token, TransferRequest{Ticket: b1, Category: "corporate", Place: Place{Where: queue.Front}}) // where it is already
	h.transfer(token, TransferRequest{Ticket: b1, Category: "personal"})
}

// A deadline that runs keeps its span over a reload, also where that begins anew.
func TestARunningDeadlineKeepsItsSpanOverAReload(t *testing.T) {
	t.Parallel()
	for _, to := range []time.Duration{0, 10 * time.Second, time.Hour} {
		p := Policy{NoShowAfter: 2 * time.Minute}
		h := with(t, p, func(c *Config) {}) // its own map
		token, id := h.counter(1), h.issue("personal").ID
		h.next(token)
		c := h.opts.Config
		c.Policies = map[queue.CategoryID]Policy{"personal": {NoShowAfter: to}}
		if err := h.Reload(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		h.pipe.beginAnew() // as after a full disk
		for passed := time.Duration(0); passed <= p.NoShowAfter; passed += 30 * time.Second {
			ok(h.RenewSession(t.Context(), token))(t)
			h.expire()
			if gone := h.ticket(id).State == queue.NoShow; gone != (passed == p.NoShowAfter) {
				t.Errorf("a reload to %v, after %v: got no-show %t", to, passed, gone)
			}
			h.clock.step(30 * time.Second)
		}
	}
}

// Leases begin anew when the branch's time leaps.
func TestALeapLetsLeasesBeginAnew(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.counter(1)
	h.clock.step(DefaultLease)
	h.Branch.clock.leapt()
	if got := h.NextDeadline(); got != DefaultLease {
		t.Errorf("got the next deadline in %v, want a whole lease", got)
	}
}

// A configuration that is refused leaves nothing; one whose record finds no room acts, and that is told.
func TestARefusedReloadLeavesNothing(t *testing.T) {
	t.Parallel()
	h := with(t, Policy{})
	h.issue("personal")
	bad := without(h.opts.Config, "personal")
	bad.Policies = map[queue.CategoryID]Policy{"corporate": {MaxPerDay: 1}}
	bad.Categories[0].Prefix = "A"
	refused(t, h.Reload(t.Context(), bad), ErrPrefixUsed)
	h.issue("corporate")
	h.issue("corporate") // not the second of one
}

func TestAReloadWhoseRecordWaitsForRoomActs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := with(t, Policy{})
		h.issue("personal")
		c := h.opts.Config
		c.Policies = map[queue.CategoryID]Policy{"personal": {MaxPerDay: 1}}
		c.Name = queue.Names{En: "Another"}
		h.journal.hook(func([]*queue.Record) error { return syscall.ENOSPC })
		err := h.Reload(t.Context(), c)
		refused(t, err, ErrConfigTaken)
		refused(t, err, ErrNoSpace)
		h.journal.hook(nil)
		time.Sleep(2 * retryEvery)
		_, err = h.tried(IssueRequest{Category: "personal"})
		refused(t, err, ErrQuotaExhausted)
	})
}

// That the process stood still is noticed by whoever asks first, also if another thing than the deadline woke it.
func TestAStallIsNotLostToWhoAsksForTheNextDeadline(t *testing.T) {
	t.Parallel()
	h := open(t)
	token := h.counter(1)
	h.NextDeadline()
	h.clock.step(DefaultLease + stalled + 1)
	if got := h.NextDeadline(); got != DefaultLease {
		t.Errorf("got the next deadline in %v, want a whole lease", got)
	}
	h.expire()
	ok(h.RenewSession(t.Context(), token))(t)
}

// The end of a grant is told when it is decided: its holder may have gone before it is on disk.
func TestANearerEndOfAGrantIsTold(t *testing.T) {
	t.Parallel()
	h, s := deskHall(t)
	select {
	case <-h.DeadlineChanged():
	default:
	}
	ctx, cancel := context.WithCancel(t.Context())
	g, gone := h.journal.gate(), make(chan error)
	r := h.acquireRequest(0, "seal")
	r.TTL = time.Second
	go func() {
		_, err := h.AcquireResources(ctx, r, s[0])
		gone <- err
	}()
	<-g.arrived
	cancel()
	refused(t, <-gone, context.Canceled)
	select {
	case <-h.DeadlineChanged():
	default:
		t.Error("got no word of the grant's end")
	}
	if got := h.NextDeadline(); got != time.Second {
		t.Errorf("got the next deadline in %v, want %v", got, time.Second)
	}
	g.open(h.journal)
}
