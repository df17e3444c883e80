package server

import (
	"context"
	"sync"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	"callerd/internal/branch"
	pb "callerd/proto/callerd/v1"
)

func (r *rig) acquire(t *testing.T, n int, token string, ttl, wait time.Duration, names ...string) (*pb.AcquireResourcesResponse, error) {
	t.Helper()
	return r.desk.AcquireResources(t.Context(), &pb.AcquireResourcesRequest{RequestId: requestID(n), SessionToken: token, Names: names, Ttl: durationpb.New(ttl), Wait: durationpb.New(wait)})
}

func (r *rig) release(t *testing.T, n int, token string, fence uint64) error {
	t.Helper()
	_, err := r.desk.ReleaseResources(t.Context(), &pb.ReleaseResourcesRequest{RequestId: requestID(n), SessionToken: token, Fence: fence})
	return err
}

// Two counters that ask for the same two things crosswise, again and again: no deadlock, one holder at a time, and the
// fencing token grows with every grant.
func TestCountersThatAskCrosswiseNeverWaitForEachOther(t *testing.T) {
	t.Parallel()
	r := start(t, Options{CallTimeout: time.Minute})
	var mu sync.Mutex
	holders, fence := 0, uint64(0)
	var all sync.WaitGroup
	for i, names := range [][]string{{"seal", "cash-machine"}, {"cash-machine", "seal"}, {"seal"}, {"cash-machine", "seal"}} {
		token := r.open(t, 10+i, uint32(i+1))
		all.Go(func() {
			for k := range 50 {
				n := 1000*(i+1) + 2*k
				g, err := r.acquire(t, n, token, time.Minute, time.Minute, names...)
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				if holders++; holders > 1 || g.Fence <= fence { // the seal is in every list
					t.Errorf("got %d holders, fence %d after %d", holders, g.Fence, fence)
				}
				fence = max(fence, g.Fence)
				mu.Unlock()
				if _, err := r.desk.ListResources(t.Context(), &pb.ListResourcesRequest{}); err != nil { // some time with it
					t.Error(err)
				}
				mu.Lock()
				holders--
				mu.Unlock()
				if err := r.release(t, n+1, token, g.Fence); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
}

func TestAHolderThatDiesLosesItAfterTheTTL(t *testing.T) {
	t.Parallel()
	clock := newTestClock()
	r := startWith(t, Options{}, func(o *branch.Options) { o.Now, o.Lease = clock.now, time.Hour })
	dead, other := r.open(t, 1, 1), r.open(t, 2, 2)
	g, err := r.acquire(t, 3, dead, time.Minute, 0, "seal", "cash-machine")
	if err != nil {
		t.Fatal(err)
	}
	if again, err := r.acquire(t, 3, dead, time.Minute, 0, "seal", "cash-machine"); err != nil || !again.Replayed || again.Fence != g.Fence {
		t.Errorf("got %v, %v, want the same grant again", again, err)
	}
	if _, err := r.acquire(t, 4, other, time.Minute, 0, "seal"); reasonOf(err) != "RESOURCE_BUSY" {
		t.Errorf("got %v, want RESOURCE_BUSY", err)
	}
	if err := r.release(t, 5, other, g.Fence); reasonOf(err) != "LEASE_LOST" {
		t.Errorf("got %v, want LEASE_LOST: it is another's grant", err)
	}
	waiting := make(chan uint64, 1) // one answer
	go func() {
		g, err := r.acquire(t, 6, other, time.Minute, time.Hour, "seal")
		if err != nil {
			t.Error(err)
		}
		waiting <- g.GetFence()
	}()
	r.awaitWaiting(t, "seal")
	clock.step(59 * time.Second)
	if err := r.b.Expire(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := r.renew(t, 7, dead, g.Fence); err != nil {
		t.Errorf("got %v, want it renewed in time", err)
	}
	clock.step(time.Minute)
	if err := r.b.Expire(t.Context()); err != nil {
		t.Fatal(err)
	}
	if fence := <-waiting; fence <= g.Fence {
		t.Errorf("got fence %d, want more than %d", fence, g.Fence)
	}
	if err := r.release(t, 8, dead, g.Fence); reasonOf(err) != "LEASE_LOST" {
		t.Errorf("got %v, want LEASE_LOST", err)
	}
	if err := r.renew(t, 9, dead, g.Fence); reasonOf(err) != "LEASE_LOST" {
		t.Errorf("got %v, want LEASE_LOST", err)
	}
	if _, err := r.acquire(t, 10, dead, time.Minute, 0, "stamp"); reasonOf(err) != "UNKNOWN_RESOURCE" {
		t.Errorf("got %v, want UNKNOWN_RESOURCE", err)
	}
	// A counter that closes gives back what it has.
	if _, err := r.counter.CloseCounter(t.Context(), &pb.CloseCounterRequest{RequestId: requestID(11), SessionToken: other}); err != nil {
		t.Fatal(err)
	}
	if _, err := r.acquire(t, 12, dead, time.Minute, 0, "seal"); err != nil {
		t.Errorf("got %v, want it free", err)
	}
}

func (r *rig) renew(t *testing.T, n int, token string, fence uint64) error {
	t.Helper()
	_, err := r.desk.RenewResources(t.Context(), &pb.RenewResourcesRequest{RequestId: requestID(n), SessionToken: token, Fence: fence, Ttl: durationpb.New(time.Minute)})
	return err
}

// A caller that goes away gives its place in the line up.
func TestACallerThatGoesAwayNoLongerWaits(t *testing.T) {
	t.Parallel()
	r := start(t, Options{})
	holder, other := r.open(t, 1, 1), r.open(t, 2, 2)
	g, err := r.acquire(t, 3, holder, time.Minute, 0, "seal")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.acquire(t, 4, other, time.Minute, 20*time.Millisecond, "seal"); reasonOf(err) != "RESOURCE_BUSY" {
		t.Errorf("got %v, want RESOURCE_BUSY after the wait", err)
	}
	l, err := r.desk.ListResources(t.Context(), &pb.ListResourcesRequest{})
	if err != nil || len(l.Resources) != 2 {
		t.Fatalf("got %v, %v", l, err)
	}
	if seal := l.Resources[1]; seal.Name != "seal" || seal.Waiting != 0 || seal.Counter != 1 || seal.Fence != g.Fence || seal.Title.ZhCn != "公章" || seal.Until == nil {
		t.Errorf("got %v, want the seal at counter 1 and nobody waiting", seal)
	}
}

// Each has what the other wants: the second to ask is refused at once, and the first gets it when it is given back.
func TestWhoWouldWaitInACircleIsRefusedAtOnce(t *testing.T) {
	t.Parallel()
	r := start(t, Options{CallTimeout: time.Minute})
	one, two := r.open(t, 1, 1), r.open(t, 2, 2)
	if _, err := r.acquire(t, 3, one, time.Minute, 0, "seal"); err != nil {
		t.Fatal(err)
	}
	g, err := r.acquire(t, 4, two, time.Minute, 0, "cash-machine")
	if err != nil {
		t.Fatal(err)
	}
	got := make(chan error, 1) // one answer
	go func() {
		_, err := r.acquire(t, 5, one, time.Minute, time.Hour, "cash-machine")
		got <- err
	}()
	r.awaitWaiting(t, "cash-machine")
	if _, err := r.acquire(t, 6, two, time.Minute, time.Hour, "seal"); reasonOf(err) != "RESOURCE_BUSY" {
		t.Errorf("got %v, want RESOURCE_BUSY at once", err)
	}
	if err := r.release(t, 7, two, g.Fence); err != nil {
		t.Fatal(err)
	}
	if err := <-got; err != nil {
		t.Errorf("got %v, want it granted", err)
	}
}

// awaitWaiting returns once somebody waits for a resource.
func (r *rig) awaitWaiting(t *testing.T, name string) {
	t.Helper()
	for {
		l, err := r.desk.ListResources(t.Context(), &pb.ListResourcesRequest{})
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range l.Resources {
			if x.Name == name && x.Waiting > 0 {
				return
			}
		}
	}
}

// A call that waits for a resource does not hold the stop, and is told why it ends. It may also wait longer than a call that brings no
// deadline is given otherwise.
func TestAWaitForAResourceEndsWithTheServer(t *testing.T) {
	t.Parallel()
	r := start(t, Options{CallTimeout: time.Nanosecond, StopTimeout: time.Hour})
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour) // these bring one of their own
	defer cancel()
	open := func(n int, counter uint32) string {
		s, err := r.counter.OpenCounter(ctx, &pb.OpenCounterRequest{RequestId: requestID(n), Counter: counter, Teller: "t"})
		if err != nil {
			t.Fatal(err)
		}
		return s.SessionToken
	}
	seal := func(ctx context.Context, n int, token string, wait time.Duration) error {
		_, err := r.desk.AcquireResources(ctx, &pb.AcquireResourcesRequest{RequestId: requestID(n), SessionToken: token, Names: []string{"seal"},
			Ttl: durationpb.New(time.Hour), Wait: durationpb.New(wait)})
		return err
	}
	if err := seal(ctx, 3, open(1, 1), 0); err != nil {
		t.Fatal(err)
	}
	second, told := open(2, 2), make(chan error)
	go func() { told <- seal(t.Context(), 4, second, time.Hour) }()
	for waiting := uint32(0); waiting == 0; { // until it stands in the line
		l, err := r.desk.ListResources(ctx, &pb.ListResourcesRequest{})
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range l.Resources {
			waiting += x.Waiting
		}
	}
	r.stop()
	if err := <-told; reasonOf(err) != "STOPPING" {
		t.Errorf("got %v, want STOPPING", err)
	}
}
