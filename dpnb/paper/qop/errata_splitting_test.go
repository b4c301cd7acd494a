package qop

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpnb/notebooks/dpnb/erm"
	"github.com/dpnb/notebooks/dpnb/erm/composite"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/paper/internal/errata"
	"github.com/dpnb/notebooks/dpnb/paper/internal/measure"
	"github.com/dpnb/notebooks/dpnb/privacy/wishart"
)

// Algorithm G.2 over a half-line settles off the minimiser.
func TestQOPSplittingIsBiased(t *testing.T) {
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
