// Command callerd is a bank hall's queue-number (叫号) backend: kiosks take numbers and consoles call them over gRPC,
// displays show and speak them over WebSocket. With no arguments it serves a branch of two categories and four counters, its
// journal in ./callerd-data.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/alecthomas/kong"

	_ "time/tzdata" // a branch's time zone, also on a machine that has none installed
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)   // a second signal ends the process at once
	signal.Ignore(syscall.SIGPIPE) // a log that nobody reads any more must not end the hall
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// cli is the command line. Every flag can also be set by the environment (CALLERD_GRPC_ADDR for --grpc-addr), and those
// of serve by the file that --config names; flag before environment before file before default.
type cli struct {
	Serve   serveCmd   `cmd:"" default:"withargs" help:"Serve a branch (the default)."`
	Check   checkCmd   `cmd:"" help:"Verify a journal against every invariant, with the daemon stopped or running."`
	Config  configCmd  `cmd:"" help:"Check the configuration, or print what holds."`
	Clock   clockCmd   `cmd:"" help:"Accept a clock that is far behind the journal."`
	Version versionCmd `cmd:"" help:"Print the version."`
}

// run parses the arguments and carries out the command; it returns the exit code: 0 done, 1 failed or found faults, 2 usage.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	var c cli
	exited := false
	parser, err := kong.New(&c,
		kong.Name("callerd"),
		kong.Description("A bank hall's queue-number (叫号) backend. With no arguments it serves a branch of two categories and four counters."),
		kong.Writers(stdout, stderr), kong.DefaultEnvars("CALLERD"), kong.UsageOnError(),
		kong.Exit(func(int) { exited = true }), kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
		kong.BindTo(ctx, (*context.Context)(nil)), kong.Bind(&streams{stdout, stderr}),
		kong.Resolvers(kong.ResolverFunc(fromFile)))
	if err != nil {
		fmt.Fprintln(stderr, "callerd:", err)
		return 1
	}
	kctx, err := parser.Parse(args)
	if exited { // --help
		return 0
	}
	if err != nil {
		fmt.Fprintln(stderr, "callerd:", err)
		return 2
	}
	err = kctx.Run()
	switch {
	case err == nil:
		return 0
	case errors.Is(err, errFaults): // the report has been printed
		return 1
	}
	last := newLogWriter(stderr) // who does not read it must not keep a failed daemon from ending
	fmt.Fprintln(last, "callerd:", err)
	last.end()
	if errors.Is(err, errUsage) {
		return 2
	}
	return 1
}

// streams are where a command prints: what was asked for on out, what happens on err.
type streams struct{ out, err io.Writer }

// logger writes to err, and never waits for who reads it; end writes what is still to be written.
func (s *streams) logger() (l *slog.Logger, end func()) {
	w := newLogWriter(s.err)
	return slog.New(slog.NewTextHandler(w, nil)), w.end
}

var (
	errFaults = errors.New("faults were found")
	errUsage  = errors.New("usage")
)

// versionCmd prints the version.
type versionCmd struct{}

func (versionCmd) Run(s *streams) error {
	_, err := fmt.Fprintln(s.out, "callerd", version())
	return err
}
