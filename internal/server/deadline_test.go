package server

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc/codes"

	pb "callerd/proto/callerd/v1"
)

// Case 3: the reply is lost, the kiosk asks again after its deadline: one number.
func TestADeadlineThatPassesWhileTheDiskIsSlowLosesOnlyTheReply(t *testing.T) {
	t.Parallel()
	r := start(t, Options{CallTimeout: 50 * time.Millisecond})
	r.gate.close()
	// The test's context has no deadline: what ends the call is the server's default.
	_, err := r.kiosk.IssueTicket(t.Context(), &pb.IssueTicketRequest{RequestId: requestID(1), Category: "personal"})
	if got := refused(err); got.code != codes.DeadlineExceeded {
		t.Fatalf("got %v, want DeadlineExceeded", err)
	}
	for _, read := range []func() error{
		func() error {
			_, err := r.hall.ListTickets(t.Context(), &pb.ListTicketsRequest{})
			return err
		},
		func() error {
			_, err := r.kiosk.IssueTicket(t.Context(), &pb.IssueTicketRequest{RequestId: requestID(1), Category: "personal"})
			return err
		},
	} {
		if got := refused(read()); got.code != codes.DeadlineExceeded {
			t.Errorf("got %v, want DeadlineExceeded: nothing is said that is not on disk, not even again", got)
		}
	}
	r.gate.open()
	again := r.issue(t, 1, "personal")
	if !again.Replayed || again.Ticket.Number != "A001" {
		t.Errorf("got %v, want A001 replayed", again)
	}
	if next := r.issue(t, 2, "personal"); next.Replayed || next.Ticket.Number != "A002" || next.Sequence <= again.Ticket.Version {
		t.Errorf("got %v, want A002, new, behind %d", next, again.Ticket.Version)
	}
}

// Case 1: 200 parallel issues from 8 kiosks. Case 2: the same request in parallel: one ticket.
func TestParallelKiosksGetDistinctNumbersWithoutGap(t *testing.T) {
	t.Parallel()
	r := start(t, Options{})
	const kiosks, each = 8, 25
	var mu sync.Mutex
	numbers, fresh := map[string]int{}, 0
	var all sync.WaitGroup
	for k := range kiosks {
		all.Go(func() {
			for i := range each {
				for range 2 { // each request twice, the second beside other kiosks' first
					v, err := r.kiosk.IssueTicket(t.Context(), &pb.IssueTicketRequest{RequestId: requestID(k*each + i), Category: "personal"})
					if err != nil {
						t.Error(err)
						return
					}
					mu.Lock()
					numbers[v.Ticket.Number]++
					if !v.Replayed {
						fresh++
					}
					mu.Unlock()
				}
			}
		})
	}
	all.Wait()
	for n := 1; n <= kiosks*each; n++ {
		if number := fmt.Sprintf("A%03d", n); numbers[number] != 2 {
			t.Errorf("%s was told %d times, want twice", number, numbers[number])
		}
	}
	if fresh != kiosks*each || len(numbers) != kiosks*each {
		t.Errorf("got %d new tickets of %d numbers, want %d of each", fresh, len(numbers), kiosks*each)
	}
}

func TestTheSameRequestWithOtherContentIsRefused(t *testing.T) {
	t.Parallel()
	r := start(t, Options{})
	r.issue(t, 1, "personal")
	_, err := r.kiosk.IssueTicket(t.Context(), &pb.IssueTicketRequest{RequestId: requestID(1), Category: "corporate"})
	if got := refused(err); got.code != codes.InvalidArgument || got.info.Reason != "REQUEST_REUSED" {
		t.Errorf("got %v, want REQUEST_REUSED", err)
	}
}
