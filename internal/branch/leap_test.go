package branch

import (
	"log/slog"
	"testing"
	"time"
)

// A step forward, or a sleep of the machine, is time in which nobody could be heard: leases begin anew.
func TestTimeThatNobodyCouldBeHeardInIsNoticed(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name               string
		wall, boot, steady time.Duration // how far each goes on
		want               bool
	}{
		{"a second passes", time.Second, time.Second, time.Second, false},
		{"the wall clock is set ahead", 10 * time.Minute, time.Second, time.Second, true},
		{"the wall clock is set back", -10 * time.Minute, time.Second, time.Second, false},
		{"the machine sleeps", 8 * time.Hour, 8 * time.Hour, time.Second, true},
		{"a jump that is not believed", 5 * time.Hour, time.Second, time.Second, false},
		{"a clock without a monotonic reading is set back", -10 * time.Minute, -10 * time.Minute, -10 * time.Minute, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			wall, boot, steady, leapt := morning, time.Hour, int64(time.Hour), false
			c := newClock(func() time.Time { return wall }, func() time.Duration { return boot }, func() int64 { return steady }, morning.UnixNano(), slog.New(slog.DiscardHandler))
			c.leapt = func() { leapt = true }
			c.now()
			wall, boot, steady = wall.Add(test.wall), boot+test.boot, steady+int64(test.steady)
			c.now()
			if leapt != test.want {
				t.Errorf("got leapt %t, want %t", leapt, test.want)
			}
		})
	}
}
