package account

import (
	"fmt"
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/golden"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// What runs cost together, and what is refused, is what it was.
func TestFiguresStay(t *testing.T) {
	golden.Figures(t, "testdata/figures.txt", 1e-7, func(say func(name string, values ...float64)) {
		for _, adj := range []privacy.Adjacency{privacy.AddRemove, privacy.ReplaceOne} {
			a := books(t, adj)
			for i, e := range []struct {
				event privacy.Event
				k     int
			}{
				{nil, 1}, {privacy.Gaussian{Sigma: 2, Sensitivity: 1}, 0}, {privacy.Gaussian{Sigma: 2,
					Sensitivity: 1}, 1},
				{privacy.Gaussian{Sigma: 2, Sensitivity: 1}, 3}, {privacy.Gaussian{Sigma: 2, Sensitivity: 1}, -1},
				{privacy.Gaussian{Sigma: -2, Sensitivity: 1}, 1}, {privacy.Gaussian{Sigma: 2, Sensitivity: 1}, maxRuns},
				{privacy.Pure(0.1, privacy.AddRemove), maxRuns + 1}, {privacy.BoundedRange{Gaussian: []float64{0.3}},
					1},
				{privacy.BoundedRange{Gaussian: []float64{0.3}}, 2}, {privacy.Laplace{Scale: 5, Sensitivity: 1}, 2},
			} {
				refused := 0.0
				if a.Compose(e.event, e.k) != nil {
					refused = 1
				}
				entries := a.Ledger()
				v := []float64{refused, float64(len(entries))}
				for _, entry := range entries {
					v = append(v, float64(entry.Count))
				}
				if i%3 == 0 && i < 10 {
					eps, err := a.EpsilonBounds(1e-5)
					must(t, err)
					delta, err := a.LogDeltaBounds(1)
					must(t, err)
					v = append(v, eps.Lower, eps.Upper, delta.Lower, delta.Upper)
				}
				say(fmt.Sprintf("%v, %d", adj, i), v...)
			}
			for _, x := range []float64{-1, 0, 1, math.Inf(1), math.NaN()} {
				_, err := books(t, adj).EpsilonBounds(x)
				_, errLn := books(t, adj).LogDeltaBounds(x)
				say(fmt.Sprintf("%v of %g", adj, x), map[bool]float64{true: 1}[err == nil],
					map[bool]float64{true: 1}[errLn == nil])
			}
		}
	})
}
