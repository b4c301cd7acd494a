// Package figure draws plots in one style: lines with bands, logarithmic axes, theory over dots, labels beside what
// they name.
package figure

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/dpnb/notebooks/dpnb/internal/numeral"
)

// Color is a colour without transparency, so that a band can be made of it.
type Color = color.NRGBA

// Colors that readers who do not distinguish red from green can tell apart; Sky and Rose are for variants of what is
// Blue and Orange.
//
// Source: Okabe and Ito 2008, "Color Universal Design".
var (
	Blue   = color.NRGBA{0, 114, 178, 255}
	Orange = color.NRGBA{213, 94, 0, 255}
	Green  = color.NRGBA{0, 138, 100, 255}
	Purple = color.NRGBA{170, 80, 140, 255}
	Gold   = color.NRGBA{200, 140, 0, 255}
	Gray   = color.NRGBA{110, 110, 110, 255}
	Sky    = color.NRGBA{60, 150, 210, 255}
	Rose   = color.NRGBA{185, 60, 75, 255}
)

var (
	// Ink is the colour of texts.
	Ink  = color.NRGBA{40, 40, 40, 255}
	grid = color.NRGBA{228, 228, 228, 255}
	sans = font.Font{Typeface: "Liberation", Variant: "Sans"}
)

// Figure is one plot. Make it with New, add to it, then show or save it. Methods that add return the figure, so that
// calls can be chained.
type Figure struct {
	plot *plot.Plot
	// Width and Height in inches; New makes a figure Width wide.
	Width, Height float64
	// Alt describes the figure in words, for readers who cannot see it; without it Words makes a description.
	Alt  string
	logX bool
	logY bool
	err  error
	// seen are the lines that have a name, which stands at their ends, named what else has one: for Words.
	seen  []seen
	named []string
	// ends are the labels beside the last of some dots.
	ends labels
	// drawn says what was added, with its numbers: for Numbers.
	drawn []string
	// fixed sets the ends of axes that were fixed.
	fixed []func()
	// equal asks for axes of one scale.
	equal bool
	// warning is written above the title.
	warning string
	heat    *heat
	bar     *colorBar
	page    *page
}

// Width is that of figures, in inches: on a phone, whose page is 364 pixels wide, letters of 9.5 points are 9 pixels
// high. What does not fit is broken into lines: the title, the names of axes, labels.
const Width = 5.3

// New returns an empty figure. The labels of the axes carry their units. Numbers in texts of a figure, 1e-06, are
// written as its ticks are, 1e−6.
func New(title, xLabel, yLabel string) *Figure {
	p := plot.New()
	p.Title.Text = numeral.Tidy(title)
	p.Title.TextStyle = style(12, Ink)
	p.Title.Padding = vg.Points(8)
	p.Title.TextStyle.XAlign, p.Title.TextStyle.YAlign = text.XCenter, text.YTop
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.Label.TextStyle = style(10.5, Ink)
		a.Label.TextStyle.XAlign = text.XCenter
		a.Tick.Label = style(9.5, Ink)
		a.Color = Gray
		a.Tick.Color = Gray
		a.Tick.Length = vg.Points(3)
		a.LineStyle.Width = vg.Points(0.6)
		a.Label.Padding = vg.Points(5)
		a.Tick.Marker = evenTicks(1, "")
		a.Padding = vg.Points(3)
	}
	p.X.Tick.Label.XAlign, p.X.Tick.Label.YAlign = text.XCenter, text.YTop
	p.Y.Tick.Label.XAlign, p.Y.Tick.Label.YAlign = text.XRight, text.YCenter
	p.X.Label.Text, p.Y.Label.Text = numeral.Tidy(xLabel), numeral.Tidy(yLabel)
	g := plotter.NewGrid()
	g.Vertical.Color, g.Horizontal.Color = grid, grid
	g.Vertical.Width, g.Horizontal.Width = vg.Points(0.5), vg.Points(0.5)
	p.Add(g)
	f := &Figure{plot: p, Width: Width, Height: 4}
	p.Add(ends{f})
	return f
}

