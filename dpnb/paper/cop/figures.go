package cop

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dpnb/notebooks/dpnb/claim"
	"github.com/dpnb/notebooks/dpnb/display"
	"github.com/dpnb/notebooks/dpnb/figure"
	"github.com/dpnb/notebooks/dpnb/paper/internal/measure"
	"github.com/dpnb/notebooks/dpnb/sim"
	"github.com/dpnb/notebooks/dpnb/smoothing"
)

// palette gives an arm the same colour in every figure.
var palette = map[string]figure.Color{
	"C-OP, printed": figure.Gold, "C-OP, corrected": figure.Gold, "Moreau": figure.Gray,
	"Huber": figure.Purple, "log cosh": figure.Sky, "recentred": figure.Ink,
	"noisy descent": figure.Green, "front door": figure.Green,
	"Noisy-SGD": figure.Orange, "Noisy-SGD, accounted": figure.Rose,
}

// unfounded are arms whose (ε, δ) nobody has proved: they are drawn dashed.
var unfounded = []string{"C-OP, printed"}

// Measure is one of the two risks of a Point.
type Measure func(Point) sim.Cell

// Empirical is the excess of the mean loss of the records; Relative that of the population risk, in units of the
// smallest, as in the figures of cop.
func Empirical(p Point) sim.Cell { return p.Empirical }

// Relative: see Empirical.
func Relative(p Point) sim.Cell { return p.Relative }

// arms returns the names of the arms, in their order.
func (p Points) arms() (names []string) {
	for _, v := range p {
		if !slices.Contains(names, v.Arm) {
			names = append(names, v.Arm)
		}
	}
	return names
}

// At returns the points at one ε and in one dimension.
func (p Points) At(eps float64, dimension int) Points {
	return p.Of(func(v Point) bool { return v.Epsilon == eps && v.Dimension == dimension })
}

// Figure draws a risk over the number of records, both axes logarithmic: the mean of the runs, with its 95 % interval
// by Student's law where that is positive. Dashed is what has no proof of (ε, δ).
func (p Points) Figure(title string, of Measure) *figure.Figure {
	f := figure.New(title, "number of records n", "excess")
	relative := len(p) > 0 && of(p[0]).Mean == p[0].Relative.Mean
	if relative {
		f = figure.New(title, "number of records n", "relative excess risk, %")
	}
	unit, least, most := 1.0, math.Inf(1), 0.0
	if relative {
		unit = 100
	}
	var ends []string
	for _, arm := range p.arms() {
		var n, mean, lo, hi []float64
		for _, v := range p.Of(func(v Point) bool { return v.Arm == arm }) {
			c := of(v)
			low, high := c.Interval()
			n, mean = append(n, float64(v.N)), append(mean, unit*c.Mean)
			lo, hi = append(lo, unit*math.Max(low, c.Mean/2)), append(hi, unit*high)
			least, most = math.Min(least, unit*c.Mean), math.Max(most, unit*high)
		}
		color := palette[arm]
		f.Band(n, lo, hi, color)
		if slices.Contains(unfounded, arm) {
			f.Dashed(arm, n, mean, color)
		} else {
			f.Line(arm, n, mean, color)
		}
		ends = append(ends, fmt.Sprintf("%s from %.2g to %.2g", arm, mean[0], mean[len(mean)-1]))
	}
	var ticks []float64
	for _, v := range p {
		if x := float64(v.N); !slices.Contains(ticks, x) {
			ticks = append(ticks, x)
		}
	}
	f.LogX(ticks...).LogY().YRange(least/1.5, most*1.2)
	f.Alt = fmt.Sprintf("From n = %g to %g: %s", ticks[0], ticks[len(ticks)-1], strings.Join(ends, "; "))
	return f
}

// Table is a table of a risk: a line for each n and ε, a column for each arm.
type Table struct {
	Title string
	Points
	Of Measure
}

