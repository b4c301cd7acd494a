package cop

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/claim"
	"github.com/dpnb/notebooks/dpnb/internal/quadrature"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/paper/internal/measure"
	"github.com/dpnb/notebooks/dpnb/smoothing"
)

// printedSmoothness is β_μ·μ/L of Table 1 in ‖·‖_p, p = 1 or 2.
func printedSmoothness(k smoothing.Joint, p int) float64 {
	switch {
	case k.Name() == "Gaussian":
		return 1
	case k.Name() == "Laplacian" && p == 2:
		return math.Sqrt(6 * float64(k.Dim()))
	}
	return math.Sqrt(6)
}

// row is a row of Table 1 in ‖·‖_p: β_µ·µ/L as printed and sharp, and κ_p.
type row struct{ printed, sharp, kappa float64 }

// rows returns those of p = 1 and 2.
func rows(k smoothing.Joint) [2]row {
	beta1, beta2 := k.Steepness()
	return [2]row{
		{printedSmoothness(k, 1), beta1, k.Moment(1)},
		{printedSmoothness(k, 2), beta2, k.Moment(2)},
	}
}

// parts is what convolutionBounds found, each the largest, as a share of what Lemma 3.1 allows.
type parts struct{ printed, curvature, slope, gap, off float64 }

// hold takes a function into account that is L-Lipschitz in ‖·‖_p, at a point: its curvature times µ/L, the size of its
// slope over L and its gap over Lµ.
func (r *parts) hold(k row, curvature, slope, gap float64) {
	r.printed = math.Max(r.printed, curvature/k.printed)
	r.curvature = math.Max(r.curvature, curvature/k.sharp)
	r.slope = math.Max(r.slope, slope)
	r.gap = math.Max(r.gap, gap/k.kappa)
	if gap < -1e-13 || curvature < -1e-7 {
		r.gap = math.Inf(1) // not above g, or not convex
	}
}

// convolutionBounds checks the four parts of Lemma 3.1: the printed bounds, and our constants of Table 1 times ours.
func convolutionBounds(run measure.Run, times [2]float64) claim.Outcome {
	printed, ours := times[0], times[1]
	rng := noise.NewSeeded(71)
	var r parts
	for _, m := range []int{1, 2, 3, 10} {
		for k, mu := range measure.Pairs(run, smoothing.TableOne(m), []float64{0.1, 0.5, 2}) {
			r.norm(k, mu, rng)
			r.means(k, mu, run.Runs(10_000), rng.Stream(int(1000*mu)+m))
		}
	}
	r.lines(rng)
	return claim.Decide(fmt.Sprintf("largest curvature %.3f of the printed β_µ and %.6f of the sharp one, slope %.6f "+
		"of L, gap %.6f of Lµκ; means off by at most %.1f s.e.", r.printed, r.curvature/ours, r.slope, r.gap/printed,
		r.off), "all at most 1, the sharp ones 1 to 1e-12; 5 s.e.", r.printed <= 1 && math.Abs(r.curvature/ours-1) <
		1e-12 && r.slope <= 1+1e-12 && math.Abs(r.gap/printed-1) < 1e-10 && r.off < 5)
}

// norm takes ‖·‖₁ into account, 1-Lipschitz in ‖·‖₁ and √m-Lipschitz in ‖·‖₂, and |x₁|, which has the largest
// curvature.
func (r *parts) norm(k smoothing.Joint, mu float64, rng *noise.Seeded) {
	m, root := k.Dim(), math.Sqrt(float64(k.Dim()))
	g := smoothing.Norm{Kernel: k.Coordinate(), Width: mu}
	x, grad, diag := make([]float64, m), make([]float64, m), make([]float64, m)
	in := rows(k)
	for point := range 30 {
		for j := range x {
			x[j] = 3 * mu * float64(point) / 29 * rng.NormFloat64()
		}
		g.ValueGradient(grad, x)
		g.Curvature(diag, x)
		most := mu * floats.Max(diag)
		r.hold(in[0], most, floats.Norm(grad, math.Inf(1)), g.Gap(x)/mu)
		r.hold(in[1], most/root, floats.Norm(grad, 2)/root, g.Gap(x)/mu/root)
		first := smoothing.Norm{Kernel: k.Coordinate(), Width: mu}
		first.Curvature(diag[:1], x[:1])
		r.hold(in[1], mu*diag[0], math.Abs(grad[0]), first.Gap(x[:1])/mu)
	}
}

