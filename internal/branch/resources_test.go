package branch

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"callerd/internal/queue"
)

func (h *hall) acquireRequest(wait time.Duration, names ...queue.ResourceName) AcquireRequest {
	return AcquireRequest{Request: h.request(), Names: names, TTL: time.Minute, Wait: wait}
}

func (h *hall) acquire(token string, names ...queue.ResourceName) Grant {
	h.tb.Helper()
	return ok(h.AcquireResources(h.tb.Context(), h.acquireRequest(0, names...), token))(h.tb)
}

// desk opens a hall with shared resources and four open counters.
func deskHall(tb tb) (h *hall, tokens []string) {
	h = open(tb, func(o *Options) { o.Config = withResources(o.Config, "seal", "cash", "boss") })
	for n := queue.CounterID(1); n <= 4; n++ {
		tokens = append(tokens, h.counter(n))
	}
	return h, tokens
}

// waiters tells how many wait for a resource.
func (h *hall) waiters(name queue.ResourceName) int {
	all, _, err := h.ListResources(h.tb.Context())
	if err != nil {
		h.tb.Fatal(err)
	}
	for _, r := range all {
		if r.Name == name {
			return r.Waiting
		}
	}
	return -1
}

// until waits until somebody waits for a resource.
func (h *hall) until(name queue.ResourceName, n int) {
	h.tb.Helper()
	for begin := time.Now(); h.waiters(name) != n; {
		if time.Since(begin) > 20*time.Second {
			h.tb.Fatalf("got %d waiting for %s, want %d", h.waiters(name), name, n)
		}
	}
}

func TestResourcesAreGrantedAllOrNone(t *testing.T) {
	h, s := deskHall(t)
	first := h.acquire(s[0], "seal")
	_, err := h.AcquireResources(t.Context(), h.acquireRequest(0, "cash", "seal"), s[1])
	refused(t, err, ErrResourceBusy)
	both := h.acquire(s[2], "boss", "cash", "cash") // cash was not kept
	if both.Fence <= first.Fence {
		t.Errorf("got fence %d after %d", both.Fence, first.Fence)
	}
	for _, names := range [][]queue.ResourceName{{"pen"}, {"seal", "pen"}, nil} {
		_, err = h.AcquireResources(t.Context(), h.acquireRequest(0, names...), s[1])
		refused(t, err, ErrUnknownResource)
	}
	// Only who has it gives it back.
	_, err = h.ReleaseResources(t.Context(), h.request(), s[1], first.Fence)
	refused(t, err, ErrLeaseLost)
	_, err = h.ReleaseResources(t.Context(), h.request(), s[0], both.Fence)
	refused(t, err, ErrLeaseLost)
	ok(h.ReleaseResources(t.Context(), h.request(), s[0], first.Fence))(t)
	_, err = h.ReleaseResources(t.Context(), h.request(), s[0], first.Fence)
	refused(t, err, ErrLeaseLost)
	h.acquire(s[1], "seal")
}

func TestAHolderThatDiesLosesItAfterItsTime(t *testing.T) {
	h, s := deskHall(t)
	g := h.acquire(s[0], "seal", "cash")
	h.clock.step(50 * time.Second)
	r := ok(h.RenewResources(t.Context(), h.request(), s[0], g.Fence, time.Minute))(t)
	if !r.Until.Equal(h.clock.now().Add(time.Minute)) {
		t.Errorf("got until %v, want a minute from now", r.Until)
	}
	h.clock.step(50 * time.Second)
	h.expire() // the counters' leases too: all but counter 1 are closed
	s[1] = h.counter(2)
	_, err := h.AcquireResources(t.Context(), h.acquireRequest(0, "cash"), s[1])
	refused(t, err, ErrResourceBusy)
	ok(h.RenewSession(t.Context(), s[0]))(t)
	h.clock.step(10 * time.Second)
	_, err = h.RenewResources(t.Context(), h.request(), s[0], g.Fence, time.Minute)
	refused(t, err, ErrLeaseLost) // although nobody has looked yet
	if next := h.NextDeadline(); next != 0 {
		t.Errorf("got the next deadline in %v, want now", next)
	}
	h.expire()
	h.acquire(s[1], "cash", "seal")
	_, err = h.ReleaseResources(t.Context(), h.request(), s[0], g.Fence)
	refused(t, err, ErrLeaseLost)
}

