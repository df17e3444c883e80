package profile

import "strings"

// Group is a part of the daemon's CPU.
type Group struct {
	Name string
	// Hue and Shade are its colour in a picture: groups of one hue are one goroutine's work.
	Hue, Shade int
	// within and frames say which stacks it is: those that have a function that begins with one of within, and another one that begins
	// with one of frames. Nil asks for nothing.
	within, frames []string
}

// What goroutines are, by a function that is in all their stacks.
var (
	commit  = []string{"callerd/internal/branch.(*pipe).run"}
	handler = []string{"google.golang.org/grpc.(*Server).handleStream", "google.golang.org/grpc.(*Server).serverWorker"}
	reader  = []string{"google.golang.org/grpc.(*Server).serveStreams", "google.golang.org/grpc/internal/transport.(*http2Server).HandleStreams"}
	writer  = []string{"google.golang.org/grpc/internal/transport.(*loopyWriter).run"}
)

// What is done on behalf of everybody is a group of its own wherever it happens, in a handler as in the commit.
var (
	collector = Group{Name: "garbage collector", Hue: 3, frames: []string{"runtime.gc", "runtime.bgsweep", "runtime.bgscavenge", "runtime.wbBufFlush", "runtime.runFinalizers", "runtime.runCleanups"}}
	scheduler = Group{Name: "scheduler, wake-ups", Hue: 4, frames: []string{"runtime.mcall", "runtime.schedule", "runtime.findRunnable", "runtime.goready", "runtime.ready", "runtime.wakep", "runtime.startm", "runtime.futex",
		"runtime.note", "runtime.park_m", "runtime.gosched", "runtime.goschedImpl", "runtime.netpoll", "runtime.handoffp", "runtime.sysmon", "runtime.mstart", "runtime.newproc", "runtime.injectglist"}}
)

// Groups are all of them, in the order of a table.
var Groups = []Group{
	{Name: "commit: write and sync", Hue: 0, frames: []string{"syscall.", "internal/poll.", "internal/runtime/syscall", "internal/syscall/", "os."}, within: commit},
	{Name: "commit: bbolt", Hue: 0, Shade: 1, frames: []string{"go.etcd.io/bbolt"}, within: commit},
	{Name: "commit: encode", Hue: 0, Shade: 2, frames: []string{"callerd/internal/journal."}, within: commit},
	{Name: "commit: publish", Hue: 0, Shade: 3, frames: []string{"callerd/internal/server.", "callerd/internal/hub."}, within: commit},
	{Name: "commit: gather, release", Hue: 0, Shade: 4, within: commit},
	{Name: "handler: decide, apply, wait", Hue: 1, frames: []string{"callerd/internal/branch."}, within: handler},
	{Name: "handler: request and reply", Hue: 1, Shade: 1, frames: []string{"callerd/internal/server.kioskService", "callerd/internal/server.counterService"}, within: handler},
	{Name: "handler: interceptors", Hue: 1, Shade: 2, frames: []string{"callerd/internal/server.(*Server).unary", "callerd/internal/server.(*Server).stream"}, within: handler},
	{Name: "handler: codec", Hue: 1, Shade: 3, within: handler,
		frames: []string{"google.golang.org/protobuf/", "google.golang.org/grpc/encoding/", "google.golang.org/grpc.encode", "google.golang.org/grpc.recv", "google.golang.org/grpc.(*parser)"}},
	{Name: "handler: rest of gRPC", Hue: 1, Shade: 4, within: handler},
	{Name: "gRPC reader", Hue: 2, within: reader},
	{Name: "gRPC writer", Hue: 2, Shade: 2, within: writer},
	scheduler,
	collector,
	{Name: "displays", Hue: 7, frames: []string{"callerd/internal/hub.", "net/http.", "github.com/gorilla/websocket."}},
	{Name: "other", Hue: 6, Shade: 2},
}

// order is that in which a stack is looked for; the last group takes what is left.
var order = append([]Group{collector, scheduler}, Groups...)

// groupOf tells the group of a stack, by the names of its functions.
func groupOf(stack []string) string {
	for _, g := range order {
		if has(stack, g.within) && has(stack, g.frames) {
			return g.Name
		}
	}
	return ""
}

// has reports whether a stack has a function that begins with one of the prefixes; every stack has one of none.
func has(stack, prefixes []string) bool {
	for _, p := range prefixes {
		for _, f := range stack {
			if strings.HasPrefix(f, p) {
				return true
			}
		}
	}
	return len(prefixes) == 0
}
