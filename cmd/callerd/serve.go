package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"callerd/internal/arch"
	"callerd/internal/branch"
	"callerd/internal/journal"
	"callerd/internal/queue"
	"callerd/internal/server"
	pb "callerd/proto/callerd/v1"
	"callerd/web/display"
)

// serveFlags are what serve is told on the command line; each also by the environment.
type serveFlags struct {
	GrpcAddr string `default:"127.0.0.1:7070" help:"Address of the gRPC services."`
	HTTPAddr string `name:"http-addr" default:"127.0.0.1:8080" help:"Address of the display page and its WebSockets."`
	Data     string `default:"./callerd-data" help:"Folder of the journal; made if it is missing."`
	Config   string `help:"File (YAML) with the branch, its categories and its counters. Without one: the default branch."`
	Insecure bool   `help:"Serve on addresses that are not loopback, although nobody is asked who he is."`
}

// serveCmd serves a branch until SIGTERM or SIGINT.
type serveCmd struct {
	serveFlags
	Verify bool `hidden:"" help:"Keep a second state beside the live one and compare."`
}

// stopWithin bounds a stop: what is not done by then is cut.
const stopWithin = 10 * time.Second

// Run serves.
func (c *serveCmd) Run(ctx context.Context, s *streams) error {
	logger, endLog := s.logger()
	defer endLog()
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP) // from the first moment on: it must not end the process
	defer signal.Stop(hangups)
	if c.Data == "" {
		return fmt.Errorf("%w: --data: names no folder", errUsage)
	}
	conf, err := loadConfig(c.Config)
	if err != nil {
		return err
	}
	for _, a := range [...]struct{ flag, addr string }{{"--grpc-addr", c.GrpcAddr}, {"--http-addr", c.HTTPAddr}} {
		if err := c.mayListen(a.flag, a.addr); err != nil {
			return err
		}
	}
	collectSeldom(logger)
	arch.Calibrate()
	j, err := journal.Open(c.Data, journal.Options{Logger: logger})
	if err != nil {
		return err
	}
	err = c.serve(ctx, s, logger, conf, j, hangups)
	if errors.Is(err, branch.ErrStoreFailed) {
		return err // a write may still be going on, and Close would wait for it
	}
	return errors.Join(err, j.Close())
}

// serve opens the branch on its journal and serves it until ctx ends.
func (c *serveCmd) serve(ctx context.Context, s *streams, logger *slog.Logger, conf *config, j *journal.Journal, hangups <-chan os.Signal) error {
	// Listen before the branch opens: a taken port must not leave a record.
	grpcListener, err := net.Listen("tcp", c.GrpcAddr)
	if err != nil {
		return fmt.Errorf("--grpc-addr: %w", err)
	}
	defer grpcListener.Close()
	httpListener, err := net.Listen("tcp", c.HTTPAddr)
	if err != nil {
		return fmt.Errorf("--http-addr: %w", err)
	}
	defer httpListener.Close()

	m := j.Meta()
	srv := server.New(server.Options{
		Meta: server.Meta{Epoch: m.Epoch, BranchID: m.BranchID, Format: m.Format}, Head: j.Last(), Export: exporter(j), Page: display.Handler(), Logger: logger})
	kept := newKeeper(j, conf.keepDays(), logger)
	publish := func(batch []*queue.Record) {
		srv.Publish(batch)
		kept.published(batch)
	}
	b, err := branch.Open(ctx, branch.Options{Journal: j, Publish: publish, Secret: m.Secret, Config: conf.branch(), Lease: conf.lease(),
		Logger: logger, Verify: c.Verify, Boot: sinceBoot(), Version: version()})
	if err != nil && ctx.Err() != nil && errors.Is(err, context.Cause(ctx)) {
		logger.Info("stopped before it was open")
		return nil
	}
	if err != nil {
		return err
	}
	running, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var beside sync.WaitGroup
	beside.Go(func() { driveDeadlines(running, b, logger) })
	beside.Go(func() { kept.run(running) })
	reloads := &reloader{path: c.Config, branch: b, keeper: kept, defined: srv.Categories, logger: logger, now: conf}
	beside.Go(func() { reloads.run(running, hangups) })
	beside.Go(func() {
		select {
		case <-b.Failed():
			stop(b.Err())
		case <-running.Done():
		}
	})
	c.say(s, conf, grpcListener.Addr(), httpListener.Addr())
	err = srv.Serve(running, b, grpcListener, httpListener)
	stop(nil)
	beside.Wait()
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopWithin)
	defer cancel()
	return errors.Join(err, b.Close(closing))
}

// say prints where everything is, once it is served.
func (c *serveCmd) say(s *streams, conf *config, grpcAddr, httpAddr net.Addr) {
	data, err := filepath.Abs(c.Data)
	if err != nil {
		data = c.Data
	}
	fmt.Fprintf(s.out, "callerd %s is open (time zone %s)\n", version(), conf.zone)
	fmt.Fprintf(s.out, "  gRPC for kiosks and consoles  %s\n", grpcAddr)
	fmt.Fprintf(s.out, "  hall display                  http://%s/\n", httpAddr)
	fmt.Fprintf(s.out, "  display over a counter        http://%s/?counter=%d\n", httpAddr, conf.Counters[0].Counter)
	fmt.Fprintf(s.out, "  journal                       %s\n", data)
}

// mayListen refuses an address that others can reach: until there is authentication, whoever reaches it commands
// the hall.
func (c *serveCmd) mayListen(flag, addr string) error {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return fmt.Errorf("%w: %s: %q is not host:port", errUsage, flag, addr)
	}
	ip := net.ParseIP(host)
	if host == "localhost" || ip != nil && ip.IsLoopback() || c.Insecure {
		return nil
	}
	return fmt.Errorf("%w: %s: %q can be reached from other machines, and nobody is asked who he is; use a loopback address, or --insecure on a network you trust", errUsage, flag, addr)
}

// exporter adapts the journal to what the server streams.
func exporter(j *journal.Journal) func(context.Context, uint64, func([]*pb.JournalBatch) error) error {
	return func(ctx context.Context, from uint64, send func([]*pb.JournalBatch) error) error {
		return j.Export(ctx, from, func(raw []journal.RawBatch) error {
			batches := make([]*pb.JournalBatch, len(raw))
			for i, b := range raw {
				batches[i] = &pb.JournalBatch{Day: b.Day, First: b.First, Value: b.Value}
			}
			return send(batches)
		})
	}
}
