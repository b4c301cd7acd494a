package qop

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpnb/notebooks/dpnb/erm"
	"github.com/dpnb/notebooks/dpnb/erm/composite"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/internal/univariate"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/paper/internal/errata"
	"github.com/dpnb/notebooks/dpnb/paper/internal/measure"
	"github.com/dpnb/notebooks/dpnb/privacy/wishart"
)

// symmetric returns Σ sᵢ·vᵢvᵢᵀ.
func symmetric(d int, s []float64, v ...*mat.VecDense) *mat.SymDense {
	out := mat.NewSymDense(d, nil)
	for i, x := range v {
		out.SymRankOne(out, s[i], x)
	}
	return out
}

// logDet is that of a sum, NaN if it is not positive definite.
func logDet(ms ...*mat.SymDense) float64 {
	sum := mat.NewSymDense(ms[0].SymmetricDim(), nil)
	for _, m := range ms {
		sum.AddSym(sum, m)
	}
	var c mat.Cholesky
	if !c.Factorize(sum) {
		return math.NaN()
	}
	return c.LogDet()
}

// Theorem 3.1 pays for a ‖U‖ of 2L, where there is L, and for eigenvalues that have the other sign.
func TestQOPEigenvalues(t *testing.T) {
	const d, draws, a0 = 4, 4000, 1.5 // L = 1, σ = 1, ρ = 1
	const p, k, y = 2.5, 1.5, 1 / a0  // m = 8; y = L/(σ²a₀)
	bound := math.Max(-p*math.Log1p(-y)+math.Log1p(y), y*a0/2+math.Log1p(y))
	src := noise.NewSeeded(37)
	unit := func() *mat.VecDense { return unitVector(src, d) }
	var largest, worst float64
	for draw := range draws {
		q := orthogonal(src, d)
		axis := func(i int) *mat.VecDense { return mat.VecDenseCopyOf(q.ColView(i)) }
		// W′
		moved := symmetric(d, []float64{a0, a0 + src.ExpFloat64()*float64(draw%2), a0 + 1, a0 + 2}, axis(0), axis(1),
			axis(2), axis(3))
		// v is along e, H̄ the mean Hessian of a record on the way from θ⋆ to θ, h the Hessian at θ; both of rank one,
		// between 0 and L.
		e, x, z := unit(), unit(), unit()
		curved := []float64{src.Float64(), src.Float64(), src.Float64(), src.Float64()} // H̄, H̄′, h, h′
		if draw%2 == 0 {
			e, x, z = axis(0), axis(1), axis(0)
			curved = []float64{0, 1, 1, 0}
		}
		u := mat.NewVecDense(d, nil)
		u.AddScaledVec(u, curved[0]*mat.Dot(x, e), x)
		u.AddScaledVec(u, -curved[1]*mat.Dot(z, e), z)
		U := lemmaC7(e, u)
		var back mat.VecDense
		back.MulVec(U, e)
		back.SubVec(&back, u)
		if mat.Norm(&back, 2) > 1e-12 || !(math.Abs(mat.Norm(U, 2)) <= 2*mat.Norm(u, 2)) {
			t.Fatal("U is not that of the lemma")
		}
		largest = math.Max(largest, mat.Norm(u, 2))
		before, after := symmetric(d, curved[2:3], x), symmetric(d, curved[3:], z)
		log := -k*(logDet(moved, U)-logDet(moved)) + mat.Trace(U)/2 + logDet(moved, before) - logDet(moved, after, U)
		if math.IsNaN(log) {
			t.Fatal("W is not positive")
		}
		worst = math.Max(worst, log/bound)
	}
	if !(largest <= 1+1e-12 && largest > 0.99 && worst <= 1 && worst > 0.8) {
		t.Errorf("‖U‖ up to %.4f·L, %.3f of the sharper bound", largest, worst)
	}
	errata.Quotes(t, "qop-37", "%.2f", largest, worst)
	// σ²/L at ε₁ = 1/2, δ₁ = δ₃ = 0.005, ρ = 1.
	for _, c := range []struct {
		d, m      int
		reference float64 // independent value (mpmath) of the printed one, 0 if there is none
	}{{12, 24, 90.18832213192779}, {100, 200, 0}} {
		k := float64(c.m-c.d-1) / 2
		wa, a0 := alphaD4(c.d, c.m, 0.005), alphaD4(c.d, c.m, 0.01)
		printed := 2 * (2*k/wa + 1 + 2*4/wa) / 0.5
		if c.reference > 0 {
			errata.Within(t, "σ² at ε₁ = 1/2", printed, c.reference, 1e-6)
		}
		lo, _ := univariate.Bisect(func(y float64) bool {
			return math.Max(-(k+1)*math.Log1p(-y), y*a0/2)+math.Log1p(y) > 0.5
		}, 0, 1, univariate.Arithmetic, 0)
		sharper := 1 / (lo * a0)
		n := measure.Must(wishart.Setting{Wishart: wishart.Wishart{D: c.d, M: c.m}, Smoothness: 1, Rank: 1,
			Accounting: wishart.Spectral}.Noise(wishart.Split{Epsilon1: 0.5, Delta1: 0.005, Delta3: 0.005}))
		errata.Within(t, "σ² by eigenvalues of the right sign", n.Sigma2, sharper, 1e-6)
		if printed < 4*sharper {
			t.Errorf("(%d, %d): printed %.3f, sharper %.3f", c.d, c.m, printed, sharper)
		}
		errata.Quotes(t, "qop-37", "%.1f", printed, sharper)
		if c.d == 100 {
			errata.Quote(t, "qop-37", "%.1f", printed/sharper)
		}
	}
}

