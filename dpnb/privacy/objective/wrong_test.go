package objective

import (
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// λ = σR/4 is not enough for the Gaussian case at small L/σ: the certified lower value exceeds the Gaussian's δ.
func TestQuarterIsNotEnough(t *testing.T) {
	logistic, _ := Logistic(1)
	p := profileOf(t, logistic, 0.25*20, 20, Tight)
	best := 0.0
	for _, eps := range []float64{0.02, 0.03, 0.04, 0.05, 0.06} {
		_, gauss := gaussBounds(eps)(1.0 / 20)
		best = max(best, p.LogDeltaLower(privacy.Remove, eps)-gauss)
	}
	t.Logf("σ = 20, λ = σR/4: certified ln(δ/δ_G) ≥ %.3g", best)
	if !(best > 1e-6) {
		t.Errorf("nothing certified above the Gaussian: %g", best)
	}
}

// Within 1.006 of the Gaussian for λ ≥ σR/4, and exactly it where it is proved.
func TestNearGaussian(t *testing.T) {
	logistic, _ := Logistic(1)
	worst := 0.0
	sigmas := []float64{0.5, 1, 3, 20}
	if !testscale.Full() {
		sigmas = []float64{1, 20}
	}
	for _, sigma := range sigmas {
		for _, eps := range []float64{0.05, 0.3, 0.7, 1.2, 2} {
			eps /= sigma
			p := profileOf(t, logistic, 0.25*sigma, sigma, Tight)
			_, gauss := gaussBounds(eps)(1 / sigma)
			r := math.Exp(p.LogDeltaUpper(privacy.Remove, eps) - gauss)
			worst = max(worst, r)
			if r > 1.006 {
				t.Errorf("σ=%g ε=%g: tight/Gaussian %.5f", sigma, eps, r)
			}
			exact := profileOf(t, logistic, sigma, sigma, Tight)
			for _, d := range privacy.Directions {
				if lo, hi := exact.LogDeltaLower(d, eps), exact.LogDeltaUpper(d, eps); hi-lo > 1e-11 ||
					hi < gauss-1e-11 || lo > gauss {
					t.Errorf("λ=σR, σ=%g ε=%g: [%v, %v], Gaussian %v", sigma, eps, lo, hi, gauss)
				}
			}
		}
	}
	t.Logf("largest tight/Gaussian at λ = σR/4: %.5f", worst)
}

// Theorem 3.1 as it is printed, by hand in both of its branches.
func TestPrinted(t *testing.T) {
	const s, lambda = 1.0, 3.0
	for _, c := range [][2]float64{{0.3, 1.2}, {2, 1.2}} {
		eps, a := c[0], c[1]
		delta := func(e float64) float64 {
			return 0.5*math.Erfc((e/a-a/2)/math.Sqrt2) - math.Exp(e)*0.5*math.Erfc((e/a+a/2)/math.Sqrt2)
		}
		want := 2 * delta(eps+math.Log(1.5))
		if hat := eps + math.Log(1.5) - a*a/2; hat < 0 {
			want = 1 - math.Exp(hat) + 2*math.Exp(hat)*delta(a*a)
		}
		if got := PrintedRKW23(eps, s, lambda, a); !(math.Abs(got-want) <= 1e-12) {
			t.Errorf("δ(%v) = %v, want %v", eps, got, want)
		}
	}
	if !math.IsNaN(PrintedRKW23(1, 1, 1, 1)) {
		t.Error("λ = s is admitted")
	}
}
