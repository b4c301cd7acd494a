package cop

import (
	"fmt"
	"math"
	"strings"

	"github.com/dpnb/notebooks/dpnb/figure"
	"github.com/dpnb/notebooks/dpnb/internal/univariate"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/paper/internal/measure"
	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/privacy/objective"
	"github.com/dpnb/notebooks/dpnb/smoothing"
)

// Leak is C-OP in one dimension, as printed, on a record |aθ| with a = Ā beside records that say nothing (A = 0),
// against the same without it. Its δ is exact: θ̂ is where J′(θ) = −b, so that P(θ̂ ≤ c) = Φ(J′(c)/σ), and J″ ≥ λ makes
// that a density.
type Leak struct {
	// Bound is Ā, Records n, Radius R_θ, and (Epsilon, Delta) what is asked for.
	Bound, Radius, Epsilon, Delta float64
	Records                       int
	// Factor multiplies the curvature that the bandwidth is set for, 1 as printed: with √(2/π)·Ā it is the true one.
	Factor float64
}

func (l Leak) constants() (c constants, s smoothing.Smooth) {
	c = plan{float64(l.Records), 1, 1, l.Bound, l.Radius}.printed(l.Epsilon, l.Delta)
	c.width *= l.Factor
	return c, smoothing.Absolute().Convolve(smoothing.Gaussian{}, c.width)
}

// Curvature returns s/λ, in θ: the determinant is (1 + s/λ), of which ε/2 was meant to pay.
func (l Leak) Curvature() float64 {
	c, s := l.constants()
	return l.Bound * l.Bound * s.Smoothness() / c.lambda
}

// Exact returns the δ(ε) that adding and removing the record has, by cells of the law between which it is smooth: a
// lower bound that is short of it by less than a thousandth.
func (l Leak) Exact() float64 {
	c, s := l.constants()
	without := func(theta float64) float64 { return c.lambda * theta / c.sigma }
	with := func(theta float64) float64 { return (c.lambda*theta + l.Bound*s.Slope(l.Bound*theta)) / c.sigma }
	// Cells are fine where the record bends, |Ā·θ| up to some widths.
	near, far := 9*c.width/l.Bound, 12*c.sigma/c.lambda
	p := measure.Cells(with, -near, near, 20_000)
	q := measure.Cells(without, -near, near, 20_000)
	p, q = p[1:len(p)-1], q[1:len(q)-1]
	for _, side := range [2]float64{-1, 1} {
		lo, hi := math.Min(side*near, side*far), math.Max(side*near, side*far)
		p = append(p, measure.Cells(with, lo, hi, 4000)[1:4001]...)
		q = append(q, measure.Cells(without, lo, hi, 4000)[1:4001]...)
	}
	return measure.Stick(p, q, l.Epsilon)
}

// Losses draws the privacy loss of n outputs with the record: ln of the ratio of the two densities at θ̂, each θ̂ by
// bisection from its own b.
func (l Leak) Losses(n int, src *noise.Seeded) []float64 {
	c, s := l.constants()
	out := make([]float64, n)
	src.Gaussian(out, c.sigma)
	for i, b := range out {
		slope := func(theta float64) float64 { return c.lambda*theta + l.Bound*s.Slope(l.Bound*theta) }
		reach := (math.Abs(b) + l.Bound) / c.lambda
		lo, _ := univariate.Bisect(func(theta float64) bool { return slope(theta)+b >= 0 }, -reach, reach,
			univariate.Arithmetic, 0)
		with, without := slope(lo)/c.sigma, c.lambda*lo/c.sigma
		bend := l.Bound * l.Bound * s.Curvature(l.Bound*lo) / c.lambda
		out[i] = math.Log1p(bend) + (without*without-with*with)/2
	}
	return out
}

// Signs returns ⟨b, Aᵀs⟩/(σ‖A‖₂√m) for n draws of b ~ N(0, σ²I) and an A with m orthogonal rows of one length: with
// signs s fixed in advance, as the printed proof takes them, and with the signs that the worst output has, sgn(Ab).
func Signs(m, n int, src *noise.Seeded) (fixed, chosen []float64) {
	b := make([]float64, m)
	for range n {
		src.Gaussian(b, 1/math.Sqrt(float64(m)))
		sum, most := 0.0, 0.0
		for _, v := range b {
			sum, most = sum+v, most+math.Abs(v)
		}
		fixed, chosen = append(fixed, sum), append(chosen, most)
	}
	return fixed, chosen
}

// Price is what the curvature of a smoothed |x| costs.
type Price struct {
	Kernel smoothing.Kernel
	// Ratio is the least λ/s, Width that of the kernel at λ = 1, for slopes up to 1.
	Ratio, Width float64
}

// Prices returns, for the kernels without parameters, the least ridge with which noise of factor times that of the
// Gaussian mechanism satisfies (ε, δ), by the bound Tight, to a hundredth.
func Prices(eps, delta, factor float64) (_ []Price, err error) {
	defer measure.Catch(&err)
	sigma := measure.Must(privacy.GaussianSigma(eps, delta))
	var all []Price
	for _, k := range smoothing.Kernels() {
		unit := loss.Absolute(k, 1)
		curve := measure.Must(loss.CurveOf(unit, 1))
		lambda := measure.Must(privacy.Calibrate(func(lambda float64) (bool, error) {
			return privacy.DeltaUpper(measure.Must(objective.New(objective.Config{Curve: curve, Sigma: factor * sigma,
				Lambda: lambda, Bound: objective.Tight})), eps) <= delta, nil
		}, 1e-2))
		all = append(all, Price{k, lambda / unit.Smoothness(), lambda})
	}
	return all, nil
}

// colors of the kernels, from the nearest to the farthest at one curvature.
var colors = []figure.Color{figure.Purple, figure.Gray, figure.Gold, figure.Blue, figure.Green}

// Gaps draws what each smoothing adds to |x|, at the given widths, with direct labels.
func Gaps(title, xLabel string, prices []Price, width func(Price) float64, reach float64) *figure.Figure {
	f := figure.New(title, xLabel, "smoothed |x| − |x|")
	var at []string
	top := 0.0
	for i, p := range prices {
		s := smoothing.Absolute().Convolve(p.Kernel, width(p))
		var x, y []float64
		for k := range 121 {
			v := reach * float64(k) / 120
			x, y = append(x, v), append(y, s.Gap(v))
		}
		f.Line(p.Kernel.Name(), x, y, colors[i])
		top = math.Max(top, s.Gap(0))
		at = append(at, fmt.Sprintf("%s %.3f", p.Kernel.Name(), s.Gap(0)))
	}
	f.YRange(-0.15*top, top) // room for the labels
	f.Alt = fmt.Sprintf("At zero: %s; each falls to nothing", strings.Join(at, ", "))
	return f
}
