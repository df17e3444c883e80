package result

import (
	"fmt"
	"image/color"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
)

// Stack is horizontal bars, each of the same parts one behind the other.
type Stack struct {
	Title, X string
	Bars     []string // labels, from the top
	Parts    []Part
}

// Part is one part of all bars.
type Part struct {
	Name string
	// Parts of one hue belong together; shades are from 0, the full colour, to 4.
	Hue, Shade int
	Values     []float64 // of each bar
}

// Draw writes the bars as an SVG into a folder, made if it is missing. A part that no bar has is left out.
func (s Stack) Draw(dir, name string) error {
	g := plot.New()
	g.Title.Text, g.X.Label.Text = s.Title, s.X
	g.X.Padding, g.X.Min = 0, 0
	names := legend()
	var last *plotter.BarChart
	for _, p := range s.Parts {
		if len(p.Values) != len(s.Bars) {
			return fmt.Errorf("%s: %s has %d values for %d bars", name, p.Name, len(p.Values), len(s.Bars))
		}
		values, most := make(plotter.Values, len(p.Values)), 0.0
		for i, v := range p.Values { // the axis begins at the bottom
			values[len(values)-1-i], most = v, max(most, v)
		}
		if most == 0 {
			continue
		}
		b, err := plotter.NewBarChart(values, vg.Centimeter*8/vg.Length(len(s.Bars)))
		if err != nil {
			return err
		}
		b.Horizontal, b.Color, b.LineStyle.Width = true, shaded(palette(p.Hue), p.Shade), 0
		if last != nil {
			b.StackOn(last)
		}
		last = b
		g.Add(b)
		names.Add(p.Name, b)
	}
	labels := make([]string, len(s.Bars))
	for i, l := range s.Bars {
		labels[len(labels)-1-i] = l
	}
	g.NominalY(labels...)
	return render(g, &names, dir, name)
}

// shaded is a colour on its way to white.
func shaded(c color.RGBA, shade int) color.RGBA {
	lighter := func(x uint8) uint8 { return x + uint8(float64(255-x)*0.19*float64(shade)) }
	return color.RGBA{lighter(c.R), lighter(c.G), lighter(c.B), c.A}
}