func style(size float64, c color.Color) text.Style {
	f := sans
	f.Size = vg.Points(size)
	return text.Style{Color: c, Font: f, Handler: plot.DefaultTextHandler}
}

// LogX makes the horizontal axis logarithmic, with ticks at the given values, or at round ones if fewer than three of
// these are on the axis.
func (f *Figure) LogX(ticks ...float64) *Figure {
	f.logX = true
	f.plot.X.Scale = plot.LogScale{}
	f.plot.X.Tick.Marker = logTicks(ticks)
	return f
}

// LogY makes the vertical axis logarithmic, with ticks as LogX.
func (f *Figure) LogY(ticks ...float64) *Figure {
	f.logY = true
	f.plot.Y.Scale = plot.LogScale{}
	f.plot.Y.Tick.Marker = logTicks(ticks)
	return f
}

// logTicks puts ticks at the given values. Where fewer than three of them are on the axis, because the data went
// elsewhere, or none are given, it finds its own.
func logTicks(at []float64) plot.Ticker {
	return plot.TickerFunc(func(lo, hi float64) []plot.Tick {
		var ticks []plot.Tick
		inside := 0
		for _, v := range at {
			ticks = append(ticks, plot.Tick{Value: v, Label: Number(v)})
			if lo*(1-1e-9) <= v && v <= hi*(1+1e-9) {
				inside++
			}
		}
		if inside >= 3 {
			return ticks
		}
		first, last := math.Ceil(math.Log10(lo)-1e-9), math.Floor(math.Log10(hi)+1e-9)
		ticks = nil
		if hi < 200*lo { // 1, 2, 5 of each power of ten
			for k := first - 1; k <= last+1; k++ {
				for _, digit := range []float64{1, 2, 5} {
					if v := digit * math.Pow(10, k); lo*(1-1e-9) <= v && v <= hi*(1+1e-9) {
						ticks = append(ticks, plot.Tick{Value: v, Label: Number(v)})
					}
				}
			}
			return ticks
		}
		// Powers of ten, of which at most seven are labelled.
		every := math.Max(1, math.Ceil((last-first)/7))
		for k := first; k <= last; k++ {
			t := plot.Tick{Value: math.Pow(10, k)}
			if math.Mod(k-last, every) == 0 {
				t.Label = Number(t.Value)
			}
			ticks = append(ticks, t)
		}
		return ticks
	})
}

// Percent labels the vertical axis in percent of its values.
func (f *Figure) Percent() *Figure {
	f.plot.Y.Tick.Marker = evenTicks(100, " %")
	return f
}

// DatesX labels a horizontal axis of days since 1970-01-01 with dates.
func (f *Figure) DatesX() *Figure {
	f.plot.X.Tick.Marker = plot.TickerFunc(dateTicks)
	return f
}

// dateTicks puts as many ticks at the beginnings of years, months or days as there is room for on half a page.
func dateTicks(lo, hi float64) (ticks []plot.Tick) {
	for _, by := range []struct {
		years, months, days int
		layout              string
	}{{days: 1, layout: time.DateOnly}, {days: 7, layout: time.DateOnly}, {days: 14, layout: time.DateOnly},
		{days: 20, layout: time.DateOnly}, {months: 1, layout: "2006-01"}, {months: 3, layout: "2006-01"},
		{months: 6, layout: "2006-01"}, {years: 1, layout: "2006"}, {years: 2, layout: "2006"},
		{years: 5, layout: "2006"}, {years: 10, layout: "2006"}, {years: 50, layout: "2006"}} {
		at := time.Unix(int64(math.Ceil(lo))*86400, 0).UTC()
		if by.days == 0 {
			at = time.Date(at.Year()-at.Year()%max(1, by.years), 1, 1, 0, 0, 0, 0, time.UTC)
		}
		most := max(3, 20/len(by.layout))
		ticks = nil
		for ; float64(at.Unix()) <= hi*86400; at = at.AddDate(by.years, by.months, by.days) {
			if v := float64(at.Unix()) / 86400; v >= lo {
				ticks = append(ticks, plot.Tick{Value: v, Label: at.Format(by.layout)})
			}
			if len(ticks) > most {
				break
			}
		}
		if len(ticks) <= most {
			break
		}
	}
	return ticks
}

