package cop

import (
	"context"
	"fmt"
	"iter"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/claim"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/smoothing"
)

// convolutions lists claims of cop about functions convolved with a kernel.
func convolutions() []claim.Claim {
	const cop = "Anonymous, Exploiting Hidden Symmetry (cop), "
	return []claim.Claim{
		{
			ID: "cop/lem3.1", Paper: cop + "Lemma 3.1 and Table 1", Kind: claim.Theorem,
			Statement: "g convolved with a kernel of Table 1 is L-Lipschitz, β_μ-smooth, has the gradient E∇g(x + μk), and g ≤ g_μ ≤ g + Lμκ_p",
			Code:      []string{"smoothing.Norm", "smoothing.Kernel"},
			Tests:     []string{"smoothing.TestKernelsAgreeWithQuadrature", "smoothing.TestConvolution", "smoothing.TestNormIsASum"},
			Proof:     "smoothing#cop-lem3.1 d577a545", Errata: []string{"cop-11", "cop-13"},
			Check:    "‖·‖₁ on ℝᵐ, m = 1, 2, 3, 10, the three kernels, p = 1 and 2, three widths, 100 points each: curvature, slope and gap against the printed bounds; value and gradient against means of 10,000 draws of the kernel itself",
			Expected: "no bound exceeded, the gap's attained at 0; means within 5 standard errors",
			Seed:     71, Run: convolutionBounds(1),
			Slow: true, Power: "10 % in κ",
			Wrong: map[string]claim.Check{
				"κ of Table 1 less by a tenth": convolutionBounds(0.9),
			},
		},
		{
			ID: "cop/lem4.1", Paper: cop + "Lemma 4.1", Kind: claim.Theorem,
			Statement: "smoothing ‖·‖₁ adds something exactly where |v| > |x|/μ, elementwise",
			Code:      []string{"smoothing.Norm"},
			Tests:     []string{"paper/cop.TestCOPLemma41"},
			Proof:     "smoothing#cop-lem3.1 e1e8d251", Errata: []string{"cop-29"},
			Check:    "20,000 random (x, v, μ), m = 1, 2, 3: the sign of ‖x + μv‖₁ + ‖x − μv‖₁ − 2‖x‖₁ against the set with all and with some coordinates",
			Expected: "the set with some coordinate; with all for m = 1 alone (cop-29)",
			Seed:     72, Run: strictlyConvexWhere(72),
			Want: claim.HoldsWithCorrection, Power: "",
		},
		{
			ID: "cop/lem4.2", Paper: cop + "Lemma 4.2", Kind: claim.Theorem,
			Statement: "the set on which smoothing adds something grows with μ, strictly for ‖·‖₁",
			Code:      []string{"smoothing.Norm"},
			Tests:     []string{"smoothing.TestConvolution"},
			Proof:     "smoothing#cop-lem3.1 c725d608",
			Check:     "20,000 random (x, v, μ₀ < μ₁), m = 1, 2, 3, for ‖·‖₁, ‖·‖₂ and a maximum of lines: v in the smaller set and not in the larger; for ‖·‖₁ a v in the larger alone",
			Expected:  "never the first; always the second",
			Seed:      73, Run: setsGrow(73),
			Power: "",
		},
		{
			ID: "cop/lem4.3", Paper: cop + "Lemma 4.3", Kind: claim.Bound,
			Statement: "the Gaussian kernel's gap is at most √(2/π)·μ·Σⱼ exp(−xⱼ²/(2μ²))",
			Code:      []string{"smoothing.Gaussian"},
			Tests:     []string{"smoothing.TestKernelsAgreeWithQuadrature"},
			Proof:     "smoothing#cop-lem3.1 1094295a",
			Check:     "|xⱼ|/μ from 0 to 30 in 3,001 steps: gap/bound", Expected: "at most 1, and 1 at 0",
			Run:   gaussianGap(1),
			Power: "10 %",
			Wrong: map[string]claim.Check{
				"the bound less by a tenth": gaussianGap(0.9),
				"the bound more by a tenth": gaussianGap(1.1),
			},
		},
		{
			ID: "cop/fig2", Paper: cop + "Figures 1 and 2", Kind: claim.Figure,
			Statement: "away from the kink the error of the Gaussian kernel vanishes exponentially fast as μ → 0, where the uniform bound is linear in μ",
			Code:      []string{"smoothing.Gaussian"},
			Tests:     []string{"smoothing.TestKernelsAgreeWithQuadrature"},
			Proof:     "smoothing#cop-lem3.1 e1014dd1",
			Check:     "x = 0.5 and 1: the slope of ln(gap/μ) against 1/μ² at μ = 0.1, and gap/uniform bound at x = 1, μ = 0.5", Expected: "−x²/2 within a tenth; a few per cent",
			Run:   gapVanishes,
			Power: "",
		},
		{
			ID: "dpnb/closest-smoothing", Paper: "docs/theory/smoothing.md, Theorems 1 and 2", Kind: claim.Ours,
			Statement: "no function with curvature at most s is nearer to |x| than Huber's: sup(g − |x|) − inf(g − |x|) ≥ 1/(2s); and no kernel of density at most s/2 has a smaller gap than the uniform one at any x",
			Code:      []string{"smoothing.Piecewise"},
			Tests:     []string{"smoothing.TestPiecewise", "smoothing.TestKernelsAgreeWithQuadrature"},
			Proof:     "smoothing#dpnb-closest-smoothing 6cc23443",
			Check:     "12 kernels at s = 1 on 1,001 points, 100 random mixtures of shifted kernels (convex or not) with sup|g″| = 1: the range of g − |x|, and the gap beside the uniform kernel's",
			Expected:  "at least ½, exactly ½ for Huber's; never below",
			Seed:      74, Run: closestSmoothing(0.5, 74),
			Slow: true, Power: "10 % in the range",
			Wrong: map[string]claim.Check{
				"a range of 0.55": closestSmoothing(0.55, 74),
			},
		},
	}
}

