package qop

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mathext"

	"github.com/dpnb/notebooks/dpnb/audit"
	"github.com/dpnb/notebooks/dpnb/claim"
	"github.com/dpnb/notebooks/dpnb/display"
	"github.com/dpnb/notebooks/dpnb/figure"
	"github.com/dpnb/notebooks/dpnb/internal/univariate"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/paper/internal/measure"
	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/privacy/wishart"
)

// plane is the example of two coefficients: the records' part of the Hessian, a ridge, and θ⋆.
var plane = struct {
	hessian curvature2
	ridge   float64
	star    [2]float64
}{curvature2{6, 2, 3}, 3, [2]float64{1.5, 1}}

// curvature2 is a symmetric 2 × 2 matrix: a₁₁, a₁₂, a₂₂.
type curvature2 [3]float64

func (a curvature2) plus(b curvature2, times float64) curvature2 {
	return curvature2{a[0] + times*b[0], a[1] + times*b[1], a[2] + times*b[2]}
}

func (a curvature2) det() float64 { return a[0]*a[2] - a[1]*a[1] }

// solve returns A⁻¹v.
func (a curvature2) solve(v [2]float64) [2]float64 {
	return [2]float64{(a[2]*v[0] - a[1]*v[1]) / a.det(), (a[0]*v[1] - a[1]*v[0]) / a.det()}
}

// ellipse returns the points m + v with ½vᵀAv = height.
func (a curvature2) ellipse(m [2]float64, height float64) (x, y []float64) {
	// With A = CCᵀ, v = C⁻ᵀu, ‖u‖² = 2·height.
	c11 := math.Sqrt(a[0])
	c21 := a[1] / c11
	c22 := math.Sqrt(a[2] - c21*c21)
	for _, t := range figure.Span(0, 2*math.Pi, 72) {
		u1, u2 := math.Sqrt(2*height)*math.Cos(t), math.Sqrt(2*height)*math.Sin(t)
		v2 := u2 / c22
		x, y = append(x, m[0]+(u1-c21*v2)/c11), append(y, m[1]+v2)
	}
	return x, y
}

// wishart2 draws W.
func wishart2(src *noise.Seeded, m int) curvature2 {
	w := noise.Wishart(src, 2, m)
	return curvature2{w.At(0, 0), w.At(0, 1), w.At(1, 1)}
}

// PlaneFigure draws ten perturbations of one objective of two coefficients, J(θ) = ½(θ−θ⋆)ᵀH(θ−θ⋆) + (ω/2)‖θ‖²: by a
// slope bᵀθ, b ~ N(0, 1.9²I), or, where m > 0, by a bend (σ²/2)(θ−θ⋆)ᵀW(θ−θ⋆) with m degrees of freedom.
// An ellipse is a contour, at the same height above the minimum for all.
func PlaneFigure(m int, sigma2 float64, seed uint64) *figure.Figure {
	src := noise.NewSeeded(seed)
	title := "Ten linear perturbations: the objective is shifted"
	if m > 0 {
		title = "Ten quadratic perturbations: the objective is bent"
	}
	f := figure.New(title, "first coefficient", "second coefficient").XRange(0, 2.4).YRange(-0.45, 1.45)
	light := figure.Gray
	light.A = 150
	draw := func(a curvature2, slope [2]float64, c figure.Color) [2]float64 {
		v := a.solve([2]float64{-slope[0] - plane.ridge*plane.star[0], -slope[1] - plane.ridge*plane.star[1]})
		at := [2]float64{plane.star[0] + v[0], plane.star[1] + v[1]}
		x, y := a.ellipse(at, 0.08)
		f.Line("", x, y, c)
		return at
	}
	whole := plane.hessian.plus(curvature2{1, 0, 1}, plane.ridge)
	var x, y []float64
	far, area := 0.0, [2]float64{math.Inf(1), 0}
	for range 10 {
		a, b := whole, make([]float64, 2)
		if m > 0 {
			a = a.plus(wishart2(src, m), sigma2)
		} else {
			src.Gaussian(b, 1.9)
		}
		at := draw(a, [2]float64(b), light)
		x, y = append(x, at[0]), append(y, at[1])
		size := math.Sqrt(whole.det() / a.det())
		area = [2]float64{min(area[0], size), max(area[1], size)}
		far = math.Max(far, math.Hypot(at[0]-plane.star[0], at[1]-plane.star[1]))
	}
	plain := draw(whole, [2]float64{}, figure.Green)
	f.Dots("", x, y, figure.Blue).Dots("", plain[:1], plain[1:], figure.Green)
	f.Dots("", plane.star[:1], plane.star[1:], figure.Orange).Note("the perfect fit", 1.52, 1.03, figure.Orange)
	f.Note("J, without noise", 0, 1.35, figure.Green).Note("published", 0, 1.2, figure.Blue)
	what := "One ellipse moved about, its minima on all sides of that of J"
	if m > 0 {
		what = fmt.Sprintf("Ellipses of many shapes, with %.2f to %.2f of the area of that of J, their minima between "+
			"that of J and the perfect fit", area[0], area[1])
	}
	f.Alt = fmt.Sprintf("%s. The farthest is %.2f from the perfect fit, that of J %.2f", what, far,
		math.Hypot(plain[0]-plane.star[0], plain[1]-plane.star[1]))
	f.Height = 4.6
	return f.Equal()
}

