// Package history is what the clients of one or more runs saw: every attempt of every request with
// its outcome, and every frame that a display received. It is the only thing the judge reads.
package history

import "math"

// Outcome says what a client knows about an attempt.
type Outcome string

const (
	// OK: the server carried it out and said so.
	OK Outcome = "ok"
	// Refused: the server said no and named a reason; nothing changed.
	Refused Outcome = "refused"
	// Unknown: no answer, or one that leaves it open. It may or may not have happened.
	Unknown Outcome = "unknown"
)

// Never is the End of an attempt that was not answered.
const Never int64 = math.MaxInt64

// Op is one attempt of one request. Attempts of one request share its RequestID.
//
// Times are nanoseconds since 1970 by the process's monotonic clock, anchored once, so that they
// compare within a run exactly and between runs on one machine well enough.
type Op struct {
	Attempt   uint64 `json:"attempt"`
	Client    string `json:"client"`
	Method    string `json:"method"`
	RequestID string `json:"request_id,omitempty"`

	// What was asked.
	Category   string   `json:"category,omitempty"`
	Ticket     string   `json:"ticket,omitempty"`
	Complete   string   `json:"complete_ticket,omitempty"`
	Counter    uint32   `json:"counter,omitempty"`
	Categories []string `json:"categories,omitempty"`
	Rule       string   `json:"rule,omitempty"`
	Page       string   `json:"page,omitempty"`
	Ask
	// Epoch of the session that asks; 0 before OpenCounter. The token itself is never written down.
	Epoch uint64 `json:"epoch,omitempty"`

	// When. Intended is when the request was due; a late sender does not hide its lateness.
	Intended int64 `json:"intended"`
	Start    int64 `json:"start"`
	End      int64 `json:"end"`
	// Wall is the wall clock at the end, for people and other logs.
	Wall int64 `json:"wall,omitempty"`
	// Try counts the attempts of this request, from 1.
	Try int `json:"try"`

	// What was answered.
	Outcome   Outcome  `json:"outcome"`
	Code      string   `json:"code,omitempty"`
	Reason    string   `json:"reason,omitempty"`
	Message   string   `json:"message,omitempty"`
	Sequence  uint64   `json:"sequence,omitempty"`
	Replayed  bool     `json:"replayed,omitempty"`
	Got       *Ticket  `json:"got,omitempty"`
	Completed *Ticket  `json:"completed,omitempty"`
	Ahead     uint32   `json:"ahead,omitempty"`
	Waiting   uint32   `json:"waiting,omitempty"`
	Held      uint32   `json:"held,omitempty"`
	LeaseMS   int64    `json:"lease_ms,omitempty"`
	Tickets   []Ticket `json:"tickets,omitempty"`
	NextPage  string   `json:"next_page,omitempty"`
	Hall      *Hall    `json:"hall,omitempty"`
	Told
}

// Ticket is a ticket as a reply showed it.
type Ticket struct {
	ID       string `json:"id"`
	Number   string `json:"number"`
	Category string `json:"category"`
	State    string `json:"state"`
	Counter  uint32 `json:"counter,omitempty"`
	Calls    uint32 `json:"calls,omitempty"`
	Version  uint64 `json:"version"`

	Priority  string `json:"priority,omitempty"`
	Bound     uint32 `json:"bound,omitempty"`
	Overtaken uint32 `json:"overtaken,omitempty"`
	// Times of the server, ns; 0: none.
	Issued   int64 `json:"issued,omitempty"`
	Called   int64 `json:"called,omitempty"`
	Deadline int64 `json:"deadline,omitempty"`
}

// Hall is the hall as GetBranch, ListCategories or a display's snapshot tells it.
type Hall struct {
	Epoch      string     `json:"epoch,omitempty"`
	Day        string     `json:"day,omitempty"`
	Categories []Category `json:"categories,omitempty"`
	Counters   []Counter  `json:"counters,omitempty"`
}

// Category is one category's counts.
type Category struct {
	ID      string `json:"id"`
	Prefix  string `json:"prefix,omitempty"`
	Closed  bool   `json:"closed,omitempty"`
	Issued  uint32 `json:"issued"`
	Serving uint32 `json:"serving"`
	Waiting uint32 `json:"waiting"`
}

// Counter is one counter's state: closed, open or paused.
type Counter struct {
	Counter     uint32 `json:"counter"`
	State       string `json:"state"`
	Number      string `json:"number,omitempty"`
	Ticket      string `json:"ticket,omitempty"`
	TicketState string `json:"ticket_state,omitempty"`
}

// Changes says whether the method changes the hall, so that it carries a request id.
func (o *Op) Changes() bool {
	switch o.Method {
	case "IssueTicket", "CancelTicket", "OpenCounter", "PauseCounter", "ResumeCounter", "CloseCounter", "CallNext",
		"RecallTicket", "StartTicket", "CompleteTicket", "MarkNoShow", "HoldTicket", "ResumeTicket",
		"CallTicket", "RequeueTicket", "TransferTicket", "CheckInTicket", "AcquireResources", "RenewResources", "ReleaseResources":
		return true
	}
	return false
}

// Own says whether Sequence is the position of this attempt's own record: it changed the hall
// now, and is no copy of an earlier outcome, no refusal, no read and no empty line.
func (o *Op) Own() bool {
	if o.Outcome != OK || o.Replayed || !o.Changes() {
		return false
	}
	switch o.Method {
	case "CallNext":
		return o.Got != nil || o.Completed != nil
	case "PauseCounter", "ResumeCounter":
		return false // pausing a paused counter changes nothing, and its answer does not tell
	}
	return true
}

// Announces says whether every display is told of this op under its Sequence.
func (o *Op) Announces() bool {
	if !o.Own() || o.Got == nil {
		return false
	}
	switch o.Method {
	case "CallNext", "CallTicket", "ResumeTicket":
		return true
	case "RecallTicket":
		return o.Got.State == "called" // at its limit it is a no-show instead
	}
	return false
}