// evenTicks puts about five ticks at round multiples of scale and labels them in that unit.
func evenTicks(scale float64, unit string) plot.Ticker {
	return plot.TickerFunc(func(lo, hi float64) []plot.Tick {
		lo, hi = scale*lo, scale*hi
		step := RoundStep((hi - lo) / 6)
		var ticks []plot.Tick
		for k := math.Ceil(lo/step - 1e-9); k*step <= hi*(1+1e-12); k++ {
			ticks = append(ticks, plot.Tick{Value: k * step / scale, Label: Number(k*step) + unit})
		}
		return ticks
	})
}

// Warn has a warning written above the title, and said first in Words; "" is none. What is warned of stays.
func (f *Figure) Warn(warning string) *Figure {
	if warning = numeral.Tidy(warning); !strings.Contains(f.warning, warning) {
		f.warning = strings.TrimSpace(f.warning + " " + warning)
	}
	return f
}

// warningStyle is that of warnings.
func warningStyle() text.Style { return style(9.5, Orange) }

// warningLines are the lines of the warning.
func (f *Figure) warningLines() []string {
	return broken(f.warning, warningStyle(), f.width()-2*vg.Points(margin))
}

// warningHeight is the room of so many lines, with a gap below the last.
func warningHeight(lines int) vg.Length {
	if lines == 0 {
		return 0
	}
	return (vg.Length(lines) + 0.5) * warningStyle().FontExtents().Height * 1.2
}

// Number writes a number as the ticks of a figure do: 0.5, 20, 1e−6.
func Number(v float64) string { return numeral.Format(v) }

// RoundStep returns the number of the form 1, 2 or 5 times a power of ten next above x > 0.
func RoundStep(x float64) float64 {
	p := math.Pow(10, math.Floor(math.Log10(x)))
	for _, m := range []float64{1, 2, 5} {
		if m*p >= x {
			return m * p
		}
	}
	return 10 * p
}

// Equal gives both axes one scale, so that a circle is round: the axis with room to spare is made longer.
func (f *Figure) Equal() *Figure { f.equal = true; return f }

// XRange and YRange fix the ends of an axis, whatever is drawn before or after.
func (f *Figure) XRange(lo, hi float64) *Figure { return f.fix(&f.plot.X, lo, hi) }

// YRange fixes the ends of the vertical axis.
func (f *Figure) YRange(lo, hi float64) *Figure { return f.fix(&f.plot.Y, lo, hi) }

// fix sets the ends of an axis, and again when all is there: what is added widens them.
func (f *Figure) fix(a *plot.Axis, lo, hi float64) *Figure {
	a.Min, a.Max = lo, hi
	f.fixed = append(f.fixed, func() { a.Min, a.Max = lo, hi })
	return f
}

// points pairs coordinates, without those that the axes cannot show.
func (f *Figure) points(x, y []float64) plotter.XYs {
	if len(x) != len(y) {
		f.fail(fmt.Errorf("figure: %d abscissae for %d ordinates", len(x), len(y)))
		return nil
	}
	var pts plotter.XYs
	for i := range x {
		bad := math.IsNaN(x[i]+y[i]) || math.IsInf(x[i], 0) || math.IsInf(y[i], 0)
		if !bad && !(f.logX && x[i] <= 0) && !(f.logY && y[i] <= 0) {
			pts = append(pts, plotter.XY{X: x[i], Y: y[i]})
		}
	}
	if len(pts) == 0 {
		f.fail(fmt.Errorf("figure: no point can be shown on these axes"))
	}
	return pts
}

func (f *Figure) fail(err error) {
	if f.err == nil {
		f.err = err
	}
}

