// Package branch is the hall (网点) as a state machine.
//
//   - An operation takes a permit, then its locks in the one order, decides under them, and as its last act
//     claims the next sequence for its record. See [Branch.do], the only way in.
//   - The commit goroutine writes the records, all that are there in one transaction, tells the displays, and
//     releases whoever waits.
//   - [State] is what the records make: [State.Apply] is used live, in replay, by the check and by verify.
//
// Every reply waits until the head sequence, read while still holding the operation's locks, is on disk: also refusals,
// empty lines and reads, for they tell what an uncommitted fact made true.
//
// # Caveats
//
// A Branch reads the clock only through Options.Now and sets no timer for the domain: who runs it asks
// NextDeadline and calls Expire. If ctx ends while an operation waits for its commit, the operation has happened all the same; the same
// request id tells its outcome.
package branch

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"callerd/internal/arch"
	"callerd/internal/queue"
)

// Journal is where the records go.
type Journal interface {
	// Replay calls f for each record from the DayOpened before the newest, in order.
	Replay(f func(*queue.Record) error) error
	// Append makes a batch durable, whole or not at all. An error that matches syscall.ENOSPC or EDQUOT asks to call it again with
	// the same batch once there is room; after any other error the outcome is unknown.
	Append(batch []*queue.Record) error
}

// Options are what a branch is opened with.
type Options struct {
	Journal Journal // required
	// Publish gets every record once it is durable, in order, from one goroutine; those of the replay first, before Open
	// returns. It may not block nor keep the slice. Nil: nobody looks.
	Publish func(batch []*queue.Record)
	// Secret makes the session tokens; 16 bytes at least. Required.
	Secret []byte
	// Config is the branch as configured. The zero value has no category and no counter.
	Config Config
	// Lease is how long a session lives without a command or a renewal. Zero: DefaultLease.
	Lease time.Duration
	// Now is the clock; its monotonic reading runs the leases. Any goroutine may call it. Nil: time.Now.
	Now func() time.Time
	// Logger gets what an operator should know. Nil discards.
	Logger *slog.Logger
	// Permits is how many records may be claimed and not yet on disk. Zero: 4096.
	Permits int
	// Verify keeps a second state in the commit goroutine, checked record by record, and compared with the live one
	// at Close.
	Verify bool
	// Boot is the time since the machine started, its sleep included, by which a jump of the clock is told from a long
	// sleep. Nil: the monotonic reading of Now.
	Boot func() time.Duration
	// Version of the program, for the journal.
	Version string

	acceptClock bool
}

// DefaultLease is long enough for a console to restart and short enough that a dead one frees its customer soon.
const DefaultLease = 60 * time.Second

// Branch is an open hall. Its methods may be called by any number of goroutines.
type Branch struct {
	state    *State
	pipe     *pipe
	opts     Options
	started  time.Time // for the monotonic clock
	config   atomic.Pointer[Config]
	clock    *timekeeper
	accepted queue.ClockAccepted
	changed  chan struct{}
	unsealed sync.Map // counter to *unsealed: its token that was read last
	// expected is the monotonic ns at which Expire should be called, 0 before the first NextDeadline.
	expected atomic.Int64
}

// Open replays the journal, writes that the branch has started and what the configuration changed, and waits
// until that is on disk.
func Open(ctx context.Context, opts Options) (*Branch, error) {
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.NewTextHandler(io.Discard, nil))
	}
	if opts.Publish == nil {
		opts.Publish = func([]*queue.Record) {}
	}
	if opts.Config.Zone == nil {
		opts.Config.Zone = time.UTC
	}
	if opts.Lease == 0 {
		opts.Lease = DefaultLease
	}
	if opts.Permits == 0 {
		opts.Permits = 4096
	}
	if err := opts.Config.validate(); err != nil {
		return nil, fmt.Errorf("branch: configuration: %w", err)
	}
	if len(opts.Secret) < 16 {
		return nil, fmt.Errorf("branch: a secret of %d bytes, want at least 16", len(opts.Secret))
	}
	b := &Branch{state: NewState(), opts: opts, started: opts.Now(), changed: make(chan struct{}, 1)}
	b.config.Store(&opts.Config)
	var shadow *shadow
	if opts.Verify {
		shadow = newShadow()
	}
	head, err := b.replay(shadow)
	if err != nil {
		return nil, fmt.Errorf("branch: replay: %w", err)
	}
	last := b.state.last.Load()
	b.clock = newClock(opts.Now, opts.Boot, b.mono, last, opts.Logger)
	if err := b.clock.check(last); err != nil && !opts.acceptClock {
		return nil, fmt.Errorf("branch: %w", err)
	}
	b.state.deadlines.nearer = b.deadlineChanged
	b.state.resources.nearer = b.deadlineChanged
	b.pipe = newPipe(head, opts, shadow, b.mono, b.deadlineChanged)
	b.clock.leapt = b.pipe.beginAnew
	go b.pipe.run()
	if err := b.start(ctx); err != nil {
		// Nobody was told anything: what found no space is not waited for.
		ended, cancel := context.WithCancel(ctx)
		cancel()
		b.pipe.close(ended)
		return nil, fmt.Errorf("branch: start: %w", err)
	}
	return b, nil
}

