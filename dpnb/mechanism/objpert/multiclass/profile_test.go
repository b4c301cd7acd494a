package multiclass

import (
	"math"
	"slices"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/normal"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/privacy/pld"
)

// largest returns max_p Σ p_c h_c + κ(1 − ‖p‖²) over the simplex exactly: p is the projection of h/2κ on it.
func largest(h []float64, kappa float64) float64 {
	if kappa == 0 {
		return slices.Max(h)
	}
	sorted := slices.Clone(h)
	slices.Sort(sorted)
	slices.Reverse(sorted)
	var sum, level float64
	for i, v := range sorted {
		sum += v / (2 * kappa)
		if l := (sum - 1) / float64(i+1); v/(2*kappa) > l {
			level = l
		}
	}
	w := kappa
	for _, v := range h {
		p := math.Max(0, v/(2*kappa)-level)
		w += p*v - kappa*p*p
	}
	return w
}

// The bounds of sections 4 and 5 against the mean that they bound, simulated: never below it, and not far above (by a
// factor of three where κ is so large that several classes are level most of the time).
func TestVertexBoundAgainstSimulation(t *testing.T) {
	rng := noise.NewSeeded(9)
	const draws = 60_000
	for _, c := range []struct {
		classes       int
		lambda, sigma float64
		mu            float64
	}{{2, 2, 3, 0}, {3, 2, 2, 0}, {3, 0.5, 1, 0.2}, {4, 4, 3, 0}, {6, 3, 3, 0.1}, {6, 100, 3, 0.1}, {10, 12, 5, 0},
		{10, 2, 1, 0}} {
		p := newVertexProfile(c.classes, 1, c.lambda, c.sigma, c.mu)
		a := math.Sqrt2 / c.sigma
		kappa := math.Max(0, 1/c.lambda-0.25*a*a)
		h := make([]float64, c.classes)
		z := make([]float64, c.classes+1)
		losses := map[privacy.Direction][]float64{}
		for range draws {
			rng.Gaussian(z, 1)
			for k := 1; k < c.classes; k++ {
				h[k] = 0.5*a*a + a*(z[k]-z[0])/math.Sqrt2
			}
			g := 0.5*c.mu*c.mu + c.mu*z[c.classes]
			losses[privacy.Remove] = append(losses[privacy.Remove], largest(h, kappa)+g)
			losses[privacy.Add] = append(losses[privacy.Add], slices.Max(h)+g)
		}
		for _, d := range privacy.Directions {
			slices.Sort(losses[d])
			// ε at which a share of the losses is left above, δ being smaller.
			for _, share := range []float64{0.5, 0.1, 0.01, 0.002} {
				eps := losses[d][int(float64(draws)*(1-share))]
				var mean, square float64
				for _, w := range losses[d] {
					v := math.Max(0, -math.Expm1(eps-w))
					mean += v / draws
					square += v * v / draws
				}
				se := math.Sqrt((square - mean*mean) / draws)
				got := math.Exp(p.log(d, eps))
				if got < mean-4.5*se {
					t.Errorf("%+v, %v, ε = %.3g: bound %.4g below the mean %.4g ± %.2g", c, d, eps, got, mean, se)
				}
				if share <= 0.01 && eps > 3*kappa && got > 3.5*(mean+4.5*se) {
					t.Errorf("%+v, %v, ε = %.3g: bound %.4g far above the mean %.4g ± %.2g", c, d, eps, got, mean, se)
				}
			}
		}
	}
}

