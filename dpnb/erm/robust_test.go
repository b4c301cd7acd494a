package erm

import (
	"errors"
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/matrix"
)

// separable returns a problem whose labels a hyperplane tells apart.
func separable(n, d int, norm, ridge float64) *Problem {
	p := simulated(n, d, norm, ridge, 0)
	for i := range p.Labels {
		p.Labels[i] = 1
		if p.Rows.(*matrix.Dense).At(i, 0)+0.5*p.Rows.(*matrix.Dense).At(i, d-1) < 0 {
			p.Labels[i] = -1
		}
	}
	return p
}

// TestHardProblems has what solvers stumble over: data that a hyperplane tells apart with next to no ridge, huge and
// tiny records, a huge linear term, more features than records. All of it is to be solved.
func TestHardProblems(t *testing.T) {
	testscale.Slow(t)
	huge := simulated(1000, 10, 1, 1, 0)
	huge.Linear = make([]float64, 10)
	floats.AddConst(1e5, huge.Linear)
	all := []Method{Auto{}, LBFGS{}, NewtonCG{}}
	for _, c := range []struct {
		name    string
		p       *Problem
		methods []Method
	}{
		{"separable, n=300, d=20, λ=1e-7", separable(300, 20, 1, 1e-7), all},
		{"separable, n=5000, d=20, λ=1e-7", separable(5000, 20, 1, 1e-7), all},
		{"separable, n=20000, d=60, λ=1e-7", separable(20_000, 60, 1, 1e-7), all},
		{"separable, n=5000, d=20, R=100, λ=1e-7", separable(5000, 20, 100, 1e-7), all},
		{"separable, n=5000, d=20, R=1e-3, λ=1e-7", separable(5000, 20, 1e-3, 1e-7), all},
		{"separable, n=3000, d=20, λ=1e-12", separable(3000, 20, 1, 1e-12), all},
		{"R=1e6", simulated(3000, 20, 1e6, 1, 0), all},
		{"‖b‖=3e5", huge, all},
		{"uneven columns, λ=1e-7", uneven(10_000, 12, 1e-7), all},
		{"n=200, d=3000, λ=1e-7", simulated(200, 3000, 1, 1e-7, 0), all},
		{"n=600, d=600, λ=1e-7", simulated(600, 600, 1, 1e-7, 0), all},
		{"n=2000, d=2000, λ=1", simulated(2000, 2000, 1, 1, 5), all},
		{"n=2000, d=2000, λ=1e-3", simulated(2000, 2000, 1, 1e-3, 0.1), all[:1]},
		{"n=2000, d=2000, λ=1e-7", simulated(2000, 2000, 1, 1e-7, 0), all[:1]},
	} {
		if n, d := c.p.Rows.Dims(); n*d > 1e6 && !testscale.Full() {
			continue
		}
		for _, m := range c.methods {
			s, err := Minimize(c.p, &Settings{Method: m})
			if err != nil {
				t.Errorf("%s by %s: %v", c.name, m.Name(), err)
				continue
			}
			t.Logf("%s by %s (%s): %d passes, %.2g of %.2g, ‖θ‖ = %.3g", c.name, m.Name(), s.Method, s.Passes,
				s.Certificate.Bound(), s.Tolerance, floats.Norm(s.Theta, 2))
		}
	}
}

// TestExtremesAreNeverNaN: what float64 cannot do is refused, soon, and no number that comes back is NaN.
func TestExtremesAreNeverNaN(t *testing.T) {
	with := func(change func(p *Problem)) *Problem {
		p := simulated(400, 6, 1, 1, 1)
		change(p)
		return p
	}
	linear := func(v float64) *Problem {
		return with(func(p *Problem) { p.Linear = []float64{v, -v, v, v, 0, 1} })
	}
	far := func(v float64) []float64 { return []float64{v, v, -v, v, 0, v} }
	for _, c := range []struct {
		name  string
		p     *Problem
		start []float64
	}{
		{"R=1e100", simulated(400, 6, 1e100, 1, 0), nil},
		{"R=1e153", simulated(400, 6, 1e153, 1, 0), nil},
		{"R=1e-150", simulated(400, 6, 1e-150, 1, 1), nil},
		{"b=1e7", linear(1e7), nil}, // the rounding of the margins alone is beyond τ
		{"b=1e100", linear(1e100), nil},
		{"b=1e160", linear(1e160), nil},
		{"b=1e300", linear(1e300), nil},
		{"λ=1e-300", with(func(p *Problem) { p.Lambda = 1e-300 }), nil},
		{"λ=1e300", with(func(p *Problem) { p.Lambda = 1e300 }), nil},
		{"all records are zero", with(func(p *Problem) { clear(p.Rows.(*matrix.Dense).Data) }), nil},
		{"start 1e8", with(func(*Problem) {}), far(1e8)},
		{"start 1e160", with(func(*Problem) {}), far(1e160)},
		{"start NaN", with(func(*Problem) {}), far(math.NaN())},
		{"start Inf", with(func(*Problem) {}), far(math.Inf(1))},
	} {
		for _, m := range methods {
			s, err := Minimize(c.p, &Settings{Method: m, Start: c.start, MaxPasses: 500})
			var de *matrix.DataError
			if errors.As(err, &de) {
				t.Logf("%s by %s: %v", c.name, m.Name(), err)
				continue
			}
			if err != nil && !errors.Is(err, ErrTolerance) {
				t.Errorf("%s by %s: %v", c.name, m.Name(), err)
			}
			numbers := append([]float64{s.Value, s.Certificate.Bound(), s.Certificate.Distance, s.Certificate.Gap},
				s.Theta...)
			for _, v := range numbers {
				if math.IsNaN(v) {
					t.Errorf("%s by %s: NaN in %v", c.name, m.Name(), numbers)
					break // one is enough
				}
			}
			t.Logf("%s by %s: %d passes, %.2g of %.2g, %v", c.name, m.Name(), s.Passes, s.Certificate.Bound(),
				s.Tolerance, err)
		}
	}
}
