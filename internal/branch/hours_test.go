package branch

import (
	"testing"
	"time"
)

// A window is local time: it is on while the clocks on the wall show a time inside it, also on the two days of a year on which they
// jump. One that they jump over whole does not happen. (Of an hour that comes twice either may be meant.)
func TestAWindowIsWhatTheClocksOnTheWallShow(t *testing.T) {
	t.Parallel()
	const quarter = 15 * time.Minute
	for _, name := range zones {
		z := zone(name)
		for from := time.Duration(0); from < 4*time.Hour; from += quarter {
			for _, long := range []time.Duration{quarter, 30 * time.Minute, 2 * time.Hour} {
				w := Window{from, from + long}
				h := Hours{Weekly: true}
				for d := range h.Week {
					h.Week[d] = []Window{w}
				}
				change := time.Date(2026, 1, 1, 12, 0, 0, 0, z)
				for {
					_, end := change.ZoneBounds()
					if end.IsZero() || end.Year() > 2027 {
						break
					}
					change = end
					for at := change.Add(-6 * time.Hour); at.Before(change.Add(6 * time.Hour)); at = at.Add(5 * time.Minute) {
						if twice(at) {
							continue
						}
						hour, minute, _ := at.Clock()
						shown := time.Duration(hour)*time.Hour + time.Duration(minute)*time.Minute
						want := w.From <= shown && shown < w.Until
						got, next := h.Open(at)
						if got != want {
							t.Fatalf("%v, a window from %v to %v: got open %t, want %t", at, w.From, w.Until, got, want)
						}
						if opens, _ := h.Open(next); !got && (!opens || !next.After(at)) {
							t.Fatalf("%v, a window from %v to %v: got open again at %v, which is not so", at, w.From, w.Until, next)
						}
					}
				}
			}
		}
	}
}

// twice reports whether the clocks show a time more than once.
func twice(at time.Time) bool {
	for _, other := range []time.Duration{-time.Hour, -30 * time.Minute, 30 * time.Minute, time.Hour} {
		if at.Add(other).Format(time.DateTime) == at.Format(time.DateTime) {
			return true
		}
	}
	return false
}
