package qop

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpnb/notebooks/dpnb/claim"
	"github.com/dpnb/notebooks/dpnb/erm"
	"github.com/dpnb/notebooks/dpnb/erm/composite"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/paper/internal/measure"
)

// leastSquares is qop's problem with n records in d dimensions: rows standard normal times scale, labels xᵢᵀθ⋆ plus
// noise, W ~ Wishart(d, 2d) times sigma2 around an anchor at N(0, 0.1·I) from θ⋆.
func leastSquares(rng *noise.Seeded, n, d int, scale, label, sigma2 float64, r composite.Regulariser,
	c composite.Constraint) *composite.Problem {
	rows := matrix.NewDense(n, d, nil)
	rng.Gaussian(rows.Data, scale)
	star, anchor, labels, errs := make([]float64, d), make([]float64, d), make([]float64, n), make([]float64, n)
	rng.Gaussian(star, 1)
	rng.Gaussian(anchor, math.Sqrt(0.1))
	rng.Gaussian(errs, label)
	floats.Add(anchor, star)
	rows.Margins(labels, star, 0, n)
	floats.Add(labels, errs)
	g := mat.NewDense(d, 2*d, nil)
	rng.Gaussian(g.RawMatrix().Data, 1)
	q := new(mat.SymDense)
	q.SymOuterK(sigma2, g)
	return &composite.Problem{Problem: erm.Problem{Rows: rows, Labels: labels, Loss: loss.Squared{}, Quadratic: q,
		Centre: anchor}, Regulariser: r, Constraint: c}
}

// leastDirection returns the least eigenvalue of the Hessian with its vector.
func leastDirection(p *composite.Problem) (float64, []float64) {
	rows := p.Rows.(*matrix.Dense)
	var h mat.SymDense
	h.SymOuterK(1, mat.NewDense(rows.N, rows.D, rows.Data).T())
	h.AddSym(&h, p.Quadratic)
	values, vectors, ok := matrix.Eigen(&h)
	if !ok {
		return math.NaN(), nil
	}
	return values[0], mat.Col(nil, 0, vectors)
}

func eq7(run measure.Run, factor float64) claim.Outcome {
	rng := noise.NewSeeded(71)
	problems, points := measure.Sized(run.Size, 6, 60), measure.Sized(run.Size, 100, 1000)
	largest, count := 0.0, 0
	for k := range measure.To(run, problems) {
		for i, c := range []struct {
			r composite.Regulariser
			c composite.Constraint
		}{{composite.None{}, composite.Everywhere{}}, {composite.L1{Weight: 5}, composite.Everywhere{}},
			{composite.None{}, composite.NewBox(0.7)}, {composite.L1{Weight: 5}, composite.NewBox(0.7)}} {
			p := leastSquares(rng.Stream(10*k+i), 20, 8, 1, 0.5, 2, c.r, c.c)
			ratio, n := largestShare(p, factor, points, rng.Stream(1000+10*k+i))
			largest, count = math.Max(largest, ratio), count+n
		}
	}
	o := claim.Outcome{
		Measured: fmt.Sprintf("largest share %.4f of dist² at %d points of %d problems", largest, count,
			4*problems),
		Interval: "at most 1 + 1e-6, the rounding of J̃", Verdict: claim.Holds,
		Note: "for θ in C: elsewhere N_C is empty",
	}
	if !(largest <= 1+1e-6) || largest < 0.99 {
		o.Verdict, o.Note = claim.Fails, "the bound is exceeded, or far from what was reached"
	}
	return o
}

// largestShare returns the largest 2·factor·μ(J − J⋆)/dist² over random points of C, some with zeros and bounds, and
// along the least curved direction.
func largestShare(p *composite.Problem, factor float64, points int, rng *noise.Seeded) (largest float64, count int) {
	_, d := p.Rows.Dims()
	mu, v := leastDirection(p)
	star := measure.Must(composite.Solve(p, &composite.Settings{Tolerance: 1e-9, Modulus: mu}))
	theta, g, r, c := make([]float64, d), make([]float64, d), p.Regulariser, p.Constraint.(composite.Projector)
	for k := range points {
		rng.Gaussian(theta, math.Pow(10, -3*rng.Float64()))
		if k%10 == 0 {
			floats.ScaleTo(theta, rng.NormFloat64(), v)
		}
		floats.Add(theta, star.Theta)
		if k%3 == 0 {
			r.Prox(theta, theta, 0.1)
		}
		c.Project(theta, theta)
		gap := erm.Evaluate(&p.Problem, g, theta) + r.Value(theta) - star.Value
		if gap < 1e-6*math.Abs(star.Value) {
			continue // lost in rounding
		}
		dist, exact := composite.JointDistance(r, c, g, theta)
		measure.Ensure(exact, "the distance is not exact")
		largest, count = math.Max(largest, 2*factor*mu*gap/(dist*dist)), count+1
	}
	return largest, count
}

// printedG2 is Algorithm G.2 word for word, for the squared loss: it returns θ_K, the proximal point before the last
// update.
func printedG2(p *composite.Problem, k int, rng *noise.Seeded) []float64 {
	n, d := p.Rows.Dims()
	rows := p.Rows.(*matrix.Dense)
	var e mat.EigenSym
	e.Factorize(p.Quadratic, false)
	longest := matrix.MaxNorm(rows)
	rho := 1 / (float64(n)*longest*longest + e.Values(nil)[d-1])
	x, theta, z, delta := make([]float64, d), make([]float64, d), make([]float64, d), make([]float64, d)
	for step := range k + 1 {
		i := rng.IntN(n)
		p.Regulariser.Prox(theta, x, rho)
		floats.SubTo(delta, theta, p.Centre)
		mat.NewVecDense(d, z).MulVec(p.Quadratic, mat.NewVecDense(d, delta))
		row := rows.Data[i*d : (i+1)*d]
		floats.AddScaled(z, float64(n)*(floats.Dot(row, theta)-p.Labels[i]), row)
		for j := range z {
			z[j] = 2*theta[j] - x[j] - rho*z[j]
		}
		p.Constraint.(composite.Projector).Project(z, z)
		lambda := math.Pow(float64(step+1), -0.5-2*0.001)
		for j := range x {
			x[j] += lambda * (z[j] - theta[j])
		}
	}
	return theta
}

