package profile

import (
	"encoding/json"
	"go/format"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/pprof/profile"
)

// A stack's functions are from the one that runs to the one that began it.
func TestAStackIsOfOneGroup(t *testing.T) {
	const (
		run    = "callerd/internal/branch.(*pipe).run"
		worker = "google.golang.org/grpc.(*Server).serverWorker"
		unary  = "callerd/internal/server.(*Server).unary"
		loopy  = "google.golang.org/grpc/internal/transport.(*loopyWriter).run"
	)
	for _, c := range []struct {
		want  string
		stack []string
	}{
		{"commit: write and sync", []string{"internal/runtime/syscall/linux.Syscall6", "syscall.Syscall", "syscall.Fdatasync", "go.etcd.io/bbolt.fdatasync", "go.etcd.io/bbolt.(*Tx).Commit", "callerd/internal/journal.(*Journal).Append", run}},
		{"commit: bbolt", []string{"runtime.memmove", "go.etcd.io/bbolt.(*node).write", "go.etcd.io/bbolt.(*Tx).Commit", "callerd/internal/journal.(*Journal).Append", run}},
		{"commit: encode", []string{"hash/crc32.update", "callerd/internal/journal.(*encoder).batch", run}},
		{"commit: publish", []string{"callerd/internal/hub.(*Hub).Append", "callerd/internal/server.(*board).publish", run}},
		{"commit: gather, release", []string{"runtime.closechan", "callerd/internal/branch.(*pipe).committed", run}},
		{"handler: decide, apply, wait", []string{"runtime.mallocgc", "callerd/internal/branch.(*Branch).IssueTicket", "callerd/internal/server.kioskService.IssueTicket", unary, worker}},
		{"handler: request and reply", []string{"callerd/internal/server.issueRequest", "callerd/internal/server.kioskService.IssueTicket", unary, worker}},
		{"handler: interceptors", []string{"context.WithTimeout", unary, worker}},
		{"handler: codec", []string{"google.golang.org/protobuf/proto.MarshalOptions.Marshal", "google.golang.org/grpc.encode", worker}},
		{"handler: rest of gRPC", []string{"google.golang.org/grpc/internal/transport.(*http2Server).writeStatus", worker}},
		{"gRPC reader", []string{"syscall.Read", "google.golang.org/grpc/internal/transport.(*http2Server).HandleStreams", "google.golang.org/grpc.(*Server).serveStreams"}},
		{"gRPC writer", []string{"syscall.Write", loopy}},
		{"scheduler, wake-ups", []string{"runtime.futex", "runtime.findRunnable", "runtime.schedule", "runtime.park_m", "runtime.mcall"}},
		{"scheduler, wake-ups", []string{"runtime.wakep", "runtime.ready", "runtime.goready", "runtime.closechan", "callerd/internal/branch.(*pipe).committed", run}},
		{"garbage collector", []string{"runtime.gcAssistAlloc", "runtime.mallocgc", "callerd/internal/branch.(*Branch).IssueTicket", worker}},
		{"garbage collector", []string{"runtime.futex", "runtime.gcDrain", "runtime.gcBgMarkWorker"}},
		{"displays", []string{"syscall.Write", "callerd/internal/hub.(*conn).write", "net/http.(*conn).serve"}},
		{"other", []string{"time.Now", "main.main"}},
		{"other", nil},
	} {
		if got := groupOf(c.stack); got != c.want {
			t.Errorf("%v: got %q, want %q", c.stack, got, c.want)
		}
	}
}

// made is a profile of two stacks, whose functions are compiled into one another.
func made(types ...string) *profile.Profile {
	p := &profile.Profile{}
	for _, t := range types {
		p.SampleType = append(p.SampleType, &profile.ValueType{Type: t, Unit: "count"})
	}
	stack := func(count int64, names ...string) {
		l := &profile.Location{ID: uint64(len(p.Location) + 1)}
		for _, n := range names {
			f := &profile.Function{ID: uint64(len(p.Function) + 1), Name: n}
			p.Function = append(p.Function, f)
			l.Line = append(l.Line, profile.Line{Function: f})
		}
		p.Location = append(p.Location, l)
		p.Sample = append(p.Sample, &profile.Sample{Location: []*profile.Location{l}, Value: []int64{count, 4_000_000 * count}})
	}
	stack(3, "go.etcd.io/bbolt.(*Tx).Commit", "callerd/internal/branch.(*pipe).run")
	stack(1, "runtime.mcall")
	return p
}

func TestSharesAreOfTheSampledCPU(t *testing.T) {
	file := filepath.Join(t.TempDir(), "p.pb.gz")
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := made("samples", "cpu").Write(f); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	s, err := Read(file)
	if err != nil {
		t.Fatal(err)
	}
	if s.Samples != 4 {
		t.Errorf("got %d samples, want 4", s.Samples)
	}
	all := 0.0
	for _, share := range s.Shares() {
		all += share.Share
		if want := map[string]float64{"commit: bbolt": .75, scheduler.Name: .25}[share.Group]; share.Share != want {
			t.Errorf("%s: got %v, want %v", share.Group, share.Share, want)
		}
	}
	if math.Abs(all-1) > 1e-9 {
		t.Errorf("all shares are %v, want 1", all)
	}
}

func TestWhatIsNoCPUProfileIsRefused(t *testing.T) {
	if _, err := sum(made("alloc_objects", "alloc_space")); err == nil {
		t.Error("a heap profile was taken")
	}
	empty := made("samples", "cpu")
	empty.Sample = nil
	if _, err := sum(empty); err == nil {
		t.Error("a profile without samples was taken")
	}
}

func TestTheOverlayAddsAFormattedFileToTheDaemon(t *testing.T) {
	if f, err := format.Source(added); err != nil || string(f) != string(added) {
		t.Errorf("gofmt would change the added file (%v)", err)
	}
	name, err := Overlay("/repo", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var o struct{ Replace map[string]string }
	if err := json.Unmarshal(b, &o); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(o.Replace["/repo/cmd/callerd/added.go"])
	if err != nil || string(got) != string(added) {
		t.Errorf("the file that is added is another one (%v)", err)
	}
}
