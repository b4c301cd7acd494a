package qop

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpnb/notebooks/dpnb/erm"
	"github.com/dpnb/notebooks/dpnb/erm/composite"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/paper/internal/errata"
	"github.com/dpnb/notebooks/dpnb/paper/internal/measure"
)

// splitting is Algorithm G.2 of qop: gradient is that of n times the term of one record, prox that of ρr and project
// that of C. It returns θ_K.
func splitting(src *noise.Seeded, n, d, steps int, rho float64, gradient func(g, theta []float64, i int), prox,
	project func(v []float64)) []float64 {
	x, theta, z := make([]float64, d), make([]float64, d), make([]float64, d)
	for k := range steps + 1 {
		copy(theta, x)
		prox(theta)
		gradient(z, theta, src.IntN(n))
		for j := range z {
			z[j] = 2*theta[j] - x[j] - rho*z[j]
		}
		project(z)
		relax := math.Pow(float64(k+1), -0.5-2*0.001)
		for j := range x {
			x[j] += relax * (z[j] - theta[j])
		}
	}
	return theta
}

func nothing([]float64) {}

// Algorithm G.2 over a half-line settles off the minimiser.
func TestQOPSplittingIsBiased(t *testing.T) {
	// fᵢ = (θ − yᵢ)²/2, Lip(2∇f) = 2, θ ≥ 0. The sum is least at the mean of y or at 0, whichever is larger.
	y := []float64{1, -1.2}
	minimiser := math.Max(0, floats.Sum(y)/2)
	gradient := func(g, theta []float64, i int) { g[0] = 2 * (theta[0] - y[i]) }
	cut := func(v []float64) { v[0] = math.Max(0, v[0]) }
	src := noise.NewSeeded(46)
	// Averages over 20 runs, to see the limit through the last draws.
	var printed, joint float64
	for range 20 {
		printed += splitting(src, 2, 1, 50_000, 0.5, gradient, nothing, cut)[0] / 20
		joint += splitting(src, 2, 1, 50_000, 0.5, gradient, cut, nothing)[0] / 20
	}
	if !(math.Abs(printed-0.5) < 0.02 && math.Abs(joint-minimiser) < 0.02) {
		t.Errorf("as printed %.4f, with the joint map %.4f, minimiser %g", printed, joint, minimiser)
	}
	errata.Quote(t, "qop-46", "%.1f", printed)
	errata.Quote(t, "qop-46", "%.1f", joint)
}

// paperProblem is that of appendix G.3 with one seed: |xᵢⱼ| ≤ 5, ω = 1, the σ² of Theorem 3.1 as printed for ε₁ = 0.5,
// δ₃ = 0.005 and m = 2d.
func paperProblem(src *noise.Seeded, kappa float64) *composite.Problem {
	const n, d, xi = 300, 100, 5.0
	rows := matrix.NewDense(n, d, nil)
	src.Gaussian(rows.Data, 1)
	floats.Scale(xi/math.Max(floats.Max(rows.Data), -floats.Min(rows.Data)), rows.Data)
	star, anchor, labels := make([]float64, d), make([]float64, d), make([]float64, n)
	src.Gaussian(star, 1)
	src.Gaussian(anchor, math.Sqrt(0.1))
	floats.Add(anchor, star)
	rows.Margins(labels, star, 0, n)
	g := mat.NewDense(d, 2*d, nil)
	src.Gaussian(g.RawMatrix().Data, 1)
	alpha := wishartAlpha(d, 2*d, 0.005, false)
	// L ≤ dξ² and one Hessian of rank 1; p − 1 = (m − d − 1)/2.
	const slots, L, eps = (d - 1) / 2.0, d * xi * xi, 0.5
	sigma2 := 2 * L * (2*slots/alpha + 1 + 2*4/alpha) / eps
	q := new(mat.SymDense)
	q.SymOuterK(sigma2, g)
	return &composite.Problem{
		Problem:     erm.Problem{Rows: rows, Labels: labels, Loss: loss.Squared{}, Quadratic: q, Centre: anchor},
		Regulariser: composite.L1{Weight: 1},
		Constraint:  composite.NewBox(kappa),
	}
}

