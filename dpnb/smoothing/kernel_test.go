package smoothing

import (
	"encoding/json"
	"errors"
	"math"
	"os"
	"testing"

	"gonum.org/v1/gonum/diff/fd"
	"gonum.org/v1/gonum/floats/scalar"
	"gonum.org/v1/gonum/integrate/quad"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
)

func allKernels() []Kernel {
	all := Kernels()
	for _, m := range []int{2, 3, 10} {
		all = append(all, NewExponential(m))
	}
	for _, eps := range []float64{0.01, 5} {
		all = append(all, Free{Epsilon: eps})
	}
	return all
}

// ends are where a kernel, or its derivative, stops.
var ends = []float64{1, math.Pi / 2}

// integrate returns ∫_from^∞ f over panels whose length is a quarter of the distance from 0, cut at the given points
// and at the ends of the kernels.
func integrate(f func(float64) float64, from float64, cuts ...float64) float64 {
	sum, start := 0.0, from
	for from < start+50 {
		to := math.Min(math.Max(1.25*from, from+1e-3), from+0.5)
		for _, cut := range append(cuts, ends...) {
			if from < cut-1e-12 && cut < to {
				to = cut
			}
		}
		sum += quad.Fixed(f, from, to, 12, quad.Legendre{}, 0)
		from = to
	}
	return sum
}

// TestKernelsAgreeWithQuadrature integrates the density to the tail, the tail to the gap and v²k to the variance.
func TestKernelsAgreeWithQuadrature(t *testing.T) {
	testscale.Slow(t)
	for _, k := range allKernels() {
		if got := 2 * integrate(k.Density, 0); !scalar.EqualWithinAbs(got, 1, 1e-12) {
			t.Errorf("%s: the mass is %v", k.Name(), got)
		}
		for _, v := range []float64{0, 1e-9, 0.3, 0.99, 1.57, 4.9, 5.1, 12} {
			if got, want := k.Tail(v), integrate(k.Density, v); !scalar.EqualWithinAbsOrRel(got, want, 1e-300, 1e-11) {
				t.Errorf("%s: Tail(%v) = %v, want %v", k.Name(), v, got, want)
			}
			if got, want := k.Gap(v), 2*integrate(k.Tail, v); !scalar.EqualWithinAbsOrRel(got, want, 1e-300, 1e-11) {
				t.Errorf("%s: Gap(%v) = %v, want %v", k.Name(), v, got, want)
			}
		}
		square := func(v float64) float64 { return 2 * v * v * k.Density(v) }
		if got, want := k.Variance(), integrate(square, 0); !scalar.EqualWithinRel(got, want, 1e-10) {
			t.Errorf("%s: Variance = %v, want %v", k.Name(), got, want)
		}
	}
}

// TestDrawInvertsTheTail: P(K > Draw(u)) = 1 − u.
func TestDrawInvertsTheTail(t *testing.T) {
	for _, k := range allKernels() {
		for _, u := range []float64{1e-6, 0.1, 0.4999, 0.5001, 0.9, 0.999, 1 - 1e-6} {
			v := k.Draw(u)
			tail := k.Tail(math.Abs(v))
			if want := math.Min(u, 1-u); !scalar.EqualWithinRel(tail, want, 1e-8) || (v < 0) != (u < 0.5) {
				t.Errorf("%s: Draw(%v) = %v, of tail %v", k.Name(), u, v, tail)
			}
		}
	}
}

// A coordinate of the exponential kernel has a closed form where m is odd.
func TestExponentialOfOddDimension(t *testing.T) {
	for _, v := range []float64{0, 0.2, 1, 3, 10} {
		for m, want := range map[int]float64{
			1: math.Exp(-v) / 2,
			3: (1 + v) * math.Exp(-v) / 4,
			5: (3 + 3*v + v*v) * math.Exp(-v) / 16,
		} {
			if got := NewExponential(m).Density(v); !scalar.EqualWithinRel(got, want, 1e-11) {
				t.Errorf("m = %d: density(%v) = %v, want %v", m, v, got, want)
			}
		}
	}
}

