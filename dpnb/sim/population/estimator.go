package population

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/erm"
	"github.com/dpnb/notebooks/dpnb/internal/normal"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/noise"
)

// Estimator is what is fitted: ObjectivePerturbation, OutputPerturbation or NoisyDescent. All draw their noise from the
// simulation's source: nothing here is a private release.
type Estimator interface {
	validate() error
	// iterates is the number of points that fit reports.
	iterates() int
	// fit calls report with each point and the noise that is to be correlated with it (nil: none), in order.
	fit(w *worker, s *Sample, r *noise.Seeded, report func(k int, beta, xi []float64)) error
	// slopes is the loss whose slopes on the records are measured; nil: none.
	slopes() loss.Loss
}

// worker has what a goroutine reuses.
type worker struct {
	solver           Solver
	xi, linear, beta []float64
	slope, t         []float64
	fitted           []float64
}

func sized(v *[]float64, n int) []float64 {
	if cap(*v) < n {
		*v = make([]float64, n)
	}
	*v = (*v)[:n]
	return *v
}

// ObjectivePerturbation is the minimiser of
//
//	Σᵢ f(xᵢᵀβ; yᵢ) + (λ/2)‖β‖² + ν⟨ξ, β⟩,  ξ ~ N(0, I).
type ObjectivePerturbation struct {
	Loss       loss.Loss
	Lambda, Nu float64
	// Tolerance on the norm of the gradient; zero means 1e-8·√(nd).
	Tolerance float64
}

func (o ObjectivePerturbation) validate() error {
	switch {
	case o.Loss == nil:
		return fmt.Errorf("population: Loss is nil, want a loss such as loss.Logistic{}")
	case !(o.Lambda > 0) || math.IsInf(o.Lambda, 1):
		return fmt.Errorf("population: Lambda = %v, want a positive number", o.Lambda)
	case !(o.Nu >= 0) || math.IsInf(o.Nu, 1):
		return fmt.Errorf("population: Nu = %v, want a finite number ≥ 0", o.Nu)
	case !(o.Tolerance >= 0):
		return fmt.Errorf("population: Tolerance = %v, want a positive number, or 0 for 1e-8·√(nd)", o.Tolerance)
	}
	return nil
}

func (o ObjectivePerturbation) iterates() int     { return 1 }
func (o ObjectivePerturbation) slopes() loss.Loss { return o.Loss }

func (o ObjectivePerturbation) fit(w *worker, s *Sample, r *noise.Seeded,
	report func(int, []float64, []float64)) error {
	xi, linear := sized(&w.xi, len(s.Signal)), sized(&w.linear, len(s.Signal))
	r.Gaussian(xi, 1)
	for j, v := range xi {
		linear[j] = o.Nu * v
	}
	beta, err := w.solver.Minimize(&erm.Problem{Rows: s.Rows, Labels: s.Labels, Loss: o.Loss, Lambda: o.Lambda,
		Linear: linear}, o.tolerance(s))
	if err != nil {
		return err
	}
	report(0, beta, xi)
	return nil
}

func (o ObjectivePerturbation) tolerance(s *Sample) float64 {
	if o.Tolerance == 0 {
		return 1e-8 * math.Sqrt(float64(len(s.Rows.Data)))
	}
	return o.Tolerance
}

// OutputPerturbation is argmin Σᵢ f(xᵢᵀβ; yᵢ) + (λ/2)‖β‖², plus νξ, ξ ~ N(0, I).
type OutputPerturbation struct {
	Loss       loss.Loss
	Lambda, Nu float64
	// Tolerance on the norm of the gradient; zero means 1e-8·√(nd).
	Tolerance float64
}

func (o OutputPerturbation) validate() error   { return ObjectivePerturbation(o).validate() }
func (o OutputPerturbation) iterates() int     { return 1 }
func (o OutputPerturbation) slopes() loss.Loss { return o.Loss }