// kappa returns E‖k‖_p of a kernel of Table 1 on ℝᵐ, or the bound that cop prints.
func kappa(kernel string, m, p int) float64 {
	n := float64(m)
	switch {
	case p == 1 && kernel == "Gaussian":
		return n * math.Sqrt(2/math.Pi)
	case kernel == "Gaussian":
		return math.Sqrt(n)
	case p == 1 && kernel == "exponential":
		return n * smoothing.NewExponential(m).Gap(0)
	default: // both others: m
		return n
	}
}

// tableOne yields the kernels of cop's Table 1 on ℝᵐ with their names, in its order.
func tableOne(m int) iter.Seq2[string, smoothing.Kernel] {
	return func(yield func(string, smoothing.Kernel) bool) {
		_ = yield("Gaussian", smoothing.Gaussian{}) && yield("exponential", smoothing.NewExponential(m)) &&
			yield("Laplacian", smoothing.Laplacian{})
	}
}

// convolutionBounds checks the printed constants, that of the gap times factor.
func convolutionBounds(factor float64) func(context.Context, claim.Size) (claim.Outcome, error) {
	return func(ctx context.Context, size claim.Size) (claim.Outcome, error) {
		draws, rng := 10_000, noise.NewSeeded(71)
		if size == claim.Full {
			draws *= 10
		}
		var curvature, slope, gap, off float64
		below := math.Inf(1)
		for _, m := range []int{1, 2, 3, 10} {
			for name, k := range tableOne(m) {
				for _, mu := range []float64{0.1, 0.5, 2} {
					if err := ctx.Err(); err != nil {
						return claim.Outcome{}, err
					}
					g := smoothing.Norm{Kernel: k, Width: mu}
					x, grad, diag := make([]float64, m), make([]float64, m), make([]float64, m)
					for point := range 100 {
						for j := range x {
							x[j] = 3 * mu * float64(point) / 99 * rng.NormFloat64()
						}
						g.ValueGradient(grad, x)
						g.Curvature(diag, x)
						// With respect to ‖·‖₁: L = 1, slopes in ‖·‖_∞, curvature |vᵀHv| ≤ β‖v‖₁².
						// With respect to ‖·‖₂: L = √m.
						l2 := math.Sqrt(float64(m))
						beta1, beta2 := 1/mu, l2/mu
						switch name {
						case "exponential":
							beta1, beta2 = math.Sqrt(6)/mu, math.Sqrt(6)*l2/mu
						case "Laplacian":
							beta1, beta2 = math.Sqrt(6)/mu, math.Sqrt(6*float64(m))*l2/mu
						}
						curvature = math.Max(curvature, math.Max(floats.Max(diag)/beta1, floats.Max(diag)/beta2))
						slope = math.Max(slope, math.Max(floats.Norm(grad, math.Inf(1)), floats.Norm(grad, 2)/l2))
						added := g.Gap(x) / mu
						gap = math.Max(gap, math.Max(added/kappa(name, m, 1), added/(l2*kappa(name, m, 2))))
						below = math.Min(below, added)
					}
					off = math.Max(off, kernelMeans(name, g, m, draws, rng.Stream(int(1000*mu)+m)))
				}
			}
		}
		return claim.Decide(fmt.Sprintf("largest curvature/β %.3f, slope/L %.6f, gap/(Lμκ) %.6f, smallest gap/μ %.2g; means off by at most %.1f s.e.", curvature, slope, gap, below, off),
			"all at most 1, the gap at least 0, 5 s.e.",
			curvature <= 1 && slope <= 1 && gap <= factor*(1+1e-12) && below >= 0 && off < 5,
			"a constant of Table 1 is exceeded"), nil
	}
}

