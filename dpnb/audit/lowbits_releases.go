package audit

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/dpnb/notebooks/dpnb/erm"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert/interval"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// LowBitsCase is a release that is attacked; Fault makes the same as releases were once made, which the attack must
// break. It is nil where it never could: where the noise has the size of the result's last places, as objective
// perturbation's output noise next to its coefficients, the float64 sum has thousands of preimages.
type LowBitsCase struct {
	Name   string
	Attack LowBits
	Fault  func(result, scales []float64, src *noise.Seeded) []float64
}

// Check attacks so many releases, and as many that the fault makes if there is one, and returns what was found of
// either.
//
// Errors: those of the attack; the release is told apart, or the fault is not.
func (c LowBitsCase) Check(ctx context.Context, runs int) (found, planted LowBitsFound, err error) {
	found, err = c.Attack.Run(ctx, runs, noise.NewSeeded(1))
	if err == nil && found.Broken() {
		err = fmt.Errorf("audit: %s: told apart: %v", c.Name, found)
	}
	if err != nil || c.Fault == nil {
		return found, planted, err
	}
	planted, err = c.Attack.With(c.Fault).Run(ctx, runs, noise.NewSeeded(2))
	if err == nil && !planted.Broken() {
		err = fmt.Errorf("audit: %s: the fault passes: %v", c.Name, planted)
	}
	return found, planted, err
}

// coefficients are those of a release.
func coefficients(r *mechanism.Release, err error) ([]float64, error) {
	if err != nil {
		return nil, err
	}
	return r.Coefficients, nil
}

// LowBitsCases returns the releases of this project that are sums with noise, on n invented records of d features and
// one more: output perturbation with normal and with isotropic Laplace noise, objective perturbation to one who knows
// the noise in the objective, and the matrix of the curvature.
//
// The others are attacked by tests of this name, TestLowBits, in their own packages, as what is summed is known there
// alone: DP-SGD, a tuner's score, AdaSSP, the functional mechanism, linear and quadratic perturbation; those of several
// classes and the noisy count in this package's tests.
func LowBitsCases(n, d int, epsilon float64) ([]LowBitsCase, error) {
	rows, labels := lowBitsRecords(n, d)
	data := func(with bool) (*matrix.Dense, []float64) {
		if with {
			return rows, labels
		}
		return matrix.NewDense(n, d, rows.Data[:n*d]), labels[:n]
	}
	minimise := func(with bool, lambda float64, b []float64, tolerance float64) ([]float64, error) {
		x, y := data(with)
		sol, err := erm.Minimize(&erm.Problem{Rows: x, Labels: y, Loss: loss.Logistic{}, Lambda: lambda, Linear: b},
			&erm.Settings{Tolerance: tolerance, Workers: 1, Persist: true})
		if err != nil {
			return nil, err
		}
		return sol.Theta, nil
	}
	one := &mechanism.Settings{Workers: 1}
	var cases []LowBitsCase
	for _, delta := range []float64{1e-5, 0} {
		m, err := objpert.CalibrateOutput(objpert.OutputConfig{Loss: loss.Logistic{}, RowNorm: 1, Lambda: 10,
			Epsilon: epsilon, Delta: delta})
		if err != nil {
			return nil, err
		}
		c := LowBitsCase{Name: fmt.Sprintf("output perturbation, d = %d, ε = %g, δ = %g", d, epsilon, delta)}
		c.Attack.Scales = slices.Repeat([]float64{m.Sigma + m.Scale}, d)
		known := map[bool][]float64{}
		for _, with := range []bool{true, false} {
			if known[with], err = minimise(with, m.Lambda, nil, m.Tolerance); err != nil {
				return nil, err
			}
		}
		c.Attack.Sums = func(with bool, _ *noise.Seeded) ([]float64, error) {
			return append([]float64(nil), known[with]...), nil
		}
		c.Attack.Release = func(with bool, src *noise.Seeded) ([]float64, error) {
			x, y := data(with)
			return coefficients(m.Run(x, y, src, one))
		}
		if delta > 0 {
			c.Fault = FloatSum
		} else {
			c.Attack.Allowed = 1 / (1 + math.Exp(-epsilon))
		}
		cases = append(cases, c)
	}
	m, err := objpert.Calibrate(objpert.Config{Loss: loss.Logistic{}, RowNorm: 1, Lambda: 2, Epsilon: max(epsilon, 0.5),
		Delta: 1e-5, Adjacency: privacy.AddRemove})
	if err != nil {
		return nil, err
	}
	// To one who knows b the output noise must still hide where the solver stopped: with the record and without stand
	// for two tolerances of it.
	stopping := func(with bool) objpert.Objective {
		m := m
		if !with {
			m.Tolerance /= 100
		}
		return m
	}
	objective := LowBitsCase{Name: fmt.Sprintf("objective perturbation, b known, d = %d", d)}
	objective.Attack = LowBits{
		Scales: slices.Repeat([]float64{m.OutputSigma}, d),
		Sums: func(with bool, src *noise.Seeded) ([]float64, error) {
			b := make([]float64, d)
			eta := noise.Exact(src).FillNormal(b, m.Sigma)
			return minimise(true, m.Lambda, b, stopping(with).Tolerance*(1-0x1p-50)-eta)
		},
		Release: func(with bool, src *noise.Seeded) ([]float64, error) {
			return coefficients(stopping(with).Run(rows, labels, src, one))
		},
	}
	cases = append(cases, objective)
	curvature := interval.Curvature{Fit: m, Sigma: m.Smoothness() / 0.01}
	theta := make([]float64, d)
	diagonal := func(mo *interval.Moments, err error) ([]float64, error) {
		if err != nil {
			return nil, err
		}
		out := make([]float64, d)
		for j := range out {
			out[j] = mo.Hessian.At(j, j)
		}
		return out, nil
	}
	matrix := LowBitsCase{Name: fmt.Sprintf("diagonal of the curvature, d = %d, μ = 0.01", d)}
	matrix.Attack = LowBits{
		Scales: slices.Repeat([]float64{curvature.Sigma}, d),
		Sums: func(with bool, _ *noise.Seeded) ([]float64, error) {
			x, y := data(with)
			return diagonal(interval.PublicCurvature(m, x, y, theta, float64(x.N)))
		},
		Release: func(with bool, src *noise.Seeded) ([]float64, error) {
			x, y := data(with)
			return diagonal(curvature.At(x, y, theta, src))
		},
	}
	matrix.Fault = FloatSum
	return append(cases, matrix), nil
}

// lowBitsRecords returns n + 1 invented records of norm 1 with labels −1 and +1.
func lowBitsRecords(n, d int) (*matrix.Dense, []float64) {
	rng := noise.NewSeeded(uint64(17 + d))
	rows, labels := matrix.NewDense(n+1, d, nil), make([]float64, n+1)
	rng.Gaussian(rows.Data, 1)
	for i := range n + 1 {
		row := rows.Data[i*d : (i+1)*d]
		var square float64
		for _, v := range row {
			square += v * v
		}
		for j := range row {
			row[j] /= 1.0001 * max(1e-3, math.Sqrt(square))
		}
		labels[i] = float64(2*(rng.Uint64()&1)) - 1
	}
	return rows, labels
}
