package main

import (
	"strings"
	"testing"

	"callerd/bench/internal/fanout"
)

func TestFanoutRatiosAreThoseOfEachAlternation(t *testing.T) {
	figures := func(xs ...float64) (out []fanout.Figures) {
		for _, x := range xs {
			out = append(out, fanout.Figures{SpreadP50: x, SpreadP99: 2 * x, DeadClosed: int(x)})
		}
		return out
	}
	rows := []*fanout.Row{
		{Server: fanout.Callerd, Displays: 10, Samples: figures(4, 9, 20)},
		{Server: fanout.Callerd, Displays: 10, Dead: 20, Samples: figures(6, 18, 20)},
		{Server: fanout.Loop, Displays: 10, Samples: figures(2, 3, 40)},
		{Server: fanout.Callerd, Displays: 99, Samples: figures(8)},
		{Server: fanout.Loop, Displays: 99, Samples: figures(2), Failed: "it did not start again"}, // so that is no measure
	}
	got := fanoutTable(rows).String()
	for _, want := range []string{
		" 9.00 │ 2.00 │", // not the ratio of the medians, 3
		" 1.50 │",        // with the dead over without
		" 6 │",           // the fewest that were closed, not the median
		" 8.00 │ - │",
		"99 displays, 0 never read FAILED: it did not start again",
	} {
		if !strings.Contains(strings.Join(strings.Fields(got), " "), want) {
			t.Errorf("got no %q in\n%s", want, got)
		}
	}
}