// kernelMeans draws from the kernel on ℝᵐ and returns by how many standard errors
// the mean of ‖x + μk‖₁, and that of sgn(x₁ + μk₁), are off.
func kernelMeans(name string, g smoothing.Norm, m, draws int, rng *noise.Seeded) float64 {
	x, k, grad := make([]float64, m), make([]float64, m), make([]float64, m)
	for j := range x {
		x[j] = g.Width * (0.3 + 0.4*float64(j))
	}
	value := g.ValueGradient(grad, x)
	var sum, squares, signs float64
	for range draws {
		drawKernel(name, k, rng)
		norm := 0.0
		for j := range x {
			norm += math.Abs(x[j] + g.Width*k[j])
		}
		sum += norm
		squares += (norm - value) * (norm - value)
		signs += math.Copysign(1, x[0]+g.Width*k[0])
	}
	n := float64(draws)
	se := math.Sqrt(squares) / n
	signError := math.Sqrt((1 - grad[0]*grad[0]) / n)
	return math.Max(math.Abs(sum/n-value)/se, math.Abs(signs/n-grad[0])/signError)
}

// drawKernel draws from the kernel on ℝᵐ as its density says: the exponential one
// by a Gamma radius and a direction.
func drawKernel(name string, k []float64, rng *noise.Seeded) {
	for j := range k {
		switch name {
		case "Laplacian":
			k[j] = rng.ExpFloat64()
			if rng.Uint64()&1 == 0 {
				k[j] = -k[j]
			}
		default:
			k[j] = rng.NormFloat64()
		}
	}
	if name == "exponential" {
		radius := 0.0
		for range k {
			radius += rng.ExpFloat64()
		}
		floats.Scale(radius/floats.Norm(k, 2), k)
	}
}

func randomPoint(rng *noise.Seeded, m int) (x, v []float64) {
	x, v = make([]float64, m), make([]float64, m)
	for j := range x {
		x[j], v[j] = rng.NormFloat64(), rng.NormFloat64()
	}
	return x, v
}

