package interval

import (
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/dpnb/notebooks/dpnb/erm"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert"
	"github.com/dpnb/notebooks/dpnb/noise"
)

// TestCoverageUnderShrinkage: with other ridges for the intercept and the rest, all three kinds of intervals cover;
// with ω forgotten, those that correct for the ridge do not.
func TestCoverageUnderShrinkage(t *testing.T) {
	testscale.InTurn(t)
	const reps, n, level = 150, 2500, 0.9
	fit, curv := must.Two(Calibrate(config(loss.Logistic{}, 4), Share{Curvature: 0.2, Scores: 0.1}))
	fit.Shrinkage, fit.Centre = 150, 30
	curv.Fit = fit
	truth := []float64{1.5, -1, 1}
	rng := noise.NewSeeded(15)
	x, y := records(n, truth, rng)
	sol := must.Get(erm.Minimize(&erm.Problem{Rows: x, Labels: y, Loss: fit.Loss, Lambda: fit.Lambda,
		Shrinkage: fit.Shrink(3), Linear: []float64{0, 0, -fit.Lambda * fit.Centre}}, nil))
	forgotten := fit
	forgotten.Shrinkage = 0
	covered := map[string]*[3]int{}
	for k := range reps {
		src := rng.Stream(k)
		r, mo := must.Two(curv.Release(x, y, src, nil))
		fresh, labels := records(n, truth, src)
		r2, mo2 := must.Two(curv.Release(fresh, labels, src, nil))
		count := func(name string, iv *Intervals, err error, target []float64) {
			if err != nil {
				t.Fatal(err)
			}
			if covered[name] == nil {
				covered[name] = new([3]int)
			}
			for j, v := range target {
				if iv.Lower[j] <= v && v <= iv.Upper[j] {
					covered[name][j]++
				}
			}
		}
		iv, err := FromRelease(fit, r.Coefficients, level)
		count("release alone", iv, err, sol.Theta)
		iv, err = Minimiser(fit, r.Coefficients, mo, Settings{Level: level})
		count("minimiser", iv, err, sol.Theta)
		iv, err = Minimiser(fit, r.Coefficients, mo, Settings{Level: level, Linearise: true})
		count("minimiser, linearised", iv, err, sol.Theta)
		iv, err = Population(fit, r2.Coefficients, mo2, Settings{Level: level, Linearise: true})
		count("population", iv, err, truth)
		iv, err = Population(forgotten, r2.Coefficients, mo2, Settings{Level: level, Linearise: true})
		count("population, ω forgotten", iv, err, truth)
	}
	least := (level - 4*math.Sqrt(level*(1-level)/reps)) * reps
	for name, c := range covered {
		worst := min(c[0], c[1], c[2])
		if strings.HasSuffix(name, "forgotten") {
			if float64(worst) > least {
				t.Errorf("%s: covers %v of %d: this test sees little", name, *c, reps)
			}
		} else if float64(worst) < least {
			t.Errorf("%s: covers %v of %d, level %v", name, *c, reps, level)
		}
		t.Log(name, *c)
	}
}

// TestReleaseAloneUnderShrinkage: the half-widths allow for the largest deviation that the ball lemma has for the
// ridges, and are narrower than the least ridge's.
func TestReleaseAloneUnderShrinkage(t *testing.T) {
	m, _ := must.Two(Calibrate(config(loss.Logistic{}, 1), Share{Curvature: 0.1}))
	const level = 0.9
	m.Shrinkage = 8 * m.Lambda
	rng := noise.NewSeeded(16)
	// Of many coefficients that of the constant is moved by the others, about as far as it is allowed for.
	for _, c := range []struct{ d, reps int }{{30, 3000}, {10_000, 300}} {
		wide := ballHalfWidth(m, c.d, 1-level)
		half := ballHalfWidths(m, c.d, 1-level)
		ridge := m.Ridges(c.d)
		b := make([]float64, c.d)
		var missed [2]int
		for range c.reps {
			rng.Gaussian(b, m.Sigma)
			var energy float64
			for j, v := range b {
				energy += v * v / ridge[j]
			}
			for i, j := range []int{0, c.d - 1} {
				if 0.5*(math.Abs(b[j])/ridge[j]+math.Sqrt(energy/ridge[j])) > half[j] {
					missed[i]++
				}
			}
		}
		for i, n := range missed {
			if reps := float64(c.reps); float64(n) > (1-level)*reps+4*math.Sqrt(reps*level*(1-level)) {
				t.Errorf("coefficient %d of 2, d = %d: missed %d of %v at level %v", i, c.d, n, reps, level)
			}
		}
		if half[0] > 0.5*wide || half[c.d-1] > wide {
			t.Errorf("half-widths %v and %v beside %v by the least ridge", half[0], half[c.d-1], wide)
		}
	}
}

// TestRidgeIsThePenaltysGradient: what Population corrects for, by differences of λ/2·‖θ‖² + ω/2·Σθⱼ² − λcθ_d; the
// centre and ω each matter.
func TestRidgeIsThePenaltysGradient(t *testing.T) {
	theta := []float64{0.5, -2, 1.5}
	for _, m := range []objpert.Objective{{Lambda: 3}, {Lambda: 3, Penalty: objpert.Penalty{Shrinkage: 5}},
		{Lambda: 3, Penalty: objpert.Penalty{Shrinkage: 5}, Centre: -0.7}} {
		penalty := func(v []float64) float64 {
			sum := 0.5*m.Lambda*floats.Dot(v, v) - m.Lambda*m.Centre*v[2]
			return sum + 0.5*m.Shrinkage*floats.Dot(v[:2], v[:2])
		}
		p := &problem{m: m, theta: theta, d: 3}
		for j, got := range p.ridge() {
			up, down := append([]float64(nil), theta...), append([]float64(nil), theta...)
			up[j], down[j] = up[j]+0.5, down[j]-0.5
			if want := penalty(up) - penalty(down); !(math.Abs(got-want) <= 1e-12) {
				t.Errorf("%+v, coefficient %d: %v, want %v", m, j, got, want)
			}
		}
	}
}

// What may fail has probabilities that add up to α: with a huge Shrinkage all that is left is, of the last coefficient,
// its own ridge with the part of α that the two others leave it.
func TestPartsOfAlphaAddUp(t *testing.T) {
	m := objpert.Objective{Lambda: 2, Sigma: 3, Penalty: objpert.Penalty{Shrinkage: 1e30}, OutputSigma: 1e-30}
	for _, alpha := range []float64{0.5, 0.1, 0.01} {
		got := ballHalfWidths(m, 4, alpha)[3] * m.Lambda / m.Sigma
		if want := distuv.UnitNormal.Quantile(1 - (1-0.01-0.1)*alpha/2); !(math.Abs(got-want) <= 1e-9*want) {
			t.Errorf("α = %g: %v, want %v", alpha, got, want)
		}
	}
}
