package heavytail

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/dpnb/notebooks/dpnb/erm"
	"github.com/dpnb/notebooks/dpnb/internal/kernel"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/mechanism/pure"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/paper/internal/measure"
	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/privacy/objective"
)

// Solve fits records in a simulation.
type Solve func(rows *matrix.Dense, y []float64, src *noise.Seeded) ([]float64, error)

// Fit is a way to fit n records at ε, its parameters chosen, all under replace-one as in the paper.
type Fit func(p Population, n int, eps float64) (Solve, error)

// Delta is that of the fits in the experiment that are not pure.
const Delta = 1e-5

// run is the Solve of a mechanism.
func run(m mechanism.Mechanism, err error) (Solve, error) {
	if err != nil {
		return nil, err
	}
	return func(rows *matrix.Dense, y []float64, src *noise.Seeded) ([]float64, error) {
		r, err := m.Run(rows, y, src, &mechanism.Settings{Workers: 1})
		if err != nil {
			return nil, err
		}
		return r.Coefficients, nil
	}, nil
}

// The mechanisms of the experiment.
var (
	// Default is objective perturbation with C = G/4.
	Default Fit = func(p Population, n int, eps float64) (Solve, error) {
		m, err := p.config(n, eps).Calibrate()
		return run(m, err)
	}
	// Told is Default where it is known how long a record is and how large a residual, typically.
	Told Fit = func(p Population, n int, eps float64) (Solve, error) {
		m, err := p.told(n, eps).Calibrate()
		return run(m, err)
	}
	// WorstCase is objective perturbation with C and Λ of the utility theorem.
	WorstCase Fit = func(p Population, n int, eps float64) (Solve, error) {
		c := p.config(n, eps)
		c.WorstCase = true
		m, err := c.Calibrate()
		return run(m, err)
	}
	// Output is one output perturbation.
	Output Fit = func(p Population, n int, eps float64) (Solve, error) {
		m, err := p.loose(n, eps).CalibrateOutput()
		return run(m, err)
	}
	// Lipschitz is output perturbation with C a bound on all gradients: the longest that the records at hand can have,
	// which is read off them, in its favour. It is not private.
	Lipschitz Fit = func(p Population, n int, eps float64) (Solve, error) {
		return func(rows *matrix.Dense, y []float64, src *noise.Seeded) ([]float64, error) {
			c := p.config(n, eps)
			c.Clip = p.longest(rows, y)
			m, err := c.CalibrateOutput()
			if err != nil {
				return nil, err
			}
			solve, _ := run(m, nil)
			return solve(rows, y, src)
		}, nil
	}
	// Printed is the paper's algorithm with its own constants (Algorithms 1, 2 and 4): four phases of three blocks,
	// each with two stages, ridges that grow by 32. Its ⌈log₂ n⌉ phases would leave blocks empty.
	Printed Fit = func(p Population, n int, eps float64) (Solve, error) {
		c := pure.PhasesConfig{Config: p.config(n, eps), Count: 4, Blocks: 3, Ratio: 32, Double: true,
			Constants: pure.Printed}
		c.WorstCase = true
		m, err := c.Calibrate()
		return run(m, err)
	}
	// Double is the same algorithm with exact constants, three phases of one block, C as the default.
	Double Fit = func(p Population, n int, eps float64) (Solve, error) {
		m, err := pure.PhasesConfig{Config: p.loose(n, eps), Double: true}.Calibrate()
		return run(m, err)
	}
	// Localisation is Double with one stage in a block (Algorithms 1 and 2).
	Localisation Fit = func(p Population, n int, eps float64) (Solve, error) { return run(p.Phased(n, eps, 3)) }
)

// Misjudged is the default with a G that is wrong by a factor.
func Misjudged(factor float64) Fit {
	return func(p Population, n int, eps float64) (Solve, error) {
		c := p.config(n, eps)
		c.MomentBound *= factor
		m, err := c.Calibrate()
		return run(m, err)
	}
}

