package erm_test

import (
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/erm"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
)

// Without records every method returns θⱼ = −bⱼ/(λ + ωⱼ), certified: whether there are any is private, and no refusal
// tells.
func TestWithoutRecords(t *testing.T) {
	linear, shrink := []float64{1e3, -2, 0}, []float64{0, 3, 1}
	for _, rows := range []matrix.Rows{matrix.NewDense(0, 3, nil), matrix.NewDense(0, 3, nil).Sparse()} {
		for _, m := range []erm.Method{nil, erm.Auto{}, erm.LBFGS{}, erm.NewtonCG{}, erm.SAG{}, erm.SVRG{}} {
			for _, l := range []loss.Loss{loss.Logistic{}, loss.Squared{}} {
				for _, tolerance := range []float64{0, 1e-10} {
					p := &erm.Problem{Rows: rows, Loss: l, Lambda: 2, Linear: linear, Shrinkage: shrink}
					s, err := erm.Minimize(p, &erm.Settings{Method: m, Tolerance: tolerance, Start: []float64{7, 7, 7}})
					if err != nil {
						t.Fatalf("%v, %s: %v", m, l.Name(), err)
					}
					if s.Passes != 1 {
						t.Errorf("%v, %s: %d passes to what is known", m, l.Name(), s.Passes)
					}
					for j, b := range linear {
						if want := -b / (2 + shrink[j]); !(math.Abs(s.Theta[j]-want) <= 1e-12) {
							t.Errorf("%v, %s: θ = %v, want %v at %d", m, l.Name(), s.Theta, want, j)
						}
					}
				}
			}
		}
	}
}
