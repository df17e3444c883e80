// Package result is the arithmetic of a comparison and what comes out of it: tables, JSON and pictures.
package result

import (
	"math"
	"slices"
)

// Median is the middle one, or the mean of the two in the middle; NaN of none.
func Median(xs []float64) float64 {
	if len(xs) == 0 {
		return math.NaN()
	}
	s := slices.Sorted(slices.Values(xs))
	m := len(s) / 2
	if len(s)%2 == 1 {
		return s[m]
	}
	return (s[m-1] + s[m]) / 2
}

// Ratio is the median of a[i]/b[i]. The two of one index were measured in one alternation, one soon after the other, so what the
// machine did to both falls out; the ratio of two medians may be of two different hours.
func Ratio(a, b []float64) float64 {
	var rs []float64
	for i := range min(len(a), len(b)) {
		if b[i] != 0 {
			rs = append(rs, a[i]/b[i])
		}
	}
	return Median(rs)
}

// Spread is the lowest and the highest: how far to trust a median.
func Spread(xs []float64) (low, high float64) {
	if len(xs) == 0 {
		return math.NaN(), math.NaN()
	}
	return slices.Min(xs), slices.Max(xs)
}

// Each picks one figure of each sample.
func Each[T any](samples []T, f func(T) float64) []float64 {
	xs := make([]float64, len(samples))
	for i, s := range samples {
		xs[i] = f(s)
	}
	return xs
}

// Quantile is the value below which a part q of them lies, the nearest of them; NaN of none.
func Quantile(xs []float64, q float64) float64 {
	if len(xs) == 0 {
		return math.NaN()
	}
	s := slices.Sorted(slices.Values(xs))
	return s[max(0, int(math.Ceil(q*float64(len(s))))-1)]
}