// runPaper runs 1,000 iterations of Algorithm G.2 on such a problem.
func runPaper(src *noise.Seeded, p *composite.Problem, kappa float64) []float64 {
	rows := p.Rows.(*matrix.Dense)
	n, d := rows.Dims()
	var eig mat.EigenSym
	eig.Factorize(p.Quadratic, false)
	lip := 0.0
	for i := range n {
		row := rows.Data[i*d : (i+1)*d]
		lip = math.Max(lip, float64(n)*floats.Dot(row, row))
	}
	lip += eig.Values(nil)[d-1]
	rho := 1 / lip
	delta := make([]float64, d)
	gradient := func(g, theta []float64, i int) {
		floats.SubTo(delta, theta, p.Centre)
		out := mat.NewVecDense(d, g)
		out.MulVec(p.Quadratic, mat.NewVecDense(d, delta))
		row := rows.Data[i*d : (i+1)*d]
		floats.AddScaled(g, float64(n)*(floats.Dot(row, theta)-p.Labels[i]), row)
	}
	shrink := func(v []float64) {
		for j, x := range v {
			v[j] = math.Copysign(math.Max(0, math.Abs(x)-rho), x)
		}
	}
	box := func(v []float64) {
		for j, x := range v {
			v[j] = math.Max(-kappa, math.Min(kappa, x))
		}
	}
	return splitting(src, n, d, 1000, rho, gradient, shrink, box)
}

// What Algorithm G.2 returns need not lie in C.
func TestQOPSplittingLeavesC(t *testing.T) {
	// ‖θ‖₂ with weight ω over the simplex, fᵢ = ‖θ − yᵢ‖²/2 in three dimensions.
	const n, d, omega = 2, 3, 5.0
	y := [][]float64{{1, 0.5, 0}, {0.5, 1, 0.2}}
	gradient := func(g, theta []float64, i int) {
		for j := range g {
			g[j] = n * (theta[j] - y[i][j])
		}
	}
	const rho = 1.0 / n
	prox := func(v []float64) { floats.Scale(math.Max(0, 1-rho*omega/floats.Norm(v, 2)), v) }
	project := func(v []float64) { composite.Simplex{Sum: 1}.Project(v, v) }
	theta := splitting(noise.NewSeeded(47), n, d, 1000, rho, gradient, prox, project)
	miss := math.Abs(floats.Sum(theta) - 1)
	if !(miss > 1e-5) {
		t.Errorf("Σθ_K misses 1 by %.3g", miss)
	}
	errata.Quote(t, "qop-47", "%.0e", miss)
}

// 1,000 iterations do not reach the minimum of the problem of G.3.
func TestQOPThousandIterations(t *testing.T) {
	const kappa = 10.0 // the box hardly matters
	nearest, farthest, least, most := math.Inf(1), 0.0, math.Inf(1), 0.0
	for seed := range 8 {
		src := noise.NewSeeded(uint64(seed))
		p := paperProblem(src, kappa)
		mu, ok := composite.LeastEigenvalue(p.Quadratic)
		if !ok {
			t.Fatal("no least eigenvalue")
		}
		best := measure.Must(composite.Solve(p, &composite.Settings{Modulus: mu, Tolerance: 1e-2}))
		theta := runPaper(src, p, kappa)
		value := erm.Evaluate(&p.Problem, nil, theta) + p.Regulariser.Value(theta)
		if best.Certificate.Distance() > 1e-6 || best.Certificate.Gap() > 1e-6 {
			t.Fatalf("the minimiser is certified to %.3g, the minimum to %.3g", best.Certificate.Distance(),
				best.Certificate.Gap())
		}
		dist, gap := floats.Distance(theta, best.Theta, 2), value-best.Value
		nearest, farthest = math.Min(nearest, dist), math.Max(farthest, dist)
		least, most = math.Min(least, gap), math.Max(most, gap)
	}
	if !(nearest > 0.05 && least > 1e4) {
		t.Errorf("%.3g to %.3g from the minimiser, %.3g to %.3g above the minimum", nearest, farthest, least, most)
	}
	for _, dist := range []float64{nearest, farthest} {
		errata.Quote(t, "qop-48", "%.2f", dist)
	}
	for _, gap := range []float64{least, most} {
		errata.Quote(t, "qop-48", "%.1e", gap)
	}
}
