package result

import (
	"math"
	"testing"
)

func TestNum(t *testing.T) {
	for in, want := range map[float64]string{0: "0.00", 0.1234: "0.123", 1.234: "1.23", 12.34: "12.3", 123.4: "123", 1234.5: "1,235", 1234567: "1,234,567", -1234: "-1,234", 999.9: "1000"} {
		if got := Num(in); got != want {
			t.Errorf("%v: got %q, want %q", in, got, want)
		}
	}
	if got := Num(math.NaN()); got != "-" {
		t.Errorf("NaN: got %q, want a dash", got)
	}
}