// Line draws a line with its label at the right end; an empty label is not drawn.
func (f *Figure) Line(label string, x, y []float64, c color.Color) *Figure {
	return f.line(label, x, y, c, nil)
}

// curveParts is into how many parts a curve is cut.
const curveParts = 240

// Curve draws f from lo to hi, with its label at the right end. On a logarithmic axis the points are spread evenly as
// they are seen; where f is not finite nothing is drawn.
func (f *Figure) Curve(label string, lo, hi float64, of func(x float64) float64, c color.Color) *Figure {
	x := Span(lo, hi, curveParts)
	if f.logX {
		x = Geometric(lo, hi, curveParts)
	}
	return f.Line(label, x, Values(x, of), c)
}

// Dashed draws a dashed line, for a prediction or a reference.
func (f *Figure) Dashed(label string, x, y []float64, c color.Color) *Figure {
	return f.line(label, x, y, c, []vg.Length{vg.Points(5), vg.Points(3)})
}

func (f *Figure) line(label string, x, y []float64, c color.Color, dashes []vg.Length) *Figure {
	label = numeral.Tidy(label)
	pts := f.points(x, y)
	if f.err != nil {
		return f
	}
	l, err := plotter.NewLine(pts)
	if err != nil {
		f.fail(err)
		return f
	}
	l.Color, l.Width, l.Dashes = c, vg.Points(1.6), dashes
	f.plot.Add(l)
	if n := len(pts); n > 2 && n <= fewPoints { // what was computed is told from what is drawn between
		f.glyphs(pts, c, 1.9)
	}
	kind := "line"
	if dashes != nil {
		kind = "dashed"
	}
	f.record(kind, label, pts)
	f.see(label, pts, false, c)
	return f
}

// fewPoints is up to how many points of a line are marked.
const fewPoints = 12

func (f *Figure) glyphs(pts plotter.XYs, c color.Color, radius float64) {
	s, err := plotter.NewScatter(pts)
	if err != nil {
		f.fail(err)
		return
	}
	s.GlyphStyle = draw.GlyphStyle{Color: c, Radius: vg.Points(radius), Shape: draw.CircleGlyph{}}
	f.plot.Add(s)
}

// Dots draws a dot at every point.
func (f *Figure) Dots(label string, x, y []float64, c color.Color) *Figure {
	label = numeral.Tidy(label)
	pts := f.points(x, y)
	if f.err != nil {
		return f
	}
	f.glyphs(pts, c, 2.6)
	f.record("dots", label, pts)
	f.see(label, pts, true, c)
	return f
}

// Band shades the region between lo and hi, faintly: what is uncertain.
func (f *Figure) Band(x, lo, hi []float64, c color.NRGBA) *Figure {
	c.A = 46
	return f.Area(x, lo, hi, c)
}

// Area fills the region between lo and hi: what is meant itself.
func (f *Figure) Area(x, lo, hi []float64, c color.NRGBA) *Figure {
	a, b := f.points(x, lo), f.points(x, hi)
	if f.err != nil {
		return f
	}
	ring := append(plotter.XYs(nil), a...)
	for i := len(b) - 1; i >= 0; i-- {
		ring = append(ring, b[i])
	}
	poly, err := plotter.NewPolygon(ring)
	if err != nil {
		f.fail(err)
		return f
	}
	poly.Color = c
	poly.LineStyle.Width = 0
	f.plot.Add(poly)
	f.record("band", "", ring)
	return f
}

// Level draws a dashed horizontal line from x0 to x1 with its label at the end.
func (f *Figure) Level(label string, x0, x1, y float64, c color.Color) *Figure {
	return f.Dashed(label, []float64{x0, x1}, []float64{y, y}, c)
}

// Note writes text at a point, for what a reader should see there; on a map, whose shades differ, it is black or white.
func (f *Figure) Note(text string, x, y float64, c color.Color) *Figure {
	text = numeral.Tidy(text)
	f.named = append(f.named, text)
	f.record("note", text, plotter.XYs{{X: x, Y: y}})
	if f.heat != nil {
		c = f.heat.over(x, y)
	} else {
		c = readable(c)
	}
	f.plot.Add(labels{{text, plotter.XY{X: x, Y: y}, c}})
	return f
}