func (o OutputPerturbation) fit(w *worker, s *Sample, r *noise.Seeded, report func(int, []float64, []float64)) error {
	xi, out := sized(&w.xi, len(s.Signal)), sized(&w.beta, len(s.Signal))
	r.Gaussian(xi, 1)
	beta, err := w.solver.Minimize(&erm.Problem{Rows: s.Rows, Labels: s.Labels, Loss: o.Loss, Lambda: o.Lambda},
		ObjectivePerturbation(o).tolerance(s))
	if err != nil {
		return err
	}
	for j, v := range beta {
		out[j] = v + o.Nu*xi[j]
	}
	report(0, out, xi)
	return nil
}

// Slopes writes to dst the slope of each record's loss at the given score.
type Slopes func(dst, scores, labels []float64)

// SlopesOf returns the slopes of a loss.
func SlopesOf(l loss.Loss) Slopes {
	return func(dst, scores, labels []float64) { l.ValueSlope(dst, scores, labels) }
}

// ExpectedHuber returns the slopes of E H_T(t − y − ε), ε ~ N(0, sd²): Theorem 7.1 of dtz24, where the labels are the
// true scores.
func ExpectedHuber(threshold, sd float64) Slopes {
	return func(dst, scores, labels []float64) {
		for i, t := range scores {
			dst[i] = cutMean(t-labels[i], sd, threshold)
		}
	}
}

// cutMean returns E of X cut to [−T, T], X ~ N(mean, sd²).
func cutMean(mean, sd, limit float64) float64 {
	if math.Abs(mean)+9*sd <= limit { // beyond that lie 1e-19
		return mean
	}
	if sd == 0 {
		return math.Max(-limit, math.Min(limit, mean))
	}
	a, b := (-limit-mean)/sd, (limit-mean)/sd
	below, above := normal.CDF(a), normal.Survival(b)
	return mean*(1-below-above) + sd*(normal.Density(a)-normal.Density(b)) + limit*(above-below)
}

// ExpectedLogistic writes ρ′(t) − ρ′(t⋆), the slope of the logistic loss averaged over the label that the true score t⋆
// gives: Theorem 7.2 of dtz24, where the labels are the true scores.
func ExpectedLogistic(dst, scores, labels []float64) {
	for i, t := range scores {
		dst[i] = Logistic(t) - Logistic(labels[i])
	}
}

// NoisyDescent is full-batch gradient descent from β⁰ = 0,
//
//	βᵗ⁺¹ = βᵗ − η(Σᵢ f′(xᵢᵀβᵗ; yᵢ)xᵢ + λβᵗ + νξᵗ),  ξᵗ ~ N(0, I).
//
// All of β⁰, …, β^T are measured.
type NoisyDescent struct {
	Slopes Slopes
	// Step is η, Steps T.
	Step       float64
	Steps      int
	Lambda, Nu float64
}

func (g NoisyDescent) validate() error {
	switch {
	case g.Slopes == nil:
		return fmt.Errorf("population: Slopes is nil, want for example SlopesOf(loss.Logistic{})")
	case !(g.Step > 0) || math.IsInf(g.Step, 1) || g.Steps < 1:
		return fmt.Errorf("population: Step = %v, Steps = %d, want positive numbers", g.Step, g.Steps)
	case !(g.Nu >= 0) || math.IsInf(g.Nu, 1) || !(g.Lambda >= 0) || math.IsInf(g.Lambda, 1):
		return fmt.Errorf("population: Nu = %v, Lambda = %v, want finite numbers ≥ 0", g.Nu, g.Lambda)
	}
	return nil
}

func (g NoisyDescent) iterates() int   { return g.Steps + 1 }
func (NoisyDescent) slopes() loss.Loss { return nil }

func (g NoisyDescent) fit(w *worker, s *Sample, r *noise.Seeded, report func(int, []float64, []float64)) error {
	n, d := s.Rows.Dims()
	beta, grad, slope, t := sized(&w.beta, d), sized(&w.xi, d), sized(&w.slope, n), sized(&w.t, n)
	clear(beta)
	report(0, beta, nil)
	for k := range g.Steps {
		s.Rows.Margins(t, beta, 0, n)
		g.Slopes(slope, t, s.Labels)
		r.Gaussian(grad, g.Nu)
		floats.AddScaled(grad, g.Lambda, beta)
		s.Rows.AddScaled(grad, slope, 0, n)
		floats.AddScaled(beta, -g.Step, grad)
		report(k+1, beta, nil)
	}
	return nil
}
