package learn

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/noise"
)

// TestBend draws values at the knots of two curves by the law of their noise: about lines Bend is 1 in the mean, and
// what bends adds to it what the definition says. A covariance off by a fiftieth is noticed. Of what bends Straightened
// leaves nothing, half and all at a Bend of 0.9, 1.2 and 2.
func TestBend(t *testing.T) {
	testscale.InTurn(t)
	people := visitors(t, 800)
	m := must.Get(Logistic{CurvatureShare: 0.05, Noise: Seed(1)}.Fit(Binary(people.Drop("count", "score"), "ill"),
		Simulate(2, 1e-6)))
	if all, err := m.Shapes(); err != nil || !(all.Bend() > 0.3) {
		t.Errorf("a Bend of %v, %v", all.Bend(), err)
	}
	all := &Shapes{all: []*Shape{m.Shape("age"), m.Shape("income"), m.Shape("ward")}}
	src := noise.NewSeeded(5)
	for _, bends := range []float64{0, 0.7} {
		const draws = 5_000
		var sum, noise, added float64
		for _, s := range all.all[:2] {
			n := len(s.term.Knots)
			straight := make([]float64, n)
			for k := range n { // what bends is at right angles to lines only after they are taken from it
				straight[k] = 3 - 0.4*float64(k) + bends*math.Abs(float64(k)-2)
			}
			s.own = straight
			_, own, by := s.bend()
			added, noise = added+own, noise+by
		}
		if bends == 0 && added > 1e-20 {
			t.Errorf("lines bend by %v", added)
		}
		kept, roots := [][]float64{all.all[0].own, all.all[1].own}, make([]mat.TriDense, 2)
		for i := range roots {
			var root mat.Cholesky
			if s := all.all[i]; !root.Factorize(s.noise.SliceSym(0, len(s.term.Knots)).(*mat.SymDense)) {
				t.Fatal("the covariance is singular")
			}
			root.LTo(&roots[i])
		}
		for range draws {
			for i, s := range all.all[:2] {
				n := len(s.term.Knots)
				z, v := mat.NewVecDense(n, nil), new(mat.VecDense)
				for k := range n {
					z.SetVec(k, src.NormFloat64())
				}
				v.MulVec(&roots[i], z)
				s.own = make([]float64, n)
				for k := range n {
					s.own[k] = kept[i][k] + v.AtVec(k)
				}
			}
			sum += all.Bend() / draws
		}
		if want := 1 + added/noise; !(math.Abs(sum/want-1) <= 0.02) {
			t.Errorf("bends of %v: %v in the mean, want %v", bends, sum, want)
		}
	}
	for _, c := range []struct{ bends, left float64 }{{0.9, 0}, {1.2, 0.5}, {2, 1}} { // in units of what noise makes
		all := must.Get(m.Shapes())
		var was float64
		for _, s := range all.All() {
			if bent, own, by := s.bend(); bent != nil {
				want := c.bends * by
				floats.AddScaled(s.own[:len(bent)], math.Sqrt(want/own)-1, bent)
				was += want
			}
		}
		var left float64
		for _, s := range all.Straightened() {
			_, own, _ := s.bend()
			left += own
		}
		if got := math.Sqrt(left / was); !(math.Abs(got-c.left) <= 1e-9) {
			t.Errorf("a Bend of %v: %v of it is left, want %v", all.Bend(), got, c.left)
		}
		if edited, err := m.With(all.Straightened()...); err != nil || edited == m && c.left < 1 {
			t.Error("it changes no model", err)
		}
	}
}
