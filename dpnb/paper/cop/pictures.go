package cop

import (
	"fmt"
	"math"

	"github.com/dpnb/notebooks/dpnb/figure"
	"github.com/dpnb/notebooks/dpnb/smoothing"
)

// span returns n + 1 evenly spaced numbers from a to b, and values f at each. curvatureTwo is the curvature of all that
// Figures 3 and 4 draw.
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
