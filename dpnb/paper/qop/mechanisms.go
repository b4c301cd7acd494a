package qop

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpnb/notebooks/dpnb/erm/composite"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert/constrained"
	"github.com/dpnb/notebooks/dpnb/mechanism/qop"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/paper/experiment"
	"github.com/dpnb/notebooks/dpnb/paper/internal/measure"
	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/privacy/wishart"
)

// AsPrinted returns the three curves of Figure 2 of qop with its constants and without any output noise, as there:
// LOP by Theorem 5.1 (add/remove-one) with ζ = (2κ√d·ξ√d + max|yᵢ|)·ξ√d, LOP-Clip with gradients clipped at 10,000, QOP
// by Theorem 3.1 (replace-one) with the split (ε, 0), (δ/2, 0, δ/2, 0) and m = 2d.
//
// That is no comparison at equal privacy: see docs/errata.md, qop-17 and qop-31, and max|yᵢ| is read off the records.
func AsPrinted(solver Solver) []Mechanism {
	const smoothness = RowNorm * RowNorm
	linear := func(t *Task, l loss.Loss, slope, eps, delta float64, src *noise.Seeded) ([]float64, error) {
		sigma, ridge := constrained.Theorem51Noise(eps, delta, slope, smoothness)
		p := t.problem(l)
		p.Lambda, p.Linear = ridge, make([]float64, qopDimension)
		src.Gaussian(p.Linear, sigma)
		return solver.solve(p, src.Stream(0))
	}
	return []Mechanism{
		{Name: "LOP", Fit: func(t *Task, eps, delta float64, src *noise.Seeded) ([]float64, error) {
			diameter := 2 * t.Kappa * math.Sqrt(qopDimension)
			slope := (diameter*RowNorm + math.Max(floats.Max(t.Labels), -floats.Min(t.Labels))) * RowNorm
			return linear(t, loss.Squared{}, slope, eps, delta, src)
		}},
		{Name: "LOP-Clip", Fit: func(t *Task, eps, delta float64, src *noise.Seeded) ([]float64, error) {
			return linear(t, loss.ClippedAt(loss.Squared{}, qopClip, RowNorm), qopClip, eps, delta, src)
		}},
		Curved("QOP", wishart.Theorem31, RowNorm, solver),
	}
}

// Curved is QOP without output noise, σ² by the given accounting for records with ‖x‖ ≤ rowNorm, m = 2d. It protects
// nobody unless the anchor is θ⋆ itself and the solver exact.
func Curved(name string, by wishart.Accounting, rowNorm float64, solver Solver) Mechanism {
	sigma2 := experiment.Remembered(func(k experiment.Key) (float64, error) {
		return taskNoise(by, rowNorm, k.Epsilon, k.Delta)
	})
	return Mechanism{Name: name, Fit: func(t *Task, eps, delta float64, src *noise.Seeded) (_ []float64, err error) {
		defer measure.Catch(&err)
		p := t.problem(loss.Squared{})
		p.Quadratic, p.Centre = noise.Wishart(src, qopDimension, 2*qopDimension), t.Anchor
		p.Quadratic.ScaleSym(measure.Must(sigma2(experiment.Key{Epsilon: eps, Delta: delta})), p.Quadratic)
		return solver.solve(p, src.Stream(0))
	}}
}

// Releases returns mechanisms whose releases, output noise included, satisfy (ε, δ) under replace-one, each as
// sharply as can be proved here: QOP for an anchor within ‖θ̃⋆ − θ⋆‖ of θ⋆, if interpolation holds; LOP on the box for
// labels of at most ξ√d·‖θ⋆‖; and LOP about the anchor, which bounds gradients by clipping residuals at twice what the
// anchor's error allows, so that it needs interpolation for its accuracy, not for its guarantee. Releases are projected
// on the box, which costs nothing.
func Releases() []Mechanism {
	return []Mechanism{{Name: "QOP", Fit: releaseQOP}, {Name: "LOP", Fit: boxedLOP()},
		{Name: "LOP about the anchor", Fit: anchoredLOP()}}
}

func releaseQOP(t *Task, eps, delta float64, src *noise.Seeded) (_ []float64, err error) {
	defer measure.Catch(&err)
	m := measure.Must(anchoredQOP(t, eps, delta))
	r := measure.Must(m.Run(t.Rows, t.Labels, src, &mechanism.Settings{Workers: 1}))
	return t.onBox(r.Coefficients), nil
}

