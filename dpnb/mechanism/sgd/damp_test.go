package sgd

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpnb/notebooks/dpnb/matrix"
)

// The implicit step solves (I + AP)θ′ = θ, P by the definition of the penalties: where A is diagonal block by block,
// and else at once.
func TestDampSolves(t *testing.T) {
	for _, ridge := range []float64{0, 0.2, 1} {
		dampSolves(t, ridge)
	}
}

func dampSolves(t *testing.T, ridge float64) {
	const d = 8
	s := &adaptive{Adaptive: Adaptive{Radius: 1, Steps: 4, Noise: 3, Ridge: ridge,
		Curves: []matrix.Span{{First: 1, Len: 5}}}}
	lambda := ridge * 9 / 4.0
	start := []float64{1, -2, 3, 0.5, -1, 2, 4, 5}
	size := func(j int) float64 { return 0.1 + 0.05*float64(j) }
	// The gradient of the penalty ½λ(Σθ² + 8Σ(second differences)²) at θ.
	gradient := func(theta []float64) []float64 {
		g := make([]float64, d)
		for j := range d - 1 {
			g[j] = lambda * theta[j]
		}
		for j := 1; j <= 3; j++ {
			bend := 8 * lambda * (theta[j] - 2*theta[j+1] + theta[j+2])
			g[j], g[j+1], g[j+2] = g[j]+bend, g[j+1]-2*bend, g[j+2]+bend
		}
		return g
	}
	block := append([]float64{}, start...)
	s.damp(block, nil, size)
	a := mat.NewDiagDense(d, nil)
	for j := range d {
		a.SetDiag(j, size(j))
	}
	whole := append([]float64{}, start...)
	s.damp(whole, a, nil)
	if floats.Distance(block, whole, math.Inf(1)) > 1e-12 {
		t.Errorf("%v by blocks, %v at once", block, whole)
	}
	for j, g := range gradient(block) {
		if back := block[j] + size(j)*g; !(math.Abs(back-start[j]) <= 1e-12) {
			t.Errorf("coefficient %d: %v, want %v", j, back, start[j])
		}
	}
	if block[d-1] != start[d-1] {
		t.Error("the last coefficient has a ridge")
	}
}