// Display implements display.Displayer.
func (t Table) Display() display.Item {
	arms := t.arms()
	it := display.Item{Title: t.Title, Header: append([]string{"n", "ε"}, arms...)}
	for i := 0; i < len(t.Points); i += len(arms) {
		p := t.Points[i]
		row := []string{fmt.Sprint(p.N), fmt.Sprint(p.Epsilon)}
		for _, v := range t.Points[i : i+len(arms)] {
			c := t.Of(v)
			row = append(row, fmt.Sprintf("%.3g ± %.1g", c.Mean, c.StdErr))
		}
		it.Row(row...)
	}
	it.Note("Means of %d runs ± their standard errors, δ = %g, add/remove-one.",
		len(t.Points[0].Empirical.Scores), Delta)
	if slices.Contains(arms, unfounded[0]) {
		it.Note("%s has no proof of (ε, δ).", unfounded[0])
	}
	return it
}

// Slope is how fast an arm's risk falls with the number of records.
type Slope struct {
	Arm     string
	Epsilon float64
	// Mean of d ln(risk)/d ln n, with the ends of its 95 % interval.
	Mean, Lower, Upper float64
	// Bound is the mean slope of the bound of Theorem 4.5 over the same n.
	Bound float64
}

// Slopes fits ln(mean risk) over ln n by least squares for each arm and ε. An error of a mean, relative to it, is the
// error of its logarithm.
func (p Points) Slopes(of Measure) (all []Slope) {
	type key struct {
		arm string
		eps float64
	}
	var keys []key
	for _, v := range p {
		if k := (key{v.Arm, v.Epsilon}); !slices.Contains(keys, k) {
			keys = append(keys, k)
		}
	}
	for _, k := range keys {
		var x, y, variance, bound []float64
		for _, v := range p.Of(func(v Point) bool { return v.Arm == k.arm && v.Epsilon == k.eps }) {
			c := of(v)
			x, y = append(x, float64(v.N)), append(y, c.Mean)
			variance = append(variance, c.StdErr*c.StdErr/(c.Mean*c.Mean))
			bound = append(bound, v.Bound())
		}
		s := Slope{Arm: k.arm, Epsilon: k.eps, Mean: measure.Exponent(x, y), Bound: measure.Exponent(x, bound)}
		var mean, square, error2 float64
		for _, v := range x {
			mean += math.Log(v) / float64(len(x))
		}
		for i, v := range x {
			far := math.Log(v) - mean
			square += far * far
			error2 += far * far * variance[i]
		}
		margin := 1.96 * math.Sqrt(error2) / square
		s.Lower, s.Upper = s.Mean-margin, s.Mean+margin
		all = append(all, s)
	}
	return all
}

// Bound returns the right-hand side of Theorem 4.5, 8√2·CR(1/√n + √(d ln(1/δ))/(nε)).
func (p Point) Bound() float64 {
	n, d := float64(p.N), float64(p.Dimension)
	return 8 * math.Sqrt2 * p.Slope() * p.Radius() * (1/math.Sqrt(n) + math.Sqrt(d*math.Log(1/Delta))/(n*p.Epsilon))
}

func noErrorOutside(_ measure.Run, width float64) claim.Outcome {
	g := smoothing.Absolute().Convolve(smoothing.Gaussian{}, width)
	worst := 0.0
	for _, x := range figure.Span(1, 5, 400) {
		worst = math.Max(worst, g.Gap(x)/g.LargestGap())
	}
	return claim.Decide(fmt.Sprintf("largest error outside [−1, 1] %.1f %% of the uniform bound, at 0 %.3f of it",
		100*worst, g.Gap(0)/g.LargestGap()), "2.5 %", worst < 0.025 && math.Abs(g.Gap(0)/g.LargestGap()-1) < 1e-12)
}

