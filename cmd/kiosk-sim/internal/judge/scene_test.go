package judge

import (
	"fmt"
	"slices"
	"testing"

	"callerd/cmd/kiosk-sim/internal/history"
)

// scene writes the history of an honest hall, op after op, for a test to break afterwards. One
// millisecond passes between the ends of two ops.
type scene struct {
	h       *history.History
	seq     uint64
	now     int64
	issued  map[string]int
	serving map[string]int
	line    []*history.Ticket // who waits, by entry
	at      map[uint32]*history.Ticket
	held    map[uint32][]*history.Ticket
	last    uint64 // frame
}

const day = "2026-11-30"

var prefix = map[string]string{"personal": "A", "corporate": "B"}

// newScene opens a hall with a display and so many counters.
func newScene(counters uint32) *scene {
	s := &scene{h: &history.History{Runs: []history.Run{{ID: "r"}}, Displays: map[string][]history.Entry{}}, seq: 1, last: 1,
		issued: map[string]int{}, serving: map[string]int{}, at: map[uint32]*history.Ticket{}, held: map[uint32][]*history.Ticket{}}
	s.add(history.Op{Client: "clerk", Method: "GetBranch", Hall: &history.Hall{Day: day}})
	for _, c := range []string{"personal", "corporate"} {
		s.add(history.Op{Client: "clerk", Method: "ListTickets", Category: c})
	}
	s.put(history.Entry{Link: &history.Link{Display: "d", Stream: "hall", State: history.Up}})
	s.put(history.Entry{Frame: &history.Frame{Display: "d", Stream: "hall", Epoch: "e", Sequence: 1, Snapshot: true, Day: day,
		Waiting: []history.Category{{ID: "personal"}, {ID: "corporate"}}}})
	for n := uint32(1); n <= counters; n++ {
		s.seq++
		op := s.add(history.Op{Client: console(n), Method: "OpenCounter", Counter: n, Epoch: 1, Categories: []string{"personal", "corporate"}, LeaseMS: 60_000})
		s.told(op, nil, n)
	}
	return s
}

func console(n uint32) string { return fmt.Sprintf("console-%d", n) }

// add records an op that is true now.
func (s *scene) add(op history.Op) *history.Op {
	s.now += 1e6
	op.Start, op.End, op.Sequence, op.Try = s.now-5e5, s.now, s.seq, 1
	if op.Outcome == "" {
		op.Outcome = history.OK
	}
	if op.Changes() && op.RequestID == "" {
		op.RequestID = fmt.Sprintf("request-%d", len(s.h.Ops))
	}
	s.h.Ops = append(slices.Grow(s.h.Ops, 1), op)
	return &s.h.Ops[len(s.h.Ops)-1]
}

func (s *scene) put(e history.Entry) { s.h.Displays["r/d"] = append(s.h.Displays["r/d"], e) }

// told gives the display the frame of the record just made.
func (s *scene) told(op *history.Op, call *history.Call, counters ...uint32) *history.Frame {
	f := &history.Frame{Display: "d", Stream: "hall", Epoch: "e", Sequence: s.seq, Previous: s.last, At: s.now}
	if call != nil {
		f.Calls = []history.Call{*call}
	}
	for _, n := range counters {
		c := history.Counter{Counter: n, State: "open"}
		if t := s.at[n]; t != nil {
			c.Number, c.Ticket, c.TicketState = t.Number, t.ID, t.State
		}
		f.Counters = append(f.Counters, c)
	}
	for _, id := range []string{"personal", "corporate"} {
		f.Waiting = append(f.Waiting, history.Category{ID: id, Issued: uint32(s.issued[id]), Serving: uint32(s.serving[id]), Waiting: uint32(s.waiting(id))})
	}
	s.last = s.seq
	s.put(history.Entry{Frame: f})
	return f
}

func (s *scene) waiting(category string) (n int) {
	for _, t := range s.line {
		if category == "" || t.Category == category {
			n++
		}
	}
	return n
}

// issue hands out a number.
func (s *scene) issue(category string) *history.Op {
	s.seq++
	ahead := s.waiting(category)
	s.issued[category]++
	n := s.issued[category]
	t := &history.Ticket{ID: fmt.Sprintf("%s/%s/%d", day, category, n), Number: fmt.Sprintf("%s%03d", prefix[category], n), Category: category, State: "waiting", Version: s.seq}
	s.line = append(s.line, t)
	op := s.add(history.Op{Client: "kiosk", Method: "IssueTicket", Category: category, Got: copied(t), Ahead: uint32(ahead)})
	s.told(op, nil)
	return op
}

