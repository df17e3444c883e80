package judge

import (
	"slices"

	"callerd/cmd/kiosk-sim/internal/history"
)

// told is a moment at which somebody knew a sequence: by an answer, or by a frame on a display.
type told struct {
	at    int64
	seq   uint64
	op    *history.Op
	frame *history.Frame
}

func (t *told) describe() string {
	if t.op != nil {
		return describe(t.op)
	}
	return describeFrame(t.frame)
}

// realTime: what ended before another began comes before it in the one order. A record of its own
// must be behind all that had been told or shown; a read, a refusal or an empty line not before it.
//
// One sweep over starts and ends, sorted: O(n log n).
func realTime(h *history.History) Verdict {
	v := Verdict{Check: RealTime, Status: Pass}
	var byStart []*history.Op
	var byEnd []told
	owner := map[uint64]*history.Op{}
	for i := range h.Ops {
		op := &h.Ops[i]
		if op.Sequence == 0 || op.Outcome == history.Unknown {
			continue
		}
		byEnd = append(byEnd, told{at: op.End, seq: op.Sequence, op: op})
		if op.Outcome == history.OK && op.Replayed || op.Method == "GetBranch" || op.Method == "ListCategories" {
			continue // a copy may name either time, the board its last frame: both may be older
		}
		byStart = append(byStart, op)
		if op.Own() {
			if first := owner[op.Sequence]; first != nil {
				v.fault(describeAll(first, op), "two records at sequence %d", op.Sequence)
			}
			owner[op.Sequence] = op
		}
	}
	for _, entries := range h.Displays {
		for _, e := range entries {
			if e.Frame != nil {
				byEnd = append(byEnd, told{at: e.Frame.At, seq: e.Frame.Sequence, frame: e.Frame})
			}
		}
	}
	slices.SortFunc(byStart, func(a, b *history.Op) int { return compare(a.Start, b.Start) })
	slices.SortFunc(byEnd, func(a, b told) int { return compare(a.at, b.at) })
	var top *told
	ended := 0
	for _, op := range byStart {
		for ; ended < len(byEnd) && byEnd[ended].at < op.Start; ended++ {
			if top == nil || byEnd[ended].seq > top.seq {
				top = &byEnd[ended]
			}
		}
		v.Judged++
		if top == nil {
			continue
		}
		if op.Sequence < top.seq || op.Own() && op.Sequence == top.seq {
			v.fault([]string{top.describe(), describe(op)}, "sequence %d was known before the second began, which is at %d", top.seq, op.Sequence)
		}
	}
	return v
}

// sameAnswer: attempts of one request that happened tell the same ticket, and only one of them
// carried it out.
func sameAnswer(s *settled) Verdict {
	v := Verdict{Check: SameAnswer, Status: Pass}
	for _, r := range s.requests {
		if len(r.ops) < 2 || r.done == nil {
			continue
		}
		v.Judged++
		var own *history.Op
		for _, op := range r.ops {
			if op.Outcome != history.OK {
				if op.Reason == "REQUEST_REUSED" {
					v.fault(describeAll(r.done, op), "the same request was refused as another")
				}
				continue
			}
			if op.Own() {
				if own != nil {
					v.fault(describeAll(own, op), "one request was carried out twice")
				}
				own = op
			}
			if id(op.Got) != id(r.done.Got) && (op.Got != nil || op.Replayed) || op.Replayed && id(op.Completed) != id(r.done.Completed) {
				v.fault(describeAll(r.done, op), "one request, two answers")
			} else if op.Got != nil && op.Got.Number != r.done.Got.Number {
				v.fault(describeAll(r.done, op), "one request, two numbers")
			}
			if op.Method == "OpenCounter" && op.Epoch != r.done.Epoch {
				v.fault(describeAll(r.done, op), "one request, two sessions")
			}
		}
	}
	return v
}

func id(t *history.Ticket) string {
	if t == nil {
		return ""
	}
	return t.ID
}
