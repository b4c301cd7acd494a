package cop

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/claim"
	"github.com/dpnb/notebooks/dpnb/figure"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/paper/internal/measure"
	"github.com/dpnb/notebooks/dpnb/smoothing"
)

// randomMaximum draws max_p ⟨a_p, x⟩ + b_p on ℝᵐ.
func randomMaximum(rng *noise.Seeded, m int) smoothing.Polyhedral {
	var slopes [][]float64
	var offsets []float64
	for range 2 + int(rng.Uint64()%5) {
		a, _ := randomPoint(rng, m)
		slopes, offsets = append(slopes, a), append(offsets, 0.5*rng.NormFloat64())
	}
	return measure.Must(smoothing.NewPolyhedral(slopes, offsets))
}

// others calls do with how far below the largest piece each other one is at x, and with the difference of their slopes.
func others(f smoothing.Polyhedral, x []float64, do func(below float64, difference []float64)) {
	at := func(p int) float64 { a, b := f.Piece(p); return floats.Dot(a, x) + b }
	best := 0
	for p := range f.Pieces() {
		if at(p) > at(best) {
			best = p
		}
	}
	largest, _ := f.Piece(best)
	for p := range f.Pieces() {
		if a, b := f.Piece(p); p != best {
			d := make([]float64, len(x))
			floats.SubTo(d, a, largest)
			do(at(best)-floats.Dot(a, x)-b, d)
		}
	}
}

func piecesGain(run measure.Run, factor float64) claim.Outcome {
	rng := noise.NewSeeded(75)
	var missed, gains int
	steepest := 0.0
	tries := run.Runs(20_000)
	for k := range tries {
		m := 1 + k%3
		f := randomMaximum(rng, m)
		x, v := randomPoint(rng, m)
		r := math.Inf(1)
		others(f, x, func(below float64, d []float64) { r = math.Min(r, below/floats.Norm(d, 1)) })
		// Lengths just about r, where the set begins.
		mu := factor * r * (0.5 + 0.7*rng.Float64()) / floats.Norm(v, math.Inf(1))
		value, size := bend(f.Value, x, v, mu)
		if value > 1e-12*size {
			gains++
			if mu*floats.Norm(v, math.Inf(1)) <= factor*r {
				missed++
			}
		}
		steepest = math.Max(steepest, slopeShare(f, rng))
	}
	worst, ofTwo := piecesGap(rng, 40)
	// The printed r is measured in z: f = |zθ| at θ = ½, z = 1 is 1 away from z = 0, x = zθ is ½.
	printed, _ := bend(norm1, []float64{0.5}, []float64{0.75}, 1)
	o := claim.Decide(fmt.Sprintf("of %d points that gain, %d are outside the corrected set; |zθ| gains %.2f at ‖v‖_∞ "+
		"= 0.75 < r/μ = 1; gap/bound at most %.6f, for two pieces %.9f; slopes at most %.4f of Ā·max‖a_p‖", gains,
		missed, printed, worst, ofTwo, steepest), "none; above 0; at most 1; 1 to 1e-9; at most 1", missed == 0 &&
		gains > tries/100 && worst <= 1+1e-9 && math.Abs(ofTwo-1) < 1e-9 && steepest <= 1+1e-12)
	if printed > 0 {
		o = o.Corrected("r is a distance of x = A(z)θ, with the offsets b_p, and C needs no factor m (cop-72)")
	}
	return o
}

// slopeShare returns ‖A^⊤a_p‖₂/(‖A‖₂·max‖a_p‖₂), the largest over the pieces, for a random A of one column more.
func slopeShare(f smoothing.Polyhedral, rng *noise.Seeded) float64 {
	// A = (I, u) has ‖A‖₂² = 1 + ‖u‖², and A^⊤a = (a, ⟨u, a⟩).
	u, _ := randomPoint(rng, f.Dim())
	norm, share := math.Sqrt(1+floats.Dot(u, u)), 0.0
	for p := range f.Pieces() {
		a, _ := f.Piece(p)
		share = math.Max(share, math.Hypot(floats.Norm(a, 2), floats.Dot(u, a)))
	}
	return share / (norm * f.Lipschitz())
}

// piecesGap returns the largest share of the Gaussian kernel's gap in the plane in the bound Σ_q μs_q·G(d_q/(μs_q))/2,
// d_q how far piece q is below the largest and s_q the norm of the difference of their slopes; and that of two pieces.
func piecesGap(rng *noise.Seeded, tries int) (worst, ofTwo float64) {
	const mu = 0.8
	ofTwo = 1
	for range tries {
		f := randomMaximum(rng, 2)
		x, _ := randomPoint(rng, 2)
		g := measure.Must(f.Gaussian(mu))
		bound := 0.0
		others(f, x, func(below float64, d []float64) {
			s := mu * floats.Norm(d, 2)
			bound += s * smoothing.Gaussian{}.Gap(below/s) / 2
		})
		value, _ := g.ValueGradient(nil, x)
		if bound < 1e-4 {
			continue // rounding of the difference would count
		}
		share := (value - f.Value(x)) / bound
		worst = math.Max(worst, share)
		if f.Pieces() == 2 && math.Abs(share-1) > math.Abs(ofTwo-1) {
			ofTwo = share
		}
	}
	return worst, ofTwo
}