// LeastSquaresNoise returns σ² for least squares, L = 1, with exact anchor and solver, by an accounting; where α has to
// be paid for, δ is halved between δ₁ and δ₃.
func LeastSquaresNoise(a wishart.Accounting, w wishart.Wishart, adj privacy.Adjacency, eps, delta float64) (float64,
	error) {
	n, err := wishart.Setting{Wishart: w, Smoothness: 1, Rank: 1, Accounting: a, Structure: wishart.LeastSquares,
		Adjacency: adj}.Noise(halved(a, eps, delta))
	return n.Sigma2, err
}

// taskNoise is that of a Task with ‖x‖ ≤ rowNorm.
func taskNoise(a wishart.Accounting, rowNorm, eps, delta float64) (float64, error) {
	sigma2, err := LeastSquaresNoise(a, wishart.Wishart{D: qopDimension, M: 2 * qopDimension}, privacy.ReplaceOne, eps,
		delta)
	return rowNorm * rowNorm * sigma2, err
}

// halved is the split with exact anchor and solver.
func halved(a wishart.Accounting, eps, delta float64) wishart.Split {
	if a == wishart.Theorem31 || a == wishart.Spectral {
		return wishart.Split{Epsilon1: eps, Delta1: delta / 2, Delta3: delta / 2}
	}
	return wishart.Split{Epsilon1: eps, Delta1: delta}
}

// pairLoss is the logarithm of the ratio of the densities of W and of W + U/σ², U = diag(1, −1): two least squares
// records along the axes, L = 1, d = 2. +Inf where the second is impossible.
func pairLoss(w curvature2, m int, sigma2 float64) float64 {
	moved := w.plus(curvature2{1, 0, -1}, 1/sigma2)
	if moved.det() <= 0 || moved[2] <= 0 {
		return math.Inf(1)
	}
	return -float64(m-3) / 2 * math.Log(moved.det()/w.det())
}

// meanDelta estimates δ(ε) = E(1 − e^{ε−loss})₊, with its standard error.
func meanDelta(losses []float64, eps float64) (mean, se float64) {
	n, square := float64(len(losses)), 0.0
	for _, z := range losses {
		v := math.Max(0, -math.Expm1(eps-z))
		mean += v / n
		square += v * v / n
	}
	return mean, math.Sqrt(math.Max(0, square-mean*mean) / n)
}

