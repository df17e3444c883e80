package main

import (
	"bytes"
	"net"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	pb "callerd/proto/callerd/v1"

	"google.golang.org/grpc"
)

// serveFake starts a fake hall on loopback and returns its addresses.
func serveFake(t *testing.T, h *fakeHall) (grpcAddr, httpAddr string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := grpc.NewServer()
	pb.RegisterKioskServiceServer(s, fakeKiosk{fakeHall: h})
	pb.RegisterCounterServiceServer(s, fakeConsole{fakeHall: h})
	pb.RegisterBranchServiceServer(s, fakeBranch{fakeHall: h})
	done := make(chan error, 1) // Serve's result, taken at the end
	go func() { done <- s.Serve(l) }()
	web := httptest.NewServer(h)
	t.Cleanup(func() {
		web.CloseClientConnections()
		web.Close()
		s.Stop()
		if err := <-done; err != nil {
			t.Errorf("serve: %v", err)
		}
	})
	return l.Addr().String(), strings.TrimPrefix(web.URL, "http://")
}

// play runs the program against a fake hall.
func play(t *testing.T, h *fakeHall, args ...string) (code int, out string) {
	t.Helper()
	grpcAddr, httpAddr := serveFake(t, h)
	var stdout, stderr bytes.Buffer
	args = append([]string{"--grpc-addr", grpcAddr, "--http-addr", httpAddr, "--full-speed", "--seed", "7", "--customers", "300", "--mix", "calm"}, args...)
	code = start(t.Context(), args, &stdout, &stderr)
	return code, stdout.String() + stderr.String()
}

func TestAnHonestHallHolds(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "history.jsonl")
	code, out := play(t, newFakeHall(4, ""), "--displays", "3", "--retry", "0.2", "--clumsy", "0.2", "--hold", "0.1", "--pause", "0.05", "--history", file)
	if code != exitHolds {
		t.Fatalf("exit code: got %d, want %d\n%s", code, exitHolds, out)
	}
	if !strings.Contains(out, "300 issued") || strings.Contains(out, "left in doubt") {
		t.Errorf("not 300 issued, or doubts without a reason:\n%s", out)
	}
	var stdout, stderr bytes.Buffer
	if code := start(t.Context(), []string{"verify", file}, &stdout, &stderr); code != exitHolds {
		t.Errorf("verify: exit code %d\n%s%s", code, &stdout, &stderr)
	}
}

// What is nobody's fault is not blamed: lost answers are asked for again, ended sessions opened again.
func TestTroubleIsNoFault(t *testing.T) {
	t.Parallel()
	for trouble, want := range map[string]string{
		"loses answers": "0 left open",
		"ends sessions": "300 issued",
	} {
		t.Run(trouble, func(t *testing.T) {
			t.Parallel()
			h := newFakeHall(4, trouble)
			code, out := play(t, h, "--displays", "3", "--hold", "0.1", "--clumsy", "0.1", "--survive")
			if code != exitHolds || !strings.Contains(out, want) {
				t.Errorf("exit code: got %d, want %d and %q\n%s", code, exitHolds, want, out)
			}
			if h.cheats < 40 {
				t.Errorf("there was no trouble: %d", h.cheats)
			}
		})
	}
}

func TestEveryCheatIsFound(t *testing.T) {
	t.Parallel()
	for cheat, check := range map[string]string{
		"skips a number":            "none lost",
		"gives a number twice":      "no number twice",
		"overtakes":                 "FIFO per line",
		"says nobody waits":         "FIFO per line",
		"counts wrong":              "every reply explained",
		"answers out of order":      "real-time order",
		"calls one to two counters": "one ticket one counter",
		"forgets requests":          "retries answer the same",
		"announces another number":  "every display, every call, once, in order",
		"hides a call":              "every display, every call, once, in order",
		"repeats after a resume":    "every display, every call, once, in order",
		"loses a ticket":            "none lost",
	} {
		t.Run(cheat, func(t *testing.T) {
			t.Parallel()
			code, out := play(t, newFakeHall(4, cheat), "--displays", "2", "--retry", "0.2", "--cancel", "0.1")
			if code != exitBroken {
				t.Fatalf("exit code: got %d, want %d\n%s", code, exitBroken, out)
			}
			if !strings.Contains(out, "FAIL  "+check) || !strings.Contains(out, "fault 1 of") {
				t.Errorf("%q did not fail with evidence:\n%s", check, out)
			}
		})
	}
}

func TestWrongUseSaysWhatToDo(t *testing.T) {
	t.Parallel()
	dead, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	dead.Close()
	for _, c := range []struct {
		name string
		args []string
		want string
	}{
		{"no server", []string{"--grpc-addr", dead.Addr().String()}, "is callerd running at"},
		{"unknown flag", []string{"--nonsense"}, "see kiosk-sim --help"},
		{"a probability above one", []string{"--no-show", "2"}, "--no-show must be from 0 to 1"},
		{"a history that is none", []string{"verify", "main.go"}, "not a history"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var stdout, stderr bytes.Buffer
			if code := start(t.Context(), c.args, &stdout, &stderr); code != exitUsage {
				t.Errorf("exit code: got %d, want %d\n%s", code, exitUsage, &stdout)
			}
			if !strings.Contains(stderr.String(), c.want) {
				t.Errorf("got %q, want a message with %q", stderr.String(), c.want)
			}
		})
	}
	t.Run("too few counters", func(t *testing.T) {
		t.Parallel()
		code, out := play(t, newFakeHall(2, ""), "--displays", "0")
		if want := "configure counters 1 to 4"; code != exitUsage || !strings.Contains(out, want) {
			t.Errorf("got %d %q, want %d and %q", code, out, exitUsage, want)
		}
	})
}
