package result

import (
	"image/color"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAStackNamesItsPartsButThoseThatNoBarHas(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "made")
	s := Stack{Title: "a title", X: "%", Bars: []string{"first bar", "second bar"}, Parts: []Part{{Name: "this", Values: []float64{60, 70}}, {Name: "nobody's", Hue: 1, Values: []float64{0, 0}}, {Name: "that", Hue: 2, Values: []float64{40, 30}}}}
	if err := s.Draw(dir, "s.svg"); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(dir, "s.svg"))
	if err != nil {
		t.Fatal(err)
	}
	svg := string(b)
	for _, want := range []string{"a title", "first bar", "second bar", "this", "that"} {
		if !strings.Contains(svg, want) {
			t.Errorf("the picture has no %q", want)
		}
	}
	if strings.Contains(svg, "nobody") {
		t.Error("the picture names a part that no bar has")
	}
	if strings.Index(svg, "first bar") < strings.Index(svg, "second bar") { // labels are drawn from the bottom
		t.Error("the first bar is not at the top")
	}
	s.Parts[0].Values = s.Parts[0].Values[:1]
	if err := s.Draw(dir, "s.svg"); err == nil {
		t.Error("a part without a value for each bar was drawn")
	}
}

func TestAShadeIsLighterAndNeverWhite(t *testing.T) {
	c := palette(0)
	if shaded(c, 0) != c {
		t.Errorf("got %v, want %v", shaded(c, 0), c)
	}
	for n := range 4 {
		a, b := shaded(c, n), shaded(c, n+1)
		if a.R >= b.R || a.G >= b.G || a.B >= b.B || b == (color.RGBA{255, 255, 255, 255}) {
			t.Errorf("shade %d is %v, after %v", n+1, b, a)
		}
	}
}
