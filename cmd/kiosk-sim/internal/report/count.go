package report

import (
	"maps"
	"slices"
	"time"

	"callerd/cmd/kiosk-sim/internal/history"
)

func (s *Summary) count(h *history.History) {
	c := &s.Counts
	type fate struct{ ok, unknown, counted bool }
	requests := map[string]*fate{}
	var first, last int64
	for i := range h.Ops {
		op := &h.Ops[i]
		if first == 0 || op.Start < first {
			first = op.Start
		}
		if op.End != history.Never {
			last = max(last, op.End)
		}
		if op.Code == "Unavailable" {
			c.Unavailable++
		}
		if op.Outcome == history.Unknown {
			c.Unknown++
		}
		if op.Try > 1 {
			c.Retries++
		}
		if op.Replayed {
			c.Replays++
		}
		if op.Outcome == history.Refused {
			c.Refused++
		}
		if !op.Changes() {
			continue
		}
		r := requests[op.RequestID]
		if r == nil {
			r = &fate{}
			requests[op.RequestID] = r
		}
		switch op.Outcome {
		case history.Unknown:
			r.unknown = true
		case history.Refused:
			r.ok = true
		case history.OK:
			r.ok = true
			if op.Method == "CallNext" && op.Got == nil && op.Completed == nil {
				c.Empty++
			} else if !r.counted {
				r.counted = true
				c.happened(op)
			}
		}
	}
	c.Requests = len(requests)
	for _, r := range requests {
		if r.unknown && !r.ok {
			c.Open++
		}
	}
	s.Took = time.Duration(last - first)
}

// happened counts a request once, whichever of its answers came first.
func (c *Counts) happened(op *history.Op) {
	switch op.Method {
	case "IssueTicket":
		c.Issued++
		if op.Reserve {
			c.Reserved++
		}
		if op.Priority != "" {
			c.Priority++
		}
	case "RequeueTicket":
		c.Requeued++
	case "TransferTicket":
		c.Moved++
	case "CheckInTicket":
		c.CheckedIn++
	case "OpenCounter":
		c.Sessions++
		if op.TakeOver != "" {
			c.TakenOver++
		}
	case "AcquireResources":
		c.Lent++
	case "ReleaseResources":
		c.Returned++
	case "CallNext", "CallTicket":
		if op.Method == "CallTicket" {
			c.Given++
		}
		if op.Got != nil {
			c.Called++
		}
		if op.Completed != nil {
			c.Served++
		}
	case "RecallTicket":
		c.Recalled++
	case "CompleteTicket":
		c.Served++
	case "MarkNoShow":
		c.NoShows++
	case "HoldTicket":
		c.Held++
	case "ResumeTicket":
		c.Resumed++
	case "CancelTicket":
		c.Cancelled++
	}
}

// waits: from the customer's number to the first call.
func (s *Summary) waits(h *history.History, speed float64) {
	issued, wait := map[string]int64{}, newHistogram()
	for i := range h.Ops {
		op := &h.Ops[i]
		if op.Outcome != history.OK || op.Got == nil {
			continue
		}
		if _, ok := issued[op.Got.ID]; op.Method == "IssueTicket" && !ok {
			issued[op.Got.ID] = op.End
		}
	}
	for i := range h.Ops {
		op := &h.Ops[i]
		if op.Method != "CallNext" && op.Method != "CallTicket" || op.Outcome != history.OK || op.Got == nil {
			continue
		}
		if at, ok := issued[op.Got.ID]; ok {
			wait.add(int64(float64(max(op.End-at, 0)) * speed))
			delete(issued, op.Got.ID)
		}
	}
	s.Wait = wait.latency()
}

func (s *Summary) methods(h *history.History) {
	service, intended := map[string]*histogram{}, map[string]*histogram{}
	for i := range h.Ops {
		op := &h.Ops[i]
		if op.Outcome == history.Unknown {
			continue
		}
		if service[op.Method] == nil {
			service[op.Method], intended[op.Method] = newHistogram(), newHistogram()
		}
		service[op.Method].add(op.End - op.Start)
		intended[op.Method].add(op.End - op.Intended)
	}
	for _, name := range slices.Sorted(maps.Keys(service)) {
		s.Methods = append(s.Methods, Method{name, service[name].latency(), intended[name].latency()})
	}
}

// displays: from the moment a call was due to each display that announced it.
func (s *Summary) displays(h *history.History) {
	due, shown := map[uint64]int64{}, newHistogram()
	for i := range h.Ops {
		if op := &h.Ops[i]; op.Announces() {
			due[op.Sequence] = op.Intended
		}
	}
	for _, entries := range h.Displays {
		ups := 0
		for _, e := range entries {
			if e.Link != nil && e.Link.State == history.Up {
				ups++
			}
			if e.Frame == nil {
				continue
			}
			s.Counts.Frames++
			if at, ok := due[e.Frame.Sequence]; ok && len(e.Frame.Calls) > 0 {
				shown.add(e.Frame.At - at)
			}
		}
		s.Counts.Reconnects += max(ups-1, 0)
	}
	s.Display = shown.latency()
}
