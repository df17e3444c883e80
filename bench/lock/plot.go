package lock

import (
	"cmp"
	"errors"
	"image/color"
	"math"
	"os"
	"slices"
	"strconv"
	"time"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// The size of one panel, and of the legend above them.
const (
	panelWidth   = 8 * vg.Centimeter
	panelHeight  = 7 * vg.Centimeter
	legendHeight = vg.Centimeter
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

// columns are the situations that are drawn, each by goroutines.
var columns = []struct {
	title string
	row   Row
}{
	{"as they come", Row{}},
	{"yielding between operations", Row{Yielding: true}},
	{"all queued at the start", Row{Queued: true}},
	{"beside two hogs", Row{Hogs: 2}},
}

// drawn is the number of processors that is drawn.
const drawn = 2

// Plot draws a picture, as SVG: the time an operation to that of sync.Mutex, and below it the longest wait, by goroutines, a
// column for each situation, on two processors with the usual section. Locks that were cut off are open triangles at the lower
// bound.
func (r Result) Plot(path string) error {
	panels := make([][]*plot.Plot, 2)
	for _, column := range columns {
		ratio := panel(column.title, "x sync.Mutex", plain)
		wait := panel("", "longest wait", func(v float64) string { return time.Duration(v).String() })
		for _, k := range kinds {
			if err := r.draw(ratio, k.name, column.row, func(c Cell) float64 { return c.Ratio }); err != nil {
				return err
			}
			if err := r.draw(wait, k.name, column.row, func(c Cell) float64 { return float64(c.Longest) }); err != nil {
				return err
			}
		}
		panels[0], panels[1] = append(panels[0], ratio), append(panels[1], wait)
	}
	for _, line := range panels {
		if err := sameScale(line); err != nil {
			return err
		}
	}
	c := vgsvg.New(vg.Length(len(columns))*panelWidth, 2*panelHeight+legendHeight)
	whole := draw.New(c)
	legend(draw.Crop(whole, 0, 0, 2*panelHeight, 0))
	tiles := draw.Tiles{Rows: 2, Cols: len(columns), PadX: vg.Points(14), PadY: vg.Points(10), PadTop: vg.Points(6),
		PadBottom: vg.Points(6), PadLeft: vg.Points(6), PadRight: vg.Points(14)}
	for row, canvases := range plot.Align(panels, tiles, draw.Crop(whole, 0, 0, 0, -legendHeight)) {
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
	return p
}

// legend names the lines, side by side above all panels.
func legend(c draw.Canvas) {
	style := plot.New().Legend.TextStyle
	style.Font.Size = vg.Points(11)
	style.YAlign = draw.YCenter
	x, y := c.Min.X+vg.Centimeter, c.Center().Y
	for _, k := range kinds {
		c.StrokeLine2(draw.LineStyle{Color: shades[k.name], Width: vg.Points(3)}, x, y, x+vg.Centimeter, y)
		x += vg.Centimeter + vg.Points(5)
		c.FillText(style, vg.Point{X: x, Y: y}, k.name)
		x += style.Width(k.name) + vg.Points(20)
	}
	c.FillText(style, vg.Point{X: x, Y: y}, "open triangle: more than this, cut off")
}

// draw adds the line of one lock to a panel.
func (r Result) draw(p *plot.Plot, lock string, situation Row, of func(Cell) float64) error {
	var measured, bounds plotter.XYs
	situation.Processors, situation.Section, situation.Outside = drawn, usualSection, usualOutside
	for _, row := range r.Rows {
		situation.Goroutines = row.Goroutines
		l, ok := row.find(lock)
		v := of(l)
		if !ok || row.Row != situation || v <= 0 {
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
	byGoroutines := func(a, b plotter.XY) int { return cmp.Compare(a.X, b.X) }
	slices.SortFunc(measured, byGoroutines)
	if len(measured) > 0 {
		line, points, err := plotter.NewLinePoints(measured)
		if err != nil {
			return err
		}
		line.Color, points.Color = shades[lock], shades[lock]
		line.Width = vg.Points(1.2)
		if lock == ticket {
			line.Width = vg.Points(2.6)
		}
		points.Shape, points.Radius = draw.CircleGlyph{}, vg.Points(2.4)
		p.Add(line, points)
	}
	if len(bounds) > 0 {
		cut, err := plotter.NewScatter(bounds)
		if err != nil {
			return err
		}
		cut.Color, cut.Shape, cut.Radius = shades[lock], draw.TriangleGlyph{}, vg.Points(4)
		p.Add(cut)
	}
	return nil
}

// sameScale gives panels side by side the same range, with a little room.
func sameScale(panels []*plot.Plot) error {
	low, high := math.Inf(1), math.Inf(-1)
	for _, p := range panels {
		low, high = min(low, p.Y.Min), max(high, p.Y.Max)
	}
	if low > high {
		return errors.New("nothing to draw: no row with the usual section on two processors")
	}
	for _, p := range panels {
		p.Y.Min, p.Y.Max = low/1.5, high*1.5
	}
	return nil
}

// decades marks powers of ten, and half way between them too where there is room.
func decades(label func(float64) string) plot.Ticker {
	return plot.TickerFunc(func(low, high float64) (ticks []plot.Tick) {
		few := high/low < 200
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
