package qop

import (
	"fmt"
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/erm/composite"
	"github.com/dpnb/notebooks/dpnb/internal/testing/golden"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/noise/exact"
	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/privacy/wishart"
)

func TestFiguresStay(t *testing.T) {
	testscale.Slow(t)
	rows, labels, star := interpolated(50, 4, 1)
	var all []Config
	for _, change := range []func(*Config){func(*Config) {},
		func(c *Config) { c.Regulariser, c.Lambda = nil, 1 }, func(c *Config) {
			c.Interpolation = AssumeInterpolation(star, 0.01)
		},
		func(c *Config) { c.Loss = loss.PseudoHuber{Threshold: 1} }, func(c *Config) {
			c.Accounting = wishart.Theorem31
		},
		func(c *Config) { c.Accounting = wishart.Spectral }, func(c *Config) { c.HiddenDimension = 9 },
		func(c *Config) { c.Adjacency = privacy.AddRemove }, func(c *Config) { c.Accuracy, c.Distance = 1e-3, 3 },
		func(c *Config) { c.HiddenDimension = 3 }, func(c *Config) { c.Loss = loss.Logistic{} },
		func(c *Config) { c.RowNorm = -1 }, func(c *Config) { c.Lambda = -1 }, func(c *Config) { c.Accuracy = -1 },
		func(c *Config) { c.Distance = -1 }, func(c *Config) { c.Interpolation = Interpolation{} },
		func(c *Config) { c.Interpolation = AssumeInterpolation(star, -1) }, func(c *Config) {
			c.Loss = loss.Poisson{MaxCount: 3}
		}} {
		c := config(star, 0)
		change(&c)
		all = append(all, c)
	}
	golden.Figures(t, "testdata/figures.txt", 1e-6, func(say func(name string, values ...float64)) {
		put := func(name string, values ...any) { say(name, golden.Numbers(values...)...) }
		for i, c := range all {
			m, err := Calibrate(c)
			if put(fmt.Sprint("calibrated ", i), err); err != nil {
				continue
			}
			ofSolver, ofMatrix := shares(3)
			put("its noise", m.HiddenDimension, m.Sigma2, m.OutputSigma, m.Split, m.Accuracy, m.Smoothness(),
				m.unseen(50),
				ofSolver, ofMatrix, m.Feasible(4, 0), m.Feasible(5, 0))
			q, eta := m.draw(exact.New(noise.NewSeeded(3)))
			m.Shift = 0.3
			put("it draws", q.RawSymmetric().Data, eta, m.quadratic(q).At(0, 0), m.Validate())
			m.Shift = 0
			m.Accuracy *= 1e-10
			for _, m.Constraint = range []composite.Constraint{nil, composite.NewBox(0.5)} {
				put("it finds", must.Get(m.Run(rows, labels, noise.NewSeeded(5), nil)).Coefficients,
					must.Get(m.Simulate(rows, labels, noise.NewSeeded(6), nil)))
			}
			m.OutputSigma = 1e-15
			put("lost", m.Validate())
		}
		off := append([]float64(nil), labels...)
		off[7] += 0.3
		for _, eta := range []float64{0, 0.29, 0.31} {
			for _, l := range []loss.Loss{loss.Squared{}, loss.PseudoHuber{Threshold: 1}} {
				c, err := AssumeInterpolation(star, eta).CheckPublic(PublicData{rows, off}, l)
				put("public", c.Violations, c.Records, math.Round(1e9*c.Needed)/1e9, c.Worst, err)
			}
		}
		put("slopes", lipschitz(composite.L1{Weight: 2}, 9), lipschitz(composite.L2{Weight: 1}, 3),
			attains(loss.Squared{}),
			attains(loss.Logistic{}), matrix.Finite(1, math.Inf(1)), matrix.Finite(1, 2))
	})
}
