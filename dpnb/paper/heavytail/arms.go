package heavytail

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/dpnb/notebooks/dpnb/internal/kernel"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/mechanism/pure"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/paper/internal/measure"
	"github.com/dpnb/notebooks/dpnb/privacy"
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
	// Output is one output perturbation.
	Output Fit = func(p Population, n int, eps float64) (Solve, error) {
		m, err := p.loose(n, eps).CalibrateOutput()
		return run(m, err)
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
	// Localisation is the same algorithm with exact constants, three phases of one block with one stage (Algorithms 1
	// and 2), C as the default.
	Localisation Fit = func(p Population, n int, eps float64) (Solve, error) {
		m, err := pure.PhasesConfig{Config: p.loose(n, eps), Count: 3}.Calibrate()
		return run(m, err)
	}
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
