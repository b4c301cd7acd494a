package erm

import (
	"errors"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/matrix"
)

var methods = []Method{Auto{}, LBFGS{}, NewtonCG{}, SAG{Seed: 1}, SVRG{Seed: 1}}

func TestMethodsReachOneMinimiser(t *testing.T) {
	testscale.InTurn(t)
	for name, p := range problems() {
		n, _ := p.Rows.Dims()
		reference, err := Minimize(p, nil)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		// The stochastic methods promise little if βR²/λ is far above n.
		r := matrix.MaxNorm(p.Rows)
		hard := p.joint().Smoothness()*r*r/p.Lambda > 10
		for _, m := range methods {
			_, isSAG := m.(SAG)
			_, isSVRG := m.(SVRG)
			settings := Settings{Method: m, MaxPasses: 300}
			if n > 5000 && (isSAG || isSVRG) {
				settings.Tolerance = 1e-4
			}
			if !isSAG && !isSVRG && p.Joint != nil {
				settings.MaxPasses = 5000
			}
			if hard && (isSAG || isSVRG) {
				settings.MaxPasses = 30 // they hardly get there in any number
			}
			s, err := Minimize(p, &settings)
			if hard && (isSAG || isSVRG) {
				if err != nil && !errors.Is(err, ErrTolerance) {
					t.Errorf("%s by %s: %v", name, m.Name(), err)
				}
			} else if err != nil {
				t.Errorf("%s by %s: %v", name, m.Name(), err)
				continue
			}
			_, auto := m.(Auto)
			if !auto && s.Method != m.Name() || !strings.HasPrefix(s.Method, "L-BFGS") && auto || s.Gradients < n ||
				s.Passes < 1 {
				t.Errorf("%s by %s: %d passes, %d gradients, method %q", name, m.Name(), s.Passes, s.Gradients,
					s.Method)
			}
			if dist := floats.Distance(s.Theta, reference.Theta,
				2); dist > s.Certificate.Distance+reference.Certificate.Distance {
				t.Errorf("%s by %s: %v from the reference, the certificates allow %v", name, m.Name(), dist,
					s.Certificate.Distance+reference.Certificate.Distance)
			}
			t.Logf("%s by %s: %d passes, %.2g of %.2g, %v", name, m.Name(), s.Passes, s.Certificate.Bound(),
				s.Tolerance, err)
		}
	}
}

func TestMethodsAreRepeatable(t *testing.T) {
	p := simulated(3000, 20, 1, 1, 0)
	for _, m := range methods {
		a, _ := Minimize(p, &Settings{Method: m, Workers: 1, Tolerance: 1e-5})
		b, _ := Minimize(p, &Settings{Method: m, Workers: 3, Tolerance: 1e-5})
		if !floats.Equal(a.Theta, b.Theta) || a.Gradients != b.Gradients {
			t.Errorf("%s: three workers give another answer than one", m.Name())
		}
	}
}

// TestStochasticMethodsAreNearlyLinear is Theorem F.1 of Redberg, Koskela and Wang (2023): for λ ≥ β, evaluations of f′
// to ‖∇J‖ ≤ 1/n grow as n·log n.
func TestStochasticMethodsAreNearlyLinear(t *testing.T) {
	for _, m := range []Method{SAG{Seed: 7}, SVRG{Seed: 7}} {
		var rate []float64
		for _, n := range []int{500, 2000, 8000} {
			s := must.Get(Minimize(simulated(n, 10, 1, 0.25, 1), &Settings{Method: m, Tolerance: 1 / float64(n)}))
			rate = append(rate, float64(s.Gradients)/(float64(n)*math.Log(float64(n))))
		}
		t.Logf("%s: evaluations/(n·log n) = %.3g", m.Name(), rate)
		for _, r := range rate[1:] {
			if r > 1.5*rate[0] {
				t.Errorf("%s: evaluations/(n·log n) = %.3g rises", m.Name(), rate)
			}
		}
	}
}

func TestWarmStart(t *testing.T) {
	testscale.InTurn(t)
	p := simulated(20_000, 40, 1, 5, 20)
	for _, m := range methods {
		s := must.Get(Minimize(p, &Settings{Method: m, Tolerance: 1e-5}))
		again, err := Minimize(p, &Settings{Method: m, Tolerance: 1e-5, Start: s.Theta})
		if err != nil || again.Passes != 1 {
			t.Errorf("%s from its own answer: %d passes, %v", m.Name(), again.Passes, err)
		}
		q := *p
		q.Lambda *= 1.02
		near, err := Minimize(&q, &Settings{Method: m, Tolerance: 1e-5, Start: s.Theta})
		if err != nil || near.Passes > s.Passes {
			t.Errorf("%s from nearby: %d passes, %d from nothing, %v", m.Name(), near.Passes, s.Passes, err)
		}
	}
}