func raisedEnvelope(_ measure.Run, width float64) claim.Outcome {
	e := measure.Must(smoothing.Absolute().Envelope(smoothing.Quadratic{Beta: 1}, width/curvatureTwo))
	g := smoothing.Absolute().Convolve(smoothing.Gaussian{}, math.Sqrt(2/math.Pi)/curvatureTwo)
	below, above, nearer, left := true, true, true, 0.0
	x := figure.Span(-1.5, 1.5, 600)
	for _, v := range x {
		error1, gap := e.Value(v)-math.Abs(v), g.Gap(v)
		below, above = below && error1 <= 1e-15, above && gap >= 0
		raised := error1 + 1/(2*curvatureTwo)
		nearer = nearer && math.Abs(raised) <= gap+1e-12
		if math.Abs(v) >= 1/curvatureTwo {
			left = math.Max(left, math.Abs(raised))
		}
	}
	return claim.Decide(fmt.Sprintf("the envelope is below: %v, the convolution above: %v; raised by ¼ the "+
		"envelope is as near or nearer at every point: %v, and from ½ on off by %.0e", below, above, nearer, left),
		"1e-12", below && above && nearer && left < 1e-12).
		Corrected("a constant changes no minimiser: with it the envelope is the uniform kernel's convolution, " +
			"from above, exact at most points, and nearer than the Gaussian's (cop-71)")
}

func shapesOf(_ measure.Run, width float64) claim.Outcome {
	farther, curvature := true, [2]float64{}
	ok := true
	for _, s := range Figure4Shapes() {
		s.Convolved.Width *= width
		most := [2]float64{}
		for _, x := range figure.Span(-1.6, 1.6, 640) {
			gap := s.Envelope.Value(x) - s.Function.Value(x)
			farther = farther && gap >= s.Convolved.Gap(x)-1e-12
			most[0] = math.Max(most[0], s.Convolved.Curvature(x))
			most[1] = math.Max(most[1], s.Envelope.Curvature(x))
		}
		for k, v := range most {
			ok = ok && math.Abs(v/curvatureTwo-1) < 1e-3
			curvature[k] = math.Max(curvature[k], v)
		}
	}
	return claim.Decide(fmt.Sprintf("largest curvatures %.3f and %.3f; the envelope farther at every point: %v",
		curvature[0], curvature[1], farther), "1e-3 of the curvature", ok && farther)
}

func figureOf(run measure.Run, number int, ridge float64) claim.Outcome {
	e := Reproduce(number, run.Size == claim.Full, printedWith(ridge), Moreau(), NoisySGD(), Descent())
	e.Counts, e.Epsilons, e.Runs = []int{100, 500}, []float64{0.2, 5}, paperRuns
	points := measure.Must(e.Run(run))
	ok, measured := true, ""
	for _, d := range e.Designs {
		risk := func(arm string, n int, eps float64) float64 {
			return points.Of(func(p Point) bool {
				return p.Dimension == d.Dimension && p.Arm == arm && p.N == n && p.Epsilon == eps
			})[0].Relative.Mean
		}
		over := func(arm string, n int, eps float64) float64 { // C-OP's over the arm's
			return risk("C-OP, printed", n, eps) / risk(arm, n, eps)
		}
		level := [2]float64{over("Noisy-SGD", 100, 0.2), over("Noisy-SGD", 500, 0.2)}
		behind, moreau := over("Noisy-SGD", 500, 5), over("Moreau", 500, 5)
		descent := [2]float64{over("noisy descent", 500, 0.2), over("noisy descent", 500, 5)}
		for _, r := range level {
			ok = ok && r > 0.5 && r < 2
		}
		ok = ok && behind > 1.7 && math.Abs(moreau-1) < 0.3 && descent[0] > 0.8 && descent[1] > 3
		measured += fmt.Sprintf("d = %d: C-OP %.3g and %.3g at ε = 0.2, over Noisy-SGD %.1f and %.1f; %.3g at "+
			"ε = 5, n = 500, over Noisy-SGD %.1f, the envelope %.2f; over noisy descent %.0f and %.0f at ε = 0.2 "+
			"and 5; ", d.Dimension, risk("C-OP, printed", 100, 0.2), risk("C-OP, printed", 500, 0.2), level[0],
			level[1], risk("C-OP, printed", 500, 5), behind, moreau, descent[0], descent[1])
	}
	measured = strings.TrimSuffix(measured, "; ")
	if number == 5 {
		e.Arms, e.Counts, e.Designs = e.Arms[:1], Counts, e.Designs[:1]
		measured += "; slopes of the mean loss over n"
		for _, s := range measure.Must(e.Run(run)).Slopes(Empirical) {
			ok = ok && s.Lower <= s.Bound
			measured += fmt.Sprintf(", ε = %g: %.2f (the bound's %.2f)", s.Epsilon, s.Mean, s.Bound)
		}
	}
	return claim.Decide(measured, fmt.Sprintf("relative risk, means of %d runs", e.Runs), ok).
		Corrected("at small ε C-OP is level with Noisy-SGD and with the envelope, not ahead of both; noisy " +
			"descent over all records, which the paper leaves out, is level with them where d is largest and ε " +
			"least, and ahead of each elsewhere, by factors of up to 40")
}

