package interval

import (
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/erm"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/noise"
)

// TestCoverageWhereItIsHard: a handful of records, separable or of one label only, one feature and hardly any ε, where
// the noise is all there is and the release alone covers no more often than it says.
func TestCoverageWhereItIsHard(t *testing.T) {
	testscale.InTurn(t)
	const reps = 400
	tight := 1.0
	for _, c := range []struct {
		n, d      int
		eps       float64
		separable bool
	}{{5, 1, 0.05, true}, {5, 1, 0.05, false}, {20, 3, 0.05, false}, {60, 2, 8, true}} {
		if c.n != 20 && !testscale.Full() {
			continue
		}
		fit, curv := must.Two(Calibrate(config(loss.Logistic{}, c.eps), Share{Curvature: 0.2}))
		rng := noise.NewSeeded(6)
		x, y := records(c.n, make([]float64, c.d), rng)
		for i := range y {
			y[i] = 1
			if c.separable && x.At(i, 0) < 0 {
				y[i] = -1
			}
		}
		p := erm.Problem{Rows: x, Labels: y, Loss: fit.Loss, Lambda: fit.Lambda}
		sol := must.Get(erm.Minimize(&p, &erm.Settings{Tolerance: fit.Tolerance}))
		levels := []float64{0.5, 0.9}
		covered := map[string][]float64{"release alone": {0, 0}, "minimiser": {0, 0}}
		for k := range reps {
			src := rng.Stream(k)
			r, mo := must.Two(curv.Release(x, y, src, &mechanism.Settings{Workers: 1}))
			for l, level := range levels {
				alone := must.Get(FromRelease(fit, r.Coefficients, level))
				proved := must.Get(Minimiser(fit, r.Coefficients, mo, Settings{Level: level}))
				for name, iv := range map[string]*Intervals{"release alone": alone, "minimiser": proved} {
					if iv.Lower[0] <= sol.Theta[0] && sol.Theta[0] <= iv.Upper[0] {
						covered[name][l] += 1.0 / reps
					}
				}
			}
		}
		for name, share := range covered {
			for l, level := range levels {
				if share[l] < level-4*math.Sqrt(level*(1-level)/reps) {
					t.Errorf("%+v: %s covers %.3f at level %v", c, name, share[l], level)
				}
				tight = math.Min(tight, share[l]-level)
			}
		}
	}
	if tight > 0.05 {
		t.Errorf("every interval covers by %.3f more often than it says: nothing was hard", tight)
	}
}
