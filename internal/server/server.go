// Package server is what leaves the process: the gRPC services, the one table of errors, the board that
// displays see, and the web port with the display page and its WebSockets.
//
// # Threads
//
//   - the branch's commit goroutine calls [Server.Publish], which never blocks;
//   - grpc runs a goroutine a call, net/http one a connection; a WebSocket's is the hub's while it lasts;
//   - [Server.Serve] owns the two listeners' goroutines and ends them in order: health says NOT_SERVING, streams end, displays
//     are sent away (1001), calls finish until the stop timer, the listeners close.
package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/reflection"
	"google.golang.org/protobuf/types/known/durationpb"

	"callerd/internal/branch"
	"callerd/internal/hub"
	"callerd/internal/queue"
	pb "callerd/proto/callerd/v1"
)

// Options are what a server is made with.
type Options struct {
	// Meta of the journal, for displays and for ExportJournal.
	Meta Meta
	// Head is the sequence of the journal's last record when it was opened; Publish is then given what is replayed up to it. Zero: a new
	// journal.
	Head uint64
	// Export streams the journal's raw batches from a sequence on. Required.
	Export func(ctx context.Context, from uint64, send func([]*pb.JournalBatch) error) error
	// Page serves the display page. Required.
	Page http.Handler
	// CallTimeout is the deadline of calls that bring none. Zero: 10 s.
	CallTimeout time.Duration
	// StopTimeout bounds how long calls may finish when stopping. Zero: 5 s.
	StopTimeout time.Duration
	// Heartbeat is how often an idle display hears of the server. Zero: 5 s, what the protocol says.
	Heartbeat time.Duration
	// WriteTimeout is how long one frame may take to leave for a display. Zero: 5 s.
	WriteTimeout time.Duration
	// MaxDisplays is how many WebSockets are served at once. Zero: 5000.
	MaxDisplays int
	// Now is the clock for heartbeats. Nil: time.Now.
	Now func() time.Time
	// Logger gets what an operator should know. Nil discards.
	Logger *slog.Logger
}

// orDefaults fills in what is zero.
func (opts Options) orDefaults() Options {
	if opts.CallTimeout == 0 {
		opts.CallTimeout = 10 * time.Second
	}
	if opts.StopTimeout == 0 {
		opts.StopTimeout = 5 * time.Second
	}
	if opts.MaxDisplays == 0 {
		opts.MaxDisplays = 5000
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.NewTextHandler(io.Discard, nil))
	}
	return opts
}

// mostExports is how many ExportJournal streams run at once; others wait.
const mostExports = 2

// Meta names a journal.
type Meta struct {
	Epoch    string
	BranchID string
	Format   uint32
}

// Server serves one branch.
type Server struct {
	opts     Options
	hub      *hub.Hub
	board    *board
	branch   *branch.Branch
	grpc     *grpc.Server
	health   *health.Server
	http     *http.Server
	stopping chan struct{} // closed when streams shall end
	exports  chan struct{} // as many slots as exports may run at once
	stopOnce sync.Once
}

// New makes a server whose board is ready for [Server.Publish].
func New(opts Options) *Server {
	opts = opts.orDefaults()
	s := &Server{opts: opts, stopping: make(chan struct{}), exports: make(chan struct{}, mostExports)} // the size is the bound
	s.board = newBoard(opts.Meta.Epoch, opts.Now, opts.Head)
	s.hub = hub.New(hub.Options{Encode: encodeFrame, Heartbeat: s.board.heartbeat, HeartbeatEvery: opts.Heartbeat, WriteTimeout: opts.WriteTimeout, Logger: opts.Logger})
	s.board.hub = s.hub
	s.grpc = s.newGRPC()
	pb.RegisterKioskServiceServer(s.grpc, kioskService{Server: s})
	pb.RegisterCounterServiceServer(s.grpc, counterService{Server: s})
	pb.RegisterBranchServiceServer(s.grpc, branchService{Server: s})
	pb.RegisterResourceServiceServer(s.grpc, resourceService{Server: s})
	s.health = health.NewServer()
	s.health.SetServingStatus("", healthpb.HealthCheckResponse_NOT_SERVING)
	healthpb.RegisterHealthServer(s.grpc, s.health)
	reflection.Register(s.grpc)
	s.http = s.newHTTP()
	return s
}