// curvatureTwo is the curvature of all that Figures 3 and 4 draw.
const curvatureTwo = 2.0

// Plane maps f of a vector of that name over [−1, 1]², with contours.
func Plane(title, name string, f func(x []float64) float64, levels ...float64) *figure.Figure {
	x := figure.Span(-1, 1, 80)
	z := make([][]float64, len(x))
	for i, b := range x {
		for _, a := range x {
			z[i] = append(z[i], f([]float64{a, b}))
		}
	}
	fig := figure.New(title, name+"₁", name+"₂")
	fig.Heat(x, x, z).Contours(x, x, z, levels, figure.Gray)
	for _, level := range levels { // named where they cross a diagonal, along which f falls or rises from the middle
		for _, a := range x {
			if a > 0 && (f([]float64{a, -a}) < level) != (f([]float64{0, 0}) < level) {
				fig.Note(fmt.Sprint(level), a, -a, figure.Ink)
				break
			}
		}
	}
	fig.Alt = fmt.Sprintf("Over the square [−1, 1]²: %.3f at 0, %.3f at (1, 0), %.3f at (1, 1)",
		f([]float64{0, 0}), f([]float64{1, 0}), f([]float64{1, 1}))
	return fig
}

// Figure3 returns the errors of Moreau's envelope and of the Gaussian kernel at curvature 2: those of |x|, and of ‖x‖₁
// over the plane.
func Figure3() []*figure.Figure {
	moreau, err := smoothing.Absolute().Envelope(smoothing.Quadratic{Beta: 1}, 1/curvatureTwo)
	if err != nil {
		panic(err)
	}
	gauss := smoothing.Norm{Kernel: smoothing.Gaussian{}, Width: math.Sqrt(2/math.Pi) / curvatureTwo}
	below := func(v float64) float64 { return moreau.Value(v) - math.Abs(v) }
	most := 1 / (2 * curvatureTwo)
	x := figure.Span(-1.5, 1.5, 300)
	line := figure.New("Figure 3: what smoothing adds to |x|, curvature 2", "x", "smooth function − |x|")
	line.YRange(-0.3, 0.36)
	line.Line("", x, figure.Values(x, func(v float64) float64 { return gauss.Gap([]float64{v}) }), figure.Green)
	line.Line("", x, figure.Values(x, below), figure.Blue)
	line.Dashed("", x, figure.Values(x, func(v float64) float64 { return below(v) + most }), figure.Blue)
	line.Note("convolution, Gaussian kernel", 0.25, 0.24, figure.Green)
	line.Note("Moreau’s envelope", 0.55, -0.22, figure.Blue)
	line.Note("the same + ¼: the uniform kernel", -1.45, -0.05, figure.Blue)
	line.Alt = fmt.Sprintf("at zero the Gaussian kernel adds %.3f and the envelope nothing; from ½ on the envelope "+
		"is ¼ too low, and raised by ¼ it is exact", gauss.Gap([]float64{0}))
	plane := Plane("‖x‖₁ convolved with a Gaussian: error", "x", gauss.Gap, 0.1, 0.2, 0.4)
	envelope := Plane("Moreau’s envelope of ‖x‖₁, raised by ½: error", "x",
		func(x []float64) float64 { return below(x[0]) + below(x[1]) + 2*most }, 0.1, 0.2, 0.4)
	return []*figure.Figure{line, plane, envelope}
}

