// Command bench measures callerd beside the limits of the machine and beside what one would build the same with. See README.md.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/alecthomas/kong"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once, and the kernel the processes that it started
	os.Exit(run(ctx, os.Args[1:], &streams{os.Stdout, os.Stderr}))
}

// streams are where results and progress go.
type streams struct{ out, err io.Writer }

// common are the flags of every part.
type common struct {
	Dir     string `default:".build/bench-data" help:"Folder for the data of all systems, on the disk to be measured. Relative to the repository."`
	Results string `default:"bench/results" help:"Folder for the JSON files. Relative to the repository."`
	Plots   string `default:"docs/bench" help:"Folder for the pictures. Relative to the repository."`
	Quick   bool   `help:"Everything once and small: shows that it works, no figure of it counts."`
}

// cli is the command line.
type cli struct {
	common
	All     allCmd     `cmd:"" default:"withargs" help:"Everything (the default)."`
	Load    loadCmd    `cmd:"" help:"Issue and call-next beside the limits and the peers."`
	Profile profileCmd `cmd:"" help:"Where the daemon's CPU goes."`
	Growth  growthCmd  `cmd:"" help:"What an operation costs as the day goes on."`
	Startup startupCmd `cmd:"" help:"How long callerd is away after a kill -9, and what its journal takes."`
	Fanout  fanoutCmd  `cmd:"" help:"One call on its way to many displays."`
	Lock    lockCmd    `cmd:"" help:"The lock beside others."`

	ServeFront frontCmd    `cmd:"" hidden:""`
	ServeBare  bareCmd     `cmd:"" hidden:""`
	Displays   displaysCmd `cmd:"" hidden:""`
}

// run parses the arguments and carries out the command; it returns the exit code.
func run(ctx context.Context, args []string, s *streams) int {
	var c cli
	exited := false
	parser, err := kong.New(&c, kong.Name("bench"), kong.Description("Measures callerd beside the machine's limits and beside its peers."),
		kong.Writers(s.out, s.err), kong.UsageOnError(), kong.Exit(func(int) { exited = true }),
		kong.BindTo(ctx, (*context.Context)(nil)), kong.Bind(s, &c.common))
	if err != nil {
		fmt.Fprintln(s.err, "bench:", err)
		return 1
	}
	kctx, err := parser.Parse(args)
	if exited { // --help
		return 0
	}
	if err != nil {
		fmt.Fprintln(s.err, "bench:", err)
		return 2
	}
	if err := kctx.Run(); err != nil {
		fmt.Fprintln(s.err, "bench:", err)
		return 1
	}
	return 0
}

// part is one of what the command measures.
type part interface {
	measure(ctx context.Context, c *common, l *lab) error
}

// measured opens the lab, measures, and leaves nothing behind.
func (c *common) measured(ctx context.Context, s *streams, parts ...part) error {
	l, err := c.open(ctx, s)
	if err != nil {
		return err
	}
	l.describe()
	var errs []error
	for _, p := range parts { // one that fails does not keep the others from being measured
		errs = append(errs, p.measure(ctx, c, l))
		if ctx.Err() != nil {
			break
		}
	}
	return errors.Join(append(errs, l.close())...)
}

// allCmd measures everything.
type allCmd struct {
	loadFlags
	profileFlags
	Startup startupCmd `embed:"" prefix:"startup-"`
}

// Run implements the command.
func (a *allCmd) Run(ctx context.Context, c *common, s *streams) error {
	return c.measured(ctx, s, &a.loadFlags, &a.profileFlags, &growthCmd{}, &a.Startup, &fanoutCmd{}, &lockCmd{})
}
