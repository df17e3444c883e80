package main

import (
	"errors"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	pb "callerd/proto/callerd/v1"
)

// A console is killed after a call: its lease ends, the counter closes, the ticket is first in line again, and what it
// sends late is STALE_SESSION. The time is logged, not judged.
func TestAConsoleThatDiesAfterACallGivesItsCustomerBack(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	file := write(t, t.TempDir(), "hall.yaml", "branch: {time_zone: "+hallZone(t, configFile(t))+"}\nsession: {lease: 5s}\n")
	d := start(t, data, "--config", file)
	first := issueOne(t, d, "personal")
	issueOne(t, d, "personal")
	dead := openConsole(t, d, 1)
	called, err := dead.next(t.Context(), "")
	if err != nil || called.Ticket.Id != first.Id {
		t.Fatalf("got %v, %v, want A001", called, err)
	}
	began := time.Now()
	eventually(t, "the counter closes", func() error {
		if hallOf(t, d.conn).Counters[0].State != pb.CounterState_COUNTER_STATE_CLOSED {
			return errors.New("it is open")
		}
		return nil
	})
	t.Logf("closed %v after the call, the lease is 5s", time.Since(began).Round(time.Millisecond))
	if time.Since(began) < 4*time.Second {
		t.Error("the lease ended early")
	}
	if _, err := dead.next(t.Context(), ""); why(err) != "STALE_SESSION" {
		t.Errorf("got %v, want STALE_SESSION", err)
	}
	v, err := pb.NewKioskServiceClient(d.conn).GetTicket(t.Context(), &pb.GetTicketRequest{Ticket: first.Id})
	if err != nil || v.Ticket.State != pb.TicketState_TICKET_STATE_WAITING || v.Ahead != 0 || v.Ticket.Calls != 1 {
		t.Errorf("got %v, %v, want it first in line, called once", v, err)
	}
	if next, err := openConsole(t, d, 2).next(t.Context(), ""); err != nil || next.Ticket.Id != first.Id {
		t.Errorf("got %v, %v, want A001 called again", next, err)
	}
	d.end(syscall.SIGTERM)
	check(t, data)
}
