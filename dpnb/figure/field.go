package figure

import (
	"errors"
	"fmt"
	"image/color"
	"math"
	"sort"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Bars draws a histogram: bar i stands between edges[i] and edges[i+1] and has the given height.
func (f *Figure) Bars(edges, heights []float64, c color.NRGBA) *Figure {
	if len(edges) != len(heights)+1 || len(heights) == 0 {
		f.fail(fmt.Errorf("figure: %d edges for %d bars, want one more edge than bars", len(edges), len(heights)))
		return f
	}
	for i, h := range heights {
		if h == 0 || math.IsNaN(h) {
			continue
		}
		a, b := edges[i], edges[i+1]
		bar, err := plotter.NewPolygon(plotter.XYs{{X: a, Y: 0}, {X: a, Y: h}, {X: b, Y: h}, {X: b, Y: 0}})
		if err != nil {
			f.fail(err)
			return f
		}
		light := c
		light.A = 70
		bar.Color = light
		bar.LineStyle = draw.LineStyle{Color: color.White, Width: vg.Points(0.3)}
		f.plot.Add(bar)
	}
	tops := make(plotter.XYs, len(heights))
	for i, h := range heights {
		tops[i] = plotter.XY{X: edges[i], Y: h}
	}
	f.record("bars", "", tops)
	return f
}

// Whiskers draws a vertical line from lo to hi at every x: a confidence interval, or a standard error to each side.
func (f *Figure) Whiskers(x, lo, hi []float64, c color.Color) *Figure {
	a, b := f.points(x, lo), f.points(x, hi)
	if f.err == nil && len(a) != len(b) {
		f.fail(fmt.Errorf("figure: %d lower ends that can be shown, %d upper ones", len(a), len(b)))
	}
	if f.err != nil {
		return f
	}
	for i := range a {
		l, err := plotter.NewLine(plotter.XYs{a[i], b[i]})
		if err != nil {
			f.fail(err)
			return f
		}
		l.Color, l.Width = c, vg.Points(1.1)
		f.plot.Add(l)
	}
	f.record("whiskers", "", append(a, b...))
	return f
}

// Contours draws the lines on which z has the given levels; z[i][j] is the finite value at (x[j], y[i]). The levels
// rise.
func (f *Figure) Contours(x, y []float64, z [][]float64, levels []float64, c color.Color) *Figure {
	g, err := newGrid(x, y, z)
	if err != nil {
		f.fail(err)
		return f
	}
	for _, row := range z {
		if s := floats.Sum(row); math.IsNaN(s) || math.IsInf(s, 0) {
			f.fail(errors.New("figure: contours need a finite value at every point"))
			return f
		}
	}
	lines := plotter.NewContour(g, levels, one{c})
	lines.LineStyles = []draw.LineStyle{{Color: c, Width: vg.Points(1)}}
	f.plot.Add(lines)
	f.recordField(fmt.Sprintf("contours at %.4g", levels), g)
	return f
}

// Heat fills a map: z[i][j] is the value at (x[j], y[i]), dark where it is high (on a dark page, light). Values that
// are not finite stay white. Contours with Notes say what a colour means.
func (f *Figure) Heat(x, y []float64, z [][]float64) *Figure {
	g, err := newGrid(x, y, z)
	if err != nil {
		f.fail(err)
		return f
	}
	f.heat = &heat{g, f.logX, f.logY, false}
	f.plot.Add(f.heat)
	f.recordField("map", g)
	return f
}

// HeatLog is Heat with colours by the logarithm of z; values that are not positive stay white.
func (f *Figure) HeatLog(x, y []float64, z [][]float64) *Figure {
	if f.Heat(x, y, z); f.heat != nil {
		f.heat.logZ = true
	}
	return f
}

// Hatch draws slanted lines over the cells of a map where something is unsure; cells are those of Heat.
func (f *Figure) Hatch(x, y []float64, where func(row, column int) bool) *Figure {
	z, any := make([][]float64, len(y)), 0.0
	for i := range z {
		z[i] = make([]float64, len(x))
		for j := range z[i] {
			if where(i, j) {
				z[i][j] = 1
				any++
			}
		}
	}
	g, err := newGrid(x, y, z)
	if err != nil {
		f.fail(err)
		return f
	}
	f.plot.Add(hatch{heat{g, f.logX, f.logY, false}})
	f.recordField("hatched", g)
	f.drawn[len(f.drawn)-1] += fmt.Sprintf(", %.4g %% of it", 100*any/float64(len(x)*len(y)))
	return f
}

// hatch draws lines over cells whose value is not 0.
type hatch struct{ heat }

// Plot implements plot.Plotter. Lines go on from one cell to the next.
func (h hatch) Plot(c draw.Canvas, p *plot.Plot) {
	const apart = 5
	trX, trY := p.Transforms(&c)
	x, y := cellEdges(h.x, h.logX), cellEdges(h.y, h.logY)
	place := func(tr func(float64) vg.Length, v, lo, hi float64) float64 {
		return float64(tr(math.Min(math.Max(v, lo), hi)))
	}
	style := draw.LineStyle{Color: color.NRGBA{255, 255, 255, 210}, Width: vg.Points(1.1)}
	for i, row := range h.z {
		low, high := place(trY, y[i], p.Y.Min, p.Y.Max), place(trY, y[i+1], p.Y.Min, p.Y.Max)
		for j, v := range row {
			left, right := place(trX, x[j], p.X.Min, p.X.Max), place(trX, x[j+1], p.X.Min, p.X.Max)
			for k := math.Ceil((left + low) / apart); v != 0 && k*apart < right+high; k++ { // x + y = k·apart
				from, to := math.Max(left, k*apart-high), math.Min(right, k*apart-low)
				c.StrokeLine2(style, vg.Length(from), vg.Length(k*apart-from), vg.Length(to), vg.Length(k*apart-to))
			}
		}
	}
}

// ColorBar draws the scale of the colours of Heat to the right of the figure, labelled with the quantity that they
// show.
func (f *Figure) ColorBar(label string) *Figure {
	if f.heat == nil {
		f.fail(errors.New("figure: a colour bar needs a map: call Heat first"))
		return f
	}
	f.bar = &colorBar{label}
	f.named = append(f.named, "colour bar: "+label)
	return f
}

// recordField remembers a map by its corners and its middle.
func (f *Figure) recordField(kind string, g valueGrid) {
	columns, rows := g.Dims()
	line := fmt.Sprintf("%s of %d × %d:", kind, columns, rows)
	for _, r := range []int{0, rows / 2, rows - 1} {
		for _, c := range []int{0, columns / 2, columns - 1} {
			line += fmt.Sprintf(" (%.4g, %.4g, %.4g)", g.x[c]+0, g.y[r]+0, g.z[r][c]+0)
		}
	}
	f.drawn = append(f.drawn, line)
}

// colorBar is the scale of a map's colours.
type colorBar struct{ label string }

// draw draws the bar at the right of c and returns what is left of it.
func (b colorBar) draw(c draw.Canvas, h *heat) draw.Canvas {
	const room, width, steps = 74, 12, 120
	lo, hi := h.span()
	bar := draw.Crop(c, c.Max.X-c.Min.X-vg.Points(room), 0, vg.Points(38), -vg.Points(30))
	for i := range steps {
		at := func(k int) vg.Length { return bar.Min.Y + (bar.Max.Y-bar.Min.Y)*vg.Length(k)/steps }
		c.SetColor(shade((float64(i) + 0.5) / steps))
		c.Fill(rectangle(vg.Point{X: bar.Min.X + vg.Points(10), Y: at(i)},
			vg.Point{X: bar.Min.X + vg.Points(10+width), Y: at(i+1) + 0.4})) // no seam
	}
	ticker := evenTicks(1, "")
	from, to := lo, hi
	if h.logZ {
		ticker, from, to = logTicks(nil), math.Exp(lo), math.Exp(hi)
	}
	words := style(9.5, Ink)
	words.YAlign = text.YCenter
	for _, t := range ticker.Ticks(from, to) {
		if t.Label != "" {
			y := bar.Min.Y + (bar.Max.Y-bar.Min.Y)*vg.Length((h.placed(t.Value)-lo)/(hi-lo))
			c.FillText(words, vg.Point{X: bar.Min.X + vg.Points(14+width), Y: y}, t.Label)
		}
	}
	words.XAlign, words.YAlign = text.XRight, text.YBottom
	c.FillText(words, vg.Point{X: c.Max.X, Y: bar.Max.Y + vg.Points(8)}, b.label)
	return draw.Crop(c, 0, -vg.Points(room), 0, 0)
}

// one is a palette of one colour.
type one struct{ c color.Color }

func (o one) Colors() []color.Color { return []color.Color{o.c} }

// valueGrid is a plotter.GridXYZ.
type valueGrid struct {
	x, y []float64
	z    [][]float64
}

func newGrid(x, y []float64, z [][]float64) (valueGrid, error) {
	g := valueGrid{x, y, z}
	if len(x) < 2 || len(y) < 2 || len(z) != len(y) {
		return g, fmt.Errorf("figure: a map of %d rows for %d × %d points, want at least two of each and a row for "+
			"each y", len(z), len(y), len(x))
	}
	for i, row := range z {
		if len(row) != len(x) {
			return g, fmt.Errorf("figure: row %d of a map has %d values, want %d", i, len(row), len(x))
		}
	}
	for _, axis := range [][]float64{x, y} {
		for i := 1; i < len(axis); i++ {
			if !(axis[i] > axis[i-1]) {
				return g, fmt.Errorf("figure: the coordinates of a map must rise")
			}
		}
	}
	return g, nil
}

func (g valueGrid) Dims() (c, r int)   { return len(g.x), len(g.y) }
func (g valueGrid) Z(c, r int) float64 { return g.z[r][c] }
func (g valueGrid) X(c int) float64    { return g.x[c] }
func (g valueGrid) Y(r int) float64    { return g.y[r] }

// heat draws a cell around every point; its borders lie half-way to the next, on the scale of the axis.
type heat struct {
	valueGrid
	logX, logY, logZ bool
}

// placed is a value as the scale of colours places it.
func (h heat) placed(v float64) float64 {
	if h.logZ {
		return math.Log(v)
	}
	return v
}

// over returns the colour, black or white, in which a text at a point of the map is read best. The contrast is at least
// √21 = 4.6.
func (h heat) over(x, y float64) color.Color {
	cell := func(at []float64, log bool, v float64) int {
		return min(max(sort.SearchFloat64s(cellEdges(at, log), v)-1, 0), len(at)-1)
	}
	ground := white
	if v := h.placed(h.z[cell(h.y, h.logY, y)][cell(h.x, h.logX, x)]); !math.IsNaN(v) && !math.IsInf(v, 0) {
		lo, hi := h.span()
		ground = shade((v - lo) / (hi - lo)).(color.NRGBA)
	}
	if contrast(ground, white) > contrast(ground, black) {
		return white
	}
	return black
}

// span returns the least and the largest of the placed values that are finite.
func (h heat) span() (lo, hi float64) {
	lo, hi = math.Inf(1), math.Inf(-1)
	for _, row := range h.z {
		for _, v := range row {
			if v = h.placed(v); !math.IsNaN(v) && !math.IsInf(v, 0) {
				lo, hi = math.Min(lo, v), math.Max(hi, v)
			}
		}
	}
	if !(hi > lo) {
		hi = lo + 1
	}
	return lo, hi
}

// Plot implements plot.Plotter.
func (h heat) Plot(c draw.Canvas, p *plot.Plot) {
	lo, hi := h.span()
	trX, trY := p.Transforms(&c)
	x, y := cellEdges(h.x, h.logX), cellEdges(h.y, h.logY)
	for i, row := range h.z {
		for j, v := range row {
			if v = h.placed(v); math.IsNaN(v) || math.IsInf(v, 0) {
				continue
			}
			c.SetColor(shade((v - lo) / (hi - lo)))
			left, low, right, high := trX(x[j]), trY(y[i]), trX(x[j+1]), trY(y[i+1])
			// The next cells are drawn over what is too much; edges that only touch would show as lines.
			if j+1 < len(row) {
				right += vg.Points(0.6)
			}
			if i+1 < len(h.z) {
				high += vg.Points(0.6)
			}
			c.Fill(rectangle(vg.Point{X: left, Y: low}, vg.Point{X: right, Y: high}))
		}
	}
}

// shades are the colours of low, middle and high values: one hue, whose lightness falls evenly, so that it can be read
// without seeing colour.
var shades = [3][3]float64{{240, 246, 250}, {118, 170, 208}, {16, 62, 112}}

func shade(t float64) color.Color {
	k := min(int(2*t), 1)
	w := 2*t - float64(k)
	mix := func(i int) uint8 { return uint8(math.Round(shades[k][i] + w*(shades[k+1][i]-shades[k][i]))) }
	return color.NRGBA{mix(0), mix(1), mix(2), 255}
}

// DataRange implements plot.DataRanger.
func (h heat) DataRange() (xmin, xmax, ymin, ymax float64) {
	x, y := cellEdges(h.x, h.logX), cellEdges(h.y, h.logY)
	return x[0], x[len(x)-1], y[0], y[len(y)-1]
}

func cellEdges(v []float64, log bool) []float64 {
	to, from := func(t float64) float64 { return t }, func(t float64) float64 { return t }
	if log {
		to, from = math.Log, math.Exp
	}
	n := len(v)
	e := make([]float64, n+1)
	for i := 1; i < n; i++ {
		e[i] = from((to(v[i-1]) + to(v[i])) / 2)
	}
	e[0] = from(1.5*to(v[0]) - 0.5*to(v[1]))
	e[n] = from(1.5*to(v[n-1]) - 0.5*to(v[n-2]))
	return e
}
