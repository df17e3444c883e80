package sim

import (
	"testing"

	"callerd/cmd/kiosk-sim/internal/history"
)

func TestADisplayKeepsItsPlace(t *testing.T) {
	t.Parallel()
	rec := history.NewRecorder(nil, 1, "", nil)
	d := newDisplay("d", 0, "", rec)
	for _, c := range []struct {
		name, raw string
		follows   bool
		last      uint64
	}{
		{"a snapshot begins", `{"epoch":"e","sequence":5,"previous":0,"events":[{"type":"snapshot","hall":{"business_day":"2026-11-30"}}]}`, true, 5},
		{"the next frame follows", `{"epoch":"e","sequence":9,"previous":5,"events":[{"type":"called","ticket":"2026-11-30/personal/1","number":"A001","counter":3}]}`, true, 9},
		{"a heartbeat repeats the last", `{"epoch":"e","sequence":9,"previous":9,"events":[{"type":"heartbeat"}]}`, true, 9},
		{"a frame after an unseen one does not follow", `{"epoch":"e","sequence":12,"previous":11,"events":[]}`, false, 12},
		{"another epoch does not follow", `{"epoch":"f","sequence":13,"previous":12,"events":[]}`, false, 13},
	} {
		ok, err := d.take([]byte(c.raw))
		if err != nil || ok != c.follows || d.last.Load() != c.last {
			t.Errorf("%s: got %v, last %d, error %v; want %v, last %d", c.name, ok, d.last.Load(), err, c.follows, c.last)
		}
	}
	if _, err := d.take([]byte("no json")); err == nil {
		t.Error("a frame that is no JSON was taken")
	}
	h, err := rec.History()
	if err != nil {
		t.Fatal(err)
	}
	for _, entries := range h.Displays {
		if got := entries[1].Frame.Calls; len(got) != 1 || got[0] != (history.Call{Ticket: "2026-11-30/personal/1", Number: "A001", Counter: 3}) {
			t.Errorf("got the calls %v", got)
		}
	}
}
