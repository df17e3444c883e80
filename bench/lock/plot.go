package lock

import (
	"fmt"
	"image/color"
	"math"
	"os"
	"slices"
	"strconv"
	"time"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// The size of one panel.
const (
	panelWidth  = 9 * vg.Centimeter
	panelHeight = 8 * vg.Centimeter
)

// shades are the colours of the locks, ours the strongest; readable with the usual colour blindnesses.
var shades = map[string]color.Color{
	mutex:            color.RGBA{0x55, 0x55, 0x55, 0xff},
	ticket:           color.RGBA{0xd5, 0x5e, 0x00, 0xff},
	"channel":        color.RGBA{0x00, 0x72, 0xb2, 0xff},
	"spin + Gosched": color.RGBA{0x00, 0x9e, 0x73, 0xff},
	"spin":           color.RGBA{0xcc, 0x79, 0xa7, 0xff},
	"MCS":            color.RGBA{0x95, 0x7a, 0x00, 0xff},
}

// Plot draws a picture, as SVG: for each number of processors the time an operation to that of sync.Mutex, and below it the
// longest wait, by goroutines, in the rows with the usual section and nothing else. Locks that were cut off are open
// triangles at the lower bound.
func (r Result) Plot(path string) error {
	var processors []int
	for _, row := range r.Rows {
		if usual(row.Row) && !slices.Contains(processors, row.Processors) {
			processors = append(processors, row.Processors)
		}
	}
	if len(processors) == 0 {
		return fmt.Errorf("nothing to draw: no row has a section of %v and %v outside", usualSection, usualOutside)
	}
	panels := make([][]*plot.Plot, 2)
	for i, n := range processors {
		title := fmt.Sprintf("GOMAXPROCS %d", n)
		ratio := panel(title, "time an operation, sync.Mutex = 1", plain)
		wait := panel("", "longest wait", func(v float64) string { return time.Duration(v).String() })
		for _, k := range kinds {
			if err := r.draw(ratio, k.name, n, func(c Cell) float64 { return c.Ratio }, i == 0); err != nil {
				return err
			}
			if err := r.draw(wait, k.name, n, func(c Cell) float64 { return float64(c.Longest) }, false); err != nil {
				return err
			}
		}
		panels[0], panels[1] = append(panels[0], ratio), append(panels[1], wait)
	}
	for _, line := range panels {
		sameScale(line)
	}
	c := vgsvg.New(vg.Length(len(processors))*panelWidth, 2*panelHeight)
	tiles := draw.Tiles{Rows: 2, Cols: len(processors), PadX: vg.Points(14), PadY: vg.Points(10), PadTop: vg.Points(6),
		PadBottom: vg.Points(6), PadLeft: vg.Points(6), PadRight: vg.Points(14)}
	for row, canvases := range plot.Align(panels, tiles, draw.New(c)) {
		for col, canvas := range canvases {
			panels[row][col].Draw(canvas)
		}
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	if _, err = c.WriteTo(f); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

// usual reports whether a row varies nothing but processors and goroutines.
func usual(r Row) bool {
	return r == Row{Goroutines: r.Goroutines, Processors: r.Processors, Section: usualSection, Outside: usualOutside}
}

// panel returns an empty plot with goroutines to the right, both axes logarithmic.
func panel(title, what string, label func(float64) string) *plot.Plot {
	p := plot.New()
	p.BackgroundColor = color.White
	p.Title.Text = title
	p.X.Label.Text, p.Y.Label.Text = "goroutines", what
	p.X.Scale, p.Y.Scale = plot.LogScale{}, plot.LogScale{}
	p.X.Tick.Marker = at(plain, 1, 2, 4, 16, 64, 256, 1024)
	p.X.Min, p.X.Max = 1, 1024
	p.Y.Min, p.Y.Max = math.Inf(1), math.Inf(-1)
	p.Y.Tick.Marker = decades(label)
	grid := plotter.NewGrid()
	grid.Vertical.Color, grid.Horizontal.Color = color.Gray{0xe6}, color.Gray{0xe6}
	p.Add(grid)
	p.Legend.Top, p.Legend.Left = true, true
	p.Legend.Padding = vg.Points(1)
	p.Legend.TextStyle = text.Style{Color: color.Black, Font: p.X.Label.TextStyle.Font, Handler: plot.DefaultTextHandler}
	p.Legend.TextStyle.Font.Size = vg.Points(9)
	return p
}

// draw adds the line of one lock to a panel.
func (r Result) draw(p *plot.Plot, lock string, processors int, of func(Cell) float64, named bool) error {
	var measured, bounds plotter.XYs
	for _, row := range r.Rows {
		l, ok := row.find(lock)
		v := of(l)
		if !ok || !usual(row.Row) || row.Processors != processors || v <= 0 {
			continue
		}
		point := plotter.XY{X: float64(row.Goroutines), Y: v}
		if l.CutOff {
			bounds = append(bounds, point)
		} else {
			measured = append(measured, point)
		}
		p.Y.Min, p.Y.Max = min(p.Y.Min, v), max(p.Y.Max, v)
	}
	line, points, err := plotter.NewLinePoints(append(plotter.XYs{{X: 1, Y: 1}}, measured...))
	if err != nil {
		return err
	}
	line.XYs, points.XYs = measured, measured
	line.Color, points.Color = shades[lock], shades[lock]
	line.Width = vg.Points(1.2)
	if lock == ticket {
		line.Width = vg.Points(2.6)
	}
	points.Shape, points.Radius = draw.CircleGlyph{}, vg.Points(2.4)
	cut, err := plotter.NewScatter(append(plotter.XYs{{X: 1, Y: 1}}, bounds...))
	if err != nil {
		return err
	}
	cut.XYs = bounds
	cut.Color, cut.Shape, cut.Radius = shades[lock], draw.TriangleGlyph{}, vg.Points(4)
	for _, thing := range []plot.Plotter{line, points, cut} {
		p.Add(onlyDrawn{thing})
	}
	if named {
		p.Legend.Add(lock, line, points)
	}
	return nil
}

// onlyDrawn is a plotter that has no say in the range of the axes.
type onlyDrawn struct{ plot.Plotter }

// sameScale gives panels side by side the same range, with a little room.
func sameScale(panels []*plot.Plot) {
	low, high := math.Inf(1), math.Inf(-1)
	for _, p := range panels {
		low, high = min(low, p.Y.Min), max(high, p.Y.Max)
	}
	for _, p := range panels {
		p.Y.Min, p.Y.Max = low/1.5, high*1.5
	}
}

// decades marks powers of ten, and half way between them too where there is room.
func decades(label func(float64) string) plot.Ticker {
	return plot.TickerFunc(func(low, high float64) (ticks []plot.Tick) {
		few := high/low < 1000
		for e := math.Floor(math.Log10(low)); e <= math.Log10(high); e++ {
			for _, m := range []float64{1, 2, 5} {
				v := m * math.Pow(10, e)
				if v < low || v > high || m > 1 && !few {
					continue
				}
				ticks = append(ticks, plot.Tick{Value: v, Label: label(v)})
			}
		}
		return ticks
	})
}

// at marks some values.
func at(label func(float64) string, values ...float64) plot.Ticker {
	return plot.TickerFunc(func(_, _ float64) (ticks []plot.Tick) {
		for _, v := range values {
			ticks = append(ticks, plot.Tick{Value: v, Label: label(v)})
		}
		return ticks
	})
}

// plain writes a number without an exponent and with no more digits than it has.
func plain(v float64) string {
	return strconv.FormatFloat(v, 'f', max(0, -int(math.Floor(math.Log10(v)))), 64)
}
