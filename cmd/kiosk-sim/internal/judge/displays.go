package judge

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"callerd/cmd/kiosk-sim/internal/history"
)

// span is a stretch of a stream that a display was told without a gap: (from, to].
type span struct{ from, to uint64 }

// displays: the frames of every display follow one another, and each call was announced by each
// display that was there, once, as the caller was told. A snapshot after a resume that was too old is the one
// gap allowed; it is counted.
func displays(s *settled) Verdict {
	v := Verdict{Check: Displays, Status: Pass}
	var calls []*history.Op // acknowledged announcements, by sequence
	for _, r := range s.requests {
		if r.done != nil && r.at != 0 && r.done.Announces() {
			calls = append(calls, r.done)
		}
	}
	slices.SortFunc(calls, func(a, b *history.Op) int { return compare(a.Sequence, b.Sequence) })
	hash := map[string]uint64{}
	told, gaps, resumes := 0, 0, 0
	for _, key := range slices.Sorted(maps.Keys(s.h.Displays)) {
		d := &shown{v: &v, hash: hash, seen: map[uint64]*history.Frame{}}
		for _, e := range s.h.Displays[key] {
			if e.Frame != nil {
				d.frame(e.Frame)
			} else {
				d.link(e.Link)
			}
		}
		d.end()
		d.missed(calls)
		told, gaps, resumes = told+d.told, gaps+d.gaps, resumes+d.resumes
	}
	v.Note = fmt.Sprintf("%d displays, %d announcements received, %d resumed without a gap, %d came back to a snapshot", len(s.h.Displays), told, resumes, gaps)
	return v
}

// shown is what one display had.
type shown struct {
	v      *Verdict
	hash   map[string]uint64 // of each frame of each stream: all displays had the same
	stream string
	epoch  string
	begun  bool // it has had a frame
	last   uint64
	from   uint64
	spans  []span
	seen   map[uint64]*history.Frame
	must   uint64 // what it had to reach before the end
	asked  uint64 // the resume that no frame has answered yet

	told, gaps, resumes int
}

func (d *shown) link(l *history.Link) {
	d.stream = l.Stream
	switch l.State {
	case history.Up:
		d.asked = l.After
	case history.Drained:
		d.must = l.Last
		if d.last < l.Last {
			d.v.fault([]string{fmt.Sprintf("%s %s: last frame %d", l.Display, l.Stream, d.last)}, "%s was connected to the end and did not get the frame %d", l.Display, l.Last)
		}
	}
}

func (d *shown) frame(f *history.Frame) {
	d.v.Judged++
	d.stream = f.Stream
	if d.epoch != "" && f.Epoch != d.epoch {
		d.v.fault([]string{describeFrame(f)}, "%s: epoch %s after %s: another history", f.Display, f.Epoch, d.epoch)
	}
	d.epoch = f.Epoch
	switch {
	case f.Snapshot:
		if f.Sequence < d.last {
			d.v.fault([]string{describeFrame(f)}, "%s: the snapshot %d is older than the frame %d before it", f.Display, f.Sequence, d.last)
		}
		if d.begun {
			d.gaps++
		}
		d.end()
		d.begun, d.from, d.last, d.asked = true, f.Sequence, f.Sequence, 0
		return
	case !d.begun:
		d.v.fault([]string{describeFrame(f)}, "%s: the first frame is no snapshot", f.Display)
		d.begun, d.from, d.last = true, f.Sequence, f.Sequence
		return
	case f.Heartbeat:
		if f.Sequence != d.last {
			d.v.fault([]string{describeFrame(f)}, "%s: a heartbeat says %d after the frame %d", f.Display, f.Sequence, d.last)
		}
		return
	}
	if d.asked != 0 {
		d.resumes++
		d.asked = 0
	}
	switch {
	case f.Sequence <= d.last:
		d.v.fault([]string{describeFrame(f)}, "%s: frame %d again, after %d", f.Display, f.Sequence, d.last)
		return
	case f.Previous != d.last:
		d.v.fault([]string{describeFrame(f)}, "%s: frame %d follows %d, the last one here was %d", f.Display, f.Sequence, f.Previous, d.last)
		d.end()
		d.from = f.Sequence
	}
	d.last = f.Sequence
	d.seen[f.Sequence] = f
	d.told += len(f.Calls)
	key := fmt.Sprintf("%s/%s/%d", f.Epoch, f.Stream, f.Sequence)
	if h, ok := d.hash[key]; ok && h != f.Hash {
		d.v.fault([]string{describeFrame(f)}, "two displays were told different things at %d", f.Sequence)
	}
	d.hash[key] = f.Hash
}

// end closes the stretch that had no gap.
func (d *shown) end() {
	if d.last > d.from {
		d.spans = append(d.spans, span{d.from, d.last})
	}
	d.from = d.last
}

// missed looks for calls that the display should have announced, and for ones it announced as
// something else.
func (d *shown) missed(calls []*history.Op) {
	for _, sp := range d.spans {
		i, _ := slices.BinarySearchFunc(calls, sp.from+1, func(op *history.Op, at uint64) int { return cmp.Compare(op.Sequence, at) })
		for _, op := range calls[i:] {
			if op.Sequence > sp.to {
				break
			}
			if d.stream != "hall" && d.stream != fmt.Sprintf("counter/%d", op.Got.Counter) {
				continue
			}
			d.announced(op)
		}
	}
}

func (d *shown) announced(op *history.Op) {
	f := d.seen[op.Sequence]
	if f == nil {
		d.v.fault(describeAll(op), "%s was never told of this call", d.stream)
		return
	}
	n := 0
	for _, c := range f.Calls {
		if c.Ticket != op.Got.ID {
			continue
		}
		n++
		if c.Number != op.Got.Number || c.Counter != op.Got.Counter || c.Recall != (op.Method == "RecallTicket") {
			d.v.fault(append(describeAll(op), describeFrame(f)), "the display announced %s at %d, the caller was told %s at %d", c.Number, c.Counter, op.Got.Number, op.Got.Counter)
		}
	}
	if n != 1 {
		d.v.fault(append(describeAll(op), describeFrame(f)), "%s announced this call %d times", strings.TrimSpace(f.Display), n)
	}
}
