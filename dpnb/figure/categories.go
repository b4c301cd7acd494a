package figure

import (
	"fmt"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/dpnb/notebooks/dpnb/internal/numeral"
)

// Intervals draws one line for each name, from the top down: the interval from lo to hi with a dot at mid. The names
// are the ticks of the vertical axis, so use it on a figure of its own; verticals can be added (Vertical). A mid
// of NaN, which is not known, has no dot.
func (f *Figure) Intervals(names []string, lo, mid, hi []float64, c Color) *Figure {
	n := len(names)
	if len(lo) != n || len(mid) != n || len(hi) != n || n == 0 {
		f.fail(fmt.Errorf("figure: %d names for %d, %d and %d values, want as many of each and at least one", n,
			len(lo), len(mid), len(hi)))
		return f
	}
	ticks := make([]plot.Tick, n)
	for i, name := range names {
		y := float64(n - i)
		ticks[i] = plot.Tick{Value: y, Label: name}
		f.Line("", []float64{lo[i], hi[i]}, []float64{y, y}, c)
		if !math.IsNaN(mid[i]) {
			f.Dots("", []float64{mid[i]}, []float64{y}, c)
		}
	}
	// No interval ends on the frame.
	if x := &f.plot.X; !f.logX {
		room := 0.03 * (x.Max - x.Min)
		x.Min, x.Max = x.Min-room, x.Max+room
	}
	for i, name := range names {
		seen := name + " " + figures(mid[i])
		if math.IsNaN(mid[i]) {
			seen = name + " unknown"
		}
		if lo[i] < hi[i] {
			seen += fmt.Sprintf(" (%s to %s)", figures(lo[i]), figures(hi[i]))
		}
		f.named = append(f.named, seen)
	}
	f.plot.Y.Tick.Marker = plot.ConstantTicks(ticks)
	f.YRange(0.4, float64(n)+0.6)
	f.Height = 1.4 + 0.42*float64(n)
	return f
}

// figures writes a number with four digits, in words about a figure.
func figures(v float64) string { return numeral.Tidy(fmt.Sprintf("%.4g", v)) }

// Vertical draws a dashed line over the whole height of a figure of n Intervals, and its label at the top.
func (f *Figure) Vertical(label string, x float64, n int, c Color) *Figure {
	pts := f.points([]float64{x, x}, []float64{0.4, float64(n) + 0.6})
	if f.err != nil {
		return f
	}
	l, err := plotter.NewLine(pts)
	if err != nil {
		f.fail(err)
		return f
	}
	l.LineStyle = draw.LineStyle{Color: c, Width: vg.Points(1.2), Dashes: []vg.Length{vg.Points(5), vg.Points(3)}}
	f.plot.Add(l)
	return f.Note(label, x, float64(n)+0.45, c)
}

// PercentX labels the horizontal axis in percent of its values.
func (f *Figure) PercentX() *Figure {
	f.plot.X.Tick.Marker = evenTicks(100, " %")
	return f
}
