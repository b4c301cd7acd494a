package objective

import (
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Two claims that are false are shown to be: real neighbours exceed them.
func TestWrongClaimsAreViolated(t *testing.T) {
	// One logistic record, R = 1, λ = 0.3, σ = 2 (s/λ = 0.83), and r linear.
	adversarySigma = 2
	const lambda, sigma, eps = 0.3, 2.0, 1.0
	tilted := adversary{scale: 1, tilt: -10}
	empty := adversary{scale: 1}
	rem, _ := tilted.build(4000, lambda, 1, logisticSlope).exact(eps, sigma)
	printed := PrintedRKW23(eps, 0.25, lambda, 1/sigma)
	logistic, _ := Logistic(1)
	right := math.Exp(profileOf(t, logistic, lambda, sigma, DTZ24).LogDeltaUpper(privacy.Remove, eps))
	t.Logf("exact %.4g, printed Theorem 3.1 %.4g, corrected %.4g", rem, printed, right)
	if !(rem > printed) {
		t.Errorf("exact %g is not above the printed theorem's %g", rem, printed)
	}
	if rem > right {
		t.Errorf("exact %g above the corrected bound %g", rem, right)
	}
	// Leaving out the logarithm in the remove direction: W = a²/2 + a|N|.
	adversarySigma = 5
	w := privacy.HalfNormal{K: 0, A: 1.0 / 5}
	prof := must.Get(w.Profile(privacy.AddRemove))
	rem, _ = empty.build(4000, 0.05, 1, logisticSlope).exact(1, 5)
	if no := privacy.DeltaUpper(prof, 1); !(rem > no) {
		t.Errorf("λ=0.05 σ=5: exact %g is not above %g, the bound without its logarithm", rem, no)
	} else {
		t.Logf("exact %.4g, without the logarithm %.4g", rem, no)
	}
	// An exact Gaussian at every λ: Z = ∅, λ = 1, σ = 20, ε = 0.1.
	adversarySigma = 20
	rem, _ = empty.build(8000, 1, 1, logisticSlope).exact(0.1, 20)
	g := privacy.DeltaUpper(privacy.GaussianProfile(0.05, privacy.AddRemove), 0.1)
	t.Logf("Z = ∅, λ=1, σ=20, ε=0.1: exact %.4g, Gaussian %.4g", rem, g)
	if !(rem > 10*g) {
		t.Errorf("exact %g, Gaussian %g", rem, g)
	}
}

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
