package multiclass_test

import (
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert/multiclass"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// What follows from facts for several classes, by hand, and what Gaussian mechanisms beside it cost.
func TestFacts(t *testing.T) {
	f := mechanism.Facts{Records: 1000, Mu: 0.5, Directions: 30, Curves: []matrix.Span{{First: 1, Len: 4}}} // a = 0.12
	near := func(a, b float64) bool { return math.Abs(a-b) <= 1e-9*math.Abs(b) }
	for _, least := range []float64{0.01, 100} {
		m := multiclass.Softmax{Classes: 4, RowNorm: 1, Lambda: least, Sigma: 2, Tolerance: 1e-6, OutputSigma: 1}
		of, stretch := m.For(f)
		got := of.(multiclass.Softmax)
		want := math.Max(least, 0.5*(1+17*0.24)) // half of μ² for each
		last := math.Min(want, math.Sqrt(least*want))
		if !near(got.Lambda, last) || !near(got.Lambda+got.Shrinkage, want) || len(got.Rough) != 1 ||
			!near(got.Rough[0].Weight, 0.5*want) || !near(stretch, 1+math.Min(2, 0.03*want)) {
			t.Errorf("%+v, stretch %v, want λ = %v and %v", got, stretch, last, want)
		}
		a, b := must.Get(m.Profile()), must.Get(got.Profile())
		if privacy.DeltaUpper(b, 1) > privacy.DeltaUpper(a, 1)*(1+1e-12) {
			t.Errorf("δ = %v, was %v", privacy.DeltaUpper(b, 1), privacy.DeltaUpper(a, 1))
		}
		rest := multiclass.OneVsRest{Classes: 4, Binary: objpert.Objective{Loss: loss.Logistic{}, RowNorm: 1,
			Lambda: least, Sigma: 2, Tolerance: 1e-6, OutputSigma: 1}}
		each := f
		each.Mu = 0.25
		one, longer := rest.Binary.For(each)
		all, stretch := rest.For(f)
		if b := all.(multiclass.OneVsRest).Binary; stretch != longer || b.Lambda != one.(objpert.Objective).Lambda ||
			b.Shrinkage != one.(objpert.Objective).Shrinkage {
			t.Errorf("%+v, stretch %v, want %+v", b, stretch, one)
		}
	}
	// Parts of μ², and Gaussian mechanisms beside as more noise of the output.
	soft := multiclass.Softmax{Classes: 3, RowNorm: 1, Lambda: 50, Sigma: 20, Tolerance: 1e-9, OutputSigma: 1}
	rest := multiclass.OneVsRest{Classes: 3, Binary: objpert.Objective{Loss: loss.Logistic{}, RowNorm: 1, Lambda: 50,
		Sigma: 20, Tolerance: 1e-9, OutputSigma: 1}}
	for _, c := range []struct {
		m interface {
			mechanism.WithGaussians
			Part(share, all float64) float64
		}
		mu float64
	}{{soft, soft.Lipschitz() / 20}, {rest, math.Sqrt(3) * rest.Binary.Lipschitz() / 20}} {
		if part, all := c.m.Part(0.2, 0.5), math.Sqrt(0.4)*c.mu; !near(part, all) || part > all*(1-1e-13) {
			t.Errorf("%v: a part of %v, want hardly less than %v", c.m, part, all)
		}
	}
	// What was reserved is there: with all of it beside, a fit still is what it was calibrated for, and hardly less.
	for _, all := range []float64{0.05, 0.5} {
		c := multiclass.Config{Classes: 3, RowNorm: 1, Epsilon: 1, Delta: 1e-5, Adjacency: privacy.AddRemove,
			Reserved: all}
		soft := must.Get(multiclass.CalibrateSoftmax(c, multiclass.Vertex))
		rest := must.Get(multiclass.CalibrateOneVsRest(c, loss.Logistic{}))
		for _, m := range []interface {
			mechanism.WithGaussians
			Part(share, all float64) float64
		}{soft, rest} {
			beside := must.Get(m.WithGaussian(m.Part(all, all)))
			if d := privacy.DeltaUpper(beside, 1); d > 1e-5 || d < 0.98e-5 {
				t.Errorf("%v with %g of μ² beside: δ = %g", m, all, d)
			}
		}
	}
	noisier := soft
	noisier.OutputSigma = 2e-9 / (50 * 0.1)
	a, b := must.Get(soft.WithGaussian(0.1)), must.Get(noisier.Profile())
	_, mu, ok := privacy.GaussianMu(must.Get(rest.WithGaussian(0.1)))
	if want := math.Hypot(math.Sqrt(3)/20, 0.1); !ok || mu < want || mu > want*(1+1e-6) {
		t.Errorf("μ = %v, want %v", mu, want)
	}
	if x, y := privacy.DeltaUpper(a, 0.1), privacy.DeltaUpper(b, 0.1); !near(x, y) {
		t.Errorf("δ = %v, want %v", x, y)
	}
}
