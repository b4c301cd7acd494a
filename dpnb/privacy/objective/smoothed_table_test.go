package objective

import (
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/smoothing"
)

// The noise of |x| smoothed, over the Gaussian mechanism's, at ε = 1 and 0.2 and δ = 1e-5: Huber's function by three
// bounds, log cosh by Pointwise. Computed before this code by independent programs, to as many digits as are given; an
// error of a few thousandths in σ is seen.
func TestNoiseOfSmoothedAbsolute(t *testing.T) {
	testscale.Slow(t)
	huber := must.Get(loss.CurveOf(loss.Absolute(smoothing.Uniform{}, 1), 1))
	logCosh := must.Get(loss.CurveOf(loss.Absolute(smoothing.Logistic{}, 1), 1))
	inf := math.Inf(1)
	for _, c := range []struct{ eps, ratio, rkw23, dtz24, tight, logCosh float64 }{
		{1, 0.01, 1.051, 1.051, 1.000, 1.042}, {1, 0.05, 1.093, 1.090, 1.000, 1.041},
		{1, 0.1, 1.153, 1.141, 1.041, 1.041}, {1, 0.2, 1.313, 1.252, 1.053, 1.041},
		{1, 0.5, 3.094, 1.680, 1.303, 1.042}, {1, 1, inf, 3.094, 2.140, 1.190},
		{0.2, 0.01, 1.103, 1.102, 1.000, 1.053}, {0.2, 0.05, 1.382, 1.361, 1.077, 1.053},
		{0.2, 0.1, 2.096, 1.910, 1.357, 1.054}, {0.2, 0.2, inf, 9.69, 4.37, 1.705},
		// The last two are (2φ(0)/δ)(1 − e^ε/(1 + s/λ))(1 + λ/s) over σ_G.
		{0.2, 0.5, inf, inf, 2727, inf}, {0.2, 1, inf, inf, 3811, inf},
	} {
		unit := must.Get(privacy.GaussianSigma(c.eps, 1e-5))
		for _, b := range []struct {
			curve *loss.Curve
			bound Bound
			want  float64
		}{{huber, RKW23, c.rkw23}, {huber, DTZ24, c.dtz24}, {huber, Tight, c.tight}, {logCosh, Pointwise, c.logCosh}} {
			if math.IsInf(b.want, 1) || b.bound == Tight && !testscale.Full() {
				continue
			}
			sigma, err := Sigma(Config{Curve: b.curve, Lambda: b.curve.Max() / c.ratio, Bound: b.bound}, c.eps,
				1e-5)
			digits, above := 1e-3, 0.0
			switch {
			case b.want > 1000: // where the certified bound is somewhat above the limit for small δ
				digits, above = 0.001*b.want, 0.03*b.want
			case b.want > 4:
				digits = 6e-3
			}
			if got := sigma / unit; err != nil || got < b.want-digits || got > b.want+digits+above {
				t.Errorf("ε = %g, s/λ = %g, %v, %v: %.4f, want %.3f (%v)", c.eps, c.ratio, b.curve, b.bound, got,
					b.want, err)
			}
		}
	}
}

// The σ that m forms want with λ = ∞ and the λ/s at 1.1 times it, for L = √m·Ā = 1 and δ = 1e-5, by Theorem 6 and by
// the rank. From independent programs, to as many digits as are given, of λ/s to two per cent or so, which moves δ by a
// tenth at most; σ, to three or four digits, by some hundredths.
func TestNoiseOfSeveralForms(t *testing.T) {
	for _, c := range []struct {
		eps                            float64
		m                              int
		rows, rank, logCosh, huber, at float64
	}{
		{1, 2, 4.033, 4.25, 2.60, 19.9, 4.04}, {1, 3, 4.178, 4.53, 4.29, 30.2, 4.18},
		{1, 10, 5.027, 5.82, 17.5, 104, 5.04}, {0.2, 3, 18.73, 20.5, 23.5, 154, 18.8},
	} {
		for _, k := range []struct {
			kernel       smoothing.Kernel
			ratio, sigma float64
			off          float64
		}{{smoothing.Logistic{}, 1e9, c.rows, 0.013}, {smoothing.Logistic{}, c.logCosh, 1.1 * c.at, 0.1},
			{smoothing.Uniform{}, c.huber, 1.1 * c.at, 0.1}} {
			curve := must.Get(loss.CurveOf(loss.Absolute(k.kernel, 1), 1/math.Sqrt(float64(c.m))))
			got, err := Rows{Forms: []Form{{curve, c.m}}, Lambda: k.ratio * curve.Max(), Sigma: k.sigma}.Roughly(c.eps,
				1000)
			if err != nil || !(math.Abs(got-math.Log(1e-5)) <= k.off) {
				t.Errorf("ε = %g, m = %d, %s, λ = %g·s: δ = %.5g (%v)", c.eps, c.m, k.kernel.Name(), k.ratio,
					math.Exp(got), err)
			}
		}
		p := must.Get(RankK{Rank: c.m, Smoothness: 1e-9, Slope: 1, Lambda: 1, Sigma: c.rank}.Profile(privacy.AddRemove))
		if got := privacy.DeltaUpper(p, c.eps); !(math.Abs(math.Log(got/1e-5)) <= 0.03) {
			t.Errorf("ε = %g, m = %d by the rank: δ = %.4g", c.eps, c.m, got)
		}
	}
}
