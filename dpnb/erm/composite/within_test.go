package composite_test

import (
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpnb/notebooks/dpnb/erm"
	"github.com/dpnb/notebooks/dpnb/erm/composite"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
)

// On a sphere the certificate is about a point near the one that is released. The output noise is calibrated for the
// distance of the one that is released.
func TestWithinCountsTheWayToTheSphere(t *testing.T) {
	p := &composite.Problem{
		Problem: erm.Problem{Rows: matrix.NewDense(1, 1, []float64{1e-3}), Labels: []float64{0},
			Loss: loss.Squared{}, Quadratic: mat.NewSymDense(1, []float64{1}), Centre: []float64{2}},
		Constraint: composite.Ball{Radius: 1},
	}
	const modulus = 1
	sol := must.Get(composite.Solve(p, &composite.Settings{Tolerance: 1, Modulus: modulus, Start: []float64{1}}))
	if sol.Certificate.Shift == 0 {
		t.Fatal("the sphere is not met")
	}
	for _, times := range []float64{1.0001, 1.5, 3, 100} {
		tolerance := times * sol.Certificate.Bound()
		theta, err := composite.Within(p, composite.Settings{Tolerance: tolerance, Modulus: modulus})
		if err != nil {
			if times > 2.5 {
				t.Errorf("%g of what is possible is refused: %v", times, err)
			}
			continue
		}
		c := must.Get(composite.Verify(p, theta, modulus))
		if c.Distance() > tolerance/modulus {
			t.Errorf("%g of what is possible: ‖θ − θ⋆‖ ≤ %.4g is proved, ≤ %.4g is needed", times, c.Distance(),
				tolerance/modulus)
		}
	}
}
