package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"callerd/internal/branch"
	"callerd/internal/journal"
	"callerd/internal/queue"
	pb "callerd/proto/callerd/v1"
)

// checkCmd verifies a journal: every batch's checksum, the unbroken sequence, that every record is possible where it
// stands, and after each thousand and at the end every invariant of the whole state.
type checkCmd struct {
	Dir      string `arg:"" optional:"" help:"Folder of the journal. Default: --data."`
	Data     string `default:"./callerd-data" help:"Folder of the journal."`
	GrpcAddr string `default:"127.0.0.1:7070" help:"Where to ask the daemon, if it has the journal open."`
}

// Run checks. Faults found are errFaults, so that the exit code is 1.
func (c *checkCmd) Run(ctx context.Context, s *streams) error {
	dir := c.Data
	if c.Dir != "" {
		dir = c.Dir
	}
	if dir == "" {
		return fmt.Errorf("%w: --data: names no folder", errUsage)
	}
	if _, err := loadConfig(os.Getenv("CALLERD_CONFIG")); err != nil {
		return err // it may name another folder
	}
	k := &checker{state: branch.NewState(), kinds: map[string]int{}}
	r, err := journal.OpenReader(dir)
	switch {
	case err == nil:
		fmt.Fprintf(s.out, "checking %s (branch %s, epoch %s, format %d)\n", r.Path(), r.Meta().BranchID, r.Meta().Epoch, r.Meta().Format)
		err = errors.Join(r.Replay(func(r *queue.Record) error { return errors.Join(ctx.Err(), k.record(r)) }), r.Close())
	case errors.Is(err, journal.ErrLocked):
		fmt.Fprintf(s.out, "%v\nasking the daemon at %s instead\n", err, c.GrpcAddr)
		m, identified := journal.Identify(dir)
		if identified != nil {
			return identified
		}
		k.epoch = m.Epoch
		if err = k.export(ctx, s.out, c.GrpcAddr); errors.Is(err, errUnanswered) {
			return err
		}
	case errors.Is(err, journal.ErrDamaged), errors.Is(err, journal.ErrForeign), errors.Is(err, journal.ErrNewerFormat):
		fmt.Fprintf(s.out, "FAULT: %v\n", err)
		return errFaults
	default:
		return err
	}
	if err == nil {
		err = k.state.Check()
	}
	if ctx.Err() != nil {
		return fmt.Errorf("stopped at sequence %d, before the end: %w", k.last, context.Cause(ctx))
	}
	k.report(s.out)
	if err != nil {
		fmt.Fprintf(s.out, "FAULT after sequence %d: %v\n", k.last, err)
		return errFaults
	}
	fmt.Fprintln(s.out, "every invariant holds")
	return nil
}

// errUnanswered says that the daemon did not tell its journal, whatever that holds.
var errUnanswered = errors.New("the daemon did not answer")

// checker replays records as a branch would.
type checker struct {
	state   *branch.State
	epoch   string // of the journal that is meant, when a daemon is asked
	first   uint64
	last    uint64
	records int
	days    int
	kinds   map[string]int
}

// wholeEvery is how many records pass between two checks of the whole state.
const wholeEvery = 1000

func (k *checker) record(r *queue.Record) error {
	if k.records > 0 && r.Sequence != k.last+1 {
		return fmt.Errorf("sequence %d follows %d", r.Sequence, k.last)
	}
	if k.records == 0 {
		k.first = r.Sequence
	}
	k.records++
	k.last = r.Sequence
	for _, o := range r.Outcomes {
		k.count(o)
	}
	if err := k.state.Apply(r); err != nil {
		return err
	}
	if k.records%wholeEvery == 0 {
		return k.state.Check()
	}
	return nil
}

func (k *checker) count(o queue.Outcome) {
	switch o := o.(type) {
	case *queue.TicketChanged:
		k.kinds[o.Verb.String()]++
	case *queue.DayOpened:
		k.days++
	case *queue.Started:
		k.kinds["start of the daemon"]++
	}
}

func (k *checker) report(w io.Writer) {
	fmt.Fprintf(w, "%d records, sequences %d to %d, %d business days\n", k.records, k.first, k.last, k.days)
	for _, kind := range slices.Sorted(maps.Keys(k.kinds)) {
		fmt.Fprintf(w, "  %-20s %d\n", kind, k.kinds[kind])
	}
}

// export checks the journal of a running daemon.
func (k *checker) export(ctx context.Context, w io.Writer, addr string) error {
	conn, err := grpc.NewClient(addr, grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(64<<20)))
	if err != nil {
		return err
	}
	defer conn.Close()
	stream, err := pb.NewBranchServiceClient(conn).ExportJournal(ctx, &pb.ExportJournalRequest{})
	if err != nil {
		return fmt.Errorf("%w at %s (--grpc-addr): %w", errUnanswered, addr, err)
	}
	for {
		m, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%w at %s (--grpc-addr): %w", errUnanswered, addr, err)
		}
		if m.Epoch != "" && m.Epoch != k.epoch {
			return fmt.Errorf("%w: the one at %s (--grpc-addr) has another journal open, of epoch %s; this one is of %s", errUnanswered, addr, m.Epoch, k.epoch)
		}
		if m.Epoch != "" {
			fmt.Fprintf(w, "checking the daemon's journal (branch %s, epoch %s, format %d)\n", m.BranchId, m.Epoch, m.Format)
		}
		for _, b := range m.Batches {
			records, err := journal.DecodeBatch(b.First, b.Value)
			if err != nil {
				return err
			}
			for _, r := range records {
				if err := k.record(r); err != nil {
					return err
				}
			}
		}
	}
}
