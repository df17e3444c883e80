package main

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/gorilla/websocket"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	"callerd/internal/disktest"
	"callerd/internal/journal"
	"callerd/internal/queue"
	pb "callerd/proto/callerd/v1"
)

// Case 40: the disk fills up under load. Unavailable with RetryInfo; the daemon lives; no number on the display that is
// not on disk; room is made, and it goes on by itself without gap or repeat.
func TestAFullDiskUnderLoad(t *testing.T) {
	t.Parallel()
	disk := disktest.New(t, disktest.Ext4, 8<<20)
	rnd := newRand(t)
	data := filepath.Join(disk.Dir, "data")
	d := start(t, data)
	hall := watch(t, d.http)
	h := newHall(t, rnd, 6, 4)
	for range rounds(t, "CALLERD_FULLDISK_ROUNDS", 4) {
		h.work(d.conn, 300, func() { disk.Fill(t, int64(rnd.IntN(100<<10))) }) // until everybody is refused
		h.refused(d)
		disk.MakeRoom(t)
		h.settle(d.conn)
		h.verify(d.conn)
	}
	h.work(d.conn, 300, func() { disk.Fill(t, 0) })
	h.refused(d)
	d.kill() // while there is no room
	calls := hall.end()
	disk.MakeRoom(t)
	check(t, data)
	written(t, data, calls)

	d = start(t, data)
	h.settle(d.conn)
	h.verify(d.conn)
	d.kill()
	check(t, data)
	t.Logf("%d replies, %d tickets, %d calls on the display", h.acks, len(h.numbers), len(calls))
}

// refused checks what the daemon says while there is no room.
func (h *hall) refused(d *daemon) {
	h.t.Helper()
	ctx := h.t.Context()
	kiosk, branch := pb.NewKioskServiceClient(d.conn), pb.NewBranchServiceClient(d.conn)
	calls := map[string]func() error{
		"issue": func() error {
			_, err := kiosk.IssueTicket(ctx, &pb.IssueTicketRequest{RequestId: uuid(), Category: "personal"})
			return err
		},
		"an unanswered one again": func() error { return h.kiosks[0].again(ctx, d.conn) },
		"categories":              func() error { _, err := kiosk.ListCategories(ctx, &pb.ListCategoriesRequest{}); return err },
		"tickets":                 func() error { _, err := branch.ListTickets(ctx, &pb.ListTicketsRequest{}); return err },
	}
	for name, call := range calls {
		err := call()
		if word, retry := reason(err); status.Code(err) != codes.Unavailable || word != "NO_SPACE" || !retry {
			h.t.Errorf("%s: got %v (%s), want Unavailable, NO_SPACE and RetryInfo", name, err, word)
		}
	}
	if _, err := grpc_health_v1.NewHealthClient(d.conn).Check(ctx, &grpc_health_v1.HealthCheckRequest{}); err != nil {
		h.t.Errorf("health: %v", err)
	}
}

// A start on a full disk waits for room, or gives up and says why; it never makes a number up.
func TestAStartOnAFullDisk(t *testing.T) {
	t.Parallel()
	disk := disktest.New(t, disktest.Ext4, 8<<20)
	rnd := newRand(t)
	data := filepath.Join(disk.Dir, "data")
	d := start(t, data)
	h := newHall(t, rnd, 2, 1)
	h.work(d.conn, 50, func() { disk.Fill(t, 0); d.kill() })
	d, out := launch(t, data)
	opened := make(chan bool, 1) // one answer, which may never be fetched
	go func() { opened <- d.opened(out) }()
	var ok bool
	select {
	case ok = <-opened: // there may have been a free page in the journal
	case <-d.err.said("no space"):
		disk.MakeRoom(t)
		ok = <-opened
	}
	disk.MakeRoom(t)
	if !ok {
		d.kill()
		if said := d.err.String(); !strings.Contains(said, "no space") || !strings.Contains(said, data) {
			t.Errorf("it gave up and said %q, want the reason and the path", said)
		}
		d = start(t, data)
	}
	h.settle(d.conn)
	h.verify(d.conn)
	d.kill()
	check(t, data)
}

// screen is a hall display: it takes note of every call that it shows.
type screen struct {
	t    *testing.T
	conn *websocket.Conn
	done sync.WaitGroup

	last  uint64
	calls []announced
}

type announced struct {
	Sequence uint64
	Type     string
	Ticket   string
	Number   string
	Counter  uint32
}

// watch connects a display; it has seen its snapshot when watch returns.
func watch(t *testing.T, addr string) *screen {
	t.Helper()
	conn, _, err := websocket.DefaultDialer.DialContext(t.Context(), "ws://"+addr+"/ws/display?view=hall", nil)
	if err != nil {
		t.Fatal(err)
	}
	v := &screen{t: t, conn: conn}
	if !v.read() {
		t.Fatal("no snapshot")
	}
	v.done.Go(func() {
		for v.read() {
		}
	})
	t.Cleanup(func() { conn.Close() })
	return v
}

// read takes a frame. The chain of frames has no gap and no repeat.
func (v *screen) read() bool {
	_, b, err := v.conn.ReadMessage()
	if err != nil {
		return false
	}
	var frame struct {
		Sequence, Previous uint64
		Events             []announced
	}
	if err := json.Unmarshal(b, &frame); err != nil {
		v.t.Errorf("frame %s: %v", b, err)
		return false
	}
	heartbeat := len(frame.Events) == 1 && frame.Events[0].Type == "heartbeat"
	if v.last != 0 && frame.Previous != v.last {
		v.t.Errorf("frame %d follows %d, the display had %d", frame.Sequence, frame.Previous, v.last)
	}
	if !heartbeat && frame.Sequence <= v.last {
		v.t.Errorf("frame %d came after %d", frame.Sequence, v.last)
	}
	v.last = frame.Sequence
	for _, e := range frame.Events {
		if e.Type == "called" || e.Type == "recalled" {
			e.Sequence = frame.Sequence
			v.calls = append(v.calls, e)
		}
	}
	return true
}

// end waits until the display has lost its server, and returns what it has shown.
func (v *screen) end() []announced {
	v.done.Wait()
	return v.calls
}

// written checks that each call that a display has shown is in the journal, and each call of the journal was shown, but
// for those behind the last frame.
func written(t *testing.T, data string, calls []announced) {
	t.Helper()
	r, err := journal.OpenReader(data)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var want []announced
	err = r.Replay(func(r *queue.Record) error {
		for _, o := range r.Outcomes {
			c, ok := o.(*queue.TicketChanged)
			if !ok {
				continue
			}
			switch c.Verb {
			case queue.Call, queue.Resume:
				want = append(want, announced{r.Sequence, "called", c.Ticket.String(), c.Number, uint32(c.Counter)})
			case queue.Recall:
				want = append(want, announced{r.Sequence, "recalled", c.Ticket.String(), c.Number, uint32(c.Counter)})
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(calls) == 0 || len(calls) > len(want) {
		t.Fatalf("the display showed %d calls, %d are on disk", len(calls), len(want))
	}
	if !slices.Equal(calls, want[:len(calls)]) {
		for i, c := range calls {
			if c != want[i] {
				t.Fatalf("call %d on the display is %+v, on disk is %+v", i, c, want[i])
			}
		}
	}
}