// lines takes maxima of random lines into account for every kernel, and of affine functions in the plane for the
// Gaussian one.
func (r *parts) lines(rng *noise.Seeded) {
	var line [][2]row
	for _, k := range smoothing.TableOne(1) {
		line = append(line, rows(k))
	}
	for range 20 {
		a, b := make([]float64, 4), make([]float64, 4)
		plane := make([][]float64, 4)
		for p := range a {
			a[p], b[p] = rng.NormFloat64(), 0.5*rng.NormFloat64()
			plane[p] = []float64{rng.NormFloat64(), rng.NormFloat64()}
		}
		p := measure.Must(smoothing.Max(a, b))
		least, largest := p.Slopes()
		l := math.Max(-least, largest)
		for i, k := range smoothing.TableOne(1) {
			const mu = 0.7
			s, in := p.Convolve(k.Coordinate(), mu), line[i]
			for x := -4.0; x < 4; x += 0.3 {
				r.hold(in[1], mu*s.Curvature(x)/l, math.Abs(s.Slope(x))/l, s.Gap(x)/(l*mu))
			}
		}
		r.plane(plane, b, rng)
	}
}

// plane takes max_p ⟨a_p, x⟩ + b_p into account, by differences of its gradient.
func (r *parts) plane(a [][]float64, b []float64, rng *noise.Seeded) {
	const mu, step = 0.7, 1e-3
	f := measure.Must(smoothing.NewPolyhedral(a, b))
	g := measure.Must(f.Gaussian(mu))
	x, e := randomPoint(rng, 2)
	grad, next := make([]float64, 2), make([]float64, 2)
	floats.Scale(step/floats.Norm(e, 2), e)
	value, _ := g.ValueGradient(grad, x)
	gap := value - f.Value(x)
	g.ValueGradient(next, []float64{x[0] + e[0], x[1] + e[1]})
	floats.Sub(next, grad)
	l := f.Lipschitz()
	in := rows(smoothing.Product{Kernel: smoothing.Gaussian{}, M: 2})[1]
	r.hold(in, mu/l*floats.Dot(next, e)/(step*step), floats.Norm(grad, 2)/l, gap/(l*mu))
}

// means draws from the kernel on ℝᵐ: by how many standard errors the mean of ‖x + µk‖₁, of its average with ‖x − µk‖₁,
// and of sgn(x₁ + µk₁) are off.
func (r *parts) means(k smoothing.Joint, mu float64, draws int, rng *noise.Seeded) {
	m := k.Dim()
	x, v, grad := make([]float64, m), make([]float64, m), make([]float64, m)
	for j := range x {
		x[j] = mu * (0.3 + 0.4*float64(j))
	}
	value := smoothing.Norm{Kernel: k.Coordinate(), Width: mu}.ValueGradient(grad, x)
	var sum, squares [3]float64
	want := [3]float64{value, value, grad[0]}
	up, down := make([]float64, m), make([]float64, m)
	for range draws {
		k.Draw(v, rng.Float64)
		floats.AddScaledTo(up, x, mu, v)
		floats.AddScaledTo(down, x, -mu, v)
		a := norm1(up)
		for i, got := range [3]float64{a, (a + norm1(down)) / 2, math.Copysign(1, up[0])} {
			sum[i] += got - want[i]
			squares[i] += (got - want[i]) * (got - want[i])
		}
	}
	for i := range sum {
		r.off = math.Max(r.off, math.Abs(sum[i])/math.Sqrt(squares[i]))
	}
}

func normaliser(_ measure.Run, power float64) claim.Outcome {
	// ∫∫e^{−‖v‖} over the plane, by panels of a quadrant; the formula has 2π.
	whole := 4 * quadrature.Panels(func(x float64) float64 {
		return quadrature.Panels(func(y float64) float64 { return math.Exp(-math.Hypot(x, y)) }, 0, 40, 20)
	}, 0, 40, 20)
	formula := math.Pow(math.Gamma(1)/(2*math.Pi*math.Gamma(2)), power)
	inverted := math.Abs(1/formula-whole) < 1e-5
	o := claim.Decide(fmt.Sprintf("∫e^{−‖v‖} over the plane is %.6f, the formula gives %.6f, its inverse is %.6f; "+
		"sharp constants at m = 3: Gaussian %.4f, exponential %.4f, Laplacian %.4f",
		whole, formula, 1/formula, steepness(0), steepness(1), steepness(2)), "1e-5, the formula or its inverse",
		inverted || math.Abs(formula-whole) < 1e-5)
	if inverted {
		o = o.Corrected("the normaliser is the inverse of the printed one (cop-13); the β_µ are bounds, and loose")
	}
	return o
}

