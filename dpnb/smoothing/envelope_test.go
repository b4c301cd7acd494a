package smoothing

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/diff/fd"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/floats/scalar"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/univariate"
)

// distances have β = 3 or less, which the slopes of the functions below do not exceed.
func distances(beta float64) []Distance {
	return []Distance{Quadratic{beta}, HuberDistance{beta}, Hellinger{beta}}
}

func functions(t *testing.T) []Piecewise {
	bowl := must.Get(Max([]float64{-2, 0, 0.5, 3, 1}, []float64{0, 1, 0.9, -2, -5}))
	return []Piecewise{Absolute(), Positive(), Pinball(0.3), SoftThreshold(0.7), bowl}
}

// TestEnvelope compares the value with the least one found by search, the slope with differences, and both with the
// bounds of cop's Lemma 4.6. A value that is wrong by 1e-9 is seen, a slope that is wrong by 1e-6.
func TestEnvelope(t *testing.T) {
	for _, p := range functions(t) {
		lo, hi := p.Slopes()
		l := math.Max(-lo, hi)
		for _, d := range append(distances(l), distances(3.5)...) {
			for _, mu := range []float64{0.3, 1.7} {
				e := must.Get(p.Envelope(d, mu))
				least, most := e.Range()
				last := math.Inf(-1)
				for x := -6.0; x < 6; x += 0.0713 {
					objective := func(u float64) float64 { return p.Value(u) + mu*d.Height(math.Abs(x-u)/mu) }
					want := univariate.Minimum(objective, -20, 20, 400, 60)
					v, s := e.Value(x), e.Slope(x)
					if !scalar.EqualWithinAbs(v, want, 1e-9) || v > want+1e-12 {
						t.Fatalf("%v by %s, μ = %v: %v at %v, search gives %v", p, d.Name(), mu, v, x, want)
					}
					if diff := fd.Derivative(e.Value, x, &fd.Settings{Formula: fd.Central}); !scalar.EqualWithinAbs(s,
						diff, 1e-6) {
						t.Errorf("%v by %s: slope %v at %v, differences give %v", p, d.Name(), s, x, diff)
					}
					if s < last-1e-14 || s < lo-1e-14 || s > hi+1e-14 {
						t.Errorf("%v by %s: slope %v at %v after %v", p, d.Name(), s, x, last)
					}
					last = s
					if c := e.Curvature(x); c < 0 || c > e.Smoothness()*(1+1e-15) {
						t.Errorf("%v by %s: curvature %v, bound %v", p, d.Name(), c, e.Smoothness())
					}
					if g := v - p.Value(x); g < least-1e-13 || g > most+1e-13 {
						t.Errorf("%v by %s: %v above the function, want %v to %v", p, d.Name(), g, least, most)
					}
				}
			}
		}
	}
}

// TestNormEnvelope proves values optimal by duality: for any s with |sⱼ| ≤ 1 the envelope is at least ⟨s, x⟩ − μφ⋆(s),
// with equality at the gradient; and what is returned is the value at a point, at least the infimum.
func TestNormEnvelope(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, m := range []int{1, 2, 3, 10} {
		for _, beta := range []float64{math.Sqrt(float64(m)), 2 * math.Sqrt(float64(m))} {
			for _, d := range distances(beta) {
				e := must.Get(NewNormEnvelope(m, d, 0.6))
				least, most := e.Range()
				for range 200 {
					x, s := make([]float64, m), make([]float64, m)
					for j := range x {
						x[j] = 2 * rng.NormFloat64() * rng.Float64()
					}
					v := e.ValueGradient(s, x)
					dual := floats.Dot(s, x) - 0.6*conjugate(d, math.Min(floats.Norm(s, 2), beta))
					if !scalar.EqualWithinAbsOrRel(v, dual, 1e-7, 1e-7) || floats.Norm(s, math.Inf(1)) > 1 {
						t.Fatalf("%s, m = %d, β = %v: %v at %v, dual value %v", d.Name(), m, beta, v, x, dual)
					}
					grad := fd.Gradient(nil, func(x []float64) float64 { return e.ValueGradient(nil, x) }, x,
						&fd.Settings{Formula: fd.Central})
					if !floats.EqualApprox(grad, s, 1e-6) {
						t.Fatalf("%s, m = %d: gradient %v, differences give %v", d.Name(), m, s, grad)
					}
					if g := v - floats.Norm(x, 1); g < least-1e-12 || g > most+1e-12 {
						t.Errorf("%s: %v above the norm, want %v to %v", d.Name(), g, least, most)
					}
				}
			}
		}
	}
}

// TestEnvelopeOfTheAbsoluteValue: by the quadratic it is Huber's function, the convolution with the uniform kernel less
// a constant; by Hellinger's √(μ² + x²).
func TestEnvelopeOfTheAbsoluteValue(t *testing.T) {
	const mu = 0.4
	uniform := Absolute().Convolve(Uniform{}, mu)
	huber, _ := Absolute().Envelope(Quadratic{1}, mu)
	pseudo, _ := Absolute().Envelope(Hellinger{1}, mu)
	for x := -2.0; x < 2; x += 0.03 {
		if got, want := huber.Value(x), uniform.Value(x)-mu/2; !scalar.EqualWithinAbs(got, want, 1e-14) {
			t.Errorf("the envelope is %v at %v, the uniform kernel gives %v", got, x, want)
		}
		if got, want := pseudo.Value(x), math.Hypot(mu, x); !scalar.EqualWithinAbs(got, want, 1e-14) {
			t.Errorf("Hellinger's envelope is %v at %v, want %v", got, x, want)
		}
	}
}

func TestEnvelopeRefuses(t *testing.T) {
	for _, c := range []struct {
		d     Distance
		width float64
	}{
		{Quadratic{0}, 1}, {Quadratic{math.NaN()}, 1}, {Quadratic{math.Inf(1)}, 1}, {Quadratic{1}, 0},
		{Quadratic{1}, -1},
		{Quadratic{1}, math.NaN()}, {Quadratic{1}, math.Inf(1)}, {HuberDistance{0.9}, 1}, {Hellinger{0.9}, 1},
	} {
		if e, err := Absolute().Envelope(c.d, c.width); err == nil {
			t.Errorf("%+v is accepted", e)
		}
		if e, err := NewNormEnvelope(1, c.d, c.width); err == nil {
			t.Errorf("%+v is accepted", e)
		}
	}
	if e, err := Pinball(0.3).Envelope(Hellinger{0.5}, 1); err == nil {
		t.Errorf("slopes from −0.7 to 0.3 at β = 0.5: %+v", e)
	}
	if _, err := NewNormEnvelope(2, Hellinger{1.4}, 1); err == nil {
		t.Error("slopes of norm √2 at β = 1.4")
	}
	if _, err := NewNormEnvelope(0, Quadratic{1}, 1); err == nil {
		t.Error("no coordinates")
	}
}
