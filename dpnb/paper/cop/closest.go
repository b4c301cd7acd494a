package cop

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/claim"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/paper/internal/measure"
	"github.com/dpnb/notebooks/dpnb/smoothing"
)

// closestSmoothing holds ranges of g − |x| against least/s.
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
		ofNorm, nearer),
		fmt.Sprintf("%g at least, ½ for Huber's, 3/2, 0", least),
		math.Abs(ofHuber-0.5) < 1e-12 && ofNorm >= 3*least-1e-9 &&
			math.Min(smallest, ofMixtures) >= least-1e-9 && ofHuber >= least-1e-9 && nearer >= -1e-14,
		"something is nearer to |x| than Huber's function")
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
	f := measure.Must(smoothing.NewPolyhedral(signs, make([]float64, len(signs))))
	soft := f.Entropic(1)
	return math.Min(least, soft.Smoothness()*soft.ValueGradient(nil, make([]float64, m)))
}
