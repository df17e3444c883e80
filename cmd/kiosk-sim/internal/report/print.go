package report

import (
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"
	"time"
)

// Print writes the summary for people. Errors of w are its owner's.
func (s *Summary) Print(w io.Writer) {
	c := &s.Counts
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "\nseed\t%d\n", s.Seed)
	fmt.Fprintf(t, "took\t%v, %.0f answers a second\n", s.Took.Round(time.Millisecond), s.rate())
	fmt.Fprintf(t, "tickets\t%d issued, %d called, %d recalled, %d served, %d no-shows, %d held, %d resumed, %d cancelled\n",
		c.Issued, c.Called, c.Recalled, c.Served, c.NoShows, c.Held, c.Resumed, c.Cancelled)
	fmt.Fprintf(t, "the trade\t%d priority, %d reserved, %d checked in, %d given, %d requeued, %d transferred, %d sessions, %d taken over, %d grants, %d given back\n",
		c.Priority, c.Reserved, c.CheckedIn, c.Given, c.Requeued, c.Moved, c.Sessions, c.TakenOver, c.Lent, c.Returned)
	fmt.Fprintf(t, "requests\t%d, %d sent again, %d replayed, %d unavailable, %d unknown, %d left open, %d refused, %d empty lines\n",
		c.Requests, c.Retries, c.Replays, c.Unavailable, c.Unknown, c.Open, c.Refused, c.Empty)
	fmt.Fprintf(t, "displays\t%d frames, %d reconnects\n", c.Frames, c.Reconnects)
	fmt.Fprintf(t, "waited (hall time)\tmean %s  p50 %s  p90 %s  p99 %s  max %s\n", us(s.Wait.Mean), us(s.Wait.P50), us(s.Wait.P90), us(s.Wait.P99), us(s.Wait.Max))
	t.Flush()

	fmt.Fprintln(w)
	t = tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "\tn\tp50\tp90\tp99\tmax\t\tfrom due: p50\tp90\tp99\tmax\t")
	for _, m := range s.Methods {
		a, b := m.Service, m.Intended
		fmt.Fprintf(t, "%s\t%d\t%s\t%s\t%s\t%s\t\t%s\t%s\t%s\t%s\t\n", m.Name, a.N, us(a.P50), us(a.P90), us(a.P99), us(a.Max), us(b.P50), us(b.P90), us(b.P99), us(b.Max))
	}
	d := s.Display
	fmt.Fprintf(t, "call to display\t%d\t\t\t\t\t\t%s\t%s\t%s\t%s\t\n", d.N, us(d.P50), us(d.P90), us(d.P99), us(d.Max))
	t.Flush()
	s.printVerdicts(w)
}

func (s *Summary) printVerdicts(w io.Writer) {
	fmt.Fprintln(w)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, v := range s.Verdicts {
		fmt.Fprintf(t, "%s\t%s\t%d judged", v.Status, v.Check, v.Judged)
		if v.Doubtful > 0 {
			fmt.Fprintf(t, ", %d left in doubt", v.Doubtful)
		}
		if v.Count > 0 {
			fmt.Fprintf(t, ", %d faults", v.Count)
		}
		if v.Note != "" {
			fmt.Fprintf(t, ", %s", v.Note)
		}
		fmt.Fprintln(t)
	}
	t.Flush()
	for _, v := range s.Verdicts {
		for i, f := range v.Faults {
			fmt.Fprintf(w, "\n%s, fault %d of %d: %s\n", v.Check, i+1, v.Count, f.What)
			for _, op := range f.Ops {
				fmt.Fprintf(w, "    %s\n", op)
			}
		}
	}
	switch {
	case !s.Holds:
		fmt.Fprintln(w, "\nAN INVARIANT IS BROKEN")
	case s.Error != "":
		fmt.Fprintln(w, "\nno promise is broken in what was seen, and the run did not end")
	default:
		fmt.Fprintln(w, "\nall checks hold")
	}
}

func (s *Summary) rate() float64 {
	n := int64(0)
	for _, m := range s.Methods {
		n += m.Service.N
	}
	return float64(n) / max(s.Took.Seconds(), 1e-9)
}

// us writes microseconds with three digits.
func us(n int64) string {
	d := time.Duration(n) * time.Microsecond
	for unit := time.Microsecond; ; unit *= 10 {
		if d < 1000*unit {
			return d.Round(unit).String()
		}
	}
}

// WriteJSON writes the summary for programs.
func (s *Summary) WriteJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(s)
}
