package result

import (
	"errors"
	"image/color"
	"os"
	"path/filepath"
	"sort"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Line is one line of a picture: y over x, with an optional low and high of each point.
type Line struct {
	Name   string
	X, Y   []float64
	Low    []float64 // nil, or one for each point
	High   []float64
	Dashed bool // a limit, not a system
}

// Picture is lines with both axes logarithmic: what grows in proportion is straight, and a factor is a length.
type Picture struct {
	Title, X, Y string
	Lines       []Line
}

// colors are Okabe and Ito's, told apart by everybody.
var colors = [...]color.RGBA{{0, 114, 178, 255}, {213, 94, 0, 255}, {0, 158, 115, 255}, {204, 121, 167, 255}, {230, 159, 0, 255}, {86, 180, 233, 255}, {90, 90, 90, 255}, {150, 120, 20, 255}}

func palette(i int) color.RGBA { return colors[i%len(colors)] }

// Draw writes the picture as an SVG into a folder, made if it is missing. Points that are not above 0 have no place on a
// logarithmic axis and are left out.
func (p Picture) Draw(dir, name string) error {
	g := plot.New()
	g.Title.Text, g.X.Label.Text, g.Y.Label.Text = p.Title, p.X, p.Y
	g.X.Scale, g.Y.Scale = plot.LogScale{}, plot.LogScale{}
	g.X.Tick.Marker, g.Y.Tick.Marker = p.measured(), logTicks{}
	g.X.Padding, g.Y.Padding = vg.Points(6), vg.Points(6)
	g.Add(plotter.NewGrid())
	names := legend()
	for i, l := range p.Lines {
		if err := l.add(g, &names, i); err != nil {
			return err
		}
	}
	if g.X.Min >= g.X.Max { // one point
		g.X.Min, g.X.Max = g.X.Min/2, g.X.Min*2
	}
	if g.Y.Min >= g.Y.Max {
		g.Y.Min, g.Y.Max = g.Y.Min/2, g.Y.Min*2
	}
	return render(g, &names, dir, name)
}

// render writes a plot with its legend beside it as an SVG into a folder, made if it is missing.
func render(g *plot.Plot, names *plot.Legend, dir, name string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	const width, height, beside = 23 * vg.Centimeter, 13 * vg.Centimeter, 6 * vg.Centimeter
	svg := vgsvg.New(width, height)
	all := draw.New(svg)
	all.SetColor(color.White)
	all.Fill(all.Rectangle.Path())
	g.Draw(draw.Crop(all, vg.Points(4), -beside, 0, -vg.Points(4)))
	names.Draw(draw.Crop(all, width-beside+vg.Points(6), 0, 0, -vg.Points(30)))
	f, err := os.Create(filepath.Join(dir, name))
	if err != nil {
		return err
	}
	_, err = svg.WriteTo(f)
	return errors.Join(err, f.Close())
}

// legend is an empty one, for the place beside a plot.
func legend() plot.Legend {
	l := plot.NewLegend()
	l.Left, l.Top, l.YPosition, l.Padding = true, true, draw.PosCenter, vg.Points(3)
	return l
}

// measured are the ticks of x: what was measured is what one wants to read off.
func (p Picture) measured() plot.ConstantTicks {
	var ticks plot.ConstantTicks
	known := map[float64]bool{}
	for _, l := range p.Lines {
		for _, x := range l.X {
			if !known[x] {
				known[x] = true
				ticks = append(ticks, plot.Tick{Value: x, Label: tickLabel(x)})
			}
		}
	}
	return ticks
}

// bars are the lows and highs of the points.
type bars struct {
	plotter.XYs
	plotter.YErrors
}

// add draws one line.
func (l Line) add(g *plot.Plot, names *plot.Legend, i int) error {
	var b bars
	for n := range l.X {
		if !(l.X[n] > 0) || !(l.Y[n] > 0) {
			continue
		}
		b.XYs = append(b.XYs, plotter.XY{X: l.X[n], Y: l.Y[n]})
		if l.Low != nil {
			b.YErrors = append(b.YErrors, struct{ Low, High float64 }{l.Y[n] - l.Low[n], l.High[n] - l.Y[n]})
		}
	}
	if len(b.XYs) == 0 {
		return nil
	}
	line, points, err := plotter.NewLinePoints(b.XYs)
	if err != nil {
		return err
	}
	line.Color, points.Color = palette(i), palette(i)
	line.Width = vg.Points(1.5)
	points.Shape = []draw.GlyphDrawer{draw.CircleGlyph{}, draw.SquareGlyph{}, draw.TriangleGlyph{}, draw.PyramidGlyph{}}[i%4]
	switch {
	case l.Dashed:
		line.Dashes = []vg.Length{vg.Points(5), vg.Points(4)}
	case i >= len(colors): // the colours begin again
		line.Dashes = []vg.Length{vg.Points(1.5), vg.Points(2)}
	}
	g.Add(line, points)
	names.Add(l.Name, line, points)
	if b.YErrors == nil {
		return nil
	}
	e, err := plotter.NewYErrorBars(b)
	if err != nil {
		return err
	}
	e.Color = palette(i)
	g.Add(e)
	return nil
}

// logTicks are the powers of ten, labelled, and the steps between.
type logTicks struct{}

// Ticks implements plot.Ticker.
func (logTicks) Ticks(low, high float64) (ticks []plot.Tick) {
	for _, t := range (plot.LogTicks{Prec: -1}).Ticks(low, high) {
		if t.Label != "" {
			t.Label = tickLabel(t.Value)
		}
		ticks = append(ticks, t)
	}
	return ticks
}

func tickLabel(v float64) string {
	if v >= 1 {
		return group(int64(v))
	}
	return Num(v)
}

// Sort puts the points in the order of x.
func (l *Line) Sort() { sort.Sort(byX{l}) }

type byX struct{ *Line }

func (b byX) Len() int           { return len(b.X) }
func (b byX) Less(i, j int) bool { return b.X[i] < b.X[j] }
func (b byX) Swap(i, j int) {
	for _, s := range [...][]float64{b.X, b.Y, b.Low, b.High} {
		if s != nil {
			s[i], s[j] = s[j], s[i]
		}
	}
}
