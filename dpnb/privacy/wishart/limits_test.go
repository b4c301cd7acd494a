package wishart

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/limits"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Of every parameter the ends of its range are admitted, and what is next to them is not.
func TestLimits(t *testing.T) {
	s := Setting{Wishart: Wishart{D: 3, M: 7}, Smoothness: 1, Rank: 1, Structure: LinearModel}
	limits.Check(t, s, Setting.Validate, limits.In("D", 1, limits.None), limits.In("M", 4, limits.None),
		limits.NotNegative("Shift"),
		limits.NotNegative("AnchorError"), limits.NotNegative("Accuracy"), limits.Positive("Smoothness"),
		limits.In("Structure", float64(AnyLoss), limits.None), limits.In("Rank", 1, 1),
		limits.In("Adjacency", 0, float64(privacy.ReplaceOne)))
	s.Structure = AnyLoss
	limits.Check(t, s, Setting.Validate, limits.In("Rank", 1, 3))
	for structure, most := range map[Structure]Accounting{AnyLoss: Spectral, LinearModel: Directional,
		LeastSquares: Exact} {
		for a := Best; a <= Exact; a++ {
			if s.Structure, s.Accounting = structure, a; (s.Validate() == nil) != (a <= most) {
				t.Errorf("%v accounting of %v: %v", a, structure, s.Validate())
			}
		}
	}
	s.Structure, s.Accounting = LeastSquares, Best
	limits.Check(t, s, Setting.Validate, limits.In("Structure", limits.None, float64(LeastSquares)),
		limits.In("Accounting", 0, float64(Exact)))

	// Parts of (ε, δ): those that are needed are above 0.
	valid := func(of Setting) func(Split) error { return func(p Split) error { return p.validate(of) } }
	full := Split{Epsilon1: 1, Epsilon2: 1, Delta1: 0.1, Delta2: 0.1, Delta3: 0.1, Delta4: 0.1}
	part := func(v *float64, of Setting, from, to float64) {
		t.Helper()
		was := *v
		for x, fine := range map[float64]bool{from: true, to: true, limits.Below(from): false, limits.Above(to): false,
			math.NaN(): false} {
			if *v = x; (valid(of)(full) == nil) != fine {
				t.Errorf("%v of %+v", x, full)
			}
		}
		*v = was
	}
	exact := s
	s.Structure, s.Accounting, s.Accuracy, s.AnchorError = LinearModel, Spectral, 1, 1
	for of, from := range map[Setting]float64{s: 5e-324, exact: 0} {
		part(&full.Epsilon1, of, 5e-324, limits.Below(1e3))
		part(&full.Delta1, of, 5e-324, limits.Below(1))
		part(&full.Epsilon2, of, from, limits.Below(1e3))
		for _, v := range []*float64{&full.Delta2, &full.Delta3, &full.Delta4} {
			part(v, of, from, limits.Below(1))
		}
	}

	risk := func(change func(*Risk), eps, delta float64) bool {
		r := Risk{Records: 1, Distance: 1}
		change(&r)
		s := exact
		s.Accuracy = 1e-3
		_, err := Optimise(s, eps, delta, r)
		return err == nil
	}
	same := func(*Risk) {}
	if !risk(same, 1, 0.1) || risk(same, 0, 0.1) || risk(same, 1e3, 0.1) || risk(same, 1, 0) || risk(same, 1, 1) ||
		risk(func(r *Risk) { r.Records = 0 }, 1, 0.1) || risk(func(r *Risk) { r.Distance = 0 }, 1, 0.1) ||
		risk(func(r *Risk) { r.Distance = math.Inf(1) }, 1, 0.1) ||
		risk(func(r *Risk) { r.RegulariserSlope = -5e-324 }, 1, 0.1) ||
		risk(func(r *Risk) { r.RegulariserSlope = math.Inf(1) }, 1, 0.1) {
		t.Error("what is asked of the risk")
	}

	w := Wishart{D: 3, M: 7}
	for _, c := range []struct {
		d1, d3, d4 float64
		fine       bool
	}{{0.1, 0.1, 0, true}, {0, 0.1, 0.1, false}, {1, 0.1, 0.1, false}, {0.1, 0, 0.1, false}, {0.1, 1, 0.1, false},
		{0.1, 0.1, 1, false}, {0.1, 0.1, -5e-324, false}, {0.1, 0.1, math.NaN(), false}} {
		if _, err := w.Constants(c.d1, c.d3, c.d4); (err == nil) != c.fine {
			t.Errorf("%+v: %v", c, err)
		}
	}
	for _, c := range []struct {
		d1, d3 float64
		fine   bool
	}{{0, 0.5, true}, {0.5, 0.5, true}, {-5e-324, 0.5, false}, {1, 0.5, false}, {0, 0, false}, {0, 1, false}} {
		if _, err := w.certify(c.d1, c.d3, 200, rand.New(rand.NewPCG(1, 2))); (err == nil) != c.fine {
			t.Errorf("certified %+v: %v", c, err)
		}
	}
}
