package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	pb "callerd/proto/callerd/v1"
)

// The spans of the deadlines that begin anew when the daemon starts. A lease is never shorter than 5 s.
const (
	quickSpan = time.Second // of "quick": no_show.after, and requeue.within
	grantSpan = time.Second
	leaseSpan = 5 * time.Second
)

// life is one life of the daemon.
type life struct{ born, gone time.Time }

// Deadlines of every kind are set over gRPC, and the process is killed with -9 and started at random moments while they come due,
// also while it starts: each fires once, none early, none is lost. How late they fire is told, not judged. More of them:
// CALLERD_DEADLINES=10000.
func TestDeadlinesOverKillsFireOnce(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes a lease of 5 s at least")
	}
	t.Parallel()
	n := rounds(t, "CALLERD_DEADLINES", 300)
	kills := 4 + n/500
	rnd := newRand(t)
	h := newDueHall(t, time.Second+time.Duration(n)*3*time.Millisecond)
	data := filepath.Join(t.TempDir(), "data")
	file := write(t, t.TempDir(), "hall.yaml", h.config(hallZone(t, configFile(t))))

	d := h.start(data, file)
	held := n * 3 / 10
	h.want((n - held) / 2)
	h.everybody(rnd, held)
	for range kills {
		// Alive until so many have come due, then dead until so many more have.
		alive := 1 + n/(10*kills) + rnd.IntN(1+n/(5*kills))
		dead := 1 + n/(20*kills) + rnd.IntN(1+n/(10*kills))
		h.want((n - held + kills) / 2 / kills)
		h.until(h.ahead(alive + dead)[alive])
		spin(rnd)
		h.kill(d)
		h.until(nth(h.ahead(0), dead-1))
		for rnd.IntN(4) == 0 { // killed while it starts
			h.born = time.Now()
			d, _ := launch(t, data, "--config", file)
			spin(rnd)
			h.kill(d)
		}
		d = h.start(data, file)
	}
	close(h.stop)
	h.all.Wait() // from now on nobody says anything: the leases and grants end as well
	h.until(time.Now().Add(leaseSpan))
	h.until(nth(h.ahead(0), 1<<30))
	h.sentinel(d)
	if !h.closed(d) {
		h.sentinel(d) // behind a whole look at everything, which the first one's may not have been
	}
	h.kill(d)
	if t.Failed() {
		return
	}

	a := newAudit(t, h)
	for _, r := range records(t, data) {
		a.record(r)
	}
	a.conclude()
	t.Logf("%d deadlines set and acknowledged, %d kills", len(h.set), len(h.runs))
	a.tell()
	// It must not pass by doing nothing.
	if len(h.set) < n || a.cameDueDown < n/40 || a.cameDueUp < n/20 {
		t.Errorf("%d were set, %d came due while the process was down, %d while it was up: of %d that is too few to mean something",
			len(h.set), a.cameDueDown, a.cameDueUp, n)
	}
	check(t, data)
}

// config is a hall whose lines have each their own span for all that is kept in the ticket, so that what is set within a
// second or two comes due over the whole time.
func (h *dueHall) config(zone string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "branch: {time_zone: %s}\nsession: {lease: %v}\ncategories:\n", zone, leaseSpan)
	for i, c := range h.lines {
		fmt.Fprintf(&b, "  - {id: %s, prefix: A%c, check_in_within: %[3]v, held_within: %[3]v, requeue: {within: %[3]v}}\n", c, 'A'+i, h.spans[c])
	}
	fmt.Fprintf(&b, "  - {id: quick, prefix: Q, no_show: {after: %v}, requeue: {within: %[1]v}}\n", quickSpan)
	fmt.Fprintf(&b, "  - {id: sentinel, prefix: S, check_in_within: %v}\ncounters:\n", h.spans["sentinel"])
	for c := range holders + callers + borrowers {
		fmt.Fprintf(&b, "  - {counter: %d}\n", c+1)
	}
	b.WriteString("resources:\n")
	for i := range borrowers {
		fmt.Fprintf(&b, "  - {name: thing-%d}\n", i)
	}
	return b.String()
}

// start starts a daemon, which everybody talks to from then on.
func (h *dueHall) start(data, file string) *daemon {
	h.t.Helper()
	h.born = time.Now()
	d := start(h.t, data, "--config", file)
	h.conn.Store(d.conn)
	return d
}

// kill ends the daemon as kill -9 does; that it had ended before, by itself, is a fault.
func (h *dueHall) kill(d *daemon) {
	h.t.Helper()
	d.kill()
	h.runs = append(h.runs, life{h.born, time.Now()})
	if s, ok := d.cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || s.Signal() != syscall.SIGKILL {
		h.t.Fatalf("the daemon has ended by itself, %v: %s", d.cmd.ProcessState, d.err.String())
	}
}

// sentinel sets a deadline behind all others and waits until it has fired. The deadlines of tickets fire in their order, and
// the leases and grants are looked at each time, so nothing that was due before is left then but what is lost.
func (h *dueHall) sentinel(d *daemon) {
	h.t.Helper()
	kiosk := pb.NewKioskServiceClient(d.conn)
	r, err := kiosk.IssueTicket(h.t.Context(), &pb.IssueTicketRequest{RequestId: uuid(), Category: "sentinel", Reserve: true})
	if err != nil {
		h.t.Fatalf("%v; the daemon said %s", err, d.err.String())
	}
	h.until(r.Ticket.Deadline.AsTime())
	eventually(h.t, "the last deadline fires", func() error {
		v, err := kiosk.GetTicket(h.t.Context(), &pb.GetTicketRequest{Ticket: r.Ticket.Id})
		if err != nil {
			h.t.Fatalf("%v; the daemon said %s", err, d.err.String())
		}
		if v.Ticket.State != pb.TicketState_TICKET_STATE_EXPIRED {
			return fmt.Errorf("it is %v", v.Ticket.State)
		}
		return nil
	})
}

// closed reports whether every session has ended.
func (h *dueHall) closed(d *daemon) bool {
	return !slices.ContainsFunc(hallOf(h.t, d.conn).Counters, func(c *pb.Counter) bool { return c.State != pb.CounterState_COUNTER_STATE_CLOSED })
}

// nth is the nth time, from 0, or the last if there are not so many.
func nth(times []time.Time, n int) time.Time {
	if len(times) == 0 {
		return time.Time{}
	}
	return times[min(n, len(times)-1)]
}

// newDueHall is a hall of ten lines whose spans reach from a second to a second and the spread.
func newDueHall(t *testing.T, spread time.Duration) *dueHall {
	h := &dueHall{t: t, spans: map[string]time.Duration{"quick": quickSpan, "sentinel": time.Second}, set: map[string]bool{},
		heard: map[uint32]time.Time{}, stop: make(chan struct{}), more: make(chan struct{}, 1)}
	for i := range 10 {
		c := fmt.Sprintf("line-%d", i)
		h.lines = append(h.lines, c)
		h.spans[c] = time.Second + (spread * time.Duration(i) / 10).Truncate(time.Millisecond)
	}
	t.Cleanup(h.all.Wait)
	return h
}