// bend returns g(x + μv) + g(x − μv) − 2g(x), and the size of its terms.
func bend(g func([]float64) float64, x, v []float64, mu float64) (value, size float64) {
	up, down := make([]float64, len(x)), make([]float64, len(x))
	floats.AddScaledTo(up, x, mu, v)
	floats.AddScaledTo(down, x, -mu, v)
	a, b, c := g(up), g(down), g(x)
	return a + b - 2*c, math.Abs(a) + math.Abs(b) + 2*math.Abs(c)
}

func norm1(x []float64) float64 { return floats.Norm(x, 1) }

func strictlyConvexWhere(seed uint64) func(context.Context, claim.Size) (claim.Outcome, error) {
	return func(context.Context, claim.Size) (claim.Outcome, error) {
		rng := noise.NewSeeded(seed)
		var all, some, single int
		const count = 20_000
		for k := range count {
			m := 1 + k%3
			x, v := randomPoint(rng, m)
			mu := math.Exp(rng.NormFloat64())
			value, size := bend(norm1, x, v, mu)
			added, every, one := value > 1e-13*size, true, false
			for j := range x {
				outside := mu*math.Abs(v[j]) > math.Abs(x[j])
				every, one = every && outside, one || outside
			}
			if added != every {
				all++
				if m == 1 {
					single++
				}
			}
			if added != one {
				some++
			}
		}
		o := claim.Decide(fmt.Sprintf("with all coordinates %.1f %% of the points are misplaced (m = 1: %d), with some coordinate %d", 100*float64(all)/count, single, some),
			"none with some coordinate, none at m = 1", some == 0 && single == 0 && all > count/10, "the corrected set is wrong too")
		if o.Verdict == claim.Holds {
			o.Verdict, o.Note = claim.HoldsWithCorrection, "for m > 1 one coordinate is enough (cop-29)"
		}
		return o, nil
	}
}

func setsGrow(seed uint64) func(context.Context, claim.Size) (claim.Outcome, error) {
	lines := func(x []float64) float64 {
		top := math.Inf(-1)
		for p := range 4 {
			v := 0.3 * float64(p)
			for j, t := range x {
				v += t * math.Sin(float64(3*p+j+1))
			}
			top = math.Max(top, v)
		}
		return top
	}
	norm2 := func(x []float64) float64 { return floats.Norm(x, 2) }
	return func(context.Context, claim.Size) (claim.Outcome, error) {
		rng := noise.NewSeeded(seed)
		shrunk, strict, tried := 0, 0, 0
		for k := range 20_000 {
			m := 1 + k%3
			x, v := randomPoint(rng, m)
			mu0 := math.Exp(rng.NormFloat64())
			mu1 := mu0 * (1 + math.Exp(rng.NormFloat64()))
			for _, g := range []func([]float64) float64{norm1, norm2, lines} {
				a, sizeA := bend(g, x, v, mu0)
				b, sizeB := bend(g, x, v, mu1)
				if a > 1e-12*sizeA && !(b > 1e-13*sizeB) {
					shrunk++
				}
			}
			// v scaled so that μ₀ just does not reach the nearest kink of ‖·‖₁.
			reach := math.Inf(1)
			for j := range x {
				reach = math.Min(reach, math.Abs(x[j]/v[j]))
			}
			scaled := make([]float64, m)
			floats.ScaleTo(scaled, reach/math.Sqrt(mu0*mu1), v)
			a, sizeA := bend(norm1, x, scaled, mu0)
			b, sizeB := bend(norm1, x, scaled, mu1)
			tried++
			if math.Abs(a) <= 1e-13*sizeA && b > 1e-13*sizeB {
				strict++
			}
		}
		return claim.Decide(fmt.Sprintf("%d of 60,000 left the set as μ grew; %d of %d constructed points are in the larger set alone", shrunk, strict, tried),
			"0, and all", shrunk == 0 && strict == tried, "the sets do not grow"), nil
	}
}

