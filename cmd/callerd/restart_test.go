package main

import (
	"path/filepath"
	"testing"

	"google.golang.org/grpc"

	pb "callerd/proto/callerd/v1"
)

// Case 39: kill -9 with one ticket serving, one held, one waiting, one counter paused, last number A017. After the
// restart the same state, the same sessions, and the next number is A018.
func TestKillAndRestartGiveTheSameHall(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	d := start(t, data)
	h := newHall(t, newRand(t), 1, 4)
	do := func(command command) {
		t.Helper()
		if err := command(t.Context(), d.conn); err != nil {
			t.Fatal(err)
		}
	}
	for range 17 {
		do(h.issue("personal"))
	}
	for _, p := range h.tellers {
		do(p.open())
	}
	first, second, third, fourth := h.tellers[0], h.tellers[1], h.tellers[2], h.tellers[3]
	for range 14 { // A001 to A014 come and go
		do(first.callNext(first.current.GetId()))
	}
	do(first.complete())
	do(first.callNext("")) // A015: served
	do(first.start())
	do(second.callNext("")) // A016: held
	do(second.hold())
	do(third.pause()) // and A017 waits
	before := hallOf(t, d.conn)
	for range 3 {
		d.kill()
		d = start(t, data)
		after := hallOf(t, d.conn)
		if after.Sequence <= before.Sequence {
			t.Errorf("the sequence is %d after the restart, was %d", after.Sequence, before.Sequence)
		}
		if after.Epoch != before.Epoch {
			t.Errorf("the epoch is %q after the restart, was %q", after.Epoch, before.Epoch)
		}
		h.verify(d.conn)
	}
	waiting := before.Categories[0]
	if waiting.Issued != 17 || waiting.Waiting != 1 || waiting.Serving != 16 {
		t.Errorf("personal: got issued %d, waiting %d, serving %d, want 17, 1, 16", waiting.Issued, waiting.Waiting, waiting.Serving)
	}
	do(h.issue("personal"))
	if h.byNumber["A018"] == "" {
		t.Error("the next number is not A018")
	}
	// The sessions go on, each with what it had.
	do(first.complete())
	do(second.takeUp(second.held[0]))
	do(third.resume())
	do(third.callNext(""))
	do(fourth.callNext(""))
	for p, want := range map[*teller]string{first: "", second: "A016", third: "A017", fourth: "A018"} {
		if got := p.current.GetNumber(); got != want {
			t.Errorf("counter %d has %q, want %q", p.counter, got, want)
		}
	}
	h.verify(d.conn)
	d.kill()
	check(t, data)
}

func hallOf(t *testing.T, conn *grpc.ClientConn) *pb.Branch {
	t.Helper()
	r, err := pb.NewBranchServiceClient(conn).GetBranch(t.Context(), &pb.GetBranchRequest{})
	if err != nil {
		t.Fatal(err)
	}
	return r.Branch
}
