package judge

import (
	"cmp"
	"slices"

	"callerd/cmd/kiosk-sim/internal/history"
)

// step is one thing to be true at a sequence.
type step struct {
	at    uint64
	rank  int // records first, then what the displays were told, then what was merely true
	req   *request
	op    *history.Op
	frame *history.Frame
}

// replay runs the model over everything that names a sequence.
func replay(s *settled) []Verdict {
	m := newModel()
	m.policies = s.h.Policies()
	var steps []step
	for _, r := range s.requests {
		switch {
		case r.at != 0:
			steps = append(steps, step{at: r.at, req: r, op: r.done})
		case r.done != nil:
			m.floating = append(m.floating, r)
			steps = append(steps, step{at: r.hi, rank: -1, req: r, op: r.done})
		case r.open:
			m.open = append(m.open, r)
		}
	}
	for i := range s.h.Ops {
		op := &s.h.Ops[i]
		if r := s.byID[op.RequestID]; r != nil && r.done == op || op.Outcome == history.Unknown || op.Sequence == 0 {
			continue
		}
		if op.Outcome == history.OK && op.Changes() && op.Method != "CallNext" {
			continue // a copy of an answer: compared elsewhere
		}
		if op.Method == "CallNext" && op.Outcome == history.OK && (op.Replayed || op.Own()) {
			continue
		}
		steps = append(steps, step{at: op.Sequence, rank: 2, op: op})
	}
	for at, f := range s.seen.frames {
		steps = append(steps, step{at: at, rank: 1, frame: f})
	}
	for _, f := range s.seen.snapshots {
		steps = append(steps, step{at: f.Sequence, rank: 2, frame: f})
	}
	slices.SortStableFunc(steps, func(a, b step) int {
		return cmp.Or(compare(a.at, b.at), compare(a.rank, b.rank))
	})
	last := uint64(0)
	for _, st := range steps {
		switch st.rank {
		case -1:
			if !st.req.used {
				m.carryOut(st.req, st.at)
			}
		case 0:
			last = st.at
			m.record(st.req, st.op, st.at, true)
		case 1:
			m.frame(st.frame, last == st.at)
		case 2:
			if st.op != nil {
				m.point(st.op)
			} else {
				m.snapshot(st.frame)
			}
		}
	}
	var out []Verdict
	for _, name := range replayed {
		out = append(out, *m.verdicts[name])
	}
	return out
}

// carryOut does a request that was not placed, now: something needs it, or it cannot be later.
func (m *model) carryOut(r *request, at uint64) {
	if r.done != nil {
		m.record(r, r.done, at, false)
	}
	r.used = true
}

// record carries out one request and compares its answer. Only a placed record has an answer that
// must be true at this sequence; of another one only what it did is known.
func (m *model) record(r *request, op *history.Op, at uint64, placed bool) {
	if r.used {
		return
	}
	r.used = true
	if placed {
		m.before(op, at)
		m.clock = max(m.clock, op.Start-slack)
	}
	m.touch(op)
	exact := placed && !op.Replayed
	m.verdicts[Explained].Judged++
	switch op.Method {
	case "IssueTicket":
		m.issue(r, op, at, exact)
	case "RequeueTicket", "TransferTicket", "CheckInTicket":
		m.move(op, at, exact, placed)
	case "AcquireResources", "RenewResources", "ReleaseResources":
		m.deskRecord(op, at, placed)
	case "CallNext", "CallTicket":
		m.callNext(r, op, at, exact, placed)
	case "OpenCounter":
		m.openCounter(op, at)
	case "PauseCounter", "ResumeCounter", "CloseCounter":
		m.shift(op, at)
	default:
		m.verb(op, at, exact, placed)
	}
	if placed && op.Counter != 0 {
		m.counter(op.Counter).vague = false
	}
}

// before carries out the requests that were not placed and that this record builds upon: the same
// ticket has been called before it is completed.
func (m *model) before(op *history.Op, at uint64) {
	for _, r := range m.floating {
		if r.used || r.lo >= at {
			continue
		}
		for _, id := range []string{op.Ticket, op.Complete} {
			if id != "" && (r.done.Ticket == id || r.done.Got != nil && r.done.Got.ID == id) {
				m.carryOut(r, at)
				break
			}
		}
	}
}

// touch notes that a session was used.
func (m *model) touch(op *history.Op) {
	if op.Epoch == 0 {
		return
	}
	if c := m.counter(op.Counter); c.epoch == op.Epoch {
		c.used = max(c.used, op.Start)
	}
}
