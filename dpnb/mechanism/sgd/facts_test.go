package sgd

import (
	"math"
	"reflect"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// What follows from facts, by hand, and what a descent costs beside a Gaussian mechanism.
func TestFacts(t *testing.T) {
	f := mechanism.Facts{Records: 1000, Mu: 0.5, Directions: 30, Curves: []matrix.Span{{First: 1, Len: 4}},
		Nowhere: []matrix.Direction{{First: 0, Weights: []float64{1}}}}
	q := quantiles(deciles)
	c := q.WithCurvature(0.2)
	own := math.Sqrt(20) / 3
	for _, m := range []interface {
		mechanism.Informed
		mechanism.WithGaussians
	}{q, c} {
		of, stretch := m.For(f)
		fit, with := of.(Quantiles)
		if !with {
			fit = of.(Curvature).Fit
			if !reflect.DeepEqual(of.(Curvature).Nowhere, f.Nowhere) {
				t.Error("directions are lost")
			}
		}
		u := fit.Update
		if r := math.Sqrt(470); !(math.Abs(u.Radius-r) <= 1e-12) || !(math.Abs(u.Ball-2*r) <= 1e-12) ||
			!(math.Abs(u.Ridge-0.09) <= 1e-15) || !reflect.DeepEqual(u.Curves, f.Curves) || stretch != 1 {
			t.Errorf("%+v, stretch %v", u, stretch)
		}
		_, mu, ok := privacy.GaussianMu(must.Get(m.WithGaussian(0.3)))
		if want := math.Hypot(own, 0.3); !ok || mu < want || mu > want*(1+1e-12) {
			t.Errorf("μ = %v beside 0.3, want %v", mu, want)
		}
	}
}
