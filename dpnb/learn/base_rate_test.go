package learn_test

import (
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/learn"
)

// A public base rate moves the intercept towards its log-odds, at the same noise and the same guarantee.
func TestBaseRate(t *testing.T) {
	data := kinds(t, 60)["Binary"]
	for name, learner := range map[string]func(rate float64, records int) learn.Learner{
		"Logistic": func(r float64, n int) learn.Learner {
			return learn.Logistic{BaseRate: r, Records: n, Noise: learn.Seed(1)}
		},
		"SVM": func(r float64, n int) learn.Learner { return learn.SVM{BaseRate: r, Records: n, Noise: learn.Seed(1)} },
	} {
		for _, records := range []int{0, 60} {
			var intercepts, sigma []float64
			for _, rate := range []float64{0.1, 0.9} {
				m, err := learner(rate, records).Fit(data, learn.Simulate(0.5, 1e-6))
				if err != nil {
					t.Fatal(name, err)
				}
				o, _ := m.ObjectivePerturbation()
				if o.Shrinkage != 0 || math.Signbit(o.Centre) != (rate < 0.5) {
					t.Errorf("%s, rate %v: %v", name, rate, o)
				}
				theta := m.Theta()
				intercepts, sigma = append(intercepts, theta[len(theta)-1]), append(sigma, o.Sigma)
			}
			if intercepts[1]-intercepts[0] < 0.8 || sigma[0] != sigma[1] {
				t.Errorf("%s: intercepts %v, σ %v at the rates 0.1 and 0.9", name, intercepts, sigma)
			}
		}
	}
}