// Publish gives the board committed records, in order; it is the branch's Options.Publish.
func (s *Server) Publish(records []*queue.Record) { s.board.publish(records) }

// Serve serves b on the two listeners until ctx ends, then stops in order. It returns an error only if a listener failed.
func (s *Server) Serve(ctx context.Context, b *branch.Branch, grpcListener, httpListener net.Listener) error {
	s.branch = b
	failed := make(chan error, 2) // one for each listener, so that none of them waits for us
	var running sync.WaitGroup
	running.Go(func() { failed <- s.grpc.Serve(grpcListener) })
	running.Go(func() {
		if err := s.http.Serve(httpListener); !errors.Is(err, http.ErrServerClosed) {
			failed <- err
		}
	})
	for name := range s.grpc.GetServiceInfo() {
		s.health.SetServingStatus(name, healthpb.HealthCheckResponse_SERVING)
	}
	s.health.SetServingStatus("", healthpb.HealthCheckResponse_SERVING)
	var err error
	select {
	case <-ctx.Done():
	case err = <-failed:
		err = fmt.Errorf("server: %w", err)
	}
	s.stop(context.WithoutCancel(ctx))
	running.Wait()
	return err
}

// stop ends everything in order, bounded by StopTimeout.
func (s *Server) stop(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, s.opts.StopTimeout)
	defer cancel()
	s.health.Shutdown()
	s.stopOnce.Do(func() { close(s.stopping) })
	s.hub.Close()
	var ending sync.WaitGroup // both at once: a page that is slowly read must not take the calls their time
	ending.Go(func() {
		if err := s.http.Shutdown(ctx); err != nil {
			_ = s.http.Close() // its only errors are those of sockets that are gone
		}
	})
	graceful := make(chan struct{})
	ending.Go(func() {
		defer close(graceful)
		s.grpc.GracefulStop()
	})
	select {
	case <-graceful:
	case <-ctx.Done():
		s.grpc.Stop() // GracefulStop waits for ever on a peer that does not end
	}
	ending.Wait()
}

// endingStream is a stream whose context ends when the server stops, with ErrStopping as the cause.
type endingStream struct {
	grpc.ServerStream
	ctx context.Context
}

func (s *endingStream) Context() context.Context { return s.ctx }

// untilStopping ends a stream's context when the server stops. The caller calls end.
func (s *Server) untilStopping(stream grpc.ServerStream) (_ *endingStream, end func()) {
	ctx, cancel := context.WithCancelCause(stream.Context())
	go func() {
		select {
		case <-s.stopping:
			cancel(branch.ErrStopping)
		case <-ctx.Done():
		}
	}()
	return &endingStream{stream, ctx}, func() { cancel(nil) }
}

// unlessStopping ends a call that may wait for long when the server stops.
func (s *Server) unlessStopping(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		select {
		case <-s.stopping:
			cancel(branch.ErrStopping)
		case <-ctx.Done():
		}
	}()
	return ctx, func() { cancel(nil) }
}

// unary gives a call a deadline if it has none, and makes its error a status.
func (s *Server) unary(ctx context.Context, req any, info *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (any, error) {
	if _, has := ctx.Deadline(); !has {
		timeout := s.opts.CallTimeout
		if w, waits := req.(interface{ GetWait() *durationpb.Duration }); waits { // it may wait so long, and then be carried out
			timeout += min(max(0, w.GetWait().AsDuration()), mostTTL)
		}
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, timeout)
		defer cancel()
	}
	r, err := handle(ctx, req)
	if err != nil {
		return nil, s.convert(err, info.FullMethod)
	}
	return r, nil
}

// stream ends a stream when the server stops, also those of the health service, and makes its error a status.
func (s *Server) stream(srv any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handle grpc.StreamHandler) error {
	ending, end := s.untilStopping(stream)
	defer end()
	return s.convert(handle(srv, ending), info.FullMethod)
}
