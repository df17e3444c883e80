// Command kiosk-sim plays a hall full of kiosks, consoles and displays against a running callerd and
// judges what its clients saw. See README.md.
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

// The exit codes.
const (
	exitHolds  = 0
	exitBroken = 1
	exitUsage  = 2 // or the server cannot be used
)

var (
	// errBroken is returned when a check failed; the report has said so.
	errBroken = errors.New("an invariant is broken")
	// errHelp is returned when help was asked for, and given.
	errHelp = errors.New("help")
)

type cli struct {
	Run    runCmd    `cmd:"" default:"withargs" help:"Play a hall and judge it (the default)."`
	Verify verifyCmd `cmd:"" help:"Judge histories that earlier runs wrote."`
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(start(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// start is main with everything it touches handed in.
func start(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	err := parse(ctx, args, stdout, stderr)
	switch {
	case err == nil, errors.Is(err, errHelp):
		return exitHolds
	case errors.Is(err, errBroken):
		return exitBroken
	}
	fmt.Fprintln(stderr, "kiosk-sim:", err)
	return exitUsage
}

func parse(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	var c cli
	helped := false
	k, err := kong.New(&c, kong.Name("kiosk-sim"), kong.Writers(stdout, stderr), kong.Exit(func(int) { helped = true }),
		kong.Description("Plays kiosks, consoles and displays of a hall as real clients of a running callerd and judges what they saw.\n\n"+
			"Exit code 0: all checks hold; 1: an invariant is broken; 2: wrong usage, or a server that cannot be used."))
	if err != nil {
		return err
	}
	parsed, err := k.Parse(args)
	if helped {
		return errHelp
	}
	if err != nil {
		return fmt.Errorf("%w; see kiosk-sim --help", err)
	}
	if parsed.Command() == "run" {
		return c.Run.run(ctx, stdout, stderr)
	}
	return c.Verify.run(ctx, stdout)
}
