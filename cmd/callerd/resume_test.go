package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"testing"

	"github.com/gorilla/websocket"
	"google.golang.org/grpc"

	pb "callerd/proto/callerd/v1"
)

// issueMany takes n numbers over one stream.
func issueMany(t *testing.T, conn *grpc.ClientConn, n int) {
	t.Helper()
	s, err := pb.NewKioskServiceClient(conn).IssueTickets(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	sent := make(chan error, 1)
	go func() {
		var err error
		for i := 0; i < n && err == nil; i++ {
			err = s.Send(&pb.IssueTicketsRequest{Issue: &pb.IssueTicketRequest{RequestId: uuid(), Category: "personal"}})
		}
		sent <- errors.Join(err, s.CloseSend())
	}()
	got := 0
	for ; ; got++ {
		a, err := s.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil || a.GetIssued() == nil {
			t.Fatalf("got %v, %v, want a ticket", a, err)
		}
	}
	if err := <-sent; err != nil || got != n {
		t.Fatalf("got %d of %d tickets, %v", got, n, err)
	}
}

// watched follows the hall and returns the sequences of its frames up to one, in order. Resuming behind a frame that is gone begins anew.
func watched(t *testing.T, conn *grpc.ClientConn, epoch string, after, last uint64) (frames []uint64, anew bool) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	w, err := pb.NewBranchServiceClient(conn).WatchBranch(ctx, &pb.WatchBranchRequest{Epoch: epoch, After: after})
	if err != nil {
		t.Fatal(err)
	}
	for before := after; before < last; {
		f, err := w.Recv()
		switch {
		case err != nil:
			t.Fatal(err)
		case f.Events[0].GetSnapshot() != nil:
			anew = true
		case f.Previous != before:
			t.Fatalf("got frame %d behind %d, want one behind %d", f.Sequence, f.Previous, before)
		}
		if f.Sequence != before { // no heartbeat
			frames = append(frames, f.Sequence)
		}
		before = f.Sequence
	}
	return frames, anew
}

// After a start the frames of the last records are there again, and no gap behind those that are not.
func TestADisplayResumesAcrossARestart(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("a long day")
	}
	const kept, more = 16384, 3000
	data := filepath.Join(t.TempDir(), "data")
	d := start(t, data)
	epoch := hallOf(t, d.conn).Epoch
	quiet, err := pb.NewCounterServiceClient(d.conn).OpenCounter(t.Context(), &pb.OpenCounterRequest{RequestId: uuid(), Counter: 1, Teller: "t"})
	if err != nil {
		t.Fatal(err)
	}
	issueMany(t, d.conn, kept+more)
	last := hallOf(t, d.conn).Sequence
	d.kill()
	d = start(t, data)
	issueMany(t, d.conn, 1) // a frame after the start
	// Over the counter nothing has happened since, and nothing is shown anew.
	at := fmt.Sprintf("ws://%s/ws/display?view=counter&counter=1&epoch=%s&after=%d", d.http, epoch, quiet.Sequence)
	screen, _, err := websocket.DefaultDialer.Dial(at, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer screen.Close()
	var f struct {
		Sequence, Previous uint64
		Events             []struct{ Type string }
	}
	if err := screen.ReadJSON(&f); err != nil || f.Sequence != quiet.Sequence || f.Events[0].Type != "heartbeat" {
		t.Errorf("counter 1 behind %d: got %+v, %v, want a heartbeat", quiet.Sequence, f, err)
	}
	now := hallOf(t, d.conn).Sequence
	for _, after := range []uint64{last, last - 1, last - kept + 100} { // frames all, as each number has made one
		if frames, anew := watched(t, d.conn, epoch, after, now); anew || uint64(len(frames)) != last-after+1 {
			t.Errorf("behind %d: got %d frames up to %d and a snapshot %t, want %d and none", after, len(frames), now, anew, last-after+1)
		}
	}
	if _, anew := watched(t, d.conn, epoch, last-kept-more+1, now); !anew {
		t.Error("behind a frame that is gone: got no snapshot")
	}
}
