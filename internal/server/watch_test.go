package server

import (
	"context"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"

	"callerd/internal/queue"
	pb "callerd/proto/callerd/v1"
)

// watcher is a WatchBranch stream whose frames are checked to follow one another.
type watcher struct {
	grpc.ServerStreamingClient[pb.WatchBranchResponse]
	epoch string
	last  uint64
}

func (r *rig) watch(ctx context.Context, t *testing.T, epoch string, after uint64) *watcher {
	t.Helper()
	s, err := r.hall.WatchBranch(ctx, &pb.WatchBranchRequest{Epoch: epoch, After: after})
	if err != nil {
		t.Fatal(err)
	}
	return &watcher{s, epoch, after}
}

// next is the next frame that is no heartbeat.
func (w *watcher) next(t *testing.T) (*pb.WatchBranchResponse, error) {
	t.Helper()
	for {
		f, err := w.Recv()
		if err != nil {
			return nil, err
		}
		switch {
		case f.Events[0].GetHeartbeat() != nil:
			if f.Sequence != w.last {
				t.Errorf("got a heartbeat of %d, want the last sequence %d", f.Sequence, w.last)
			}
			continue
		case f.Events[0].GetSnapshot() != nil:
			if f.Previous != 0 {
				t.Errorf("got a snapshot with previous %d", f.Previous)
			}
		case f.Previous != w.last || f.Epoch != w.epoch:
			t.Fatalf("got a frame %d behind %d of %s, want one behind %d of %s", f.Sequence, f.Previous, f.Epoch, w.last, w.epoch)
		}
		w.epoch, w.last = f.Epoch, f.Sequence
		return f, nil
	}
}

func (w *watcher) must(t *testing.T) *pb.WatchBranchResponse {
	t.Helper()
	f, err := w.next(t)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestAWatcherSeesASnapshotAndThenEveryFrameUnderLoad(t *testing.T) {
	t.Parallel()
	r := start(t, Options{Heartbeat: 5 * time.Millisecond})
	tokens := []string{r.open(t, 1, 1), r.open(t, 2, 2)}
	const customers = 100
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := range customers {
			r.issue(t, 100+i, "personal")
		}
	}()
	w := r.watch(t.Context(), t, "", 0) // joins in the middle of it
	snapshot := w.must(t)
	b := snapshot.Events[0].GetSnapshot()
	if b == nil || b.Epoch != r.opts.Meta.Epoch || b.Sequence < snapshot.Sequence || len(b.Counters) != 4 || len(b.Categories) != 2 {
		t.Fatalf("got %v, want a snapshot of the hall", snapshot)
	}
	<-done
	called := map[string]bool{}
	for i := range customers {
		v, err := r.counter.CallNext(t.Context(), &pb.CallNextRequest{RequestId: requestID(1000 + 2*i), SessionToken: tokens[i%2]})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.counter.CompleteTicket(t.Context(), &pb.CompleteTicketRequest{RequestId: requestID(1001 + 2*i), SessionToken: tokens[i%2], Ticket: v.Ticket.Id}); err != nil {
			t.Fatal(err)
		}
		called[v.Ticket.Number] = true
	}
	issued := b.Categories[0].Issued
	for len(called) > 0 {
		for _, e := range w.must(t).Events {
			if c := e.GetWaiting(); c != nil && c.Issued != issued {
				if c.Issued != issued+1 {
					t.Fatalf("issued went from %d to %d", issued, c.Issued)
				}
				issued = c.Issued
			}
			if c := e.GetCalled(); c != nil {
				if !called[c.Number] {
					t.Fatalf("%s was seen twice, or never called", c.Number)
				}
				delete(called, c.Number)
			}
		}
	}
	if issued != customers {
		t.Errorf("got %d issued, want %d", issued, customers)
	}
}

func TestAWatcherResumesBehindTheFrameThatItHas(t *testing.T) {
	t.Parallel()
	r := start(t, Options{})
	ctx, cut := context.WithCancel(t.Context())
	w := r.watch(ctx, t, "", 0)
	w.must(t)
	cut()
	for i := range 3 {
		r.issue(t, i, "personal")
	}
	again := r.watch(t.Context(), t, w.epoch, w.last)
	for n := uint32(1); n <= 3; n++ {
		f := again.must(t)
		if got := f.Events[0].GetWaiting().GetIssued(); got != n {
			t.Errorf("got %v, want the frame of A00%d", f, n)
		}
	}
	head := again.last
	for what, from := range map[string]struct {
		epoch string
		after uint64
	}{
		"another epoch":             {"00", head},
		"no epoch":                  {"", head},
		"above the head":            {w.epoch, head + 1},
		"a huge sequence":           {w.epoch, 1<<64 - 1},
		"zero":                      {w.epoch, 0},
		"what was no frame of ours": {w.epoch, 1<<63 + 1},
	} {
		f, err := r.watch(t.Context(), t, from.epoch, from.after).Recv()
		if err != nil || f.Events[0].GetSnapshot() == nil || f.Sequence != head {
			t.Errorf("%s: got %v, %v, want a snapshot at %d", what, f, err, head)
		}
	}
}

func TestAWatcherThatFallsTooFarBehindIsAbortedAndComesBackWithoutGap(t *testing.T) {
	t.Parallel()
	r := start(t, Options{}, grpc.WithInitialWindowSize(64<<10), grpc.WithInitialConnWindowSize(64<<10))
	w := r.watch(t.Context(), t, "", 0)
	w.must(t)
	head := r.b.Sequence()
	const frames = 8000 // above what the hub lets one fall behind, below what it keeps
	for i := range uint64(frames) {
		text := queue.Names{En: strings.Repeat("x", 400)}
		r.Publish([]*queue.Record{{Sequence: head + 1 + i, Outcomes: []queue.Outcome{&queue.NoticePublished{Text: text}}}})
	}
	seen := 0
	var err error
	for ; err == nil; seen++ {
		_, err = w.next(t)
	}
	if got := refused(err); got.code != codes.Aborted || got.info.Reason != "FELL_BEHIND" || seen > frames {
		t.Fatalf("got %v after %d frames, want Aborted before the last", err, seen)
	}
	again := r.watch(t.Context(), t, w.epoch, w.last)
	for again.last < head+frames {
		again.must(t)
	}
}

func TestAStreamEndsWhenTheServerStops(t *testing.T) {
	t.Parallel()
	r := start(t, Options{StopTimeout: time.Hour})
	w := r.watch(t.Context(), t, "", 0)
	w.must(t)
	r.stop()
	if _, err := w.next(t); refused(err).code != codes.Unavailable || refused(err).info.Reason != "STOPPING" {
		t.Errorf("got %v, want STOPPING", err)
	}
}
