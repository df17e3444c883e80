package result

import (
	"math"
	"testing"
)

func TestMedian(t *testing.T) {
	for name, c := range map[string]struct {
		of   []float64
		want float64
	}{
		"one":                   {[]float64{3}, 3},
		"the middle, unordered": {[]float64{9, 1, 5}, 5},
		"between two":           {[]float64{4, 1, 2, 100}, 3},
		"one that is far off":   {[]float64{1, 1, 1000}, 1},
	} {
		if got := Median(c.of); got != c.want {
			t.Errorf("%s: got %v, want %v", name, got, c.want)
		}
	}
	if got := Median(nil); !math.IsNaN(got) {
		t.Errorf("of none: got %v, want NaN", got)
	}
}

func TestMedianLeavesItsArgumentAsItIs(t *testing.T) {
	xs := []float64{3, 1, 2}
	Median(xs)
	if xs[0] != 3 || xs[1] != 1 || xs[2] != 2 {
		t.Errorf("got %v", xs)
	}
}

func TestARatioIsTakenWithinEachAlternation(t *testing.T) {
	// The machine was twice as slow in the second: the ratio is 2 all the same, and that of the medians would be too only by luck.
	if got := Ratio([]float64{200, 100, 220}, []float64{100, 50, 110}); got != 2 {
		t.Errorf("got %v, want 2", got)
	}
	if got := Ratio([]float64{10, 90}, []float64{5, 0}); got != 2 {
		t.Errorf("with a zero below: got %v, want that of the other pair", got)
	}
	if got := Ratio(nil, []float64{1}); !math.IsNaN(got) {
		t.Errorf("without a pair: got %v, want NaN", got)
	}
}

func TestSpread(t *testing.T) {
	if low, high := Spread([]float64{2, 9, 4}); low != 2 || high != 9 {
		t.Errorf("got %v to %v, want 2 to 9", low, high)
	}
}

func TestQuantile(t *testing.T) {
	var xs []float64
	for n := 100; n > 0; n-- {
		xs = append(xs, float64(n))
	}
	for q, want := range map[float64]float64{0: 1, 0.5: 50, 0.99: 99, 1: 100} {
		if got := Quantile(xs, q); got != want {
			t.Errorf("%v of 1 to 100: got %v, want %v", q, got, want)
		}
	}
	if got := Quantile([]float64{7}, 0.99); got != 7 {
		t.Errorf("of one: got %v, want it", got)
	}
}