// TestReference compares with values computed elsewhere, at 30 digits (mpmath): with cop_smooth_abs of papers.json too,
// where that is there.
func TestReference(t *testing.T) {
	for _, name := range []string{"testdata/absolute.json", "../../../shared/reference/papers.json"} {
		content, err := os.ReadFile(name)
		if os.IsNotExist(err) && name != "testdata/absolute.json" {
			continue
		}
		var cases []struct {
			Kind                     string
			Mu, X, Gaussian, Laplace float64
		}
		if err := errors.Join(err, json.Unmarshal(content, &cases)); err != nil {
			t.Fatal(name, err)
		}
		compared := 0
		for _, c := range cases {
			if c.Kind != "" && c.Kind != "cop_smooth_abs" {
				continue
			}
			compared++
			for k, want := range map[Kernel]float64{Gaussian{}: c.Gaussian, Laplacian{}: c.Laplace} {
				if got := Absolute().Convolve(k, c.Mu).Value(c.X); !scalar.EqualWithinRel(got, want, 1e-12) {
					t.Errorf("%s: %s, μ = %v: %v at %v, want %v", name, k.Name(), c.Mu, got, c.X, want)
				}
			}
		}
		if compared < 10 {
			t.Errorf("%s: %d values to compare with", name, compared)
		}
	}
}

// TestConvolution compares value, slope and curvature with the definition, with finite differences, and with the
// bounds.
func TestConvolution(t *testing.T) {
	testscale.Slow(t)
	bowl := must.Get(Max([]float64{-2, 0, 0.5, 3, 1}, []float64{0, 1, 0.9, -2, -5}))
	for i, p := range []Piecewise{Absolute(), Positive(), Pinball(0.3), SoftThreshold(0.7), bowl} {
		for j, k := range allKernels() {
			widths := []float64{0.3, 1.7}
			if !testscale.Full() {
				widths = widths[(i+j)%2:][:1]
			}
			for _, mu := range widths {
				s := p.Convolve(k, mu)
				for _, x := range []float64{-4, -0.7, 0, 0.05, 1.3} {
					mean := p.Value(x) + excess(p, k, mu, x)
					if got := s.Value(x); !scalar.EqualWithinAbsOrRel(got, mean, 1e-9, 1e-9) {
						t.Errorf("%v, %s, μ = %v: %v at %v, E p(x + μK) = %v", p, k.Name(), mu, got, x, mean)
					}
					if got, want := s.Slope(x), fd.Derivative(s.Value, x,
						&fd.Settings{Formula: fd.Central}); !scalar.EqualWithinAbs(got, want, 1e-5) {
						t.Errorf("%v, %s: slope %v at %v, differences give %v", p, k.Name(), got, x, want)
					}
					if c := s.Curvature(x); c < 0 || c > s.Smoothness()*(1+1e-15) {
						t.Errorf("%v, %s: curvature %v at %v, bound %v", p, k.Name(), c, x, s.Smoothness())
					}
					if g := s.Gap(x); g < 0 || g > s.LargestGap()*(1+1e-15) {
						t.Errorf("%v, %s: gap %v at %v, bound %v", p, k.Name(), g, x, s.LargestGap())
					}
				}
			}
		}
	}
}

// excess returns E p(x + μK) − p(x) = 2∫₀^∞ [(p(x+μv) + p(x−μv))/2 − p(x)]k(v)dv.
func excess(p Piecewise, k Kernel, mu, x float64) float64 {
	var cuts []float64
	for _, z := range p.Kinks {
		cuts = append(cuts, math.Abs(x-z)/mu)
	}
	return 2 * integrate(func(v float64) float64 {
		return ((p.Value(x+mu*v)+p.Value(x-mu*v))/2 - p.Value(x)) * k.Density(v)
	}, 0, cuts...)
}
