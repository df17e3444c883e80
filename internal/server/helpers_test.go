package server

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	"callerd/internal/branch"
	"callerd/internal/journal"
	"callerd/internal/queue"
	pb "callerd/proto/callerd/v1"
)

// rig is a server on loopback with a branch on a real journal.
type rig struct {
	*Server
	b       *branch.Branch
	journal *journal.Journal
	gate    *gate
	log     *syncBuffer
	conn    *grpc.ClientConn
	kiosk   pb.KioskServiceClient
	counter pb.CounterServiceClient
	hall    pb.BranchServiceClient
	desk    pb.ResourceServiceClient
	web     string // host:port
	stop    func() // stops the server as SIGTERM does, then closes the rest; it may be called again
}

// start serves a branch with two categories and counters 1 to 4 until the test ends.
func start(t *testing.T, opts Options, dial ...grpc.DialOption) *rig {
	t.Helper()
	return startWith(t, opts, func(*branch.Options) {}, dial...)
}

// startWith lets change have a word in what the branch is opened with.
func startWith(t *testing.T, opts Options, change func(*branch.Options), dial ...grpc.DialOption) *rig {
	t.Helper()
	r := &rig{log: &syncBuffer{}}
	j, err := journal.Open(t.TempDir(), journal.Options{NoSync: true}) // no power is cut here
	if err != nil {
		t.Fatal(err)
	}
	r.journal, r.gate = j, newGate(j)
	m := j.Meta()
	opts.Meta = Meta{Epoch: m.Epoch, BranchID: m.BranchID, Format: m.Format}
	opts.Logger = slog.New(slog.NewTextHandler(r.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	opts.Page = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "the page") })
	opts.Export = func(ctx context.Context, from uint64, send func([]*pb.JournalBatch) error) error {
		return j.Export(ctx, from, func(raw []journal.RawBatch) error {
			var batches []*pb.JournalBatch
			for _, b := range raw {
				batches = append(batches, &pb.JournalBatch{Day: b.Day, First: b.First, Value: b.Value})
			}
			return send(batches)
		})
	}
	r.Server = New(opts)
	open := branch.Options{Journal: r.gate, Publish: r.Publish, Secret: m.Secret, Config: testConfig(), Logger: opts.Logger, Verify: true}
	change(&open)
	r.b, err = branch.Open(t.Context(), open)
	if err != nil {
		t.Fatal(err)
	}
	rpc, web := listen(t), listen(t)
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- r.Serve(ctx, r.b, rpc, web) }()
	dial = append(dial, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if r.conn, err = grpc.NewClient(rpc.Addr().String(), dial...); err != nil {
		t.Fatal(err)
	}
	r.desk = pb.NewResourceServiceClient(r.conn)
	r.kiosk, r.counter, r.hall, r.web = pb.NewKioskServiceClient(r.conn), pb.NewCounterServiceClient(r.conn), pb.NewBranchServiceClient(r.conn), web.Addr().String()
	var once sync.Once
	r.stop = func() {
		once.Do(func() {
			cancel()
			if err := <-served; err != nil {
				t.Errorf("Serve: %v", err)
			}
			r.gate.open()
			_ = r.b.Close(context.Background()) // a branch whose store has failed says so; others are compared by Verify
			if r.b.Err() == nil && r.b.Admitting() == nil {
				t.Error("the branch admits commands after Close")
			}
			r.conn.Close()
			if err := j.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	t.Cleanup(r.stop)
	return r
}

// unserved is a server that is never served.
func unserved(t *testing.T, opts Options) *Server {
	t.Helper()
	opts.Page = http.NotFoundHandler()
	s := New(opts)
	t.Cleanup(func() { s.hub.Close(); s.grpc.Stop() })
	return s
}

func listen(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func testConfig() branch.Config {
	c := branch.Config{Name: queue.Names{Zh: "营业厅", En: "Hall"}}
	c.Categories = []queue.CategoryDefined{
		{ID: "personal", Prefix: "A", Width: 3, Name: queue.Names{Zh: "个人业务", En: "Personal"}},
		{ID: "corporate", Prefix: "B", Width: 3, Name: queue.Names{Zh: "对公业务", En: "Corporate"}}}
	for n := queue.CounterID(1); n <= 4; n++ {
		c.Counters = append(c.Counters, queue.CounterDefined{ID: n, Categories: []queue.CategoryID{"personal", "corporate"}, Rule: queue.Oldest})
	}
	c.Resources = []queue.ResourceDefined{{Name: "seal", Title: queue.Names{Zh: "公章", En: "Seal"}}, {Name: "cash-machine"}}
	return c
}

// requestID makes the n-th request id.
func requestID(n int) string { return fmt.Sprintf("00000000-0000-4000-8000-%012x", n) }

func (r *rig) issue(t *testing.T, n int, category string) *pb.IssueTicketResponse {
	t.Helper()
	v, err := r.kiosk.IssueTicket(t.Context(), &pb.IssueTicketRequest{RequestId: requestID(n), Category: category, Kiosk: "k1"})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// open opens a counter and returns its session's token.
func (r *rig) open(t *testing.T, n int, counter uint32) string {
	t.Helper()
	v, err := r.counter.OpenCounter(t.Context(), &pb.OpenCounterRequest{RequestId: requestID(n), Counter: counter, Teller: "t1"})
	if err != nil {
		t.Fatal(err)
	}
	return v.SessionToken
}

func (r *rig) call(t *testing.T, n int, token string) *pb.CallNextResponse {
	t.Helper()
	v, err := r.counter.CallNext(t.Context(), &pb.CallNextRequest{RequestId: requestID(n), SessionToken: token})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// refusal is a status taken apart.
type refusal struct {
	code      codes.Code
	message   string
	info      *errdetails.ErrorInfo
	bad       []*errdetails.BadRequest_FieldViolation
	retry     time.Duration
	localized string
}

func refused(err error) refusal {
	st := status.Convert(err)
	r := refusal{code: st.Code(), message: st.Message(), info: &errdetails.ErrorInfo{}}
	for _, d := range st.Details() {
		switch d := d.(type) {
		case *errdetails.ErrorInfo:
			r.info = d
		case *errdetails.BadRequest:
			r.bad = d.FieldViolations
		case *errdetails.RetryInfo:
			r.retry = d.RetryDelay.AsDuration()
		case *errdetails.LocalizedMessage:
			r.localized = d.Message
		}
	}
	return r
}

// syncBuffer is a log that several goroutines write.
type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}
