package display

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/google/uuid"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	pb "callerd/proto/callerd/v1"
)

// daemon is a real callerd with real clients of it.
type daemon struct {
	t              *testing.T
	binary, data   string
	grpcAddr, http string
	cmd            *exec.Cmd
	ended          chan error
	log            *logBuffer
	conn           *grpc.ClientConn
	tokens         map[uint32]string // sessions
	current        map[uint32]string // ticket ids
	kiosk          pb.KioskServiceClient
	console        pb.CounterServiceClient
	branch         pb.BranchServiceClient
}

// openDaemon builds callerd and starts it on a fresh journal.
func openDaemon(t *testing.T) *daemon {
	t.Helper()
	folder := t.TempDir()
	d := &daemon{t: t, binary: filepath.Join(folder, "callerd"), data: filepath.Join(folder, "data"), grpcAddr: "127.0.0.1:0", http: "127.0.0.1:0",
		log: &logBuffer{}, tokens: map[uint32]string{}, current: map[uint32]string{}}
	// No console here renews its session.
	if err := os.WriteFile(filepath.Join(folder, "callerd.yaml"), []byte("session:\n  lease: 1h\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	build := exec.Command("go", "build", "-o", d.binary, "callerd/cmd/callerd")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building callerd: %v\n%s", err, out)
	}
	t.Cleanup(func() {
		d.t = t // a subtest may have had it
		if d.cmd != nil {
			d.kill()
		}
		if t.Failed() {
			t.Logf("callerd's log:\n%s", d.log)
		}
	})
	d.start()
	conn, err := grpc.NewClient(d.grpcAddr, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	d.conn = conn
	d.kiosk, d.console, d.branch = pb.NewKioskServiceClient(conn), pb.NewCounterServiceClient(conn), pb.NewBranchServiceClient(conn)
	return d
}

func (d *daemon) url(query string) string { return "http://" + d.http + "/" + query }

// start runs the daemon until it says where it serves.
func (d *daemon) start() {
	d.t.Helper()
	d.cmd = exec.Command(d.binary, "serve", "--grpc-addr", d.grpcAddr, "--http-addr", d.http, "--data", d.data, "--config", filepath.Join(filepath.Dir(d.data), "callerd.yaml"))
	d.cmd.Stderr = d.log
	out, err := d.cmd.StdoutPipe()
	if err != nil {
		d.t.Fatal(err)
	}
	if err := d.cmd.Start(); err != nil {
		d.t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) == 0 {
			continue
		}
		switch last := fields[len(fields)-1]; fields[0] {
		case "gRPC":
			d.grpcAddr = last
		case "hall":
			d.http = strings.Trim(strings.TrimPrefix(last, "http://"), "/")
		case "journal": // the last of what it says
			d.ended = make(chan error, 1)
			go func(cmd *exec.Cmd, ended chan error) { ended <- cmd.Wait() }(d.cmd, d.ended)
			return
		}
	}
	d.t.Fatalf("callerd ended before it served: %v\n%s", d.cmd.Wait(), d.log)
}

func (d *daemon) signal(s syscall.Signal) {
	d.t.Helper()
	if err := d.cmd.Process.Signal(s); err != nil {
		d.t.Errorf("signal %v: %v", s, err)
	}
}

// stop asks it to stop, and wants it to have done so in order.
func (d *daemon) stop() {
	d.t.Helper()
	d.signal(syscall.SIGTERM)
	if err := <-d.ended; err != nil {
		d.t.Errorf("after SIGTERM callerd ended with %v", err)
	}
	d.cmd = nil
}

func (d *daemon) kill() {
	d.t.Helper()
	d.signal(syscall.SIGKILL)
	<-d.ended
	d.cmd = nil
}

// ask makes one call, waiting for a daemon that is just coming back.
func ask[Q, R any](d *daemon, method func(context.Context, Q, ...grpc.CallOption) (R, error), request Q) R {
	d.t.Helper()
	ctx, cancel := context.WithTimeout(d.t.Context(), patience)
	defer cancel()
	reply, err := method(ctx, request, grpc.WaitForReady(true))
	if err != nil {
		d.t.Fatalf("%T: %v", request, err)
	}
	return reply
}

func (d *daemon) issue(category string) string {
	d.t.Helper()
	return ask(d, d.kiosk.IssueTicket, &pb.IssueTicketRequest{RequestId: uuid.NewString(), Category: category, Kiosk: "door"}).GetTicket().GetNumber()
}

func (d *daemon) open(counter uint32) {
	d.t.Helper()
	d.tokens[counter] = ask(d, d.console.OpenCounter, &pb.OpenCounterRequest{RequestId: uuid.NewString(), Counter: counter, Teller: fmt.Sprint("teller ", counter)}).GetSessionToken()
}

// call completes the counter's ticket, if it has one, and calls the next. It returns its number.
func (d *daemon) call(counter uint32) string {
	d.t.Helper()
	r := ask(d, d.console.CallNext, &pb.CallNextRequest{RequestId: uuid.NewString(), SessionToken: d.tokens[counter], CompleteTicket: d.current[counter]})
	if r.GetTicket() == nil {
		d.t.Fatalf("counter %d called, and nobody waits", counter)
	}
	d.current[counter] = r.GetTicket().GetId()
	return r.GetTicket().GetNumber()
}

func (d *daemon) recall(counter uint32) {
	d.t.Helper()
	ask(d, d.console.RecallTicket, &pb.RecallTicketRequest{RequestId: uuid.NewString(), SessionToken: d.tokens[counter], Ticket: d.current[counter]})
}

func (d *daemon) pause(counter uint32) {
	d.t.Helper()
	ask(d, d.console.PauseCounter, &pb.PauseCounterRequest{RequestId: uuid.NewString(), SessionToken: d.tokens[counter], Reason: "break"})
}

func (d *daemon) resume(counter uint32) {
	d.t.Helper()
	ask(d, d.console.ResumeCounter, &pb.ResumeCounterRequest{RequestId: uuid.NewString(), SessionToken: d.tokens[counter]})
}

func (d *daemon) complete(counter uint32) {
	d.t.Helper()
	ask(d, d.console.StartTicket, &pb.StartTicketRequest{RequestId: uuid.NewString(), SessionToken: d.tokens[counter], Ticket: d.current[counter]})
	ask(d, d.console.CompleteTicket, &pb.CompleteTicketRequest{RequestId: uuid.NewString(), SessionToken: d.tokens[counter], Ticket: d.current[counter]})
	delete(d.current, counter)
}

func (d *daemon) notice(zh, en string) {
	d.t.Helper()
	ask(d, d.branch.PublishNotice, &pb.PublishNoticeRequest{RequestId: uuid.NewString(), Who: "manager", Text: &pb.LocalizedText{ZhCn: zh, En: en}})
}

// logBuffer keeps what the daemon logs, for a test that fails.
type logBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
