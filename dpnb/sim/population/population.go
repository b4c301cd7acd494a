package population

import (
	"errors"
	"fmt"
	"math"

	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/noise"
)

// Population is where data sets come from.
type Population struct {
	// Records n and Features d.
	Records, Features int
	Design            Design
	// Signal draws β⋆.
	Signal Draw
	// Noise draws ε⋆ of a regression y = Xβ⋆ + ε⋆, and Prob is P(y = +1 | xᵀβ⋆) of a classification with labels ±1.
	// With neither the labels are the true scores xᵀβ⋆ themselves, as the theorems of dtz24 on gradient descent have
	// it.
	Noise Draw
	Prob  func(score float64) float64
}

// Logistic is the probability 1/(1 + e^{−t}) of the logistic model.
func Logistic(t float64) float64 { return 1 / (1 + math.Exp(-t)) }

// Validate says what is missing.
func (p Population) Validate() error {
	switch {
	case p.Records < 1 || p.Features < 1:
		return fmt.Errorf("population: %d records of %d features, want at least one of each", p.Records, p.Features)
	case p.Design < Rademacher || p.Design > Elliptical:
		return fmt.Errorf("population: Design = %d, want one of the listed designs", int(p.Design))
	case p.Signal == nil:
		return errors.New("population: Signal is nil, want a Draw such as Normal(0, 1)")
	case p.Noise != nil && p.Prob != nil:
		return errors.New("population: Noise and Prob are both set: one is for a regression, the other for two classes")
	}
	return nil
}

// Sample is a data set with the truth that it was made of.
type Sample struct {
	// Rows is X, n×d.
	Rows *matrix.Dense
	// Signal is β⋆ (length d), Scores Xβ⋆ and Labels y (length n).
	Signal, Scores, Labels []float64
}

// Draw returns a data set. If s is not nil it is written over and returned.
func (p Population) Draw(r *noise.Seeded, s *Sample) *Sample {
	n, d := p.Records, p.Features
	if s == nil || s.Rows == nil || s.Rows.N != n || s.Rows.D != d {
		s = &Sample{Rows: matrix.NewDense(n, d, nil), Signal: make([]float64, d), Scores: make([]float64, n),
			Labels: make([]float64, n)}
	}
	p.Signal(r, s.Signal)
	p.Design.fill(r, s.Rows.Data, d)
	s.Rows.Margins(s.Scores, s.Signal, 0, n)
	switch {
	case p.Noise != nil:
		p.Noise(r, s.Labels)
		for i, t := range s.Scores {
			s.Labels[i] += t
		}
	case p.Prob != nil:
		for i, t := range s.Scores {
			s.Labels[i] = -1
			if r.Float64() < p.Prob(t) {
				s.Labels[i] = 1
			}
		}
	default:
		copy(s.Labels, s.Scores)
	}
	return s
}