// halfLine is ½Σ(θ − yᵢ)² with y = (1, −1.2) over θ ≥ 0: the minimiser is 0. With ρ = 1/Lip the projection gives max(0,
// yᵢ), whose mean is ½.
var halfLine = &composite.Problem{Problem: erm.Problem{Rows: matrix.NewDense(2, 1, []float64{1, 1}),
	Labels: []float64{1, -1.2}, Loss: loss.Squared{}, Quadratic: mat.NewSymDense(1, nil), Centre: []float64{0}},
	Regulariser: composite.None{}, Constraint: composite.Box{Lower: []float64{0}}}

// algorithmG2 runs Algorithm G.2 as printed and, if joint is true, with the proximal map of r + ι_C where it is said to
// be mended. The solution over an affine C is taken times factor.
func algorithmG2(run measure.Run, joint bool, factor float64) claim.Outcome {
	rng := noise.NewSeeded(72)
	long := measure.Sized(run.Size, 100_000, 3_000_000)
	printed := printedG2(halfLine, long, rng.Stream(1))[0]
	mended := measure.Must(composite.Stochastic(halfLine, &composite.StochasticSettings{Indices: rng.Stream(2),
		Iterations: long, Joint: joint}))
	// Over an affine set the distance falls.
	plane := measure.Must(composite.NewAffine(mat.NewDense(1, 4, []float64{1, 1, 1, 1}), []float64{1}))
	flat := leastSquares(rng.Stream(3), 30, 4, 1, 0.5, 2, composite.L1{Weight: 2}, plane)
	mu, ok := composite.LeastEigenvalue(flat.Quadratic)
	measure.Ensure(ok, "no least eigenvalue")
	star := measure.Must(composite.Solve(flat, &composite.Settings{Tolerance: 1e-4, Modulus: mu}))
	floats.Scale(factor, star.Theta)
	early := floats.Distance(printedG2(flat, 300, rng.Stream(4)), star.Theta, 2)
	late := floats.Distance(printedG2(flat, long, rng.Stream(5)), star.Theta, 2)
	experiment := paperRun(rng.Stream(6))
	o := claim.Outcome{
		Measured: fmt.Sprintf("over θ ≥ 0 with minimiser 0: θ_K = %.1f as printed, %.1f with the joint map; over "+
			"Σθ = 1 ‖θ_K − θ⋆‖ falls to less than a third: %v; ‖·‖₂ over the simplex: Σθ_K misses 1 by %.0e after "+
			"1,000 iterations; %s",
			printed, mended.Theta[0], late < early/3, offTheSimplex(rng.Stream(7)), experiment),
		Interval: fmt.Sprintf("K = %d", long), Verdict: claim.HoldsWithCorrection,
		Note: "converges for affine C, as the paper says; over other sets only if prox_{r+ι_C} takes the place " +
			"of prox_r and the projection goes: as printed the projection sees single records, and what is " +
			"returned need not lie in C, where alone criterion (7) can hold",
	}
	switch {
	case math.Abs(mended.Theta[0]) > 0.1 || late > early/3:
		o.Verdict, o.Note = claim.Fails, "it does not converge where it should"
	case math.Abs(printed) < 0.1:
		o.Verdict, o.Note = claim.Holds, "converges as printed"
	}
	return o
}

// paperRun measures what 1,000 iterations leave on the problem of G.3 at κ = 1: (n, d) = (300, 100), |xᵢⱼ| ≤ 5, ω = 1,
// σ² = 1.1747e5.
func paperRun(rng *noise.Seeded) string {
	const kappa = 1
	p := leastSquares(rng, 300, 100, 1, 0, 1.1747e5, composite.L1{Weight: 1}, composite.NewBox(kappa))
	rows := p.Rows.(*matrix.Dense)
	scale := 5 / math.Max(floats.Max(rows.Data), -floats.Min(rows.Data))
	floats.Scale(scale, rows.Data)
	floats.Scale(scale, p.Labels)
	mu, ok := composite.LeastEigenvalue(p.Quadratic)
	measure.Ensure(ok, "no least eigenvalue")
	star := measure.Must(composite.Solve(p, &composite.Settings{Modulus: mu, Tolerance: 1e-2}))
	gap := star.Certificate.Gap()
	measure.Ensure(gap <= 1e-8, "the minimum is certified to %v only", gap)
	theta := printedG2(p, 1000, rng.Stream(1))
	composite.NewBox(kappa).Project(theta, theta)
	value := erm.Evaluate(&p.Problem, nil, theta) + p.Regulariser.Value(theta)
	return fmt.Sprintf("G.3, κ = 1: after 1,000 iterations %.0e above the minimum, which is certified to 1e-8",
		value-star.Value)
}

// offTheSimplex returns by how much Σθ_K misses 1 for ‖·‖₂ over the simplex.
func offTheSimplex(rng *noise.Seeded) float64 {
	p := leastSquares(rng, 30, 4, 1, 0.5, 2, composite.L2{Weight: 100}, composite.Simplex{Sum: 1})
	return math.Abs(floats.Sum(printedG2(p, 1000, rng.Stream(1))) - 1)
}
