package objpert_test

import (
	"errors"
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/erm"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// neighbourhood is a small data set, one more record, and a tilt b.
type neighbourhood struct {
	rows   *matrix.Dense
	labels []float64
	b      []float64
}

// problem returns the objective with the last record (with) or without it.
func (h neighbourhood) problem(l loss.Loss, lambda float64, with bool) *erm.Problem {
	n := h.rows.N
	if !with {
		n--
	}
	return &erm.Problem{Rows: matrix.NewDense(n, h.rows.D, h.rows.Data[:n*h.rows.D]), Labels: h.labels[:n], Loss: l,
		Lambda: lambda, Linear: h.b}
}

// neighbourhoods returns random data of rows of norm at most radius, and ones in which the last record pulls as hard as
// it can: nothing else but a record of zeros, a strong tilt along its row, and a label that it cannot reach.
func neighbourhoods(labels []float64, radius float64, seed uint64) []neighbourhood {
	rng := noise.NewSeeded(seed)
	var all []neighbourhood
	for k := range 24 {
		n, d := 2+rng.IntN(12), 1+rng.IntN(4)
		h := neighbourhood{rows: matrix.NewDense(n, d, nil), labels: make([]float64, n), b: make([]float64, d)}
		rng.Gaussian(h.rows.Data, 1)
		for i := range n {
			r := h.rows.Data[i*d : (i+1)*d]
			size := radius
			if k%2 == 1 {
				size *= rng.Float64()
			}
			floats.Scale(size*(1-1e-15)/floats.Norm(r, 2), r)
			h.labels[i] = labels[rng.IntN(len(labels))]
		}
		rng.Gaussian(h.b, math.Exp(3*rng.NormFloat64()))
		if k < 2*len(labels) {
			last := h.rows.Data[(n-1)*d:]
			floats.Scale(radius*(1-1e-15)/floats.Norm(last, 2), last)
			h.rows = matrix.NewDense(2, d, append(make([]float64, d), last...))
			h.labels = []float64{labels[0], labels[k%len(labels)]}
			copy(h.b, last)
			floats.Scale(float64(1-2*(k/len(labels)))*2000, h.b)
		}
		all = append(all, h)
	}
	return all
}

// labelled is a loss with labels that it admits.
type labelled struct {
	loss.Loss
	labels []float64
}

// released is every loss that a release can have.
func released() []labelled {
	all := []labelled{{loss.Logistic{}, []float64{-1, 1}}, {loss.Softplus{Width: 1}, []float64{-1, 1}}}
	for _, p := range private {
		all = append(all, labelled{p.loss, append([]float64{p.extra}, p.company...)})
	}
	return all
}

// Brute force over neighbours: one record moves the minimiser by at most L/λ, for every loss, clipped or not, and some
// record moves it by nearly that.
func TestMinimisersOfNeighbours(t *testing.T) {
	for _, l := range released() {
		for _, radius := range []float64{0.5, math.Sqrt2} {
			var reached float64
			for _, lambda := range []float64{0.3, 5} {
				m := objpert.Objective{Loss: l.Loss, RowNorm: radius, Lambda: lambda}
				for k, h := range neighbourhoods(l.labels, radius, 51) {
					var theta [2][]float64
					var slack float64
					for j, with := range []bool{false, true} {
						sol, err := erm.Minimize(h.problem(l.Loss, lambda, with),
							&erm.Settings{Tolerance: 1e-6 * m.Lipschitz(), Workers: 1})
						if err != nil {
							t.Fatalf("%s, case %d: %v", l.Name(), k, err)
						}
						theta[j] = sol.Theta
						slack += sol.Certificate.Distance
					}
					share := (floats.Distance(theta[0], theta[1], 2) - slack) / (m.Lipschitz() / lambda)
					if share > 1 {
						t.Errorf("%s, R = %v, λ = %v, case %d: the minimiser moves by %v of L/λ", l.Name(), radius,
							lambda, k, share)
					}
					reached = math.Max(reached, share)
				}
			}
			// Else a bound that is a twentieth too small would go unnoticed.
			if reached < 0.95 {
				t.Errorf("%s, R = %v: at most %v of L/λ is reached", l.Name(), radius, reached)
			}
		}
	}
}

// Brute force over neighbours: their gradients differ by at most L at every θ, and that difference changes by at most s
// for a unit of θ; both are reached.
func TestGradientsOfNeighbours(t *testing.T) {
	testscale.Slow(t)
	rng := noise.NewSeeded(52)
	for _, l := range released() {
		const radius = 1.5
		m := objpert.Objective{Loss: l.Loss, RowNorm: radius, Lambda: 1}
		difference := func(h neighbourhood, theta []float64) []float64 {
			with, without := make([]float64, h.rows.D), make([]float64, h.rows.D)
			erm.Evaluate(h.problem(l.Loss, 1, true), with, theta)
			erm.Evaluate(h.problem(l.Loss, 1, false), without, theta)
			floats.Sub(with, without)
			return with
		}
		var slope, curvature float64
		for _, h := range neighbourhoods(l.labels, radius, 53) {
			for i := range h.b {
				h.b[i] = math.Max(-1, math.Min(1, h.b[i])) // digits for the difference
			}
			last := h.rows.Data[(h.rows.N-1)*h.rows.D:]
			for range 150 {
				// Along the record, where its loss changes, and across it.
				theta := make([]float64, h.rows.D)
				rng.Gaussian(theta, 0.3)
				floats.AddScaled(theta, 3*rng.NormFloat64()/floats.Dot(last, last), last)
				near := append([]float64(nil), theta...)
				const step = 1e-3
				floats.AddScaled(near, step/floats.Norm(last, 2), last)
				g, g2 := difference(h, theta), difference(h, near)
				slope = math.Max(slope, floats.Norm(g, 2))
				curvature = math.Max(curvature, floats.Distance(g, g2, 2)/step)
			}
		}
		const rounding = 1e-9
		if share := slope / m.Lipschitz(); share > 1+rounding || share < 0.95 {
			t.Errorf("%s: gradients differ by up to %v of L", l.Name(), share)
		}
		// Poisson's curvature is largest for the largest count only.
		if share := curvature / m.Smoothness(); share > 1+rounding || share < 0.95 && l.labels[0] != 0 {
			t.Errorf("%s: Hessians differ by up to %v of s", l.Name(), share)
		}
	}
}

// Whatever ends the search before τ is certified, nothing is released and no figure of the records is told: too few
// passes, or a τ beyond the noise's digits.
func TestStoppedShortReleasesNothing(t *testing.T) {
	x, y := records(300, 4, 8)
	for _, l := range released() {
		for i := range y {
			y[i] = l.labels[i%len(l.labels)]
		}
		m := objpert.Objective{Loss: l.Loss, RowNorm: 1, Lambda: 0.1, Sigma: 1, Tolerance: 1e-9, OutputSigma: 1e-3}
		if r, err := m.Run(x, y, noise.NewSeeded(1), nil); err != nil || r == nil {
			t.Errorf("%s: %v", l.Name(), err)
		}
		for name, stop := range map[string]func() (*mechanism.Release, error){
			"one pass": func() (*mechanism.Release, error) {
				return m.Run(x, y, noise.NewSeeded(1), &mechanism.Settings{MaxPasses: 1})
			},
			"τ = 1e-16": func() (*mechanism.Release, error) {
				m := m
				m.Tolerance = 1e-16
				return m.Run(x, y, noise.NewSeeded(1), nil)
			},
		} {
			r, err := stop()
			var p *privacy.ParamError
			if r != nil || err == nil || errors.Is(err, erm.ErrTolerance) != (name == "one pass") ||
				errors.As(err, &p) == (name == "one pass") {
				t.Errorf("%s, %s: release %v, error %v", l.Name(), name, r, err)
			}
		}
	}
}
