package cop

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/claim"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/paper/internal/measure"
	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/privacy/objective"
	"github.com/dpnb/notebooks/dpnb/smoothing"
)

// distances are those of Table 2 with the β′ given.
func distances(beta float64) []smoothing.Distance {
	return []smoothing.Distance{
		smoothing.Quadratic{Beta: beta}, smoothing.HuberDistance{Beta: beta}, smoothing.Hellinger{Beta: beta},
	}
}

// conjugate returns φ⋆ at norm s.
func conjugate(d smoothing.Distance, s float64) float64 {
	if q, ok := d.(smoothing.Hellinger); ok {
		return -math.Sqrt(math.Max(0, q.Beta*q.Beta-s*s))
	}
	return s * s / (2 * d.Curvature(0))
}

// bounds of Lemma 4.6: the largest duality gap, and the largest share of each bound.
type envelopeShares struct{ duality, slope, curvature, below, above float64 }

func envelopeBounds(run measure.Run, factor float64) claim.Outcome {
	rng := noise.NewSeeded(77)
	var r envelopeShares
	lines := measure.Must(smoothing.Max([]float64{-1, -0.2, 0.3, 1.2}, []float64{0, 0.4, 0.3, -0.5}))
	for _, p := range []smoothing.Piecewise{
		smoothing.Absolute(), smoothing.Positive(), smoothing.Pinball(0.3), smoothing.SoftThreshold(0.7), lines,
	} {
		r.line(p)
	}
	for _, m := range []int{2, 3, 10} {
		r.norm(m, run.Runs(100), rng)
	}
	attained := func(share float64) bool { return math.Abs(share/factor-1) < 1e-9 }
	return claim.Decide(fmt.Sprintf("duality gap at most %.1g; largest slope %.9f of L, curvature %.9f of β′/μ, depth "+
		"below g %.9f of μ·sup φ⋆, height above %.9f of μφ(0)", r.duality, r.slope/factor, r.curvature/factor,
		r.below/factor, r.above/factor), "1e-9; all 1 to 1e-9", r.duality < 1e-9 && attained(r.slope) &&
		attained(r.curvature) && attained(r.below) && attained(r.above))
}

// line takes a function on the line into account, by each φ with β′ = 1.5·L.
func (r *envelopeShares) line(p smoothing.Piecewise) {
	const mu = 0.6
	least, largest := p.Slopes()
	l := math.Max(-least, largest)
	for _, d := range distances(1.5 * l) {
		e := measure.Must(p.Envelope(d, mu))
		low, high := e.Range()
		for i := range 2001 {
			x := 0.01 * float64(i-1000)
			s, value := e.Slope(x), e.Value(x)
			// g⋆(s) of a piecewise linear g is the largest of sz − g(z) over its kinks.
			dual := math.Inf(-1)
			for _, z := range p.Kinks {
				dual = math.Max(dual, s*z-p.Value(z))
			}
			r.duality = math.Max(r.duality, math.Abs(value-(s*x-dual-mu*conjugate(d, math.Abs(s)))))
			r.hold(math.Abs(s)/l, e.Curvature(x)/e.Smoothness(), value-p.Value(x), low, high)
		}
	}
}

// hold takes one point into account.
func (r *envelopeShares) hold(slope, curvature, above, low, high float64) {
	r.slope, r.curvature = math.Max(r.slope, slope), math.Max(r.curvature, curvature)
	if low < 0 { // φ⋆ above 0 somewhere, so that the envelope can be below
		r.below = math.Max(r.below, above/low)
	} else if above < low-1e-12 {
		r.below = math.Inf(1)
	}
	if high > 0 {
		r.above = math.Max(r.above, above/high)
	} else if above > 1e-12 {
		r.above = math.Inf(1)
	}
}

// norm takes ‖·‖₁ on ℝᵐ into account, with β′ = L = √m.
func (r *envelopeShares) norm(m, points int, rng *noise.Seeded) {
	const mu = 0.6
	l := math.Sqrt(float64(m))
	for _, d := range distances(l) {
		e := measure.Must(smoothing.NewNormEnvelope(m, d, mu))
		low, high := e.Range()
		s := make([]float64, m)
		for k := range points {
			x, step := randomPoint(rng, m)
			floats.Scale(4*float64(k)/float64(points), x)
			next := make([]float64, m)
			floats.Scale(1e-3/floats.Norm(step, 2), step)
			floats.AddTo(next, x, step)
			value := e.ValueGradient(s, x)
			moved := make([]float64, m)
			e.ValueGradient(moved, next)
			floats.Sub(moved, s)
			norm := math.Min(floats.Norm(s, 2), l)
			r.duality = math.Max(r.duality, math.Abs(value-(floats.Dot(s, x)-mu*conjugate(d, norm))))
			r.hold(norm/l, floats.Norm(moved, 2)/1e-3/e.Smoothness(), value-norm1(x), low-1e-12, high)
		}
	}
}

