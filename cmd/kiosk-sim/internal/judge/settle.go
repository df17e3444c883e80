package judge

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"callerd/cmd/kiosk-sim/internal/history"
)

// request is all attempts under one request id, and what they say together.
type request struct {
	ops []*history.Op
	// done is the answer that says it happened; nil when no attempt was told so.
	done *history.Op
	// at is the position of its record when that is known, else 0 and the record is somewhere in
	// (lo, hi].
	at, lo, hi uint64
	// open: no answer says that it happened, and some attempt has none.
	open bool
	used bool // the model has carried it out
}

func (r *request) method() string { return r.ops[0].Method }

// settled is a history with its requests put together and placed.
type settled struct {
	h        *history.History
	requests []*request
	byID     map[string]*request
	seen     *witness
	known    knowledge
}

func settle(h *history.History) *settled {
	s := &settled{h: h, byID: map[string]*request{}, seen: witnessOf(h), known: knowledgeOf(h)}
	for i := range h.Ops {
		op := &h.Ops[i]
		if !op.Changes() {
			continue
		}
		r := s.byID[op.RequestID]
		if r == nil {
			r = &request{}
			s.byID[op.RequestID] = r
			s.requests = append(s.requests, r)
		}
		r.ops = append(r.ops, op)
	}
	owned := map[uint64]bool{}
	for _, r := range s.requests {
		s.place(r)
		owned[r.at] = r.at != 0
	}
	for _, r := range s.requests {
		if r.done != nil && r.at == 0 {
			r.at = s.find(r, owned)
			owned[r.at] = r.at != 0
		}
	}
	return s
}

// place finds the attempt that tells whether and where the request happened.
func (s *settled) place(r *request) {
	first := r.ops[0].Start
	r.hi = math.MaxUint64
	for _, op := range r.ops {
		first = min(first, op.Start)
		switch {
		case op.Own():
			r.done, r.at = op, op.Sequence
		case op.Outcome == history.OK && (op.Replayed || op.Got != nil):
			if r.done == nil {
				r.done = op
			}
			r.hi = min(r.hi, op.Sequence)
		case op.Outcome == history.OK && (op.Method == "PauseCounter" || op.Method == "ResumeCounter"):
			r.done, r.at = op, op.Sequence
		case op.Outcome == history.Unknown:
			r.open = true
		}
	}
	if r.done != nil {
		r.open = false
	}
	r.lo = s.known.before(first)
}

// find places a record of which only a replayed answer is known: by the version of what it changed
// last, or by what the displays were told.
func (s *settled) find(r *request, owned map[uint64]bool) uint64 {
	fits := func(at uint64) bool { return at > r.lo && at <= r.hi && !owned[at] }
	op, got := r.done, r.done.Got
	if op.Completed != nil && fits(op.Completed.Version) {
		return op.Completed.Version
	}
	after := map[string]string{
		"IssueTicket": "waiting", "StartTicket": "serving", "CompleteTicket": "completed", "MarkNoShow": "no_show",
		"CancelTicket": "cancelled", "HoldTicket": "held", "CallNext": "called", "RecallTicket": "called", "ResumeTicket": "called",
		"CallTicket": "called", "RequeueTicket": "waiting", "TransferTicket": "waiting", "CheckInTicket": "waiting",
	}
	if op.Reserve {
		after["IssueTicket"] = "reserved"
	}
	if op.Method == "IssueTicket" && got != nil {
		if at := s.seen.issued[got.ID]; fits(at) {
			return at
		}
	}
	if got != nil && got.State == after[op.Method] && fits(got.Version) {
		first := op.Method == "IssueTicket" && got.Calls > 0 || op.Method == "CallNext" && got.Calls > 1 ||
			after[op.Method] == "waiting" && op.Method != "IssueTicket" && got.Version != s.first(r, got.ID)
		if !first {
			return got.Version
		}
	}
	if (op.Method == "CallNext" || op.Method == "CallTicket" || op.Method == "ResumeTicket") && got != nil {
		for _, c := range s.seen.calls[got.ID] {
			if c.counter == op.Counter && !c.recall && fits(c.at) {
				return c.at
			}
		}
	}
	shows := map[string]string{"OpenCounter": "open", "ResumeCounter": "open", "PauseCounter": "paused", "CloseCounter": "closed"}
	for _, c := range s.seen.states[op.Counter] {
		if c.state == shows[op.Method] && fits(c.at) {
			return c.at
		}
	}
	return 0
}

// first is the smallest version under which an answer shows a ticket waiting after a request began: a later one may be that
// of another record.
func (s *settled) first(r *request, id string) uint64 {
	least := uint64(math.MaxUint64)
	for i := range s.h.Ops {
		if got := s.h.Ops[i].Got; got != nil && got.ID == id && got.State == "waiting" && got.Version > r.lo {
			least = min(least, got.Version)
		}
	}
	return least
}

// knowledge answers: what is the highest sequence that any client had been told before a moment?
type knowledge struct {
	ends []int64
	top  []uint64 // top[i] is the highest sequence among those ended at or before ends[i]
}

func knowledgeOf(h *history.History) knowledge {
	type told struct {
		end int64
		seq uint64
	}
	var all []told
	for i := range h.Ops {
		if op := &h.Ops[i]; op.End != history.Never && op.Sequence != 0 {
			all = append(all, told{op.End, op.Sequence})
		}
	}
	slices.SortFunc(all, func(a, b told) int { return compare(a.end, b.end) })
	var k knowledge
	top := uint64(0)
	for _, t := range all {
		top = max(top, t.seq)
		k.ends, k.top = append(k.ends, t.end), append(k.top, top)
	}
	return k
}

// before is the highest sequence told strictly before t.
func (k knowledge) before(t int64) uint64 {
	i, _ := slices.BinarySearch(k.ends, t)
	if i == 0 {
		return 0
	}
	return k.top[i-1]
}

func compare[T int64 | uint64 | int](a, b T) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// parseID takes "2026-11-30/personal/12" apart; n is 0 when it is no such id.
func parseID(id string) (day, category string, n int) {
	i, j := strings.IndexByte(id, '/'), strings.LastIndexByte(id, '/')
	if i < 0 || i == j {
		return "", "", 0
	}
	n, err := strconv.Atoi(id[j+1:])
	if err != nil {
		return "", "", 0
	}
	return id[:i], id[i+1 : j], n
}