// gaussianGap checks Lemma 4.3 with the printed constant times factor.
func gaussianGap(factor float64) func(context.Context, claim.Size) (claim.Outcome, error) {
	return func(context.Context, claim.Size) (claim.Outcome, error) {
		worst := 0.0
		for i := range 3001 {
			r := 0.01 * float64(i)
			worst = math.Max(worst, smoothing.Gaussian{}.Gap(r)/(factor*math.Sqrt(2/math.Pi)*math.Exp(-r*r/2)))
		}
		return claim.Decide(fmt.Sprintf("largest gap/bound %.15f", worst), "1 − 1e-12 … 1 + 1e-12", math.Abs(worst-1) < 1e-12, "the bound is exceeded, or never attained"), nil
	}
}

func gapVanishes(context.Context, claim.Size) (claim.Outcome, error) {
	slope := func(x float64) float64 {
		at := func(inverse float64) float64 { return math.Log(smoothing.Gaussian{}.Gap(x * math.Sqrt(inverse))) }
		return (at(101) - at(99)) / 2
	}
	half, one := slope(0.5), slope(1)
	share := smoothing.Gaussian{}.Gap(2) / smoothing.Gaussian{}.Gap(0)
	return claim.Decide(fmt.Sprintf("slopes %.4f and %.4f, gap at x = 1 and μ = 0.5 %.1f %% of the uniform bound", half, one, 100*share),
		"−0.125 and −0.5 within a tenth; below 5 %",
		math.Abs(half/-0.125-1) < 0.1 && math.Abs(one/-0.5-1) < 0.1 && share < 0.05, "the gap does not vanish as fast"), nil
}

// closestSmoothing holds ranges of g − |x| against least/s.
func closestSmoothing(least float64, seed uint64) func(context.Context, claim.Size) (claim.Outcome, error) {
	return func(_ context.Context, size claim.Size) (claim.Outcome, error) {
		mixtures := 100
		if size == claim.Full {
			mixtures *= 100
		}
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
		rng, ofMixtures := noise.NewSeeded(seed), math.Inf(1)
		for range mixtures {
			ofMixtures = math.Min(ofMixtures, mixtureRange(kernels[:5], rng))
		}
		return claim.Decide(fmt.Sprintf("ranges: Huber %.12f, of the other kernels at least %.4f, of the mixtures at least %.4f; gap beside Huber's at least %.1g", ofHuber, smallest, ofMixtures, nearer),
			fmt.Sprintf("%g at least, ½ for Huber's, 0", least),
			math.Abs(ofHuber-0.5) < 1e-12 && math.Min(smallest, ofMixtures) >= least-1e-9 && ofHuber >= least-1e-9 && nearer >= -1e-14, "something is nearer to |x| than Huber's function"), nil
	}
}

// mixtureRange returns the range of g − |x| on a grid, a lower bound on the true
// one, for a random g that rises like |x|, scaled to sup|g″| = 1:
//
//	g = Σᵢ wᵢ|x − aᵢ| ∗ kᵢ,  Σwᵢ = 1, some wᵢ < 0.
func mixtureRange(kernels []smoothing.Kernel, rng *noise.Seeded) float64 {
	n := 1 + int(rng.Uint64()%4)
	parts, weights := make([]smoothing.Smooth, n), make([]float64, n)
	centres := make([]float64, n)
	for i := range parts {
		centres[i] = 0.5 * rng.NormFloat64()
		parts[i] = smoothing.Absolute().Convolve(kernels[rng.Uint64()%uint64(len(kernels))], math.Exp(0.5*rng.NormFloat64()))
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
		curvature = math.Max(curvature, math.Abs(sum(func(i int, x float64) float64 { return parts[i].Curvature(x) }, x)))
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