// The upper sums of crowding against a plain integral on a fine grid: above it, by a few percent.
func TestCrowding(t *testing.T) {
	for _, c := range []struct {
		classes       int
		lambda, sigma float64
		mu, eps       float64
	}{{3, 4, 5.8, 0.002, 1}, {10, 8, 6.2, 0.002, 1}, {5, 60, 48, 3e-4, 0.1}, {4, 0.6, 0.9, 0.02, 8},
		{3, 5, 5, 0.1, 0.7}} {
		p := newVertexProfile(c.classes, 1, c.lambda, c.sigma, c.mu)
		shift := p.kappa * (p.classes - 2) / (p.classes - 1)
		whole := math.Hypot(p.a, p.mu)
		got := p.crowding(c.eps, shift, whole)
		var want float64
		const steps, inner = 3000, 400
		lo, hi := (c.eps-shift-0.5*whole*whole)/whole, (c.eps-0.5*whole*whole)/whole+8
		scale := p.a * math.Sqrt(0.75+0.25*p.mu*p.mu/(whole*whole))
		for i := range steps {
			z := lo + (hi-lo)*(float64(i)+0.5)/steps
			x := 0.5*whole*whole + whole*z
			w := math.Exp(c.eps - x)
			if x < c.eps {
				w = 1 - (c.eps-x)/shift
			}
			mean := 0.5 * p.a * p.a / whole * z
			excess := normal.Survival(mean / scale) // g = 1 below zero
			for j := range inner {
				v := 2 * p.kappa * (float64(j) + 0.5) / inner
				excess += (1 - v/(2*p.kappa)) * (1 - v/(2*p.kappa)) * math.Exp(-0.5*(v-mean)*(v-mean)/(scale*scale)) /
					(scale * math.Sqrt(2*math.Pi)) * 2 * p.kappa / inner
			}
			s := math.Min(shift, p.kappa*(p.classes-2)*excess)
			want += math.Exp(-0.5*z*z) / math.Sqrt(2*math.Pi) * w * s * (hi - lo) / steps
		}
		if got < want*(1-1e-5) || got > 1.12*want {
			t.Errorf("%+v: crowding %.6g, by plain integration %.6g", c, got, want)
		} else {
			t.Logf("%+v: crowding %.4g, %.4f of the integral; (δ_G is %.4g)", c, got, got/want,
				math.Exp(gaussian(c.eps, whole)))
		}
	}
}

// Extremes: never NaN, never above 0, never below what the Gaussian mechanism costs, never rising with ε ≥ 0.
func TestVertexBoundAtExtremes(t *testing.T) {
	for _, classes := range []int{2, 3, 50, 100_000} {
		for _, sigma := range []float64{1e-3, 0.3, 5, 1e4} {
			for _, ratio := range []float64{1e-6, 0.1, 1, 1e6} {
				p := newVertexProfile(classes, 1, ratio*sigma, sigma, 1e-4)
				for _, d := range privacy.Directions {
					last := 0.0
					for _, eps := range []float64{-1e3, -30, -1, -1e-3, 0, 1e-3, 0.03, 0.5, 3, 30, 1e3, 1e5} {
						l := p.LogDeltaUpper(d, eps)
						lower := privacy.GaussianProfile(math.Sqrt2/sigma*(1-1e-12), privacy.AddRemove).LogDeltaLower(d,
							eps)
						if math.IsNaN(l) || l > 0 || l < lower || eps > 0 && l > last+1e-9*(1+math.Abs(last)) {
							t.Errorf("K=%d, σ=%g, λ=%gσ, %v, ε=%g: ln δ = %g after %g, Gaussian %g", classes, sigma,
								ratio, d, eps, l, last, lower)
						}
						last = l
					}
				}
			}
		}
	}
}

// κ = R²/λ − R²/2σ², from above; at λ = 2σ² curvature costs nothing any more, and just below it costs something.
func TestCurvatureAgainstSpread(t *testing.T) {
	for _, c := range [][2]float64{{1, 1}, {0.3, 2}, {7, 1.9}, {100, 8}} {
		want := math.Max(0, 4/c[0]-2/(c[1]*c[1]))
		if p := newVertexProfile(3, 2, c[0], c[1], 0); p.kappa < want || p.kappa > want*(1+1e-12)+1e-14 {
			t.Errorf("λ = %g, σ = %g: κ = %g, want %g", c[0], c[1], p.kappa, want)
		}
	}
	free, dear := newVertexProfile(3, 1, 2*9*(1+1e-12), 3, 0), newVertexProfile(3, 1, 2*9*0.98, 3, 0)
	for _, eps := range []float64{0.2, 1} {
		if a, b := free.log(privacy.Remove, eps), free.log(privacy.Add, eps); a != b {
			t.Errorf("λ = 2σ²: ln δ = %g in remove, %g in add", a, b)
		}
		if a, b := dear.log(privacy.Remove, eps), dear.log(privacy.Add, eps); a <= b {
			t.Errorf("λ < 2σ²: ln δ = %g in remove, %g in add", a, b)
		}
	}
}

