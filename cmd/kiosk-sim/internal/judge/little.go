package judge

import (
	"fmt"
	"math"

	"callerd/cmd/kiosk-sim/internal/history"
)

// little compares the mean length of the lines as a hall display was told it with arrivals times
// wait as the clients had it: L = lambda W, two independent roads to one figure. It informs; a run that is
// not stable, was interrupted or left tickets waiting says nothing.
func little(h *history.History) Verdict {
	v := Verdict{Check: Little, Status: Info}
	issued, total := map[string]int64{}, 0.0
	each := func(do func(*history.Op)) {
		for i := range h.Ops {
			if op := &h.Ops[i]; op.Outcome == history.OK && op.Got != nil && !op.Replayed {
				do(op)
			}
		}
	}
	each(func(op *history.Op) {
		if op.Method == "IssueTicket" {
			issued[op.Got.ID] = op.End
		}
	})
	each(func(op *history.Op) {
		at, ok := issued[op.Got.ID]
		if ok && (op.Method == "CallNext" || op.Method == "CancelTicket" && op.Got.Calls == 0) {
			total += float64(max(op.End-at, 0)) // the call may be known before the number is
			delete(issued, op.Got.ID)
			v.Judged++
		}
	})
	area, from, to := lengths(h)
	if v.Judged < 100 || to <= from || len(h.Runs) != 1 || len(issued) > 0 {
		v.Note = "not a whole run of one hall with a hundred customers"
		return v
	}
	l, lw := area/float64(to-from), total/float64(to-from)
	v.Note = fmt.Sprintf("L %.2f by the display, lambda W %.2f by the clients", l, lw)
	if off := math.Abs(l-lw) / max(lw, 0.1); off > 0.1 {
		v.Note += fmt.Sprintf(", %.0f %% apart", 100*off)
	}
	return v
}

// lengths integrates the lines' lengths over the time of the first hall display.
func lengths(h *history.History) (area float64, from, to int64) {
	for _, entries := range h.Displays {
		waiting, sum := map[string]uint32{}, 0.0
		for _, e := range entries {
			f := e.Frame
			if f == nil || f.Stream != "hall" || len(f.Waiting) == 0 {
				continue
			}
			if from == 0 {
				from = f.At
			} else {
				area += sum * float64(f.At-to)
			}
			to = f.At
			for _, c := range f.Waiting {
				sum += float64(c.Waiting) - float64(waiting[c.ID])
				waiting[c.ID] = c.Waiting
			}
		}
		if from != 0 {
			return area, from, to
		}
	}
	return 0, 0, 0
}
