package convolution

import (
	"fmt"
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/golden"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/smoothing"
)

func TestFiguresStay(t *testing.T) {
	testscale.Slow(t)
	golden.Figures(t, "testdata/figures.txt", 1e-6, func(say func(name string, values ...float64)) {
		put := func(name string, values ...any) { say(name, golden.Numbers(values...)...) }
		rows, labels := medians(60, noise.NewSeeded(3))
		for _, k := range []smoothing.Kernel{smoothing.Gaussian{}, smoothing.Logistic{}, smoothing.Laplacian{}} {
			for i, l := range []Loss{{Form: loss.Absolute(k, 0.7), Forms: 3, Norm: 4},
				{Form: loss.Absolute(k, 0.7), Forms: 1, Norm: 4}, {Form: loss.Absolute(k, 0.7), Forms: 3, Norm: 4,
					ByRow: true},
				{Form: loss.Absolute(k, 0.7), Forms: 2, Norm: 4, Other: loss.PseudoHuber{Threshold: 1}}} {
				slope, curvature := l.other()
				jump, variance := l.bends()
				put(fmt.Sprint("loss ", k.Name(), i), l.Lipschitz(), l.Smoothness(), l.bound(), l.rows(), slope,
					curvature, jump,
					variance, l.squares(), l.constant(), l.balance(), l.fixed(1.3), l.validate())
				p := Planned{Records: 500, Features: 5, Radius: 2, Residual: 1}
				put("planned", p.ridge(l.constant(), 3), p.curvature(l, 0.2), p.Excess(l, 3, 2, 0.5), p.spread(l, 3,
					2, 0.5),
					p.apart(), p.validate(), Planned{}.validate())
				for a := ByRows; a <= Tight; a++ {
					m := COP{Loss: l, Lambda: 40, Sigma: 20, Account: a, From: 0.5}.finish(0)
					put(fmt.Sprint("account ", a), m.Tolerance, m.OutputSigma, m.mu(), m.Validate(), m.Feasible(5, 0))
					if e, err := m.event(); err == nil && a != Tight && i < 2 {
						q := must.Get(e.Profile(privacy.AddRemove))
						put("its profile", q.LogDeltaUpper(privacy.Remove, 1), q.LogDeltaUpper(privacy.Add, 1))
					}
				}
				if i == 0 {
					x, y, scales := l.clip(rows, labels)
					put("clipped", x.Data[:9], y[:4], scales)
				}
			}
		}
		for _, at := range []float64{0.3, 2, 1e9} {
			x, err := crossing(func(x float64) (float64, error) { return -math.Log(x), nil }, 1, 100, -math.Log(at),
				1e-4)
			put("crossing", x, err)
		}
		put("shares", shares(3, 2), shares(1, 2), project([]float64{3, 4}, 1), project([]float64{3, 4}, 9))
		for i, c := range []Config{config(smoothing.Gaussian{}, 1, Paper, 1000), config(smoothing.Laplacian{}, 1,
			Printed, 1000),
			config(smoothing.Logistic{}, 0, Paper, 1000), config(smoothing.Logistic{}, 1, Printed, 10), {}} {
			m, err := Calibrate(c)
			put(fmt.Sprint("calibrated ", i), m.Lambda, m.Sigma, m.Tolerance, m.OutputSigma, m.Account, err)
		}
	})
}
