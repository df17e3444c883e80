package server

import "testing"

func TestCountersAreReadAsPeopleSayThem(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		n      int
		zh, en string
	}{
		{1, "一", "one"}, {3, "三", "three"}, {10, "十", "ten"}, {11, "十一", "eleven"}, {12, "十二", "twelve"}, {19, "十九", "nineteen"},
		{20, "二十", "twenty"}, {21, "二十一", "twenty one"}, {99, "九十九", "ninety nine"}, {100, "一百", "one hundred"},
		{105, "一百零五", "one hundred five"}, {110, "一百一十", "one hundred ten"}, {115, "一百一十五", "one hundred fifteen"},
		{1000, "一千", "one thousand"}, {1001, "一千零一", "one thousand one"}, {1010, "一千零一十", "one thousand ten"},
		{1100, "一千一百", "one thousand one hundred"}, {2030, "二千零三十", "two thousand thirty"},
		{9999, "九千九百九十九", "nine thousand nine hundred ninety nine"}, {10000, "10000", "10000"},
	} {
		if got := zhNumber(c.n); got != c.zh {
			t.Errorf("%d: got %q, want %q", c.n, got, c.zh)
		}
		if got := enNumber(c.n); got != c.en {
			t.Errorf("%d: got %q, want %q", c.n, got, c.en)
		}
	}
}