// DensityRatio draws the privacy loss of the pair of pairLoss with the noise that exact accounting asks for, and a
// table of δ(ε) of that pair beside what is allowed, for that noise and for Theorem 3.1's. d = 2.
func DensityRatio(m int, eps, delta float64, draws int, seed uint64) (_ *figure.Figure, _ display.Item, err error) {
	defer measure.Catch(&err)
	const lo, hi, bins = -0.4, 1.0, 70
	table := display.Item{Title: "Two records along the axes, d = 2", Header: []string{"noise by", "σ²",
		fmt.Sprintf("δ(%g) of this pair", eps), "allowed"}}
	var f *figure.Figure
	for _, a := range []wishart.Accounting{wishart.Exact, wishart.Theorem31} {
		s2 := measure.Must(LeastSquaresNoise(a, wishart.Wishart{D: 2, M: m}, privacy.ReplaceOne, eps, delta))
		losses, src := make([]float64, draws), noise.NewSeeded(seed)
		for i := range losses {
			losses[i] = pairLoss(wishart2(src, m), m, s2)
		}
		sum, _ := meanDelta(losses, eps)
		table.Rowf("%s | %.2f | %.1g | %g", a, s2, sum, delta)
		if f != nil {
			continue
		}
		heights, beyond := make([]float64, bins), 0.0
		for _, v := range losses {
			if i := int(math.Floor((v - lo) / (hi - lo) * bins)); i >= 0 && i < bins {
				heights[i] += bins / (hi - lo) / float64(draws)
			}
			if v > eps {
				beyond += 1 / float64(draws)
			}
		}
		f = figure.New(fmt.Sprintf("Logarithm of the ratio of the two densities, d = 2, m = %d", m), "privacy loss",
			"density").XRange(lo, hi).Bars(figure.Span(lo, hi, bins), heights, figure.Blue)
		top := slices.Max(heights)
		f.Dashed("", []float64{eps, eps}, []float64{0, top}, figure.Orange).Note(fmt.Sprintf("ε = %g", eps), eps+0.01,
			0.9*top, figure.Orange)
		f.Alt = fmt.Sprintf("A histogram about 0 with a long tail to the right: %.1f %% of it lies beyond ε",
			100*beyond)
	}
	return f, table, nil
}

// NeighboursFigure draws δ(ε) of two least squares releases whose records were replaced, or removed, as measured from
// the density of θ in closed form, with 99 % bands, beside what is proved. The regulariser's slope lies along the
// record, so that much leaks. d = 3.
func NeighboursFigure(m int, eps, delta float64, draws int, seed uint64) (_ *figure.Figure, err error) {
	defer measure.Catch(&err)
	const d = 3
	w := wishart.Wishart{D: d, M: m}
	s2 := measure.Must(LeastSquaresNoise(wishart.Exact, w, privacy.ReplaceOne, eps, delta))
	f := figure.New(fmt.Sprintf("Privacy of real neighbours, d = %d, m = %d", d, m), "ε", "δ(ε)").LogY(0.01, 0.02, 0.05,
		0.1, 0.2).YRange(0.006, 0.2)
	e, src := figure.Span(0, 1.2, 24), noise.NewSeeded(seed)
	for k, adj := range []privacy.Adjacency{privacy.ReplaceOne, privacy.AddRemove} {
		pair := replacedRecord(loss.Squared{}, d, m, s2)
		if adj == privacy.AddRemove {
			pair.Second.X = make([]float64, d) // a record that weighs nothing
		}
		there := measure.Must(pair.Losses(draws, src.Stream(2*k)))
		back := measure.Must(pair.Swap().Losses(draws, src.Stream(2*k+1)))
		proved := measure.Must(wishart.LeastSquaresProfile(w, 1, s2, adj))
		var mid, lo, hi []float64
		for _, v := range e {
			mean, se := meanDelta(there, v)
			if b, e := meanDelta(back, v); b > mean {
				mean, se = b, e
			}
			mid, lo, hi = append(mid, mean), append(lo, mean-2.58*se), append(hi, mean+2.58*se)
		}
		color, what := []figure.Color{figure.Blue, figure.Green}[k], []string{"replaced", "removed"}[k]
		f.Band(e, lo, hi, color).Line(what+", measured", e, mid, color)
		f.Dashed(what+", proved", e, figure.Values(e, func(v float64) float64 { return privacy.DeltaUpper(proved, v) }),
			color)
	}
	f.Alt = "Four curves that fall with ε. For a removed record the measured curve and the proved one cannot be told " +
		"apart; for a replaced one what is proved lies above what is measured, by more as ε grows."
	return f, nil
}

