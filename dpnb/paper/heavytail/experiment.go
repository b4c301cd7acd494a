package heavytail

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/dpnb/notebooks/dpnb/internal/kernel"
	"github.com/dpnb/notebooks/dpnb/internal/quadrature"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/mechanism/pure"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/paper/internal/measure"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Population is regression with heavy tails: x has d coordinates of variance 1, and y = ⟨x,w*⟩ + ½e with w* = (1, …,
// 1)/√d and e of Student's t law of k + ½ degrees of freedom, so that moments of order k exist and few more. What is
// minimised is over ‖w‖ ≤ 2.
type Population struct {
	// Moment is k ≥ 2, Features d. With k = ∞ everything is Gaussian.
	Moment   float64
	Features int
	// Pareto takes independent Pareto coordinates of tail index k + ½, centred, in place of an elliptical vector of the
	// law of e.
	Pareto bool
	// Loss is LeastAbsolute, Huber or Squared; nil is LeastAbsolute.
	Loss loss.Convex
}

// radius of the ball over which is minimised.
const radius = 2

func (p Population) loss() loss.Convex {
	if p.Loss == nil {
		return loss.LeastAbsolute{}
	}
	return p.Loss
}

func (p Population) degrees() float64 { return p.Moment + 0.5 }

// scale is what a t variate is multiplied by to have variance 1.
func (p Population) scale() float64 {
	if math.IsInf(p.Moment, 1) {
		return 1
	}
	return math.Sqrt((p.degrees() - 2) / p.degrees())
}

// pareto returns the mean and the standard deviation of a Pareto variate above 1.
func (p Population) pareto() (mean, deviation float64) {
	a := p.degrees()
	return a / (a - 1), math.Sqrt(a/(a-2)) / (a - 1)
}

// normMoment returns a bound on (E‖x‖^k)^{1/k}. It is exact for elliptical x and for k = 2. For independent coordinates
// and 2 < k ≤ 4 it is by
//
//	E(Σξⱼ)^q ≤ (ΣEξⱼ)^q + ΣEξⱼ^q,  ξⱼ = xⱼ² ≥ 0,  1 ≤ q = k/2 ≤ 2,
//
// as E(Σξⱼ)^q = ΣE ξⱼ(ξⱼ + rest)^{q−1}, where (a + b)^{q−1} ≤ a^{q−1} + b^{q−1}, and Jensen's inequality.
func (p Population) normMoment() float64 {
	k, d, nu := p.Moment, float64(p.Features), p.degrees()
	if math.IsInf(k, 1) || p.Pareto && k == 2 {
		return math.Sqrt(d)
	}
	if p.Pareto {
		mean, deviation := p.pareto()
		// x = (U^{−1/α} − mean)/deviation, U = v¹⁸ for an integrand without a pole.
		one := quadrature.Panels(func(v float64) float64 {
			return 18 * math.Pow(v, 17) * math.Pow(math.Abs(math.Pow(v, -18/nu)-mean)/deviation, k)
		}, 0, 1, 200)
		return math.Pow(math.Pow(d, k/2)+d*one, 1/k)
	}
	// ‖x‖ = scale·√ν·χ_d/χ_ν; E χ_m^k = 2^{k/2}Γ((m+k)/2)/Γ(m/2).
	log := func(m, k float64) float64 {
		a, _ := math.Lgamma((m + k) / 2)
		b, _ := math.Lgamma(m / 2)
		return k/2*math.Ln2 + a - b
	}
	return p.scale() * math.Sqrt(nu) * math.Exp((log(d, k)+log(nu, -k))/k)
}

// MomentBound returns G: a bound on the k-th moment of the gradients, (E‖x‖^k)^{1/k} times the largest slope. The
// squared loss has none, and over the whole ball G_k is far too large: a scale of its own is √d times the root of
// E(½e)², feature norm times residual.
func (p Population) MomentBound() float64 {
	slope := p.loss().Lipschitz()
	if math.IsInf(slope, 1) {
		return math.Sqrt(float64(p.Features)) * 0.5 / p.scale()
	}
	return slope * p.normMoment()
}

// truth returns w*.
func (p Population) truth() []float64 {
	return slices.Repeat([]float64{1 / math.Sqrt(float64(p.Features))}, p.Features)
}

// features draws n rows of x, student one e.
func (p Population) features(src *noise.Seeded, n int) *matrix.Dense {
	rows := matrix.NewDense(n, p.Features, nil)
	if p.Pareto {
		mean, deviation := p.pareto()
		for i := range rows.Data {
			rows.Data[i] = (math.Exp(src.ExpFloat64()/p.degrees()) - mean) / deviation
		}
		return rows
	}
	src.Gaussian(rows.Data, 1)
	if !math.IsInf(p.Moment, 1) {
		for i := range n {
			floats.Scale(p.scale()*p.student(src), rows.Data[i*p.Features:(i+1)*p.Features])
		}
	}
	return rows
}

// student draws √(ν/χ²_ν), by which a Gaussian becomes a t variate.
func (p Population) student(src *noise.Seeded) float64 {
	if math.IsInf(p.Moment, 1) {
		return 1
	}
	nu := p.degrees()
	return math.Sqrt(nu / distuv.Gamma{Alpha: nu / 2, Beta: 0.5, Src: src}.Rand())
}

// Draw returns n records.
func (p Population) Draw(src *noise.Seeded, n int) (*matrix.Dense, []float64) {
	rows, y, truth := p.features(src, n), make([]float64, n), p.truth()
	for i := range y {
		y[i] = floats.Dot(rows.Data[i*p.Features:(i+1)*p.Features], truth) + 0.5*src.NormFloat64()*p.student(src)
	}
	return rows, y
}

// Excess returns F(w) − F(w*).
func (p Population) Excess(w []float64) float64 { return p.Risk()(w) }

// Risk returns w ↦ F(w) − F(w*) = E g(⟨x,w − w*⟩), g(s) = E[φ(s + ½e) − φ(½e)] in closed form but for an integral. Of
// elliptical x, ⟨x,w − w*⟩ is ‖w − w*‖ times one coordinate, whose law is summed over; of others it is the mean over
// 20,000 rows, the same for every w.
func (p Population) Risk() func(w []float64) float64 {
	truth := p.truth()
	distance := func(w []float64) float64 { return floats.Distance(w, truth, 2) }
	if _, ok := p.loss().(loss.Squared); ok {
		return func(w []float64) float64 { r := distance(w); return 0.5 * r * r }
	}
	g := p.gain()
	if p.Pareto {
		test := p.features(noise.NewSeeded(77), 20_000)
		return func(w []float64) (sum float64) {
			off := make([]float64, p.Features)
			floats.SubTo(off, w, truth)
			for i := range test.N {
				sum += g(math.Abs(floats.Dot(off, test.Data[i*test.D:(i+1)*test.D])))
			}
			return sum / float64(test.N)
		}
	}
	// Nodes that are dense in the tail: |x₁| has the upper quantile t = v⁴ at x[i].
	const nodes = 1000
	law, x, weight := p.law(), make([]float64, nodes), make([]float64, nodes)
	for i := range x {
		v := (float64(i) + 0.5) / nodes
		x[i], weight[i] = -p.scale()*law.Quantile(0.5*math.Pow(v, 4)), 4*math.Pow(v, 3)/nodes
	}
	return func(w []float64) (sum float64) {
		off := distance(w)
		for i, v := range x {
			sum += weight[i] * g(off*v)
		}
		return sum
	}
}

// law returns that of e.
func (p Population) law() interface {
	CDF(float64) float64
	Prob(float64) float64
	Quantile(float64) float64
} {
	if math.IsInf(p.Moment, 1) {
		return distuv.UnitNormal
	}
	return distuv.StudentsT{Sigma: 1, Nu: p.degrees()}
}

// gain returns g of Risk for s ≥ 0, from a table of g(s)(1 + s)/s², which hardly changes.
func (p Population) gain() func(s float64) float64 {
	const least, steps, cells = 1e-3, 100.0, 2800 // s = 10⁻³ to 10⁹
	law := p.law()
	nu, peak := p.degrees(), law.Prob(0)
	absolute := func(s float64) float64 { // E|s + ½e| − E|½e| = ½[z(2F(z) − 1) − 2∫₀^z uf(u)du], z = 2s
		z := 2 * math.Abs(s)
		first, more := 1.0, 1.0
		if !math.IsInf(nu, 1) {
			first, more = nu/(nu-1), 1+z*z/nu
		}
		return 0.5*z*(2*law.CDF(z)-1) - first*(peak-law.Prob(z)*more)
	}
	g := absolute
	if h, ok := p.loss().(loss.Huber); ok { // φ = ½∫|r − t|dt over ±T, but for a constant
		g = func(s float64) float64 {
			return 0.5 * quadrature.Panels(func(t float64) float64 { return absolute(s-t) - absolute(t) },
				-h.Threshold, h.Threshold, 4)
		}
	}
	table := make([]float64, cells+1)
	for i := range table {
		s := least * math.Exp(float64(i)/steps)
		table[i] = g(s) * (1 + s) / s / s
	}
	return func(s float64) float64 {
		at := 0.0
		if s > least {
			at = min(steps*math.Log(s/least), cells-1e-9)
		}
		i := int(at)
		return (table[i] + (at-float64(i))*(table[i+1]-table[i])) * s * s / (1 + s)
	}
}

func (p Population) config(n int, eps float64) pure.Config {
	return pure.Config{Loss: p.loss(), Epsilon: eps, Adjacency: privacy.ReplaceOne, Features: p.Features, Records: n,
		Radius: radius, Moment: min(p.Moment, 1e3), MomentBound: p.MomentBound()}
}

// Cell is a cell of the table: the mean excess risk of so many fits, each with records of its own, and its standard
// error.
//
// Errors: the mechanism's.
func (p Population) Cell(fit Fit, n int, eps float64, fits int, seed uint64) (mean, deviation float64, err error) {
	defer measure.Catch(&err)
	solve := measure.Must(fit(p, n, eps))
	risk := p.Risk()
	s := measure.Means(context.Background(), fits, noise.NewSeeded(seed), func(_ int, src *noise.Seeded) []float64 {
		rows, y := p.Draw(src, n)
		return []float64{risk(measure.Must(solve(rows, y, src)))}
	})[0]
	return s.Mean, s.StdErr, nil
}

// Solve fits records in a simulation.
type Solve func(rows *matrix.Dense, y []float64, src *noise.Seeded) ([]float64, error)

// Fit is a way to fit n records at ε, its parameters chosen, all under replace-one as in the paper.
type Fit func(p Population, n int, eps float64) (Solve, error)

// Delta is that of the fits in the experiment that are not pure.
const Delta = 1e-5

// run is the Solve of a mechanism.
func run(m mechanism.Mechanism, err error) (Solve, error) {
	return func(rows *matrix.Dense, y []float64, src *noise.Seeded) (_ []float64, err error) {
		defer measure.Catch(&err)
		return measure.Released(m, rows, y, src), nil
	}, err
}

// The mechanisms of the experiment.
var (
	// Default is objective perturbation with C = G/4.
	Default Fit = func(p Population, n int, eps float64) (Solve, error) { return run(p.config(n, eps).Calibrate()) }
	// Output is one output perturbation.
	Output Fit = func(p Population, n int, eps float64) (Solve, error) { return run(p.loose(n, eps).CalibrateOutput()) }
	// Printed is the paper's algorithm with its own constants (Algorithms 1, 2 and 4): four phases of three blocks,
	// each with two stages, ridges that grow by 32. Its ⌈log₂ n⌉ phases would leave blocks empty.
	Printed Fit = func(p Population, n int, eps float64) (Solve, error) {
		c := pure.PhasesConfig{Config: p.config(n, eps), Count: 4, Blocks: 3, Ratio: 32, Double: true,
			Constants: pure.Printed}
		c.WorstCase = true
		return run(c.Calibrate())
	}
	// Localisation is the same algorithm with exact constants, three phases of one block with one stage (Algorithms 1
	// and 2), C as the default.
	Localisation Fit = func(p Population, n int, eps float64) (Solve, error) {
		return run(pure.PhasesConfig{Config: p.loose(n, eps), Count: 3}.Calibrate())
	}
)

// Misjudged is the default with a G that is wrong by a factor.
func Misjudged(factor float64) Fit {
	return func(p Population, n int, eps float64) (Solve, error) {
		c := p.config(n, eps)
		c.MomentBound *= factor
		return run(c.Calibrate())
	}
}

// loose is the config with minimisers to a thousandth of C/Λ: next to noise in the coefficients that is as good as
// exact, and faster.
func (p Population) loose(n int, eps float64) pure.Config {
	c := p.config(n, eps)
	c.Tolerance = 1e-3 * c.MomentBound / 4
	return c
}

// Descent is noisy gradient descent: T steps w ← Π(w − (step·R/(Cn))(Σ clipped gradients + b)), of which the mean of
// the last half is the result. Gradients are cut to the length C of the default. With δ = 0 every step has ε/T and
// isotropic Laplace noise, else Gaussian noise of T-fold variance.
type Descent struct {
	Steps int
	Step  float64
	// Approximate takes (ε, Delta) in place of pure ε.
	Approximate bool
}

// Fit implements Fit.
func (g Descent) Fit(p Population, n int, eps float64) (_ Solve, err error) {
	defer measure.Catch(&err)
	m := measure.Must(p.config(n, eps).Calibrate())
	steps := float64(g.Steps)
	scale := 2 * m.Clip * steps / eps
	if g.Approximate {
		sigma := measure.Must(privacy.GaussianSigma(eps, Delta))
		scale = 2 * m.Clip * sigma * math.Sqrt(steps)
	}
	step := g.Step * radius / (m.Clip * float64(n))
	return func(rows *matrix.Dense, y []float64, src *noise.Seeded) ([]float64, error) {
		d := rows.D
		norms, slope := make([]float64, len(y)), make([]float64, len(y))
		for i := range norms {
			norms[i] = floats.Norm(rows.Data[i*d:(i+1)*d], 2)
		}
		return g.descend(d, scale, step, radius, src, func(sum, w []float64) {
			kernel.Margins(slope, rows.Data, w)
			if of, ok := p.loss().(loss.Loss); ok {
				of.ValueSlope(slope, slope, y)
			} else { // the absolute loss, of which each record may have a slope of ±1
				for i, margin := range slope {
					slope[i] = math.Copysign(1, margin-y[i])
				}
			}
			for i, s := range slope {
				slope[i] = min(max(s, -m.Clip/norms[i]), m.Clip/norms[i])
			}
			kernel.AddScaled(sum, rows.Data, slope)
		}), nil
	}, nil
}

// descend takes the steps, with noise of the given scale added to the sum of clipped gradients that gradients adds to a
// vector of zeros.
func (g Descent) descend(d int, scale, step, radius float64, src *noise.Seeded,
	gradients func(sum, w []float64)) []float64 {
	from := g.Steps / 2
	w, sum, result, b := make([]float64, d), make([]float64, d), make([]float64, d), make([]float64, d)
	for t := range g.Steps {
		clear(sum)
		gradients(sum, w)
		src.Gaussian(b, 1)
		length := scale
		if !g.Approximate { // the norm of isotropic Laplace noise is a Gamma(d) variate
			length *= distuv.Gamma{Alpha: float64(d), Beta: 1, Src: src}.Rand() / floats.Norm(b, 2)
		}
		floats.AddScaled(sum, length, b)
		floats.AddScaled(w, -step, sum)
		if norm := floats.Norm(w, 2); norm > radius {
			floats.Scale(radius/norm, w)
		}
		if t >= from {
			floats.AddScaled(result, 1/float64(g.Steps-from), w)
		}
	}
	return result
}
