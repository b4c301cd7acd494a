package proportional

import (
	"context"
	"errors"
	"fmt"
	"math"
)

// ErrNoSolution says that the objective has no minimiser in the limit, so that the equations have no solution: add a
// ridge.
var ErrNoSolution = errors.New("proportional: no solution")

// ErrAccuracy says that a solution was not reached to the residual that is promised. The setting is too extreme for the
// quadrature.
var ErrAccuracy = errors.New("proportional: the residual did not fall below 1e-10")

// Settings of Solve; nil is right.
type Settings struct {
	// Start is where the search begins; nil chooses. It has no influence on the result beyond the last digits, only on
	// the time.
	Start *FixedPoint
	// Context ends a search early, with its error; nil does not.
	Context context.Context
}

// interrupted returns why a search is to end.
func (s *Settings) interrupted() error {
	if s == nil || s.Context == nil {
		return nil
	}
	return s.Context.Err()
}

// FixedPoint is a solution: it says what β̂ looks like, coordinate by coordinate,
//
//	β̂ⱼ ≈ αβ⋆ⱼ + Direct·Zⱼ + OnXi·ξⱼ,  Z ~ N(0, I) independent of β⋆ and ξ.
type FixedPoint struct {
	// Alpha is α = ⟨β̂, β⋆⟩/‖β⋆‖² (1 − τλ in a regression).
	Alpha float64
	// Sigma is σ: σ² = ‖β̂ − αβ⋆‖²/d = Direct² + OnXi². In a regression the paper's σ is not this but RMSE.
	Sigma float64
	// Gamma is γ (τ in a regression): the training score of a record is prox_{γf(·;y)} of its score under a β̂ that was
	// fitted without it.
	Gamma float64
	// RMSE is ‖β̂ − β⋆‖/√d.
	RMSE float64
	// Kappa is κ of the problem.
	Kappa float64
	// Direct is the part of σ that the records cause, OnXi what multiplies ξ: −γν for objective perturbation, +ν for
	// output perturbation.
	Direct, OnXi float64
	// Residual is the largest residual of the equations, each relative to its left-hand side, as a finer quadrature
	// measures it.
	Residual float64
	// Steps counts Newton's steps; Continued says that the solution was reached by continuation in λ.
	Steps     int
	Continued bool
}

// system is a set of equations for logarithms and other unknowns x.
type system interface {
	// ridge sets λ.
	ridge(lambda float64)
	// residual writes the residuals, relative ones, at x, and returns an estimate of the relative error of the
	// quadrature.
	residual(res, x []float64, tol float64) float64
	// start writes a first guess.
	start(x []float64)
	// point interprets x.
	point(x []float64) FixedPoint
	// unknowns is the inverse of point.
	unknowns(x []float64, p FixedPoint)
	size() int
	// exists decides whether there is a solution at λ = 0; plausible does not ask in every direction, and costs next to
	// nothing.
	exists() (ok bool, why string)
	plausible() (ok bool, why string)
}

func (s *regressionSystem) size() int { return 2 }

func (s *regressionSystem) unknowns(x []float64, p FixedPoint) {
	x[0], x[1] = math.Log(p.RMSE), math.Log(p.Gamma)
}

const (
	// coarseTolerance is for the search, fineTolerance for the residual that is reported.
	coarseTolerance, fineTolerance = 1e-12, 1e-14
	maxResidual                    = 1e-10
	newtonSteps                    = 40
	continuationSteps              = 300
	// maxEvaluations bounds how often a search evaluates the equations; one takes up to a millisecond. What needs more
	// has not been seen to be solved by it.
	maxEvaluations = 4000
)

// solve finds the solution of s: Newton's method, and if that fails continuation in λ from where the ridge dominates
// and the solution is known.
func solve(s system, lambda float64, settings *Settings) (FixedPoint, error) {
	if lambda == 0 {
		// A search for what is far from being there takes minutes.
		if ok, why := s.plausible(); !ok {
			return FixedPoint{}, fmt.Errorf("%w: %s", ErrNoSolution, why)
		}
	}
	w := &newton{n: s.size(), s: s, left: maxEvaluations, interrupted: settings.interrupted}
	x := w.x[:w.n]
	if settings != nil && settings.Start != nil {
		s.unknowns(x, *settings.Start)
	} else {
		s.start(x)
	}
	ok := w.run(newtonSteps)
	if !ok && settings != nil && settings.Start != nil {
		s.start(x)
		ok = w.run(newtonSteps)
	}
	continued := !ok
	if !ok && lambda == 0 {
		// Only now ask whether there is something to be found.
		if exists, why := s.exists(); !exists {
			return FixedPoint{}, fmt.Errorf("%w: %s", ErrNoSolution, why)
		}
	}
	if !ok {
		ok = w.continuation(lambda)
	}
	if err := settings.interrupted(); err != nil {
		return FixedPoint{}, err
	}
	s.ridge(lambda)
	// The residual that is promised is measured with a finer quadrature.
	residual, quadrature := math.Inf(1), 0.0
	for range 5 {
		quadrature = s.residual(w.res[:w.n], x, fineTolerance)
		residual = maxAbs(w.res[:w.n])
		if !ok || residual <= maxResidual/10 {
			break
		}
		w.tol, w.left = fineTolerance, math.MaxInt
		w.run(3)
	}
	if residual <= maxResidual && quadrature > maxResidual {
		return FixedPoint{}, fmt.Errorf("%w: the quadrature is good to %.1e only", ErrAccuracy, quadrature)
	}
	if !(residual <= maxResidual) {
		if lambda == 0 {
			return FixedPoint{}, fmt.Errorf("%w (it is %.1e) at λ = 0, where a minimiser hardly exists; add a ridge",
				ErrAccuracy, residual)
		}
		return FixedPoint{}, fmt.Errorf("%w: it is %.1e", ErrAccuracy, residual)
	}
	p := s.point(x)
	p.Residual, p.Steps, p.Continued = residual, w.steps, continued
	return p, nil
}

func maxAbs(v []float64) float64 {
	var m float64
	for _, x := range v {
		if !finite(x) {
			return math.Inf(1)
		}
		m = math.Max(m, math.Abs(x))
	}
	return m
}
