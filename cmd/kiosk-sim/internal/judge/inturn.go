package judge

import (
	"slices"

	"callerd/cmd/kiosk-sim/internal/history"
)

// inTurn: whoever was seen waiting for a resource has it before those who came later. A list of the resources tells how many
// wait for each; when that is all whose request was on the way then, all of them stand in the line, and who asks after the
// list was there stands behind them.
func inTurn(h *history.History) Verdict {
	v := Verdict{Check: InTurn, Status: Pass}
	var asked, lists []*history.Op
	for i := range h.Ops {
		switch op := &h.Ops[i]; {
		case op.Method == "AcquireResources":
			asked = append(asked, op)
		case op.Method == "ListResources" && op.Outcome == history.OK:
			lists = append(lists, op)
		}
	}
	for _, l := range lists {
		for _, e := range l.Resources {
			if e.Waiting == 0 {
				continue
			}
			var line []*history.Op
			for _, op := range asked {
				if op.Wait > 0 && op.Start < l.End && op.End > l.Start && slices.Contains(op.Names, e.Name) {
					line = append(line, op)
				}
			}
			if len(line) != int(e.Waiting) {
				continue // some are not there yet, or not any more
			}
			v.behind(l, e.Name, line, asked)
		}
	}
	return v
}

// behind: nobody who came later was before one of the line.
func (v *Verdict) behind(l *history.Op, name string, line, asked []*history.Op) {
	last := line[0]
	for _, op := range line {
		v.Judged++
		if op.Own() && (!last.Own() || op.Sequence > last.Sequence) {
			last = op
		}
	}
	if !last.Own() {
		return // nobody of the line was served
	}
	for _, op := range asked {
		if op.Own() && op.Start > l.End && op.Sequence < last.Sequence && slices.Contains(op.Names, name) {
			v.fault(describeAll(l, last, op), "who waited for %s at %d had it at %d, after one who came later, at %d", name, l.Sequence, last.Sequence, op.Sequence)
			return
		}
	}
}