// Shape is a function of Figure 4 with its smoothings of curvature 2: by the Gaussian kernel, and by the envelope with
// φ = L√(1 + x²), L its largest slope, as in cop.
type Shape struct {
	Name      string
	Function  smoothing.Piecewise
	Convolved smoothing.Smooth
	Envelope  smoothing.Envelope
}

// Figure4Shapes returns a quantile, a piecewise linear and a bowl-shaped function. cop does not print their parameters.
func Figure4Shapes() []Shape {
	lines, err := smoothing.Max([]float64{-1, -0.2, 0.6}, []float64{-0.6, 0, -0.4})
	if err != nil {
		panic(err)
	}
	all := []Shape{
		{Name: "quantile", Function: smoothing.Pinball(0.75)},
		{Name: "piecewise linear", Function: lines},
		{Name: "bowl", Function: smoothing.SoftThreshold(0.8)},
	}
	for i := range all {
		s := &all[i]
		weight := 0.0 // of the largest kink: they lie farther apart than the kernel is wide
		for _, w := range s.Function.Weights {
			weight = math.Max(weight, w)
		}
		s.Convolved = s.Function.Convolve(smoothing.Gaussian{}, weight*math.Sqrt(2/math.Pi)/curvatureTwo)
		least, largest := s.Function.Slopes()
		beta := math.Max(-least, largest)
		if s.Envelope, err = s.Function.Envelope(smoothing.Hellinger{Beta: beta}, beta/curvatureTwo); err != nil {
			panic(err)
		}
	}
	return all
}

// Figure4 draws the shapes.
func Figure4() (all []*figure.Figure) {
	x := figure.Span(-1.6, 1.6, 300)
	for _, s := range Figure4Shapes() {
		f := figure.New("Figure 4: "+s.Name, "x", "loss")
		f.Line("the loss", x, figure.Values(x, s.Function.Value), figure.Gray)
		f.Line("Gaussian kernel", x, figure.Values(x, s.Convolved.Value), figure.Green)
		f.Line("envelope, φ = L√(1 + x²)", x, figure.Values(x, s.Envelope.Value), figure.Blue)
		at := func(x float64) []any { return []any{s.Function.Value(x), s.Convolved.Value(x), s.Envelope.Value(x)} }
		f.Alt = fmt.Sprintf("At 0 the loss is %.3f, convolved %.3f, its envelope %.3f; at 1.6 they are %.3f, "+
			"%.3f and %.3f", append(at(0), at(1.6)...)...)
		all = append(all, f)
	}
	return all
}

// Overlap draws histograms of two samples, in standard units, with the normal density.
func Overlap(title, xLabel string, first, second []float64, names [2]string) *figure.Figure {
	f := figure.New(title, xLabel, "density")
	const lo, hi, bins = -3.5, 6.0, 76
	edges := figure.Span(lo, hi, bins)
	for k, sample := range [][]float64{first, second} {
		heights := make([]float64, bins)
		mean := 0.0
		for _, v := range sample {
			mean += v / float64(len(sample))
			if i := int(math.Floor((v - lo) / (hi - lo) * bins)); i >= 0 && i < bins {
				heights[i] += bins / (hi - lo) / float64(len(sample))
			}
		}
		color := []figure.Color{figure.Gray, figure.Orange}[k]
		f.Bars(edges, heights, color).Note(names[k], []float64{-3, mean + 0.6}[k], 0.43+0.08*float64(k), color)
		f.Alt += fmt.Sprintf("%s: mean %.2f; ", names[k], mean)
	}
	return f
}
