package objpert_test

import (
	"fmt"

	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert"
	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/privacy/objective"
)

// Linear regression: squared loss with every gradient clipped at norm 1, once by the bound that needs only L and s,
// once by the tight one.
func ExampleCalibrate() {
	for _, bound := range []objective.Bound{objective.DTZ24, objective.Tight} {
		m, err := objpert.Calibrate(objpert.Config{
			Loss: loss.Squared{}, RowNorm: 1, Clip: 1,
			Epsilon: 1, Delta: 1e-5, Adjacency: privacy.AddRemove, Bound: bound,
		})
		if err != nil {
			panic(err)
		}
		fmt.Printf("%v: λ = %.2f, σ = %.2f\n", bound, m.Lambda, m.Sigma)
	}
	// Output:
	// dtz24: λ = 4.18, σ = 4.85
	// tight: λ = 2.01, σ = 4.85
}
