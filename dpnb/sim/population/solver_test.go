package population

import (
	"errors"
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/erm"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/noise"
)

func problem(r *noise.Seeded, n, d int, l loss.Loss, lambda, nu float64) *erm.Problem {
	p := Population{Records: n, Features: d, Design: Rademacher, Signal: Normal(0, 1), Prob: Logistic}
	if !l.ValidLabel(0.5) {
		p.Noise = nil
	} else {
		p.Prob, p.Noise = nil, Contaminated(0.2, 0.3, 4)
	}
	s := p.Draw(r, nil)
	linear := make([]float64, d)
	r.Gaussian(linear, nu)
	return &erm.Problem{Rows: s.Rows, Labels: s.Labels, Loss: l, Lambda: lambda, Linear: linear}
}

// The fast solver finds what erm.Minimize finds, in both forms, also where the curvature vanishes for many records and
// where the ridge is tiny.
func TestSolverAgainstMinimize(t *testing.T) {
	testscale.Slow(t)
	var s Solver
	r := noise.NewSeeded(1)
	for _, l := range []loss.Loss{loss.Huber{Threshold: 10}, loss.Huber{Threshold: 0.05}, loss.Logistic{},
		loss.Probit{}, loss.Squared{}} {
		for _, lambda := range []float64{1e-3, 0.1, 10} {
			for k, dims := range [][2]int{{1, 1}, {40, 25}, {25, 40}, {5, 200}, {200, 5}, {32, 31}, {170, 180}} {
				p := problem(r.Stream(k), dims[0], dims[1], l, lambda, 0.2)
				tol := 1e-9
				if dims[0] == 170 {
					tol = 1e-7 // β is long where λ is small: its rounding counts
				}
				got, err := s.Minimize(p, tol)
				if err != nil {
					t.Errorf("%s λ=%g %v: %v", l.Name(), lambda, dims, err)
					continue
				}
				want := must.Get(erm.Minimize(p, &erm.Settings{Tolerance: tol, Workers: 1}))
				var dist float64
				for j, v := range got {
					dist += (v - want.Theta[j]) * (v - want.Theta[j])
				}
				if limit := 2 * tol / lambda; math.Sqrt(dist) > limit {
					t.Errorf("%s λ=%g %v: the minimisers differ by %.1e, allowed %.1e", l.Name(), lambda, dims,
						math.Sqrt(dist), limit)
				}
			}
		}
	}
}

func TestSolverRefuses(t *testing.T) {
	var s Solver
	p := problem(noise.NewSeeded(2), 20, 10, loss.Logistic{}, 0.1, 0.2)
	if _, err := s.Minimize(p, 1e-18); !errors.Is(err, erm.ErrTolerance) {
		t.Errorf("a tolerance below the rounding: %v", err)
	}
	p.Lambda = 0
	var data *matrix.DataError
	if _, err := s.Minimize(p, 1e-6); !errors.As(err, &data) {
		t.Errorf("no ridge: %v", err)
	}
}

func BenchmarkSolver(b *testing.B) {
	for _, c := range []struct {
		name string
		n, d int
		l    loss.Loss
	}{{"huber-32x31", 32, 31, loss.Huber{Threshold: 10}}, {"huber-20x50", 20, 50, loss.Huber{Threshold: 10}},
		{"logistic-32x31", 32, 31, loss.Logistic{}}, {"logistic-20x50", 20, 50, loss.Logistic{}}} {
		p := problem(noise.NewSeeded(3), c.n, c.d, c.l, 0.1, 0.2)
		b.Run(c.name+"/solver", func(b *testing.B) {
			var s Solver
			for b.Loop() {
				must.Get(s.Minimize(p, 1e-8))
			}
		})
		b.Run(c.name+"/erm", func(b *testing.B) {
			for b.Loop() {
				must.Get(erm.Minimize(p, &erm.Settings{Tolerance: 1e-8, Workers: 1}))
			}
		})
	}
}
