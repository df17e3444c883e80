package fanout

import (
	"bytes"
	"context"
	"io"
	"os"
	"strings"
	"testing"
)

func TestSequenceOf(t *testing.T) {
	for frame, want := range map[string]uint64{
		`{"epoch":"9f2c","sequence":1042,"previous":1039,"events":[{"type":"called","sequence":7}]}`: 1042,
		`{"epoch":"9f2c"}`:   0,
		string(text(9, 300)): 9,
	} {
		if got := sequenceOf([]byte(frame)); got != want {
			t.Errorf("%.60s: got %d, want %d", frame, got, want)
		}
	}
}

func TestABareFrameIsAsLongAsAsked(t *testing.T) {
	if got := len(text(12, 700)); got != 700 {
		t.Errorf("got %d bytes, want 700", got)
	}
}

func TestTheLogOfDisplaysThatWereCutIsCounted(t *testing.T) {
	var c cuts
	log := "level=INFO msg=\"display gone\" why=\"hub: writing frame 9: write tcp: i/o timeout\"\nlevel=INFO msg=\"display gone\" why=\"websocket: close 1006\"\nlevel=INFO msg=\"display go"
	for _, part := range strings.SplitAfter(log, "m") { // as it comes through a pipe
		if _, err := c.Write([]byte(part)); err != nil {
			t.Fatal(err)
		}
	}
	if got := c.count(); got != 1 {
		t.Errorf("got %d, want 1", got)
	}
}

// Over the bare loop in this process: what the client counts is what was sent.
func TestTheClientSeesEachPublicationAtEveryDisplay(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out, in := io.Pipe()
	go func() { _ = ServeBare(ctx, in) }()
	line := make([]byte, 200)
	n, err := out.Read(line)
	if err != nil {
		t.Fatal(err)
	}
	addr := string(bytes.TrimSpace(line[len(bareMark)+1 : n]))
	c := Client{Web: addr, Pid: os.Getpid(), Displays: 5, Calls: 10, Size: 400}
	f, err := c.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if f.Calls != 10 || f.Bytes != 400 || !(f.LastP50 > 0) || f.LastP99 < f.LastP50 || f.LastP50 < f.SpreadP50 {
		t.Errorf("got %+v", f)
	}
}