func distancesOfTable(_ measure.Run, exponent float64) claim.Outcome {
	rng := noise.NewSeeded(78)
	energy := func(p float64) (most float64) {
		for _, x := range []float64{1e-3, 1, 1e3} {
			most = math.Max(most, (p-1)*math.Pow(x, p-2))
		}
		return most
	}
	const m, mu = 3, 0.5
	root := math.Sqrt(float64(m))
	quadratic := measure.Must(smoothing.NewNormEnvelope(m, smoothing.Quadratic{Beta: root}, mu))
	huber := measure.Must(smoothing.NewNormEnvelope(m, smoothing.HuberDistance{Beta: root}, mu))
	apart, lowest := 0.0, math.Inf(1)
	for range 500 {
		x, _ := randomPoint(rng, m)
		a := quadratic.ValueGradient(nil, x)
		// Not above the value of Huber's φ at any of its points u either.
		apart = math.Max(apart, math.Abs(a-huber.ValueGradient(nil, x)))
		lowest = math.Min(lowest, a+mu*root/2-norm1(x)) // sup φ⋆ = L²/(2β′) = √m/2
	}
	flat := smoothing.HuberDistance{Beta: 1}.Curvature(2)
	o := claim.Decide(fmt.Sprintf("largest curvature of |x|^p/p: %.3g for p = 1.5, %.3g for p = 3, %.3g for p = %g; "+
		"of Huber's φ at 2: %g; its envelope is %.1g from the quadratic one; that with √m/2 added to φ is %.2g above "+
		"‖·‖₁ or more", energy(1.5), energy(3), energy(exponent), exponent, flat, apart, lowest), "1 for p = 2; 0; "+
		"1e-12; at least −1e-12", energy(exponent) == 1 && apart < 1e-12 && lowest > -1e-12)
	if (energy(1.5) > 1 || energy(3) > 1) && flat == 0 {
		o = o.Corrected("p = 2 alone; Huber's φ is not strictly convex and gives nothing new; any φ less a " +
			"constant is from above (cop-75)")
	}
	return o
}

func dearestSmoothing(run measure.Run, excess float64) claim.Outcome {
	const radius = 1
	curves := rivals(excess, radius)
	sigmas := measure.Sized(run.Size, []float64{4}, []float64{2, 4, 17})
	epsilons := measure.Sized(run.Size, []float64{0.2, 1}, []float64{0.05, 0.2, 0.5, 1, 2, 4})
	worst, which, compared := math.Inf(-1), "", 0
	for lambda, sigma := range measure.Pairs(run, []float64{1, 5}, sigmas) {
		var huber *objective.Profile
		for i, c := range measure.Over(run, curves) {
			p := measure.Must(objective.New(objective.Config{Curve: c, Lambda: lambda, Sigma: sigma,
				Bound: objective.Tight}))
			if i == 0 {
				huber = p
				continue
			}
			for eps, d := range measure.Pairs(run, epsilons, []privacy.Direction{privacy.Add, privacy.Remove}) {
				if over := p.LogDeltaLower(d, eps) - huber.LogDeltaUpper(d, eps); over > worst {
					worst, which = over, c.String()
				}
				compared++
			}
		}
	}
	return claim.Decide(fmt.Sprintf("of %d comparisons the nearest: ln δ of %s is %.2g above Huber's", compared,
		which, worst), "at most 0", worst <= 0)
}

// rivals returns Huber's curve with slopes up to 1 and curvature 1, first, and those of losses with slopes up to 1 and
// curvature excess, Huber's own last.
func rivals(excess, radius float64) (curves []*loss.Curve) {
	losses := []loss.Loss{loss.Absolute(smoothing.Uniform{}, 1)}
	for _, k := range append(smoothing.Kernels(), smoothing.Free{Epsilon: 1}) {
		losses = append(losses, loss.Absolute(k, 2*smoothing.Peak(k)/excess))
	}
	losses = append(losses,
		loss.Convolved{Kernel: smoothing.Logistic{}, Width: smoothing.Peak(smoothing.Logistic{}) / excess, Below: -1},
		loss.Convolved{Kernel: smoothing.Uniform{}, Width: smoothing.Peak(smoothing.Uniform{}) / excess, Below: -1})
	for _, l := range losses {
		curves = append(curves, measure.Must(loss.CurveOf(l, radius)))
	}
	return curves
}