// Phased is Localisation with so many phases.
func (p Population) Phased(n int, eps float64, phases int) (mechanism.Mechanism, error) {
	return pure.PhasesConfig{Config: p.loose(n, eps), Count: phases}.Calibrate()
}

// loose is the config with minimisers to a thousandth of C/Λ: next to noise in the coefficients that is as good as
// exact, and faster.
func (p Population) loose(n int, eps float64) pure.Config {
	c := p.config(n, eps)
	c.Tolerance = 1e-3 * c.MomentBound / 4
	return c
}

// longest returns a bound on the norms of all gradients over the ball.
func (p Population) longest(rows *matrix.Dense, y []float64) (most float64) {
	slope := p.loss().Lipschitz()
	for i := range y {
		norm := floats.Norm(rows.Data[i*rows.D:(i+1)*rows.D], 2)
		most = max(most, norm*min(slope, math.Abs(y[i])+radius*norm))
	}
	return most
}

// problem is the sum of the losses, extended with a bend, and a ridge.
func (p Population) problem(rows *matrix.Dense, y []float64, bend loss.Bend, lambda float64) *erm.Problem {
	unit, norms := matrix.Directions(rows, 1)
	numbers := make([]float64, len(y))
	for i := range numbers {
		numbers[i] = float64(i)
	}
	return &erm.Problem{Rows: unit, Labels: numbers, Lambda: lambda, Loss: loss.Extend(p.loss(), bend, norms, y, nil)}
}

// NonPrivate minimises the loss itself but for the fourth digit.
var NonPrivate Fit = func(p Population, n int, eps float64) (Solve, error) {
	return func(rows *matrix.Dense, y []float64, _ *noise.Seeded) ([]float64, error) {
		c := 10 * math.Sqrt(float64(rows.D))
		lambda := 1e-5 * float64(len(y)) * c
		problem := &erm.Problem{Rows: rows, Labels: y, Lambda: lambda}
		if smooth, ok := p.loss().(loss.Loss); ok {
			problem.Loss = smooth
		} else {
			problem = p.problem(rows, y, loss.FreeBend(c, c/8, c/4), lambda)
		}
		s, err := erm.Minimize(problem, &erm.Settings{Workers: 1, Tolerance: 0.1 * lambda, MaxPasses: 100})
		if s == nil {
			return nil, err
		}
		return s.Theta, nil // to fewer digits where they are not to be had
	}, nil
}

// Gaussian is objective perturbation with (ε, Delta), of the ln cosh extension: Gaussian noise and curvature that is
// free at ε by dpnb/free-curvature, C and Λ of the default. Replace-one is one record less and one more, each with ε/2
// and δ/(1 + e^{ε/2}).
var Gaussian Fit = func(p Population, n int, eps float64) (_ Solve, err error) {
	defer measure.Catch(&err)
	m := measure.Must(p.config(n, eps).Calibrate())
	c := m.Clip
	free := objective.Free{Epsilon: eps / 2, Curve: coshCurve(c, 1)}
	sigma := measure.Must(free.Sigma(Delta / (1 + math.Exp(eps/2))))
	unit := measure.Must(free.Lambda(sigma))
	return func(rows *matrix.Dense, y []float64, src *noise.Seeded) ([]float64, error) {
		b := make([]float64, rows.D)
		src.Gaussian(b, sigma)
		problem := p.problem(rows, y, loss.CoshBend(c, m.Lambda/unit), m.Lambda)
		problem.Linear = b
		return erm.MinimizeWithin(problem, radius, 1e-5*c/m.Lambda, 0, 1)
	}, nil
}

// coshCurve is S̄(γ) = s(1 − γ²/C²) on [−C, C], that of loss.CoshBend.
func coshCurve(c, s float64) *loss.Curve {
	return &loss.Curve{Name: "ln cosh", Lo: -c, Hi: c, Symmetric: true, Fall: 2 * s / c,
		Sup:            func(g float64) float64 { return s * (1 - g/c) * (1 + g/c) },
		Antiderivative: func(g float64) float64 { return c / s * math.Atanh(g/c) }}
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
