package cop

import (
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/paper/internal/errata"
	"github.com/dpnb/notebooks/dpnb/smoothing"
)

// Lemma 4.2: a function that is not linear adds nothing along the lines on which it is.
func TestCOPLemma42(t *testing.T) {
	first := func(x []float64) float64 { return math.Abs(x[0]) }
	for mu := 1e-3; mu <= 1e9; mu *= 10 {
		if added, _ := bend(first, []float64{1, 1}, []float64{0, 1}, mu); added != 0 {
			t.Errorf("|x₁| gains %g along (0, 1) at μ = %g", added, mu)
		}
		if added, _ := bend(norm1, []float64{0, 1}, []float64{1, 0}, mu); added <= 0 {
			t.Errorf("‖·‖₁ gains nothing at (0, 1) along (1, 0), where one coordinate is 0")
		}
	}
	errata.Quote(t, "cop-70", "%.0e", 1e9)
}

// Section 4.4: at curvature 2 the envelope of |x|, raised, is nearer than the Gaussian kernel's function everywhere.
func TestCOPMoreau(t *testing.T) {
	envelope := must.Get(smoothing.Absolute().Envelope(smoothing.Quadratic{Beta: 1}, 0.5))
	gaussian := smoothing.Absolute().Convolve(smoothing.Gaussian{}, math.Sqrt(2/math.Pi)/2)
	errata.Quotes(t, "cop-71", "%.2f %.3f %.3f %.1e", envelope.Value(0)+0.25, gaussian.Gap(0), gaussian.Gap(0.5),
		gaussian.Gap(1))
}

// B.4: distances are those of x, and a maximum has one slope at a time.
func TestCOPPieces(t *testing.T) {
	added, _ := bend(norm1, []float64{0.5}, []float64{0.75}, 1)
	if added <= 0 {
		t.Error("the printed set has all that is added")
	}
	errata.Quote(t, "cop-72", "%.2f", added/2)
	// (f − f_q)/|a_q − a_p| of |x| = max(x, −x) at ½.
	errata.Quote(t, "cop-72", "%.1f", (0.5+0.5)/2)

	rng, most := noise.NewSeeded(42), 0.0
	for range 2000 {
		most = math.Max(most, slopeShare(randomMaximum(rng, 3), rng))
	}
	if most > 1+1e-12 || most < 0.99 {
		t.Errorf("‖∇f‖ up to %g Ā·‖a‖", most)
	}
	errata.Quotes(t, "cop-72", "%.0f %.2f", most, math.Sqrt(3))
}

// B.4: outside the bowl the kinks of ‖·‖₁ count.
func TestCOPBowl(t *testing.T) {
	gap := func(mu float64, x ...float64) float64 {
		b := must.Get(smoothing.NewBowl(1, mu))
		v, _ := b.ValueGradient(nil, x)
		return v - math.Max(0, norm1(x)-1)
	}
	wide, narrow := gap(0.1, 0, 2), gap(0.01, 0, 2)
	errata.Within(t, "gap at μ = 0.1 over that at 0.01", wide/narrow, 10, 1e-6)
	errata.Quotes(t, "cop-73", "%.4f", wide, narrow)
	if away := gap(0.1, 1, 2); away > 1e-12 {
		t.Errorf("with both coordinates away from 0 the gap is %g", away)
	}
	if inside := gap(0.1, 0, 0.2); inside > 1e-8 {
		t.Errorf("inside the bowl the gap is %g", inside)
	}
}

// Example 3: λ‖θ‖₁ + ½(θ − θ₀)^⊤Σ(θ − θ₀) with correlated features is least at 0.
func TestCOPExample3(t *testing.T) {
	objective := func(rho, a, b float64) float64 {
		u, v := a-1, b-1
		return 0.5*(math.Abs(a)+math.Abs(b)) + 0.5*(u*u+2*rho*u*v+v*v)
	}
	at0, atSoft := objective(-0.9, 0, 0), objective(-0.9, 0.5, 0.5)
	if lower := objective(-0.9, 0.01, 0.01); lower < at0 || at0 > atSoft {
		t.Errorf("%g at 0, %g beside it, %g at the soft threshold", at0, lower, atSoft)
	}
	errata.Quotes(t, "cop-74", "%.1f %.3f", at0, atSoft)
}

// Table 2: energies that are not smooth, and an envelope from above that is not Hellinger's.
func TestCOPDistances(t *testing.T) {
	energy := func(p, x float64) float64 { // second difference, relative step 1e-4
		h, f := 1e-4*x, func(x float64) float64 { return math.Pow(x, p) / p }
		return (f(x+h) - 2*f(x) + f(x-h)) / (h * h)
	}
	errata.Within(t, "curvature of x²/2", energy(2, 1000), 1, 1e-6)
	errata.Quotes(t, "cop-75", "%.1f %.0f", energy(1.5, 0.001), energy(3, 1000))
	e := must.Get(smoothing.Absolute().Envelope(smoothing.Quadratic{Beta: 1}, 1))
	errata.Quotes(t, "cop-75", "%.2f", e.Value(0)+0.5, e.Value(2)+0.5-2)
}

// Lemma 3.3: the last step wants nε ≥ 2d.
func TestCOPLemma33(t *testing.T) {
	// Right over left, squared, C = R = 1.
	ratio := func(n, eps, d float64) float64 {
		l := math.Log(1 / Delta)
		return 32 * (1/n + d*l/(n*n*eps*eps)) / (4 * (4/n + d*8*(l+eps)/(n*n*eps*eps)))
	}
	edge, beyond := ratio(1000, 1, 500), ratio(100, 20, 1e6)
	errata.Within(t, "at nε = 2d", edge, 1, 1e-12)
	errata.Quotes(t, "cop-76", "%.2f", edge, beyond)
	if !(ratio(1000, 1, 450) > 1 && ratio(1000, 1, 550) < 1 && beyond > 1/(1+20/math.Log(1/Delta))) {
		t.Errorf("not at nε = 2d: %g", beyond)
	}
}