func closestSmoothing(run measure.Run, least float64) claim.Outcome {
	mixtures := measure.Sized(run.Size, 100, 10_000)
	kernels := smoothing.Kernels()
	for _, m := range []int{2, 3, 10} {
		kernels = append(kernels, smoothing.NewExponential(m))
	}
	for _, eps := range []float64{0.1, 0.5, 1, 5} {
		kernels = append(kernels, smoothing.Free{Epsilon: eps})
	}
	huber := smoothing.Absolute().Convolve(smoothing.Uniform{}, 1)
	smallest, nearer := math.Inf(1), math.Inf(1)
	var ofHuber float64
	for _, k := range kernels {
		g := smoothing.Absolute().Convolve(k, 2*smoothing.Peak(k)) // curvature 1 at most
		low, high := math.Inf(1), math.Inf(-1)
		for i := range 2001 {
			x := float64(i) / 50
			low, high = math.Min(low, g.Gap(x)), math.Max(high, g.Gap(x))
			nearer = math.Min(nearer, g.Gap(x)-huber.Gap(x))
		}
		if k == (smoothing.Uniform{}) {
			ofHuber = high - low
		} else {
			smallest = math.Min(smallest, high-low)
		}
	}
	rng, ofMixtures := noise.NewSeeded(74), math.Inf(1)
	for range mixtures {
		ofMixtures = math.Min(ofMixtures, mixtureRange(kernels[:5], rng))
	}
	ofNorm := normRange()
	return claim.Decide(fmt.Sprintf("ranges: Huber %.12f, of the other kernels at least %.4f, of the mixtures at "+
		"least %.4f, of ‖·‖₁ on ℝ³ at least %.4f; gap beside Huber's at least %.1g", ofHuber, smallest, ofMixtures,
		ofNorm, nearer), fmt.Sprintf("%g at least, ½ for Huber's, 3/2, 0", least), math.Abs(ofHuber-0.5) < 1e-12 &&
		ofNorm >= 3*least-1e-9 && math.Min(smallest, ofMixtures) >= least-1e-9 && ofHuber >= least-1e-9 && nearer >=
		-1e-14)
}

// mixtureRange returns the range of g − |x| on a grid, a lower bound on the true one, for a random g that rises like
// |x|, scaled to sup|g″| = 1:
//
//	g = Σᵢ wᵢ|x − aᵢ| ∗ kᵢ,  Σwᵢ = 1, some wᵢ < 0.
func mixtureRange(kernels []smoothing.Kernel, rng *noise.Seeded) float64 {
	n := 1 + int(rng.Uint64()%4)
	parts, weights := make([]smoothing.Smooth, n), make([]float64, n)
	centres := make([]float64, n)
	for i := range parts {
		centres[i] = 0.5 * rng.NormFloat64()
		parts[i] = smoothing.Absolute().Convolve(kernels[rng.Uint64()%uint64(len(kernels))],
			math.Exp(0.5*rng.NormFloat64()))
		weights[i] = rng.Float64() - 0.15
	}
	total := floats.Sum(weights)
	if math.Abs(total) < 0.1 {
		return math.Inf(1)
	}
	floats.Scale(1/total, weights)
	sum := func(f func(i int, x float64) float64, x float64) float64 {
		v := 0.0
		for i, w := range weights {
			v += w * f(i, x-centres[i])
		}
		return v
	}
	const points, reach = 1200, 6.0
	curvature := 0.0
	for i := range points + 1 {
		x := reach * (2*float64(i)/points - 1)
		curvature = math.Max(curvature, math.Abs(sum(func(i int, x float64) float64 { return parts[i].Curvature(x) },
			x)))
	}
	// g(x·c)/c has curvature c·g″: c = 1/curvature, up to the grid's spacing.
	low, high := math.Inf(1), math.Inf(-1)
	for i := range points + 1 {
		x := reach * (2*float64(i)/points - 1)
		d := (sum(func(i int, x float64) float64 { return parts[i].Value(x) }, x) - math.Abs(x)) * curvature
		low, high = math.Min(low, d), math.Max(high, d)
	}
	return high - low
}

// normRange returns the least curvature times range of g − ‖·‖₁ on ℝ³ that some smoothings have.
func normRange() (least float64) {
	const m = 3
	least = math.Inf(1)
	for _, k := range append(smoothing.Kernels(), smoothing.NewExponential(m)) {
		g := smoothing.Norm{Kernel: k, Width: 1}
		least = math.Min(least, g.Smoothness()*g.LargestGap(m))
	}
	root := math.Sqrt(m)
	e := measure.Must(smoothing.NewNormEnvelope(m, smoothing.Hellinger{Beta: root}, 1))
	// From √3 at 0 down to at most what it is at a far point.
	far := []float64{300, 300, 300}
	least = math.Min(least, e.Smoothness()*(e.ValueGradient(nil, make([]float64, m))-e.ValueGradient(nil,
		far)+norm1(far)))
	var signs [][]float64
	for k := range 1 << m {
		signs = append(signs, []float64{float64(2*(k&1) - 1), float64(k&2 - 1), float64((k&4)/2 - 1)})
	}
	soft := measure.Must(smoothing.NewPolyhedral(signs, make([]float64, len(signs)))).Entropic(1)
	return math.Min(least, soft.Smoothness()*soft.ValueGradient(nil, make([]float64, m)))
}
