package qop

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/paper/internal/errata"
	"github.com/dpnb/notebooks/dpnb/paper/internal/measure"
)

// Lemma D.1 holds for √t ≥ √m + √d only.
func TestQOPLargestEigenvalue(t *testing.T) {
	const m = 4 // d = 1, where W ~ χ²_m
	law := distuv.ChiSquared{K: m}
	bound := func(t float64) float64 {
		return 2 * math.Exp(-math.Pow(math.Sqrt(t)-math.Sqrt(m)-1, 2)/2)
	}
	at := 0.25
	if !(law.Survival(at) > 5*bound(at)) {
		t.Errorf("at %g: probability %.4g, bound %.4g", at, law.Survival(at), bound(at))
	}
	errata.Quotes(t, "qop-49", "%.3f", law.Survival(at), bound(at))
	// From (√m + √d)² = 9 on it holds, and without the factor 2.
	for s := 9.0; s < 200; s += 0.5 {
		if law.Survival(s) > bound(s)/2 {
			t.Errorf("at %g: probability %.4g, half the bound %.4g", s, law.Survival(s), bound(s)/2)
		}
	}
}

// Given θ_priv the largest eigenvalue is no longer what it was.
func TestQOPConditioning(t *testing.T) {
	// d = 1, r(θ) = θ, losses xᵢ²θ²/2 with Σxᵢ² = s: θ = −1/(s + σ²W), so that θ_priv and the data determine W.
	const m, s, sigma2, delta4, draws = 3, 2.0, 5.0, 0.05, 20_000
	beta := distuv.ChiSquared{K: m}.Quantile(1 - delta4)
	given := func(theta, s float64) float64 { return measure.Indicator((-1/theta-s)/sigma2 > beta) } // P(W > β | θ)
	src := noise.NewSeeded(50)
	z := make([]float64, m)
	var certain, disagree measure.Mean
	for range draws {
		src.Gaussian(z, 1)
		var w float64
		for _, v := range z {
			w += v * v
		}
		theta := -1 / (s + sigma2*w)
		p := given(theta, s)
		certain.Add(measure.Indicator(p > delta4))
		disagree.Add(measure.Indicator(p != given(theta, s+1))) // one record of xᵢ = 1 more
	}
	errata.Within(t, "share where the event fails for certain", certain.M, delta4, 4*certain.Err())
	if !(disagree.M > 5*disagree.Err()) {
		t.Errorf("neighbours disagree in a share of %.4g ± %.2g", disagree.M, disagree.Err())
	}
	errata.Quotes(t, "qop-50", "%.3f %.4f", certain.M, disagree.M)
}
