package mechanism_test

import (
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/limits"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Of every parameter the ends of its range are admitted, and what is next to them is not; and what laws cost.
func TestLimits(t *testing.T) {
	scale := func(s mechanism.Scales) error { return s.Check() }
	for _, x := range []float64{0x1p-100, 1, 0x1p100} {
		if err := scale(mechanism.Scales{{"a", 1}, {"b", x}}); err != nil {
			t.Error(err)
		}
	}
	for _, x := range []float64{0, limits.Below(0x1p-100), limits.Above(0x1p100), math.Inf(1), math.NaN(), -1} {
		if scale(mechanism.Scales{{"a", 1}, {"b", x}}) == nil {
			t.Errorf("%v is admitted", x)
		}
	}
	for rows, fine := range map[int]bool{0: false, 1: true, 10_000: true, 10_001: false} {
		if err := mechanism.CheckRows(rows); (err == nil) != fine {
			t.Errorf("%d rows of a person: %v", rows, err)
		}
	}
	for law, fine := range map[mechanism.Law]bool{-1: false, mechanism.Gaussian: true, mechanism.Laplace: true, 2: false} {
		if err := law.Validate(); (err == nil) != fine {
			t.Errorf("%v: %v", law, err)
		}
	}
	for name, c := range map[string][2]float64{
		"Gaussian cost":     {mechanism.Gaussian.Cost(2, 4), math.Sqrt(0.3125)},
		"Laplace cost":      {mechanism.Laplace.Cost(2, 4), 0.75},
		"Gaussian variance": {mechanism.Gaussian.Variance(3), 1}, "Laplace variance": {mechanism.Laplace.Variance(3), 4},
	} {
		if c[0] < c[1] || c[0] > c[1]*(1+1e-14) {
			t.Errorf("%s: %v, want %v", name, c[0], c[1])
		}
	}
	for adj, fine := range map[privacy.Adjacency]bool{0: false, privacy.AddRemove: true, privacy.ReplaceOne: false} {
		if err := mechanism.OnlyAddRemove(adj, "all are"); (err == nil) != fine {
			t.Errorf("%v: %v", adj, err)
		}
	}
}