// drawable returns why there is nothing to draw: a mistake before, or an axis that no logarithm has, as what was drawn
// before the axis was made logarithmic leaves it.
func (f *Figure) drawable() error {
	for _, fix := range f.fixed {
		fix()
	}
	if f.err == nil && (f.logX && f.plot.X.Min <= 0 || f.logY && f.plot.Y.Min <= 0) {
		return errors.New("figure: a logarithmic axis reaches 0 or below: make it so before anything is drawn, and " +
			"let its range begin above 0")
	}
	if f.page != nil {
		for _, p := range f.page.panels {
			if err := p.drawable(); err != nil {
				return err
			}
		}
	}
	return f.err
}

// PNG returns the figure as a PNG image at 144 dots an inch, of at most 256 colours.
func (f *Figure) PNG() ([]byte, error) {
	if err := f.drawable(); err != nil {
		return nil, err
	}
	c := vgimg.NewWith(vgimg.UseWH(f.width(), f.height()), vgimg.UseDPI(144))
	f.draw(draw.New(c))
	im, ok := c.Image().(*image.RGBA)
	if !ok {
		return nil, fmt.Errorf("figure: a canvas of %T", c.Image())
	}
	var b bytes.Buffer
	err := png.Encode(&b, paletted(im))
	return b.Bytes(), err
}

// SVG returns the figure as an SVG document.
func (f *Figure) SVG() ([]byte, error) {
	if err := f.drawable(); err != nil {
		return nil, err
	}
	c := vgsvg.New(f.width(), f.height())
	f.draw(draw.New(c))
	var b bytes.Buffer
	_, err := c.WriteTo(&b)
	return b.Bytes(), err
}

// margin around a figure, in points.
const margin = 7

// draw leaves a margin, so that no label touches the edge.
func (f *Figure) draw(c draw.Canvas) {
	// A single value has no range; on a logarithmic axis it must not get one that reaches zero.
	for _, a := range []struct {
		log  bool
		axis *plot.Axis
	}{{f.logX, &f.plot.X}, {f.logY, &f.plot.Y}} {
		if a.log && a.axis.Min == a.axis.Max {
			a.axis.Min, a.axis.Max = a.axis.Min/2, a.axis.Max*2
		}
	}
	c = draw.Crop(c, vg.Points(margin), -vg.Points(margin), vg.Points(margin), -vg.Points(margin))
	lines := f.warningLines()
	for i, line := range lines {
		c.FillText(warningStyle(), vg.Point{X: c.Min.X, Y: c.Max.Y - warningHeight(i+1) + warningHeight(1)/3}, line)
	}
	c = draw.Crop(c, 0, 0, 0, -warningHeight(len(lines)))
	title := f.plot.Title
	c.FillText(title.TextStyle, vg.Point{X: c.Center().X, Y: c.Max.Y}, inLines(title.Text, title.TextStyle, c.Size().X))
	c = draw.Crop(c, 0, 0, 0, -f.titleHeight(c.Size().X))
	if f.page != nil {
		f.page.draw(c)
		return
	}
	if f.bar != nil {
		c = f.bar.draw(c, f.heat)
	}
	// The plot would write its title and the names of its axes on one line, and leave room for a name about the mean of
	// the axis' ends, which is not the middle of a logarithmic one: they are written here.
	x, y, ticks := f.plot.X.Label, f.plot.Y.Label, f.plot.X.Tick.Marker
	defer func() { f.plot.Title, f.plot.X.Label, f.plot.Y.Label, f.plot.X.Tick.Marker = title, x, y, ticks }()
	f.plot.Title.Text, f.plot.X.Label.Text, f.plot.Y.Label.Text = "", "", ""
	under := inLines(x.Text, x.TextStyle, c.Size().X)
	inner := draw.Crop(c, 0, 0, room(under, x.TextStyle, x.Padding), 0)
	beside := inLines(y.Text, y.TextStyle, inner.Size().Y)
	inner = draw.Crop(inner, room(beside, y.TextStyle, y.Padding), 0, 0, 0)
	if f.equal {
		f.equalise(inner)
	}
	area := f.plot.DataCanvas(inner)
	f.plot.X.Tick.Marker = apartTicks{ticks, f.plot.X, area.Size().X}
	f.plot.Draw(inner)
	area = f.plot.DataCanvas(inner)
	within := func(middle, half, lo, hi vg.Length) vg.Length { return max(lo+half, min(hi-half, middle)) }
	at := within(area.Center().X, x.TextStyle.Width(under)/2, c.Min.X, c.Max.X)
	c.FillText(x.TextStyle, vg.Point{X: at, Y: c.Min.Y + x.TextStyle.FontExtents().Descent}, under)
	turned := y.TextStyle
	turned.Rotation += math.Pi / 2
	at = within(area.Center().Y, y.TextStyle.Width(beside)/2, inner.Min.Y, inner.Max.Y)
	left := c.Min.X + y.TextStyle.Height(beside) - y.TextStyle.FontExtents().Descent
	c.FillText(turned, vg.Point{X: left, Y: at}, beside)
}