// bowlPlane looks at the set of Figure 6, times a factor, on a grid of the plane.
func bowlPlane(run measure.Run, factor float64) claim.Outcome {
	x, gains, measured := []float64{1, 0.6}, 0, ""
	for _, z := range []float64{0.8, 2.4} {
		f := func(x []float64) float64 { return math.Max(0, norm1(x)-z) }
		inside, flat := 0, 0
		for a, b := range measure.Pairs(run, figure.Span(-3, 3, 200), figure.Span(-3, 3, 200)) {
			v := []float64{a, b}
			in := math.Abs(a) <= factor*x[0] && math.Abs(b) <= factor*x[1] && norm1(v) <= factor*math.Abs(norm1(x)-z)
			value, size := bend(f, x, v, 1)
			gain := value > 1e-12*size
			switch {
			case in && gain:
				gains++
			case in:
				inside++
			case !gain:
				flat++
			}
		}
		measured += fmt.Sprintf("z = %g: nothing is gained at %d points of the set and at %d others; ", z, inside, flat)
	}
	return claim.Decide(measured+fmt.Sprintf("%d points of the set gain", gains), "none", gains == 0)
}

func bowlGains(run measure.Run, factor float64) claim.Outcome {
	rng := noise.NewSeeded(76)
	gains, tries := 0, run.Runs(40_000)
	for k := range tries {
		m := 1 + k%3
		x, v := randomPoint(rng, m)
		z := math.Abs(2 * rng.NormFloat64())
		f := func(x []float64) float64 { return math.Max(0, norm1(x)-z) }
		// The largest μ of the set, and a part of it.
		reach := math.Abs(norm1(x)-z) / norm1(v)
		for j := range x {
			reach = math.Min(reach, math.Abs(x[j]/v[j]))
		}
		mu := factor * reach * (1 - 0.1*rng.Float64())
		if value, size := bend(f, x, v, mu); value > 1e-12*size {
			gains++
		}
	}
	share := func(mu float64) float64 {
		value, _ := measure.Must(smoothing.NewBowl(1, mu)).ValueGradient(nil, []float64{0, 2})
		return (value - 1) / mu
	}
	wide, narrow := share(0.1), share(0.001)
	o := claim.Decide(fmt.Sprintf("%d of %d points of the set gain; at (0, 2) and z = 1 the gap is %.6f μ at μ = 0.1 "+
		"and %.6f μ at 0.001", gains, tries, wide, narrow), "none; √(2/π) = 0.797885", gains == 0 &&
		math.Abs(wide-math.Sqrt(2/math.Pi)) < 1e-6 && math.Abs(narrow-wide) < 1e-6)
	return o.Corrected("the set is right; Assumption B.2 alone does not give the rate where ‖x‖₁ > z (cop-73)")
}

// residual is that at the optimum of quantile regression: of spread 0 it would be the constant of the print.
type residual struct{ level, spread float64 }

// quantileExample measures how near the residual at the optimum is to the kink of the pinball loss of the level. What
// remains of Examples 1 and 2, the smoothing error f_ϵ(q)μ²/2, is claimed times factor.
func quantileExample(_ measure.Run, of residual, factor float64) claim.Outcome {
	q := smoothing.Gaussian{}.Draw(of.level)
	cdf := func(v float64) float64 {
		if of.spread == 0 { // the residual −q alone
			if v >= -q {
				return 1
			}
			return 0
		}
		return smoothing.Gaussian{}.Tail(-(v + q) / of.spread)
	}
	text, satisfied := "", true
	for _, t := range []float64{0.3, 0.1, 0.03} {
		below := cdf(2*t) - cdf(-2*t)
		satisfied = satisfied && below <= math.Exp(-1/(t*t))
		text += fmt.Sprintf("P(below %g) = %.3g against %.1e; ", t, below, math.Exp(-1/(t*t)))
	}
	// The gap of |u|/2, whose mean is over the density of u = ϵ − q: μ²/2 times that at 0.
	const mu = 0.01
	mean := 0.0
	for i := range 4001 {
		v := 10 * (float64(i)/2000 - 1)
		mean += mu * smoothing.Gaussian{}.Gap(math.Abs(v)) / 2 * smoothing.Gaussian{}.Density(mu*v+q) * mu * 10 / 2000
	}
	share := mean / (factor * mu * mu * smoothing.Gaussian{}.Density(q) / 2)
	text += fmt.Sprintf("smoothing error %.4f of f_ϵ(q)μ²/2 at μ = 0.01", share)
	if math.Abs(share-1) > 1e-3 {
		return claim.Outcome{Measured: text, Verdict: claim.NotCheckable,
			Note: "the error of the smoothing is another one, and with it the reason"}
	}
	return claim.Decide(text, "at most e^{−1/t²} at each t; 1e-3", satisfied, "the residual at the optimum is the "+
		"noise less its quantile, not a constant: near 0 with a probability of order t (cop-30)")
}

func lassoExample(_ measure.Run, more float64) claim.Outcome {
	const lambda = 0.5
	solve := func(rho float64) [2]float64 {
		theta := [2]float64{1, 1}
		for range 2000 {
			for j := range theta {
				// The minimiser in coordinate j soft-thresholds what the others leave of Σθ₀ = (1 + ρ)(1, 1).
				left := 1 + rho - rho*theta[1-j]
				theta[j] = math.Copysign(math.Max(0, math.Abs(left)-lambda), left)
			}
		}
		return theta
	}
	independent, correlated := solve(0), solve(-0.9)
	o := claim.Decide(fmt.Sprintf("θ⋆ = %.4v for ρ = 0, %.4v for ρ = −0.9", independent, correlated), "½ to 1e-12",
		math.Abs(independent[0]-0.5-more) < 1e-12 && math.Abs(independent[1]-0.5-more) < 1e-12)
	if math.Min(correlated[0], correlated[1]) <= 0 {
		o = o.Corrected("for E xx^⊤ = I alone; with correlated features θ⋆ can be 0 (cop-74)")
	}
	return o
}
