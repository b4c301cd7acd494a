package wishart

import (
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/limits"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

func TestLimits(t *testing.T) {
	s := Setting{Wishart: Wishart{D: 3, M: 7}, Smoothness: 1, Rank: 1, Structure: LeastSquares}
	limits.Check(t, s, Setting.Validate, limits.In("D", 1, limits.None), limits.In("M", 4, limits.None),
		limits.NotNegative("Shift"), limits.NotNegative("AnchorError"), limits.NotNegative("Accuracy"),
		limits.Positive("Smoothness"), limits.In("Structure", float64(AnyLoss), float64(LeastSquares)),
		limits.In("Adjacency", 0, float64(privacy.ReplaceOne)), limits.In("Rank", 1, 1))
	exact := s
	for structure, most := range map[Structure]Accounting{AnyLoss: Spectral, LinearModel: Directional,
		LeastSquares: Exact} {
		for a := Best; a <= Exact; a++ {
			if s.Structure, s.Accounting = structure, a; (s.Validate() == nil) != (a <= most) {
				t.Errorf("%v accounting of %v: %v", a, structure, s.Validate())
			}
		}
	}
	s.Structure, s.Accounting = AnyLoss, Spectral
	limits.Check(t, s, Setting.Validate, limits.In("Rank", 1, 3))
	// Parts of (ε, δ): those that are needed are above 0.
	s.Accuracy, s.AnchorError = 1, 1
	for of, from := range map[Setting]float64{s: 5e-324, exact: 0} {
		full := Split{Epsilon1: 1, Epsilon2: 1, Delta1: 0.1, Delta2: 0.1, Delta3: 0.1, Delta4: 0.1}
		for v, r := range map[*float64][2]float64{&full.Epsilon1: {5e-324, 1e3}, &full.Epsilon2: {from, 1e3},
			&full.Delta1: {5e-324, 1}, &full.Delta2: {from, 1}, &full.Delta3: {from, 1}, &full.Delta4: {from, 1}} {
			was := *v
			limits.Argument(t, "part", r[0], limits.Below(r[1]), func(x float64) error { *v = x; return full.validate(of) })
			*v = was
		}
	}
	exact.Accuracy = 1e-3
	plan := func(eps, delta float64, r Risk) error { _, err := Optimise(exact, eps, delta, r); return err }
	good := plan(1, 0.1, Risk{Records: 1, Distance: 1})
	limits.Pairs(t, map[string][2]error{"ε": {good, plan(1e3, 0.1, Risk{Records: 1, Distance: 1})},
		"δ": {good, plan(1, 1, Risk{Records: 1, Distance: 1})}, "records": {good, plan(1, 0.1, Risk{Distance: 1})},
		"distance": {good, plan(1, 0.1, Risk{Records: 1})},
		"slope":    {good, plan(1, 0.1, Risk{Records: 1, Distance: 1, RegulariserSlope: -5e-324})}})
	constants := func(d1, d3, d4 float64) error { _, err := s.Wishart.Constants(d1, d3, d4); return err }
	limits.Pairs(t, map[string][2]error{"δ₁": {constants(0.1, 0.1, 0), constants(0, 0.1, 0)},
		"δ₃": {nil, constants(0.1, 1, 0)}, "δ₄": {nil, constants(0.1, 0.1, 1)}, "none": {nil, constants(0.1, 0.1, -0.1)}})
}