// planned is QOP for an anchor within η = RowNorm of θ⋆, whose split takes longer to find than a fit.
var planned = experiment.Remembered(func(k experiment.Key) (qop.Perturbation, error) {
	m := qop.Perturbation{Loss: loss.Squared{}, RowNorm: RowNorm,
		Interpolation: qop.AssumeInterpolation(make([]float64, qopDimension), k.RowNorm),
		Regulariser:   composite.L1{Weight: qopWeight}, HiddenDimension: 2 * qopDimension, Accuracy: 1e-3}
	plan, err := wishart.Optimise(m.Setting(), k.Epsilon, k.Delta, wishart.Risk{Records: qopRecords, Distance: 1,
		RegulariserSlope: qopWeight * math.Sqrt(qopDimension)})
	m.Sigma2, m.OutputSigma, m.Split = plan.Noise.Sigma2, plan.Noise.SigmaOut, plan.Split
	return m, err
})

func anchoredQOP(t *Task, eps, delta float64) (qop.Perturbation, error) {
	m, err := planned(experiment.Key{RowNorm: t.Distance(), Epsilon: eps, Delta: delta})
	m.Interpolation, m.Constraint = qop.AssumeInterpolation(t.Anchor, t.Distance()), t.box()
	return m, err
}

// WithOutputNoise returns QOP on t as Releases runs it, for its noise.
func WithOutputNoise(t *Task) (qop.Perturbation, error) {
	return anchoredQOP(t, Epsilon, Delta)
}

func boxedLOP() func(*Task, float64, float64, *noise.Seeded) ([]float64, error) {
	known := experiment.Remembered(func(k experiment.Key) (constrained.Objective, error) {
		return calibrate(1, constrained.LeastNoise, k)
	})
	return func(t *Task, eps, delta float64, src *noise.Seeded) (_ []float64, err error) {
		defer measure.Catch(&err)
		m := measure.Must(known(experiment.Key{Epsilon: eps, Delta: delta}))
		l := measure.Must(constrained.BoundedOn(loss.Squared{}, RowNorm, RowNorm*floats.Norm(t.Star, 2), t.box(),
			qopDimension))
		// In units of the residual at which the slope ends everything but θ is as it was: σ, σ̃ and τ scale, λ does
		// not. Run proves it again.
		level := l.Lipschitz()
		m.Loss, m.Constraint = l, t.box()
		m.Sigma, m.OutputSigma, m.Tolerance = m.Sigma*level, m.OutputSigma*level, m.Tolerance*level
		r := measure.Must(m.Run(t.Rows, t.Labels, src, &mechanism.Settings{Workers: 1}))
		return t.onBox(r.Coefficients), nil
	}
}

// calibrate returns LOP for the squared loss whose slope ends at the given residual; no box has a part in its noise.
func calibrate(residual float64, rule constrained.Rule, k experiment.Key) (constrained.Objective, error) {
	return constrained.Calibrate(constrained.Config{Loss: loss.Clipped(loss.Squared{}, residual), RowNorm: RowNorm,
		Dimension: qopDimension, Epsilon: k.Epsilon, Delta: k.Delta, Adjacency: privacy.ReplaceOne, Rule: rule,
		Regulariser: composite.L1{Weight: qopWeight}, Constraint: composite.NewBox(1)})
}

func anchoredLOP() func(*Task, float64, float64, *noise.Seeded) ([]float64, error) {
	known := experiment.Remembered(func(k experiment.Key) (constrained.Objective, error) {
		m, err := calibrate(2*RowNorm*k.RowNorm, constrained.Theorem51, k)
		// Noise of a tenth of the anchor's own error in each coordinate.
		m.Lambda = math.Max(m.Lambda, 10*m.Sigma/qopSpread)
		return m, errors.Join(err, m.Validate())
	})
	return func(t *Task, eps, delta float64, src *noise.Seeded) (_ []float64, err error) {
		defer measure.Catch(&err)
		m := measure.Must(known(experiment.Key{RowNorm: t.Distance(), Epsilon: eps, Delta: delta}))
		p := t.problem(m.Loss)
		p.Centre, p.Linear = t.Anchor, make([]float64, qopDimension)
		p.Quadratic = mat.NewSymDense(qopDimension, nil)
		for j := range qopDimension {
			p.Quadratic.SetSym(j, j, m.Lambda)
		}
		src.Gaussian(p.Linear, m.Sigma)
		s := measure.Must(composite.Solve(p, &composite.Settings{Workers: 1, Tolerance: m.Tolerance,
			Modulus: m.Lambda}))
		out := make([]float64, qopDimension)
		src.Gaussian(out, m.OutputSigma)
		floats.Add(out, s.Theta)
		return t.onBox(out), nil
	}
}

// onBox projects θ on the box, after the release.
func (t *Task) onBox(theta []float64) []float64 {
	t.box().Project(theta, theta)
	return theta
}
