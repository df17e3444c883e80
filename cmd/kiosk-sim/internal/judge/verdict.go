// Package judge says whether a history can be the history of a hall that keeps its promises. It
// shares no code with the server: it has a naive model of its own.
//
// # The witness
//
// Every reply names a sequence, the position in the hall's one order at which it is true. So there
// is no search: all ops sorted by sequence are replayed on the model, and the model must give every
// answer the same. That alone would accept a server that invents an order, so the order itself is
// checked against real time: what ended before another began must come before it.
//
// # What nobody knows
//
// A request without an answer may or may not have happened. A replayed answer says that it did, but
// not always where. Steps of the server itself, such as the end of a lease, are nobody's op. The frames
// of the displays place most of them; what is left makes an answer that they could explain doubtful,
// never wrong: it is counted as such, and a fault is only what no unseen step explains.
package judge

import (
	"fmt"
	"time"

	"callerd/cmd/kiosk-sim/internal/history"
)

// Status of a verdict.
type Status string

// Statuses.
const (
	Pass Status = "PASS"
	Fail Status = "FAIL"
	Info Status = "INFO"
)

// The names of the checks.
const (
	NoNumberTwice = "no number twice"
	NoneLost      = "none lost"
	FIFO          = "FIFO per line"
	Reasons       = "every call by its rule, with its reason"
	Bound         = "nobody overtaken beyond the bound"
	Quota         = "no quota oversold"
	Deadlines     = "no deadline early"
	Desk          = "one holder a resource"
	InTurn        = "first come, first served for each resource"
	Explained     = "every reply explained"
	RealTime      = "real-time order"
	OneCounter    = "one ticket one counter"
	SameAnswer    = "retries answer the same"
	Displays      = "every display, every call, once, in order"
	Board         = "displays tell the truth"
	Little        = "Little's law"
)

// Fault is one thing that must not be, with the ops that show it.
type Fault struct {
	What string   `json:"what"`
	Ops  []string `json:"ops,omitempty"`
}

// Verdict is what one check says.
type Verdict struct {
	Check  string `json:"check"`
	Status Status `json:"status"`
	// Judged counts what was looked at; Doubtful what unseen steps may explain and was let pass.
	Judged   int     `json:"judged"`
	Doubtful int     `json:"doubtful,omitempty"`
	Note     string  `json:"note,omitempty"`
	Count    int     `json:"faults,omitempty"`
	Faults   []Fault `json:"evidence,omitempty"` // the first few
	Doubts   []Fault `json:"doubts,omitempty"`   // the first few
}

// evidenceLimit bounds the faults that a verdict shows; all are counted.
const evidenceLimit = 5

func (v *Verdict) fault(ops []string, format string, args ...any) {
	v.Status = Fail
	if v.Count++; len(v.Faults) < evidenceLimit {
		v.Faults = append(v.Faults, Fault{What: fmt.Sprintf(format, args...), Ops: ops})
	}
}

func (v *Verdict) doubt(ops []string, format string, args ...any) {
	if v.Doubtful++; len(v.Doubts) < evidenceLimit {
		v.Doubts = append(v.Doubts, Fault{What: fmt.Sprintf(format, args...), Ops: ops})
	}
}

// Judge runs every check.
func Judge(h *history.History) []Verdict {
	r := settle(h)
	out := []Verdict{noNumberTwice(r), noneLost(r)}
	out = append(out, replay(r)...)
	out = append(out, inTurn(h), realTime(h), sameAnswer(r), displays(r), little(h))
	return out
}

// Holds says whether no check failed.
func Holds(vs []Verdict) bool {
	for _, v := range vs {
		if v.Status == Fail {
			return false
		}
	}
	return true
}

// describe tells an op in one line, for people.
func describe(o *history.Op) string {
	if o == nil {
		return "(nobody's op)"
	}
	s := fmt.Sprintf("%s %s", o.Client, o.Method)
	for _, part := range []string{o.Category, o.Ticket, o.Complete} {
		if part != "" {
			s += " " + part
		}
	}
	if o.Counter != 0 {
		s += fmt.Sprintf(" counter %d epoch %d", o.Counter, o.Epoch)
	}
	s += ": " + string(o.Outcome)
	if o.Outcome != history.OK {
		s += " " + o.Code + " " + o.Reason
	}
	if o.Got != nil {
		s += fmt.Sprintf(" %s=%s %s counter %d calls %d version %d", o.Got.ID, o.Got.Number, o.Got.State, o.Got.Counter, o.Got.Calls, o.Got.Version)
	}
	if o.Completed != nil {
		s += fmt.Sprintf(" completed %s", o.Completed.ID)
	}
	if o.Method == "IssueTicket" || o.Method == "GetTicket" {
		s += fmt.Sprintf(" ahead %d", o.Ahead)
	}
	if o.Method == "CallNext" {
		s += fmt.Sprintf(" waiting %d held %d", o.Waiting, o.Held)
	}
	if o.Where != "" || o.Into != "" || o.To != 0 {
		s += fmt.Sprintf(" to %s%s %s %d", o.Into, counterName(o.To), o.Where, o.After)
	}
	if o.OnResources() {
		s += fmt.Sprintf(" %v fence %d%d ttl %v until %s", o.Names, o.Fence, o.Granted, time.Duration(o.TTL), stamp(o.Until))
	}
	if o.Why != nil {
		s += fmt.Sprintf(" because of %s, overtaken %d, passed over %v", o.Why.Rule, o.Why.Overtaken, o.Why.PassedOver)
	}
	if o.Replayed {
		s += " replayed"
	}
	end := "never"
	if o.End != history.Never {
		end = stamp(o.End)
	}
	return fmt.Sprintf("%s at %d [%s, %s] request %s try %d", s, o.Sequence, stamp(o.Start), end, o.RequestID, o.Try)
}

func counterName(n uint32) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("counter %d", n)
}

func stamp(ns int64) string { return time.Unix(0, ns).UTC().Format("15:04:05.000000") }

func describeAll(ops ...*history.Op) (out []string) {
	for _, o := range ops {
		if o != nil {
			out = append(out, describe(o))
		}
	}
	return out
}
