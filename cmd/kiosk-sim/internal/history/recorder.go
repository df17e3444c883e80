package history

import (
	"bufio"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"time"
)

// Recorder collects a history while it happens and, when it has a writer, puts every line there
// before the client that reports it goes on: an attempt before it is sent, an answer before it is
// acted upon. So whoever is killed, what was acknowledged is in the file.
//
// Frames are flushed with the next line of an operation, or by Flush.
type Recorder struct {
	mu      sync.Mutex
	h       History
	run     Run
	base    time.Time
	attempt uint64
	out     *bufio.Writer // nil: memory only
	enc     *json.Encoder
	err     error
}

// NewRecorder starts a history; out may be nil.
func NewRecorder(out io.Writer, seed uint64, args string, p *Policies) *Recorder {
	now := time.Now()
	r := &Recorder{base: now, run: Run{ID: rand.Text()[:8], Wall: now.UnixNano(), Seed: seed, Args: args, Policies: p}}
	r.h = History{Runs: []Run{r.run}, Displays: map[string][]Entry{}}
	if out != nil {
		r.out = bufio.NewWriterSize(out, 1<<16)
		r.enc = json.NewEncoder(r.out)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.out != nil {
		_, r.err = r.out.WriteString("\n") // a line that a kill cut short ends here
	}
	r.write(line{Run: &r.run})
	r.flush()
	return r
}

// Now is the run's clock: monotonic, anchored to the wall once.
func (r *Recorder) Now() int64 { return r.run.Wall + int64(time.Since(r.base)) }

// Sent notes an attempt before it leaves and gives it its number.
func (r *Recorder) Sent(op *Op) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.attempt++
	op.Attempt = r.attempt
	if op.Changes() {
		r.write(line{Sent: op})
		r.flush()
	}
}

// Done notes what came of an attempt.
func (r *Recorder) Done(op *Op) {
	r.mu.Lock()
	defer r.mu.Unlock()
	op.Wall = time.Now().UnixNano()
	r.h.Ops = append(r.h.Ops, *op)
	r.write(line{Op: op})
	r.flush()
}

// Frame notes what a display received.
func (r *Recorder) Frame(f *Frame) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.h.add(r.run.ID, f.Display, Entry{Frame: f})
	r.write(line{Frame: f})
}

// Link notes a change of a display's connection.
func (r *Recorder) Link(l *Link) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.h.add(r.run.ID, l.Display, Entry{Link: l})
	r.write(line{Link: l})
	r.flush()
}

// History ends the recording and hands it over. The error is the first that a write met.
func (r *Recorder) History() (*History, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.flush()
	if r.err != nil {
		return &r.h, fmt.Errorf("write history: %w", r.err)
	}
	return &r.h, nil
}

// write: r.mu must be held.
func (r *Recorder) write(l line) {
	if r.out == nil || r.err != nil {
		return
	}
	r.err = r.enc.Encode(l)
}

// flush: r.mu must be held.
func (r *Recorder) flush() {
	if r.out == nil || r.err != nil {
		return
	}
	r.err = r.out.Flush()
}

func (h *History) add(run, display string, e Entry) {
	key := run + "/" + display
	h.Displays[key] = append(h.Displays[key], e)
}

// LastCalls says which sequence the displays must reach to have seen every call so far: the hall's,
// and those of each counter.
func (r *Recorder) LastCalls() (hall uint64, counters map[uint32]uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	counters = map[uint32]uint64{}
	for i := range r.h.Ops {
		if op := &r.h.Ops[i]; op.Announces() {
			hall = max(hall, op.Sequence)
			counters[op.Got.Counter] = max(counters[op.Got.Counter], op.Sequence)
		}
	}
	return hall, counters
}