// SidesFigure draws releases without a regulariser of records that interpolate, but for one label that is off by ±0.1.
func SidesFigure(draws int, seed uint64) *figure.Figure {
	const m, s2 = 4, 50.0
	src := noise.NewSeeded(seed)
	x := [2]float64{0.8, 0.6}
	f := figure.New("One label off by +0.1 (blue) or by −0.1 (orange)", "first coefficient − the anchor's",
		"second coefficient − the anchor's")
	for k, color := range []figure.Color{figure.Blue, figure.Orange} {
		t := 0.1 - 0.2*float64(k)
		var px, py []float64
		for range draws {
			v := plane.hessian.plus(wishart2(src, m), s2).solve([2]float64{x[0] * t, x[1] * t})
			px, py = append(px, v[0]), append(py, v[1])
		}
		f.Dots("", px, py, color)
	}
	edge := []float64{-0.0012, 0.0012}
	f.Dashed("", edge, figure.Values(edge, func(v float64) float64 { return -v * x[0] / x[1] }), figure.Gray)
	f.Alt = fmt.Sprintf("two clouds of %d dots on the two sides of a dashed line through 0; no dot is on the wrong "+
		"side", draws)
	return f.XRange(-0.003, 0.003).YRange(-0.0016, 0.0016).Equal()
}

// labelErrorDelta returns δ(ε) in one dimension of a label that is off by t, removed or replaced by one that is off by
// −t, beside the regulariser θ: exact but for cells, which can only lower it.
func labelErrorDelta(t, eps float64, m int, sigma2 float64) (worst float64) {
	for _, other := range [][2]float64{{0, 0}, {1, -t}} {
		p, q := brokenScalar(m, sigma2, [2]float64{1, t}, other)
		worst = math.Max(worst, measure.Stick(p, q, eps))
	}
	return worst
}

// firstLabelError returns the least t in (0, 1) from which labelErrorDelta exceeds delta.
func firstLabelError(eps, delta float64, m int, sigma2 float64) float64 {
	_, t := univariate.Bisect(func(t float64) bool { return labelErrorDelta(t, eps, m, sigma2) > delta }, 0, 1,
		univariate.Arithmetic, 1e-6)
	return t
}

// LabelErrorFigure draws labelErrorDelta for the noise that exact accounting and Theorem 3.1 ask for with
// interpolation, and for σ² = 10⁹, and a table of the errors from which the promise is broken.
func LabelErrorFigure(m int, eps, delta float64) (_ *figure.Figure, _ display.Item, err error) {
	defer measure.Catch(&err)
	const most = 0.3
	f := figure.New(fmt.Sprintf("The price of a label error, d = 1, m = %d", m),
		"label error t, in units of the regulariser's slope", fmt.Sprintf("δ(%g)", eps)).YRange(0, 0.3)
	table := display.Item{Header: []string{"noise by", "σ²", "δ at t = 0", fmt.Sprintf("δ at t = %g", most),
		"the promise is broken from t ="}}
	f.Level("promised", 0, most, delta, figure.Gray)
	t := figure.Span(0, most, 30)
	for i, name := range []string{"exact accounting", "Theorem 3.1", "σ² = 1e9"} {
		s2 := 1e9
		if i < 2 {
			s2 = measure.Must(LeastSquaresNoise([]wishart.Accounting{wishart.Exact, wishart.Theorem31}[i],
				wishart.Wishart{D: 1, M: m}, privacy.ReplaceOne, eps, delta))
		}
		y := figure.Values(t, func(v float64) float64 { return labelErrorDelta(v, eps, m, s2) })
		f.Line(name, t, y, []figure.Color{figure.Blue, figure.Orange, figure.Green}[i])
		table.Rowf("%s | %.3g | %.3f | %.3f | %.3f", name, s2, y[0], y[len(y)-1], firstLabelError(eps, delta, m, s2))
	}
	f.Alt = "Three rising curves that start at or below what is promised and cross it: that of exact accounting " +
		"first, the other two at the same error."
	return f, table, nil
}

