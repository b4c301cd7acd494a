package sgd

import (
	"cmp"
	"fmt"
	"math"

	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Update is the rule by which a noisy gradient g moves θ. It reads nothing else, so that it has no part in the
// guarantee. The rules are Plain, Momentum, Adam and Adaptive, and each of them Projected.
type Update interface {
	fmt.Stringer
	// validate returns a *privacy.ParamError if a parameter is out of range.
	validate() error
	// start returns the rule's memory before the first of its steps in d dimensions.
	start(d int) stepper
}

// stepper moves theta by a gradient, which it may overwrite.
type stepper interface{ step(theta, g []float64) }

// rules are those of a descent.
const rules = "Plain, Momentum, Adam or Adaptive"

func checkRate(eta float64) error { return privacy.Positive("LearningRate", eta) }

func checkBeta(name string, beta float64) error {
	return privacy.Within(beta >= 0 && beta < 1, name, beta, "a number in [0, 1)")
}

// Plain is θ ← θ − ηg.
type Plain struct {
	// LearningRate is η.
	LearningRate float64
}

// String describes the rule.
func (u Plain) String() string { return fmt.Sprintf("plain, η = %.4g", u.LearningRate) }

func (u Plain) validate() error     { return checkRate(u.LearningRate) }
func (u Plain) start(d int) stepper { return plain(u.LearningRate) }

type plain float64

func (eta plain) step(theta, g []float64) {
	for j, v := range g {
		theta[j] -= float64(eta) * v
	}
}

// Momentum is v ← βv + g, θ ← θ − ηv.
type Momentum struct {
	// LearningRate is η, Beta is β in [0, 1).
	LearningRate, Beta float64
}

// String describes the rule.
func (u Momentum) String() string {
	return fmt.Sprintf("momentum, η = %.4g, β = %g", u.LearningRate, u.Beta)
}

func (u Momentum) validate() error {
	return cmp.Or(checkRate(u.LearningRate), checkBeta("Beta", u.Beta))
}

func (u Momentum) start(d int) stepper { return &momentum{u, make([]float64, d)} }

type momentum struct {
	Momentum
	v []float64
}

func (s *momentum) step(theta, g []float64) {
	for j, x := range g {
		s.v[j] = s.Beta*s.v[j] + x
		theta[j] -= s.LearningRate * s.v[j]
	}
}

// Adam is, in each coordinate and at step t,
//
//	m ← β₁m + (1−β₁)g,  v ← β₂v + (1−β₂)g²,
//	θ ← θ − η·(m/(1−β₁ᵗ))/(√(v/(1−β₂ᵗ)) + κ).
//
// Source: Kingma and Ba 2015, Algorithm 1.
type Adam struct {
	// LearningRate is η.
	LearningRate float64
	// Beta1 and Beta2 are β₁ and β₂; zero means 0.9 and 0.999.
	Beta1, Beta2 float64
	// Kappa is κ > 0 (ε in the source); zero means 1e-8.
	Kappa float64
}

func (u Adam) filled() Adam {
	return Adam{u.LearningRate, cmp.Or(u.Beta1, 0.9), cmp.Or(u.Beta2, 0.999), cmp.Or(u.Kappa, 1e-8)}
}

// String describes the rule.
func (u Adam) String() string {
	u = u.filled()
	return fmt.Sprintf("Adam, η = %.4g, β₁ = %g, β₂ = %g", u.LearningRate, u.Beta1, u.Beta2)
}

func (u Adam) validate() error {
	u = u.filled()
	return cmp.Or(checkRate(u.LearningRate), checkBeta("Beta1", u.Beta1), checkBeta("Beta2", u.Beta2),
		privacy.Positive("Kappa", u.Kappa))
}

func (u Adam) start(d int) stepper {
	buffer := make([]float64, 2*d)
	return &adam{Adam: u.filled(), m: buffer[:d], v: buffer[d:], power1: 1, power2: 1}
}

type adam struct {
	Adam
	m, v           []float64
	power1, power2 float64 // β₁ᵗ, β₂ᵗ
}

func (s *adam) step(theta, g []float64) {
	s.power1 *= s.Beta1
	s.power2 *= s.Beta2
	eta := s.LearningRate / (1 - s.power1)
	root := 1 / math.Sqrt(1-s.power2)
	b1, b2, kappa := s.Beta1, s.Beta2, s.Kappa
	m, v := s.m[:len(g)], s.v[:len(g)]
	theta = theta[:len(g)]
	for j, x := range g {
		m[j] = b1*m[j] + (1-b1)*x
		v[j] = b2*v[j] + (1-b2)*x*x
		theta[j] -= eta * m[j] / (math.Sqrt(v[j])*root + kappa)
	}
}