// titleHeight is the room of the title in a figure so wide.
func (f *Figure) titleHeight(width vg.Length) vg.Length {
	title := f.plot.Title
	return room(inLines(title.Text, title.TextStyle, width), title.TextStyle, title.Padding)
}

// room is how high a text is with the padding below it; nothing needs none.
func room(words string, s text.Style, padding vg.Length) vg.Length {
	if words == "" {
		return 0
	}
	return s.Height(words) + padding
}

// apartTicks are the ticks of an axis, without the labels that would run into the one before.
type apartTicks struct {
	plot.Ticker
	axis plot.Axis
	long vg.Length
}

// Ticks implements plot.Ticker.
func (a apartTicks) Ticks(lo, hi float64) []plot.Tick {
	ticks, free := a.Ticker.Ticks(lo, hi), vg.Length(math.Inf(-1))
	for i, t := range ticks {
		if t.Value < lo || t.Value > hi {
			continue
		}
		half, at := a.axis.Tick.Label.Width(t.Label)/2, a.long*vg.Length(a.axis.Norm(t.Value))
		if at-half < free {
			ticks[i].Label = ""
		} else if t.Label != "" {
			free = at + half + vg.Points(4)
		}
	}
	return ticks
}

// equalise lengthens the axis whose unit is drawn longer. It goes round, since its ticks take room of their own.
func (f *Figure) equalise(c draw.Canvas) {
	x, y := &f.plot.X, &f.plot.Y
	for range 3 {
		size := f.plot.DataCanvas(c).Size()
		perX, perY := (x.Max-x.Min)/float64(size.X), (y.Max-y.Min)/float64(size.Y)
		widen := func(a *plot.Axis, by float64) {
			mid, half := (a.Min+a.Max)/2, (a.Max-a.Min)/2*by
			a.Min, a.Max = mid-half, mid+half
		}
		if perX < perY {
			widen(x, perY/perX)
		} else {
			widen(y, perX/perY)
		}
	}
}

func (f *Figure) width() vg.Length { return vg.Length(f.Width) * vg.Inch }

// height is what was asked for, and room for the warning.
func (f *Figure) height() vg.Length {
	return vg.Length(f.Height)*vg.Inch + warningHeight(len(f.warningLines()))
}

// Save writes the figure to a .png or .svg file.
func (f *Figure) Save(path string) error {
	var content []byte
	var err error
	switch ext := filepath.Ext(path); ext {
	case ".png":
		content, err = f.PNG()
	case ".svg":
		content, err = f.SVG()
	default:
		return fmt.Errorf("figure: cannot save as %q, want .png or .svg", ext)
	}
	if err != nil {
		return err
	}
	return os.WriteFile(path, content, 0o644)
}