// EigenvaluesFigure draws the share of draws whose smallest eigenvalue is below s, with 99 % bands, beside Lemma D.2,
// and returns the two α at δ₃ = 0.005: the lemma's and the drawn one.
func EigenvaluesFigure(w wishart.Wishart, draws int, seed uint64) (f *figure.Figure, lemma, drawn float64) {
	const delta = 0.005
	src := noise.NewSeeded(seed)
	var spectrum wishart.Spectrum
	least := make([]float64, draws)
	for i := range least {
		spectrum.Draw(w, src.Rand)
		least[i] = spectrum.Smallest()
	}
	slices.Sort(least)
	lemma, drawn = w.SmallestQuantile(delta), least[int(delta*float64(draws))]
	from, to := 0.9*lemma, 1.1*least[draws-1]
	var x, share, lo, hi []float64
	for _, v := range figure.Span(least[3], to, 70) {
		k, _ := slices.BinarySearch(least, v)
		iv := audit.ClopperPearson(k, draws, 0.99)
		x, share, lo, hi = append(x, v), append(share, iv.Estimate), append(lo, iv.Lower), append(hi, iv.Upper)
	}
	s := figure.Span(from, 1.2*lemma, 60)
	f = figure.New(fmt.Sprintf("The smallest eigenvalue, d = %d, m = %d", w.D, w.M), "s", "P(λ < s)").LogY(1e-3, 1e-2,
		0.1, 1).YRange(5e-4, 1.5).XRange(from, to)
	f.Band(x, lo, hi, figure.Blue).Line("drawn", x, share, figure.Blue)
	f.Dashed("Lemma D.2", s, figure.Values(s,
		func(v float64) float64 { return min(1, math.Exp(w.LogSmallestBelow(v))) }), figure.Orange)
	f.Level("0.005, the δ of α", from, drawn, delta, figure.Gray)
	f.Alt = fmt.Sprintf("Two rising curves: the lemma reaches 0.005 at %.2f, the draws at %.1f", lemma, drawn)
	return f, lemma, drawn
}

// brokenScalar returns the probabilities of cells of θ under two datasets of one record each, (x, y), in one dimension
// with θ⋆ = 0 and the regulariser θ:
//
//	θ = −(1 − xy)/(x² + σ²W),  W ~ χ²_m.
func brokenScalar(m int, sigma2 float64, first, second [2]float64) (p, q []float64) {
	const count = 3000
	law := func(r [2]float64) []float64 {
		g := 1 - r[0]*r[1]
		// θ = −g·e^{−u}, on a grid of u that both share; the sign of g is a cell.
		cdf := func(u float64) float64 { // P(−θ ≥ e^{−u}), g > 0
			w := (math.Abs(g)*math.Exp(u) - r[0]*r[0]) / sigma2
			if !(w > 0) {
				return 0
			}
			return mathext.GammaIncReg(float64(m)/2, w/2)
		}
		cells := make([]float64, 2*count+4)
		side := 0
		if g <= 0 {
			side = count + 2
		}
		prev := 0.0
		for i := range count {
			f := cdf(math.Log1p(sigma2) - 14 + 26*float64(i)/count)
			cells[side+i] = f - prev
			prev = f
		}
		cells[side+count] = 1 - prev
		return cells
	}
	return law(first), law(second)
}

// brokenInterpolation looks for the label error from which the claimed (ε, δ) is exceeded; share multiplies the noise,
// and t the 1/7 that is claimed.
func brokenInterpolation(run measure.Run, share, t float64) claim.Outcome {
	const m, eps, delta = 5, 0.5, 0.05
	var clean, first, wrong [3]float64
	for k, a := range []wishart.Accounting{wishart.Exact, wishart.Theorem31, 0} {
		sigma2 := share * 1e9
		if k < 2 {
			sigma2 = share * measure.Must(LeastSquaresNoise(a, wishart.Wishart{D: 1, M: m}, privacy.ReplaceOne,
				eps, delta))
		}
		clean[k], wrong[k] = labelErrorDelta(0, eps, m, sigma2), labelErrorDelta(1, eps, m, sigma2)
		first[k] = firstLabelError(eps, delta, m, sigma2)
	}
	return claim.Decide(fmt.Sprintf("δ(0.5) = %.3f of 0.05 with interpolation; exceeded from t = %.3f on with exact "+
		"accounting, %.3f with the printed σ², %.3f with σ² = 1e9; δ = %.2f at t = 1", clean[0], first[0], first[1],
		first[2], math.Min(wrong[0], wrong[1])), "3,000 cells, which can only lower δ", math.Max(clean[0], clean[1]) <=
		delta && first[2] < t/7 && math.Min(wrong[0], wrong[1]) > 0.99)
}
