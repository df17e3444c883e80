package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/gorilla/websocket"

	pb "callerd/proto/callerd/v1"
)

// The tour that the README gives with grpcurl, while a display looks on.
func TestAHallFromTheKioskToTheDisplay(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	d := start(t, data)
	screen, _, err := websocket.DefaultDialer.Dial("ws://"+d.http+"/ws/display?view=hall", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer screen.Close()
	seen := make(chan []string, 1)
	go func() { seen <- announcements(screen) }()

	ctx, kiosk := t.Context(), pb.NewKioskServiceClient(d.conn)
	list, err := kiosk.ListCategories(ctx, &pb.ListCategoriesRequest{})
	if err != nil || len(list.Categories) != 2 || list.Categories[0].Prefix != "A" || list.Categories[1].Prefix != "B" {
		t.Fatalf("got %v, %v, want personal A and corporate B", list, err)
	}
	for _, want := range []struct{ category, number string }{{"personal", "A001"}, {"personal", "A002"}, {"corporate", "B001"}} {
		if got := issueOne(t, d, want.category); got.Number != want.number {
			t.Errorf("got %s, want %s", got.Number, want.number)
		}
	}
	teller := openConsole(t, d, 3)
	first, err := teller.next(ctx, "")
	if err != nil || first.Ticket.Number != "A001" || first.Waiting != 2 || first.Reason.Rule != pb.CallRule_CALL_RULE_OLDEST {
		t.Fatalf("got %v, %v, want A001 by the rule oldest", first, err)
	}
	if _, err := teller.next(ctx, ""); why(err) != "COUNTER_BUSY" {
		t.Errorf("got %v, want COUNTER_BUSY", err)
	}
	if _, err := teller.CompleteTicket(ctx, &pb.CompleteTicketRequest{RequestId: uuid(), SessionToken: teller.token, Ticket: first.Ticket.Id}); err != nil {
		t.Error(err)
	}
	second, err := teller.next(ctx, "")
	if err != nil || second.Ticket.Number != "A002" {
		t.Fatalf("got %v, %v, want A002", second, err)
	}
	// Case 12: complete and call next in one; the same click again never completes the next customer.
	third, err := teller.next(ctx, second.Ticket.Id)
	if err != nil || third.Ticket.Number != "B001" || third.Completed.Number != "A002" {
		t.Fatalf("got %v, %v, want A002 completed and B001 called", third, err)
	}
	if _, err := teller.next(ctx, second.Ticket.Id); why(err) != "TICKET_MOVED" {
		t.Errorf("got %v, want TICKET_MOVED", err)
	}
	secrets(t, d, teller.token)
	if code := d.end(syscall.SIGTERM); code != 0 {
		t.Errorf("got exit code %d", code)
	}
	if got, want := <-seen, []string{"snapshot", "A001 3", "A002 3", "B001 3", "1001"}; !slices.Equal(got, want) {
		t.Errorf("the display saw %q, want %q", got, want)
	}
	check(t, data)
}

// announcements are what a display sees until it is sent away: the snapshot, each call, and the close code; anything out of
// order is among them.
func announcements(screen *websocket.Conn) (seen []string) {
	var last uint64
	for {
		_, raw, err := screen.ReadMessage()
		if err != nil {
			if e, ok := err.(*websocket.CloseError); ok {
				return append(seen, fmt.Sprint(e.Code))
			}
			return append(seen, err.Error())
		}
		var f struct {
			Sequence, Previous uint64
			Events             []struct {
				Type, Number string
				Counter      uint32
			}
		}
		if err := json.Unmarshal(raw, &f); err != nil {
			return append(seen, err.Error())
		}
		for _, e := range f.Events {
			switch e.Type {
			case "snapshot":
				seen = append(seen, e.Type)
			case "called", "recalled":
				seen = append(seen, fmt.Sprintf("%s %d", e.Number, e.Counter))
			}
			if e.Type != "snapshot" && e.Type != "heartbeat" && f.Previous != last {
				seen = append(seen, fmt.Sprintf("%d behind %d after %d", f.Sequence, f.Previous, last))
				last = f.Previous // once a frame
			}
		}
		last = f.Sequence
	}
}

// Case 43: no secret in the log nor in the process list.
func secrets(t *testing.T, d *daemon, token string) {
	t.Helper()
	arguments, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", d.cmd.Process.Pid))
	if err != nil {
		t.Skip("this system does not tell a process's arguments:", err)
	}
	environment, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", d.cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	seal := token[strings.LastIndex(token, ".")+1:]
	for what, text := range map[string]string{"log": d.err.String(), "arguments": string(arguments), "environment": string(environment)} {
		if text == "" || strings.Contains(text, seal) {
			t.Errorf("the %s has the session's token, or is empty: %q", what, text)
		}
	}
}
