package result

import (
	"image/color"
	"os"
	"path/filepath"
	"sort"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
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

// palette is Okabe and Ito's, told apart by everybody.
func palette(i int) color.Color {
	colors := [...]color.RGBA{{0, 114, 178, 255}, {213, 94, 0, 255}, {0, 158, 115, 255}, {204, 121, 167, 255}, {230, 159, 0, 255}, {86, 180, 233, 255}, {90, 90, 90, 255}, {150, 120, 20, 255}}
	return colors[i%len(colors)]
}

// Draw writes the picture as an SVG into a folder, made if it is missing. Points that are not above 0 have no place on a
// logarithmic axis and are left out.
func (p Picture) Draw(dir, name string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	g := plot.New()
	g.Title.Text, g.X.Label.Text, g.Y.Label.Text = p.Title, p.X, p.Y
	g.X.Scale, g.Y.Scale = plot.LogScale{}, plot.LogScale{}
	g.X.Tick.Marker, g.Y.Tick.Marker = logTicks{}, logTicks{}
	g.Add(plotter.NewGrid())
	g.Legend.Top, g.Legend.Left = false, false
	g.Legend.Padding = vg.Points(1)
	for i, l := range p.Lines {
		if err := l.add(g, i); err != nil {
			return err
		}
	}
	if g.X.Min >= g.X.Max { // one point
		g.X.Min, g.X.Max = g.X.Min/2, g.X.Min*2
	}
	if g.Y.Min >= g.Y.Max {
		g.Y.Min, g.Y.Max = g.Y.Min/2, g.Y.Min*2
	}
	return g.Save(20*vg.Centimeter, 13*vg.Centimeter, filepath.Join(dir, name))
}

// bars are the lows and highs of the points.
type bars struct {
	plotter.XYs
	plotter.YErrors
}

// add draws one line.
func (l Line) add(g *plot.Plot, i int) error {
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
	if l.Dashed {
		line.Dashes = []vg.Length{vg.Points(5), vg.Points(4)}
	}
	g.Add(line, points)
	g.Legend.Add(l.Name, line, points)
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
