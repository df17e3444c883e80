package branch

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"callerd/internal/queue"
)

var errDisk = errors.New("input/output error")

// A commit that fails otherwise than for space ends everything: each answer before it was durable, each after it is
// Unavailable, nothing hangs, and the restart tells what became of the last.
func TestAJournalThatFailsAtTheNthAppend(t *testing.T) {
	for n := 1; n <= 8; n++ {
		for _, written := range []bool{false, true} {
			t.Run(fmt.Sprintf("append %d, written all the same: %t", n, written), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { failAt(t, n, written) })
			})
		}
	}
}

func failAt(t *testing.T, n int, written bool) {
	h := open(t)
	count := 0 // the commit goroutine's
	h.journal.hook(func(batch []*queue.Record) error {
		if count++; count < n {
			return nil
		}
		if written {
			h.journal.mu.Lock()
			h.journal.records = append(h.journal.records, batch...)
			h.journal.mu.Unlock()
		}
		return errDisk
	})
	var asked []Request
	told := map[int]queue.TicketID{}
	for i := range 12 {
		asked = append(asked, h.request())
		reply, err := h.IssueTicket(t.Context(), IssueRequest{Request: asked[i], Category: "personal"})
		switch {
		case err == nil && reply.Sequence > h.journal.durable():
			t.Errorf("replied at %d while %d is durable", reply.Sequence, h.journal.durable())
		case err == nil:
			told[i] = reply.Ticket.ID
		case !errors.Is(err, ErrStoreFailed):
			t.Errorf("issue %d: got %v, want %v", i, err, ErrStoreFailed)
		}
	}
	if len(told) != n-1 {
		t.Errorf("got %d numbers before the fault, want %d", len(told), n-1)
	}
	select {
	case <-h.Failed():
	default:
		t.Error("the fault was not told")
	}
	refused(t, h.Err(), errDisk)
	_, err := h.ListTickets(t.Context(), ListRequest{Size: 1})
	refused(t, err, ErrStoreFailed)
	refused(t, h.Expire(t.Context()), ErrStoreFailed)
	for range 2 {
		refused(t, h.Close(t.Context()), ErrStoreFailed)
	}

	h.journal.hook(nil)
	h.open()
	numbers := map[queue.TicketID]bool{}
	for i, r := range asked {
		reply := ok(h.IssueTicket(t.Context(), IssueRequest{Request: r, Category: "personal"}))(t)
		if want, ok := told[i]; ok && (reply.Ticket.ID != want || !reply.Replayed) {
			t.Errorf("issue %d: got %+v, want %v replayed", i, reply, want)
		}
		if i == n-1 && reply.Replayed != written {
			t.Errorf("the one that failed: replayed %t, want %t", reply.Replayed, written)
		}
		if numbers[reply.Ticket.ID] {
			t.Errorf("%v twice", reply.Ticket.ID)
		}
		numbers[reply.Ticket.ID] = true
	}
	noGap(t, h.records())
}

// A disk that hangs holds every reply back, and the caller's own deadline ends the wait; the operation has happened.
func TestAJournalThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := open(t)
		a1, s := h.issue("personal"), h.counter(1)
		g := h.journal.gate()
		r := h.request()
		called := make(chan error, 1)
		go func() {
			_, err := h.CallNext(t.Context(), r, s, queue.TicketID{})
			called <- err
		}()
		time.Sleep(time.Hour)
		select {
		case err := <-called:
			t.Fatalf("replied (%v) while the disk hangs", err)
		default:
		}
		g.open(h.journal)
		if err := <-called; err != nil {
			t.Error(err)
		}
		if got := h.ticket(a1.ID).State; got != queue.Called {
			t.Errorf("got %v, want CALLED", got)
		}
	})
}

// A fault of the program, found by verify, is no answer either.
func TestVerifyStopsTheBranchAtARecordThatIsImpossible(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := open(t)
		a1 := h.issue("personal")
		h.pipe.shadow.state.find(a1.ID).State = queue.Completed
		_, err := h.CancelTicket(t.Context(), h.request(), a1.ID, "")
		refused(t, err, ErrStoreFailed)
		refused(t, err, errDisagrees)
		<-h.Failed()
	})
}

func TestVerifyFindsAStateThatIsNotItsRecords(t *testing.T) {
	h := open(t)
	a1 := h.issue("personal")
	live := h.state.find(a1.ID)
	live.Calls++
	refused(t, h.Close(t.Context()), errDisagrees)
	live.Calls--
}