// Where a product of parameters leaves the range of float64 nothing is claimed: a κ of 0.5 that becomes 0, a μ of 0.016
// that becomes 0, a κ that is infinite.
func TestParametersOutOfRange(t *testing.T) {
	for name, m := range map[string]Softmax{
		"R² is 0":       {Classes: 3, RowNorm: 1.5e-162, Lambda: 5e-324, Sigma: 1e-150, Tolerance: 1, OutputSigma: 1},
		"λσ_out is Inf": {Classes: 3, RowNorm: 1, Lambda: 1e155, Sigma: 1, Tolerance: 8e307, OutputSigma: 1e155},
		"τ/λ is 0":      {Classes: 3, RowNorm: 1, Lambda: 1e200, Sigma: 1, Tolerance: 1e-200, OutputSigma: 1e-300},
		"R² is Inf":     {Classes: 2, RowNorm: 1e160, Lambda: 1e-3, Sigma: 1e160, Tolerance: 1, OutputSigma: 1e10},
	} {
		if p, err := m.Profile(); err == nil {
			t.Errorf("%s: accepted, ln δ(1) = %g", name, p.LogDeltaUpper(privacy.Remove, 1))
		}
	}
	ends := []float64{0x1p-100, 1, 0x1p100}
	for _, classes := range []int{2, 3, 1 << 20} {
		for k := range 3 * 3 * 3 * 3 * 3 {
			m := Softmax{Classes: classes, RowNorm: ends[k%3], Lambda: ends[k/3%3], Sigma: ends[k/9%3],
				Tolerance: ends[k/27%3], OutputSigma: ends[k/81%3]}
			p, err := m.Profile()
			if err != nil {
				continue // next to no noise
			}
			for _, d := range privacy.Directions {
				for _, eps := range []float64{-1e300, -1, -1e-200, 0, 1e-300, 1e-99, 1, 1e300} {
					l := p.LogDeltaUpper(d, eps)
					least := privacy.GaussianProfile(math.Max(m.Lipschitz()/m.Sigma, m.mu())*(1-1e-11),
						privacy.AddRemove).LogDeltaLower(d, eps)
					if math.IsNaN(l) || l > 0 || l < least {
						t.Fatalf("%v, %v, ε = %g: ln δ = %g, least %g", m, d, eps, l, least)
					}
				}
			}
		}
	}
}

// What a composition costs as a Gaussian mechanism covers its profile far out, where what is left is the probability
// with which some run tells all.
func TestSlackOfEveryRunIsPaidFor(t *testing.T) {
	testscale.Slow(t)
	const runs, each = 7, 1e-9
	one := must.Get(privacy.Approx{Epsilon: 0.2, Delta: each, Adj: privacy.AddRemove}.Profile(privacy.AddRemove))
	some := pld.Component{Profile: one, Count: runs}
	other := pld.Component{Profile: privacy.GaussianProfile(0.1, privacy.AddRemove), Count: 2} // has no slack
	for _, parts := range [][]pld.Component{{some}, {some, other}, {other, some}} {
		p := must.Get(compose(nil, parts...))
		all := runs
		if len(parts) > 1 {
			all += other.Count
		}
		for _, tail := range []float64{float64(all) * each * (1 + 1e-9), 1e-6} {
			mu, slack := must.Two(privacy.AsGaussian(p, tail))
			for _, eps := range []float64{0, 0.5, 1, 2, 30} {
				g := privacy.DeltaUpper(privacy.GaussianProfile(mu, privacy.AddRemove), eps)
				if got := privacy.DeltaUpper(p, eps); got > (g+slack)*(1+1e-6) || slack > tail {
					t.Errorf("%d parts, tail %g, ε = %g: δ = %g, and %g + %g is paid for", len(parts), tail, eps, got,
						g, slack)
				}
			}
		}
	}
}

// As a Gaussian mechanism a fit with σ = 6R costs little more than two vertices do, however many classes there are: the
// sum over them is paid for far out alone. With a small ridge it costs more. What is too small to be squared is no 0.
func TestWhatAFitCostsInMu(t *testing.T) {
	for _, c := range []struct {
		classes             int
		lambda, least, most float64
	}{{3, 12, 1.9, 2}, {10, 12, 2.3, 2.6}, {10, 3, 2.9, 3.15}, {100, 12, 2.7, 3}} {
		mu, _, err := privacy.AsGaussian(newVertexProfile(c.classes, 1, c.lambda, 6, 0), 1e-12)
		if mu *= 6; err != nil || !(mu >= c.least && mu <= c.most) {
			t.Errorf("%d classes, λ = %v: μσ = %v (%v)", c.classes, c.lambda, mu, err)
		}
	}
	small := newVertexProfile(3, 1e-90, 1, 1e90, 0)
	if l := small.LogDeltaUpper(privacy.Add, 0); !(l >= math.Log(0.5e-180) && l <= math.Log(2e-180)) {
		t.Errorf("R/σ = 1e-180: ln δ(0) = %v", l)
	}
}