// steepness is the sharp β₂ of a kernel of Table 1 on ℝ³.
func steepness(which int) float64 {
	_, beta := smoothing.TableOne(3)[which].Steepness()
	return beta
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

func strictlyConvexWhere(_ measure.Run, factor float64) claim.Outcome {
	rng := noise.NewSeeded(72)
	var all, some, single int
	const count = 20_000
	for k := range count {
		m := 1 + k%3
		x, v := randomPoint(rng, m)
		mu := math.Exp(rng.NormFloat64())
		value, size := bend(norm1, x, v, mu)
		added, every, one := value > 1e-13*size, true, false
		for j := range x {
			outside := mu*math.Abs(v[j]) > factor*math.Abs(x[j])
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
	o := claim.Decide(fmt.Sprintf("with all coordinates %.1f %% of the points are misplaced (m = 1: %d), with "+
		"some coordinate %d", 100*float64(all)/count, single, some),
		"none with some coordinate, none at m = 1", some == 0 && single == 0 && all > count/10)
	return o.Corrected("for m > 1 one coordinate is enough (cop-29)")
}

func setsGrow(_ measure.Run, shrink float64) claim.Outcome {
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
	rng := noise.NewSeeded(73)
	shrunk, strict, tried := 0, 0, 0
	for k := range 20_000 {
		m := 1 + k%3
		x, v := randomPoint(rng, m)
		mu0 := math.Exp(rng.NormFloat64())
		mu1 := shrink * mu0 * (1 + math.Exp(rng.NormFloat64()))
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
	flat, _ := bend(func(x []float64) float64 { return math.Abs(x[0]) }, []float64{1, 1}, []float64{0, 1}, 1e9)
	o := claim.Decide(fmt.Sprintf("%d of 60,000 left the set as μ grew; %d of %d constructed points are in the "+
		"larger set alone; |x₁| gains %g along (0, 1)", shrunk, strict, tried, flat),
		"0, all, and 0", shrunk == 0 && strict == tried)
	if flat == 0 {
		o = o.Corrected("the limit lacks the directions along which g is linear (cop-70)")
	}
	return o
}

func gaussianGap(_ measure.Run, factor float64) claim.Outcome {
	worst := 0.0
	for i := range 3001 {
		r := 0.01 * float64(i)
		worst = math.Max(worst, smoothing.Gaussian{}.Gap(r)/(factor*math.Sqrt(2/math.Pi)*math.Exp(-r*r/2)))
	}
	return claim.Decide(fmt.Sprintf("largest gap/bound %.15f", worst), "1 − 1e-12 … 1 + 1e-12",
		math.Abs(worst-1) < 1e-12)
}

func otherGaps(_ measure.Run, factor float64) claim.Outcome {
	laplacian, exponential := 0.0, 0.0
	for i := range 4001 {
		r := 0.01 * float64(i)
		laplacian = math.Max(laplacian, smoothing.Laplacian{}.Gap(r)/(factor*(r+1)*math.Exp(-r)))
	}
	for _, m := range []int{1, 2, 3, 5, 10} {
		k := smoothing.NewExponential(m)
		for r := 3.0; r <= 40; r += 0.05 {
			// for each coordinate
			bound := factor * math.Sqrt(float64(m)) * math.Pow(r, 2*float64(m)) * math.Exp(-r)
			exponential = math.Max(exponential, k.Gap(r)/bound)
		}
	}
	return claim.Decide(fmt.Sprintf("largest gap/bound: Laplacian %.12f, exponential %.4f", laplacian, exponential),
		"1 to 1e-12; at most 1", math.Abs(laplacian-1) < 1e-12 && exponential <= 1)
}

func gapVanishes(_ measure.Run, factor float64) claim.Outcome {
	slope := func(x float64) float64 {
		at := func(inverse float64) float64 {
			return math.Log(smoothing.Gaussian{}.Gap(factor * x * math.Sqrt(inverse)))
		}
		return (at(101) - at(99)) / 2
	}
	half, one := slope(0.5), slope(1)
	share := smoothing.Gaussian{}.Gap(2) / smoothing.Gaussian{}.Gap(0)
	return claim.Decide(fmt.Sprintf("slopes %.4f and %.4f, gap at x = 1 and μ = 0.5 %.1f %% of the uniform bound", half,
		one, 100*share), "−0.125 and −0.5 within a tenth; below 5 %", math.Abs(half/-0.125-1) < 0.1 &&
		math.Abs(one/-0.5-1) < 0.1 && share < 0.05)
}
