package branch

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"callerd/internal/queue"
)

// Who holds one thing and waits for another could wait for himself, over any number of others: he is told at once.
func TestNobodyWaitsInACircle(t *testing.T) {
	h, s := deskHall(t)
	seal, cash := h.acquire(s[0], "seal"), h.acquire(s[1], "cash")
	come := make(chan error)
	wait := func(who int, names ...queue.ResourceName) {
		r := h.acquireRequest(time.Minute, names...)
		go func() {
			_, err := h.AcquireResources(t.Context(), r, s[who])
			come <- err
		}()
	}
	wait(2, "cash", "boss")
	h.until("boss", 1)
	wait(0, "boss") // behind 2, who waits for 1
	h.until("boss", 2)
	_, err := h.AcquireResources(t.Context(), h.acquireRequest(time.Minute, "seal"), s[1])
	refused(t, err, ErrResourceBusy)
	_, err = h.AcquireResources(t.Context(), h.acquireRequest(time.Minute, "cash"), s[1]) // which it has
	refused(t, err, ErrResourceBusy)
	ok(h.ReleaseResources(t.Context(), h.request(), s[1], cash.Fence))(t)
	if err := <-come; err != nil {
		t.Error(err)
	}
	ok(h.CloseCounter(t.Context(), h.request(), s[2], 0))(t)
	if err := <-come; err != nil {
		t.Error(err)
	}
	ok(h.ReleaseResources(t.Context(), h.request(), s[0], seal.Fence))(t)
}

// A console that lost its connection asks again with the same request while its first call still waits, others behind it: it
// wants one thing once, so it stands in nobody's way but its own, and gets the grant of the first.
func TestARetryBehindOthersIsNoCircle(t *testing.T) {
	h, s := deskHall(t)
	g := h.acquire(s[0], "seal")
	r := h.acquireRequest(time.Minute, "seal")
	come, other := make(chan Grant), make(chan Grant, 1)
	wait := func(r AcquireRequest, who int, come chan<- Grant) {
		go func() {
			g, err := h.AcquireResources(t.Context(), r, s[who])
			if err != nil {
				t.Errorf("counter %d: %v", who+1, err)
			}
			come <- g
		}()
	}
	wait(r, 1, come)
	h.until("seal", 1)
	wait(h.acquireRequest(time.Minute, "seal"), 2, other)
	h.until("seal", 2)
	wait(r, 1, come)
	h.until("seal", 3)
	ok(h.ReleaseResources(t.Context(), h.request(), s[0], g.Fence))(t)
	a, b := <-come, <-come
	if a.Fence == 0 || a.Fence != b.Fence || a.Replayed == b.Replayed {
		t.Errorf("got %+v and %+v, want one grant", a, b)
	}
	ok(h.ReleaseResources(t.Context(), h.request(), s[1], a.Fence))(t)
	if c := <-other; c.Fence <= a.Fence {
		t.Errorf("got fence %d after %d", c.Fence, a.Fence)
	}
}

// The place in the line is the wish's: when the first call goes away, the one that asked again has it.
func TestARetryKeepsThePlaceInTheLine(t *testing.T) {
	h, s := deskHall(t)
	g := h.acquire(s[0], "seal")
	r := h.acquireRequest(time.Minute, "seal")
	ctx, cancel := context.WithCancel(t.Context())
	first, again, other := make(chan error, 1), make(chan Grant, 1), make(chan Grant, 1)
	wait := func(r AcquireRequest, who int, come chan<- Grant) {
		g, err := h.AcquireResources(t.Context(), r, s[who])
		if err != nil {
			t.Errorf("counter %d: %v", who+1, err)
		}
		come <- g
	}
	go func() {
		_, err := h.AcquireResources(ctx, r, s[1])
		first <- err
	}()
	h.until("seal", 1)
	go wait(h.acquireRequest(time.Minute, "seal"), 2, other)
	h.until("seal", 2)
	go wait(r, 1, again)
	h.until("seal", 3)
	cancel()
	refused(t, <-first, context.Canceled)
	ok(h.ReleaseResources(t.Context(), h.request(), s[0], g.Fence))(t)
	a := <-again
	ok(h.ReleaseResources(t.Context(), h.request(), s[1], a.Fence))(t)
	if c := <-other; a.Replayed || c.Fence <= a.Fence {
		t.Errorf("got %+v for who asked again, %+v for who came between", a, c)
	}
}

// What is free is refused to who has what those before him wait for; no counter has it, and none is named.
func TestACircleOverWhatIsFree(t *testing.T) {
	h, s := deskHall(t)
	cash := h.acquire(s[0], "cash")
	come := make(chan error, 1)
	go func() {
		_, err := h.AcquireResources(t.Context(), h.acquireRequest(time.Minute, "seal", "cash"), s[1])
		come <- err
	}()
	h.until("seal", 1)
	_, err := h.AcquireResources(t.Context(), h.acquireRequest(time.Minute, "seal"), s[0])
	refused(t, err, ErrResourceBusy)
	if err != nil && !strings.Contains(err.Error(), "others wait before you") {
		t.Errorf("got %q, want no counter blamed for what is free", err)
	}
	ok(h.ReleaseResources(t.Context(), h.request(), s[0], cash.Fence))(t)
	if err := <-come; err != nil {
		t.Error(err)
	}
}

// Counters ask crosswise, in any order, and some die: everybody is served, at most one has a thing at a time.
func TestCrosswiseResourcesNeverDeadlock(t *testing.T) {
	rounds := 400
	if testing.Short() || raceEnabled {
		rounds = 60
	}
	h, s := deskHall(t)
	var has [3]atomic.Int32
	names := []queue.ResourceName{"seal", "cash", "boss"}
	var wg sync.WaitGroup
	for n := range 4 {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(uint64(n), 1))
			for range rounds {
				a, b := r.IntN(3), r.IntN(3)
				req := h.acquireRequest(time.Minute, names[a], names[b])
				if r.IntN(10) == 0 {
					req.Wait = time.Duration(r.IntN(100)) * time.Microsecond
				}
				g, err := h.AcquireResources(t.Context(), req, s[n%4])
				if errors.Is(err, ErrResourceBusy) && req.Wait < time.Minute {
					continue
				} else if err != nil {
					t.Error(err)
					return
				}
				if has[a].Add(1) != 1 || a != b && has[b].Add(1) != 1 {
					t.Error("two have the same thing")
				}
				if has[a].Add(-1); a != b {
					has[b].Add(-1)
				}
				if _, err := h.ReleaseResources(t.Context(), h.request(), s[n%4], g.Fence); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	if len(h.state.resources.waiters) != 0 {
		t.Errorf("got %d waiters left over", len(h.state.resources.waiters))
	}
}