func (b *Branch) replay(shadow *shadow) (head uint64, err error) {
	err = b.opts.Journal.Replay(func(r *queue.Record) error {
		if head != 0 && r.Sequence != head+1 {
			return fmt.Errorf("record %d follows %d", r.Sequence, head)
		}
		head = r.Sequence
		if err := b.state.Apply(r); err != nil {
			return err
		}
		if shadow != nil {
			if err := shadow.apply(r); err != nil {
				return err
			}
		}
		b.opts.Publish([]*queue.Record{r})
		return nil
	})
	return head, err
}

// start writes the first record of this run, and the business day before it if another one has come.
func (b *Branch) start(ctx context.Context) error {
	if b.opts.acceptClock {
		if err := b.acceptClock(ctx); err != nil {
			return err
		}
	}
	if err := b.openDay(ctx); err != nil {
		return err
	}
	o, err := b.do(ctx, nil, lockAll, func(o *operation) error {
		o.emit(&queue.Started{Version: b.opts.Version, Branch: b.config.Load().Name})
		return b.configure(o, starting)
	}, nil)
	if err == nil {
		b.opts.Logger.Info("branch open", "business_day", b.state.day.Load().Day.String(), "sequence", o.sequence)
	}
	return err
}

// Failed is closed when a commit failed in a way that leaves its outcome unknown: the process must end, and the
// restart replays. Err then says why.
func (b *Branch) Failed() <-chan struct{} { return b.pipe.failed }

// Err returns why the branch failed, nil while it has not.
func (b *Branch) Err() error { return b.pipe.err() }

// Sequence returns the newest durable sequence.
func (b *Branch) Sequence() uint64 { return b.pipe.durableSequence() }

// Admitting returns nil while the branch takes commands, else why it does not.
func (b *Branch) Admitting() error { return b.pipe.admitting() }

// Close refuses new operations, commits what was decided and stops the commit goroutine. If there is no room on the
// disk, it waits until ctx ends and gives the rest up: nobody was told of it. Close may be called again.
func (b *Branch) Close(ctx context.Context) error {
	if err := b.pipe.close(ctx); err != nil {
		return fmt.Errorf("branch: close: %w", err)
	}
	if b.pipe.shadow == nil {
		return nil
	}
	// The commit goroutine may have ended before the one that claimed the last record has applied it and let go.
	o := &operation{b: b}
	defer o.unlock()
	for lockAll(o) != nil {
		o.unlock()
	}
	return b.pipe.shadow.compare(b.state)
}

// now is the branch's time in Unix ns, never before a time that stands in a record.
func (b *Branch) now() int64 { return max(b.clock.now(), b.state.last.Load()) }

// mono is the monotonic clock in ns since the branch was opened.
func (b *Branch) mono() int64 { return int64(b.opts.Now().Sub(b.started)) }

// lockAll takes every counter and then every line.
func lockAll(o *operation) error {
	s := o.b.state.sets.Load()
	o.lockCounters(slices.Clone(s.counters)...)
	o.lockLines(slices.Clone(s.categories)...)
	if o.b.state.sets.Load() != s {
		return errMoved
	}
	return nil
}

// assertFree panics under the tag lockrank if the operation still holds a lock.
func assertFree(h *arch.Held) { h.AssertNone() }
