package lock

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// Every lock lets one in at a time, or the figures mean nothing.
func TestLocksExclude(t *testing.T) {
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			s := newSlice(time.Hour)
			l := k.make(s)
			const goroutines, rounds = 2, 500 // as few as a spinning lock gets on with
			counted := 0
			var wg sync.WaitGroup
			for range goroutines {
				wg.Go(func() {
					for range rounds {
						l.Lock()
						counted++
						l.Unlock()
					}
				})
			}
			wg.Wait()
			if want := goroutines * rounds; counted != want {
				t.Errorf("counted %d, want %d", counted, want)
			}
		})
	}
}

// Spinning locks are let go at the end of a slice, whoever waits.
func TestASliceEndsEveryWait(t *testing.T) {
	for _, name := range []string{"spin", "spin + Gosched", "MCS"} {
		t.Run(name, func(t *testing.T) {
			k, err := chosen([]string{name})
			if err != nil {
				t.Fatal(err)
			}
			s := newSlice(time.Millisecond)
			l := k[1].make(s)
			l.Lock() // and it is never let go
			var wg sync.WaitGroup
			for range 3 {
				wg.Go(l.Lock)
			}
			s.wait()
			wg.Wait()
		})
	}
}

// barging is a lock that goes by no order: the last to come is let in first.
type barging struct {
	mu    sync.Mutex
	held  bool
	stack []chan struct{}
}

func (l *barging) Lock() {
	l.mu.Lock()
	if !l.held {
		l.held = true
		l.mu.Unlock()
		return
	}
	c := make(chan struct{})
	l.stack = append(l.stack, c)
	l.mu.Unlock()
	<-c
}

func (l *barging) Unlock() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if n := len(l.stack); n > 0 {
		close(l.stack[n-1])
		l.stack = l.stack[:n-1]
		return
	}
	l.held = false
}

func (l *barging) inLine() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.stack)
}

func TestOvertakingsAreCounted(t *testing.T) {
	last := kind{"last in, first out", func(*slice) sync.Locker { return new(barging) }}
	ours, err := chosen([]string{ticket, "channel"})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		kind kind
		want int64 // at least, if it is more than 0; else exactly
	}{{last, 8}, {ours[1], 0}, {ours[2], 0}} {
		t.Run(c.kind.name, func(t *testing.T) {
			row := crowd{row: Row{Goroutines: 16, Processors: 2, Yielding: true}}
			got, sections := row.overtakings(c.kind, time.Minute)
			if sections < 16 {
				t.Errorf("%d sections, want all 16 in line to be served", sections)
			}
			if c.want == 0 && got != 0 || got < c.want {
				t.Errorf("%d overtakings, want %d", got, c.want)
			}
		})
	}
}

func TestQuickRun(t *testing.T) {
	var rows int
	r, err := Run(t.Context(), Options{Quick: true, Slice: time.Millisecond, Rounds: 1,
		Progress: func(_, all int, _ Row) { rows = all }})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Rows) != rows || rows == 0 {
		t.Errorf("%d rows, want %d", len(r.Rows), rows)
	}
	for _, row := range r.Rows {
		if m, ok := row.find(mutex); !ok || m.CutOff || m.Ratio != 1 {
			t.Errorf("%v: sync.Mutex is %+v, want a ratio of 1 to itself", row.Row, m)
		}
		l, ok := row.find(ticket)
		if !ok || l.NsPerOp <= 0 || l.Overtakings != 0 {
			t.Errorf("%v: the ticket lock is %+v, want it measured, and nobody overtaken", row.Row, l)
		}
	}

	var table bytes.Buffer
	if err := r.Table(&table); err != nil || !strings.Contains(table.String(), "beside 2 hogs") {
		t.Errorf("table %v: %s", err, &table)
	}
	var again Result
	data, err := json.Marshal(r)
	if err == nil {
		err = json.Unmarshal(data, &again)
	}
	if err != nil || len(again.Rows) != len(r.Rows) {
		t.Errorf("JSON and back: %v, %d rows", err, len(again.Rows))
	}
	path := filepath.Join(t.TempDir(), "lock.svg")
	if err := r.Plot(path); err != nil {
		t.Fatal(err)
	}
	if picture, err := os.ReadFile(path); err != nil || !bytes.Contains(picture, []byte("</svg>")) {
		t.Errorf("no picture: %v", err)
	}
}

func TestRunEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	r, err := Run(ctx, Options{Quick: true, Slice: time.Millisecond, Progress: func(i, _ int, _ Row) {
		if i == 1 {
			cancel()
		}
	}})
	if !errors.Is(err, context.Canceled) || len(r.Rows) == 0 {
		t.Errorf("got %d rows and %v, want what there is and %v", len(r.Rows), err, context.Canceled)
	}
}

func TestUnknownLock(t *testing.T) {
	if _, err := Run(t.Context(), Options{Locks: []string{"spinlock"}}); err == nil {
		t.Error("got nil, want an error")
	}
}
