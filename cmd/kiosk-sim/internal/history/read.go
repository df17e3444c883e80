package history

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
)

// line is one line of a history file; exactly one field is set.
type line struct {
	Run   *Run   `json:"run,omitempty"`
	Sent  *Op    `json:"sent,omitempty"`
	Op    *Op    `json:"op,omitempty"`
	Frame *Frame `json:"frame,omitempty"`
	Link  *Link  `json:"link,omitempty"`
}

// ErrNotHistory is returned when a file is not one that this program wrote.
var ErrNotHistory = errors.New("not a history")

// Read reads history files, each of one or more runs, oldest first, as one history. A last line cut
// short by a kill is left out; an attempt without an answer becomes Unknown.
func Read(paths ...string) (*History, error) {
	h := &History{Displays: map[string][]Entry{}}
	for _, path := range paths {
		f, err := os.Open(path)
		if err != nil {
			return nil, fmt.Errorf("read history: %w", err)
		}
		err = h.read(f)
		f.Close()
		if err != nil {
			return nil, fmt.Errorf("read history %s: %w", path, err)
		}
	}
	return h, nil
}

func (h *History) read(r io.Reader) error {
	var run *Run
	open := map[uint64]Op{}
	in := bufio.NewReaderSize(r, 1<<20)
	for n := 1; ; n++ {
		raw, err := in.ReadBytes('\n')
		if err != nil && err != io.EOF {
			return err
		}
		if len(bytes.TrimSpace(raw)) > 0 {
			var l line
			if bad := json.Unmarshal(raw, &l); bad != nil {
				next, _ := in.Peek(1 << 10)
				if err == io.EOF || bytes.HasPrefix(next, []byte(`{"run":`)) {
					continue // cut short by a kill: the last line of a run
				}
				return fmt.Errorf("line %d: %w: %w", n, ErrNotHistory, bad)
			}
			if l.Run != nil {
				h.unanswered(open)
				run = l.Run
				h.Runs = append(h.Runs, *run)
			} else if run == nil {
				return fmt.Errorf("line %d: %w: no run before it", n, ErrNotHistory)
			} else {
				h.take(run.ID, l, open)
			}
		}
		if err == io.EOF {
			h.unanswered(open)
			return nil
		}
	}
}

func (h *History) take(run string, l line, open map[uint64]Op) {
	switch {
	case l.Sent != nil:
		open[l.Sent.Attempt] = *l.Sent
	case l.Op != nil:
		delete(open, l.Op.Attempt)
		h.Ops = append(h.Ops, *l.Op)
	case l.Frame != nil:
		h.add(run, l.Frame.Display, Entry{Frame: l.Frame})
	case l.Link != nil:
		h.add(run, l.Link.Display, Entry{Link: l.Link})
	}
}

// unanswered ends a run: what was sent and never answered may or may not have happened.
func (h *History) unanswered(open map[uint64]Op) {
	for _, id := range slices.Sorted(maps.Keys(open)) {
		op := open[id]
		op.Outcome, op.End, op.Message = Unknown, Never, "the simulator ended first"
		h.Ops = append(h.Ops, op)
	}
	clear(open)
}