func TestTheFenceGrowsOverARestartAndMidnight(t *testing.T) {
	h, s := deskHall(t)
	last := uint64(0)
	for i := range 6 {
		g := h.acquire(s[0], [...]queue.ResourceName{"seal", "cash", "boss"}[i%3])
		if g.Fence <= last {
			t.Errorf("got fence %d after %d", g.Fence, last)
		}
		last = g.Fence
		switch i {
		case 1:
			h.restart()
		case 3:
			h.clock.step(24 * time.Hour)
			h.openDay(t.Context())
			h.clock.step(24 * time.Hour)
			h.openDay(t.Context())
			h.restart()
		}
		if _, err := h.ReleaseResources(t.Context(), h.request(), s[0], g.Fence); err != nil && !errors.Is(err, ErrLeaseLost) {
			t.Fatal(err)
		}
		h.clock.step(2 * time.Minute)
		ok(h.RenewSession(t.Context(), s[0]))(t)
		h.expire()
	}
}

// A grant is not lost to the turn of the day, and its time begins anew when the daemon was away.
func TestAGrantLivesOverMidnightAndARestart(t *testing.T) {
	h, s := deskHall(t)
	h.clock.set(time.Date(2026, 11, 30, 23, 59, 50, 0, shanghai))
	s[0] = ok(h.OpenCounter(t.Context(), OpenRequest{Request: h.request(), Counter: 1, Teller: "t", TakeOver: "x"}))(t).Token
	g := h.acquire(s[0], "seal")
	h.clock.step(20 * time.Second)
	if got := h.issue("personal").ID; got.Day.Date != 20261201 {
		t.Fatalf("got %v, want a new day", got)
	}
	ok(h.RenewResources(t.Context(), h.request(), s[0], g.Fence, time.Minute))(t)
	h.close()
	h.clock.step(10 * time.Minute)
	h.open()
	h.expire()
	ok(h.RenewResources(t.Context(), h.request(), s[0], g.Fence, time.Minute))(t)
}

func TestWaitersComeInOrder(t *testing.T) {
	h, s := deskHall(t)
	g := h.acquire(s[0], "seal")
	boss := h.acquire(s[0], "boss")
	type got struct {
		who   int
		grant Grant
		err   error
	}
	come := make(chan got)
	wait := func(who int, names ...queue.ResourceName) {
		r := h.acquireRequest(time.Minute, names...)
		go func() {
			g, err := h.AcquireResources(t.Context(), r, s[who])
			come <- got{who, g, err}
		}()
	}
	wait(1, "cash", "seal")
	h.until("seal", 1)
	wait(2, "seal", "boss")
	h.until("seal", 2)
	wait(3, "seal")
	h.until("seal", 3)
	// Cash is free, but who came first waits for it.
	_, err := h.AcquireResources(t.Context(), h.acquireRequest(0, "cash"), s[0])
	refused(t, err, ErrResourceBusy)
	release := func(who int, fence uint64) {
		t.Helper()
		ok(h.ReleaseResources(t.Context(), h.request(), s[who], fence))(t)
	}
	release(0, g.Fence)
	first := <-come
	release(first.who, first.grant.Fence)
	release(0, boss.Fence)
	second := <-come
	release(second.who, second.grant.Fence)
	third := <-come
	if first.who != 1 || second.who != 2 || third.who != 3 || errors.Join(first.err, second.err, third.err) != nil {
		t.Errorf("got %+v, %+v, %+v, want 1, 2, 3", first, second, third)
	}
	if len(h.state.resources.waiters) != 0 {
		t.Errorf("got %d waiters left over", len(h.state.resources.waiters))
	}
}

func TestWaitersGiveUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, s := deskHall(t)
		g := h.acquire(s[0], "seal")
		begin := time.Now()
		_, err := h.AcquireResources(t.Context(), h.acquireRequest(10*time.Second, "seal"), s[1])
		refused(t, err, ErrResourceBusy)
		if waited := time.Since(begin); waited != 10*time.Second {
			t.Errorf("waited %v, want 10s", waited)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		r := h.acquireRequest(10*time.Second, "seal")
		_, err = h.AcquireResources(ctx, r, s[1])
		refused(t, err, context.DeadlineExceeded)
		if n := h.waiters("seal"); n != 0 {
			t.Errorf("got %d waiters left over", n)
		}
		ok(h.ReleaseResources(t.Context(), h.request(), s[0], g.Fence))(t)
		if r := h.acquire(s[2], "seal"); r.Fence != g.Fence+1 {
			t.Errorf("got fence %d, want %d: nobody was granted it unseen", r.Fence, g.Fence+1)
		}
	})
}

// A retry gets the grant of its original, also one that came while that was still waiting.
func TestARetryGetsTheSameGrant(t *testing.T) {
	h, s := deskHall(t)
	g := h.acquire(s[0], "seal")
	r := h.acquireRequest(time.Minute, "seal")
	come := make(chan Grant)
	for n := range 2 {
		go func() {
			g, err := h.AcquireResources(t.Context(), r, s[1])
			if err != nil {
				t.Error(err)
			}
			come <- g
		}()
		h.until("seal", n+1)
	}
	ok(h.ReleaseResources(t.Context(), h.request(), s[0], g.Fence))(t)
	a, b := <-come, <-come
	again := ok(h.AcquireResources(t.Context(), r, s[1]))(t)
	if a.Replayed == b.Replayed || !again.Replayed || a.Fence != b.Fence || again.Fence != a.Fence || !a.Until.Equal(b.Until) || !a.Until.Equal(again.Until) {
		t.Errorf("got %+v, %+v, %+v, want one grant", a, b, again)
	}
	release := h.request()
	one := ok(h.ReleaseResources(t.Context(), release, s[1], a.Fence))(t)
	two := ok(h.ReleaseResources(t.Context(), release, s[1], a.Fence))(t)
	if !two.Replayed || !one.Until.Equal(two.Until) {
		t.Errorf("got %+v, then %+v", one, two)
	}
}

func TestACounterThatClosesGivesBackAndGivesUp(t *testing.T) {
	h, s := deskHall(t)
	h.acquire(s[0], "seal", "cash")
	come := make(chan error)
	go func() {
		_, err := h.AcquireResources(t.Context(), h.acquireRequest(time.Minute, "seal"), s[1])
		come <- err
	}()
	h.until("seal", 1)
	ok(h.CloseCounter(t.Context(), h.request(), s[1], 0))(t)
	refused(t, <-come, ErrStaleSession)
	go func() {
		_, err := h.AcquireResources(t.Context(), h.acquireRequest(time.Minute, "seal"), s[2])
		come <- err
	}()
	h.until("seal", 1)
	ok(h.CloseCounter(t.Context(), h.request(), s[0], 0))(t)
	if err := <-come; err != nil {
		t.Errorf("got %v, want what the closed counter had", err)
	}
	h.acquire(s[3], "cash")
}

func TestAResourceThatIsTakenAway(t *testing.T) {
	h, s := deskHall(t)
	g := h.acquire(s[0], "seal")
	come := make(chan error)
	go func() {
		_, err := h.AcquireResources(t.Context(), h.acquireRequest(time.Minute, "cash", "seal"), s[1])
		come <- err
	}()
	h.until("seal", 1)
	if err := h.Reload(t.Context(), withResources(config(), "cash")); err != nil {
		t.Fatal(err)
	}
	refused(t, <-come, ErrUnknownResource)
	ok(h.RenewResources(t.Context(), h.request(), s[0], g.Fence, time.Minute))(t)
	ok(h.ReleaseResources(t.Context(), h.request(), s[0], g.Fence))(t)
	_, err := h.AcquireResources(t.Context(), h.acquireRequest(0, "seal"), s[0])
	refused(t, err, ErrUnknownResource)
}