// Algorithm G.2 over a half-line settles off the minimiser.
func TestQOPSplittingIsBiased(t *testing.T) {
	testscale.Slow(t)
	src := noise.NewSeeded(46)
	// Averages over 20 runs, to see the limit through the last draws.
	var printed, joint float64
	for range 20 {
		printed += printedG2(halfLine, 50_000, src)[0] / 20
		s := measure.Must(composite.Stochastic(halfLine, &composite.StochasticSettings{Indices: src, Iterations: 50_000,
			Joint: true}))
		joint += s.Theta[0] / 20
	}
	if !(math.Abs(printed-0.5) < 0.02 && math.Abs(joint) < 0.02) {
		t.Errorf("as printed %.4f, with the joint map %.4f, minimiser 0", printed, joint)
	}
	errata.Quotes(t, "qop-46", "%.1f", printed, joint)
}

// What Algorithm G.2 returns need not lie in C.
func TestQOPSplittingLeavesC(t *testing.T) {
	miss := offTheSimplex(noise.NewSeeded(47))
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
		// The problem of appendix G.3, with the σ² of Theorem 3.1 as printed for ε₁ = 0.5, δ₃ = 0.005 and m = 2d.
		task := NewTask(kappa, 0, src)
		p := task.problem(loss.Squared{})
		g := mat.NewDense(qopDimension, 2*qopDimension, nil)
		src.Gaussian(g.RawMatrix().Data, 1)
		w := wishart.Wishart{D: qopDimension, M: 2 * qopDimension}
		p.Centre, p.Quadratic = task.Anchor, new(mat.SymDense)
		p.Quadratic.SymOuterK(RowNorm*RowNorm*lemmaD4(w, 1e-3, 0.005, 1e-3).sigma2First(0.5, 1), g)
		mu, ok := composite.LeastEigenvalue(p.Quadratic)
		if !ok {
			t.Fatal("no least eigenvalue")
		}
		best := measure.Must(composite.Solve(p, &composite.Settings{Modulus: mu, Tolerance: 1e-2}))
		theta := printedG2(p, 1000, src)
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
	errata.Quotes(t, "qop-48", "%.2f %.2f %.1e", nearest, farthest, least, most)
}