// verb does something to the ticket at a counter, or takes up the first one held there.
func (s *scene) verb(n uint32, method string) *history.Op {
	s.seq++
	t := s.at[n]
	if method == "ResumeTicket" {
		t, s.held[n] = s.held[n][0], s.held[n][1:]
		s.at[n] = t
	}
	t.State, t.Version = after[method].to, s.seq
	var call *history.Call
	switch t.State {
	case "called":
		t.Calls++
		call = &history.Call{Ticket: t.ID, Number: t.Number, Counter: n, Recall: method == "RecallTicket"}
	case "serving":
	default:
		delete(s.at, n)
	}
	if t.State == "held" {
		s.held[n] = append(s.held[n], t)
	}
	op := s.add(history.Op{Client: console(n), Method: method, Counter: n, Epoch: 1, Ticket: t.ID, Got: copied(t)})
	s.told(op, call, n)
	return op
}

func copied(t *history.Ticket) *history.Ticket {
	c := *t
	return &c
}

// call calls the next one; what is at the counter is completed with it.
func (s *scene) call(n uint32) *history.Op {
	op := history.Op{Client: console(n), Method: "CallNext", Counter: n, Epoch: 1}
	done := s.at[n]
	if done != nil || len(s.line) > 0 {
		s.seq++
	}
	if done != nil {
		done.State, done.Version, op.Complete = "completed", s.seq, done.ID
		op.Completed = copied(done)
		delete(s.at, n)
	}
	if len(s.line) == 0 {
		op.Held = uint32(len(s.held[n]))
		o := s.add(op)
		if done != nil {
			s.told(o, nil, n)
		}
		return o
	}
	t := s.line[0]
	s.line = s.line[1:]
	t.State, t.Counter, t.Version, t.Calls = "called", n, s.seq, t.Calls+1
	s.at[n] = t
	_, _, number := parseID(t.ID)
	s.serving[t.Category] = number
	op.Got, op.Waiting, op.Held = copied(t), uint32(s.waiting("")), uint32(len(s.held[n]))
	o := s.add(op)
	s.told(o, &history.Call{Ticket: t.ID, Number: t.Number, Counter: n}, n)
	return o
}

// refused records a refusal that is true now.
func (s *scene) refused(op history.Op, reason string) *history.Op {
	op.Outcome, op.Reason = history.Refused, reason
	return s.add(op)
}

// verdict judges the scene and returns one check.
func (s *scene) verdict(name string) Verdict {
	s.put(history.Entry{Link: &history.Link{Display: "d", Stream: "hall", State: history.Drained, Last: s.last}})
	for _, v := range Judge(s.h) {
		if v.Check == name {
			return v
		}
	}
	panic("no check " + name)
}

// all returns every verdict.
func (s *scene) all(t *testing.T) []Verdict {
	t.Helper()
	s.put(history.Entry{Link: &history.Link{Display: "d", Stream: "hall", State: history.Drained, Last: s.last}})
	return Judge(s.h)
}

// busyScene is an honest hall with a bit of everything, 40 tickets and two counters. Ops are found by method.
func busyScene() *scene {
	s := newScene(2)
	for i := range 20 {
		s.issue("personal")
		if i%2 == 0 {
			s.issue("corporate")
		}
		s.call(uint32(i%2) + 1)
	}
	s.refused(history.Op{Client: console(1), Method: "CallNext", Counter: 1, Epoch: 1}, "COUNTER_BUSY")
	s.refused(history.Op{Client: console(2), Method: "CallNext", Counter: 2, Epoch: 9}, "STALE_SESSION")
	for range 10 {
		s.call(1) // the last of all is at counter 1 now
	}
	s.call(2) // completes, and nobody waits
	s.call(2)
	return s
}

// nth returns the n-th op of a method, from 0.
func (s *scene) nth(method string, n int) *history.Op {
	for i := range s.h.Ops {
		if s.h.Ops[i].Method == method {
			if n == 0 {
				return &s.h.Ops[i]
			}
			n--
		}
	}
	panic("not so many " + method)
}

// frames returns the display's frames with a call.
func (s *scene) calls() (out []*history.Frame) {
	for _, e := range s.h.Displays["r/d"] {
		if e.Frame != nil && len(e.Frame.Calls) > 0 {
			out = append(out, e.Frame)
		}
	}
	return out
}
