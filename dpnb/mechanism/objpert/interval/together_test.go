package interval

import (
	"fmt"
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// one is a data set of one feature.
type one struct{ x, y []float64 }

// at returns ∇J₀, its derivative, and M at theta, logistic loss.
func (o one) at(lambda, theta float64) (slope, curvature, m float64) {
	for i, x := range o.x {
		p := 1 / (1 + math.Exp(o.y[i]*x*theta))
		slope -= p * o.y[i] * x
		m += p * (1 - p) * x * x
	}
	return slope + lambda*theta, m + lambda, m
}

// exactTogether is δ(ε) of coefficient and curvature of a against those of b, the output noise and the tolerance being
// nothing: with φ the density of the noise, θ has the density φ(∇J₀)·J₀″, and given θ the curvature is a Gaussian
// mechanism.
func exactTogether(a, b one, lambda, sigma, sigmaH, eps float64) float64 {
	const n = 800
	top := 12*sigma/lambda + 3/lambda
	var sum float64
	for i := range n {
		theta := top * (2*(float64(i)+0.5)/n - 1)
		ga, ha, ma := a.at(lambda, theta)
		gb, hb, mb := b.at(lambda, theta)
		la := -0.5*ga*ga/sigma/sigma + math.Log(ha)
		lb := -0.5*gb*gb/sigma/sigma + math.Log(hb)
		p := math.Exp(la) / (sigma * math.Sqrt(2*math.Pi))
		e := eps + lb - la
		if mu := math.Abs(ma-mb) / sigmaH; mu > 0 {
			p *= math.Exp(privacy.GaussianProfile(mu, privacy.AddRemove).LogDeltaUpper(privacy.Remove, e))
		} else {
			p *= math.Max(0, -math.Expm1(e))
		}
		sum += p * 2 * top / n
	}
	return sum
}

// TestTogetherAgainstExactLaws: in one dimension the law of coefficient and curvature is known; no pair of neighbours
// exceeds what Together says.
func TestTogetherAgainstExactLaws(t *testing.T) {
	worst, alone := 0.0, 0.0
	for _, lambda := range []float64{0.3, 2} {
		for _, sigma := range []float64{0.5, 2, 6} {
			for _, share := range []float64{0.2, 1} { // μ of the curvature over L/σ
				fit := objpert.Objective{Loss: loss.Logistic{}, RowNorm: 1, Lambda: lambda, Sigma: sigma,
					Tolerance: 1e-9, OutputSigma: 1e-3}
				c := Curvature{Fit: fit, Sigma: 0.25 * sigma / share}
				together := must.Get(c.WithGaussian(0))
				part := must.Get(fit.Profile())
				for _, eps := range []float64{0, 0.5, 2} {
					claimed, fitAlone := privacy.DeltaUpper(together, eps), privacy.DeltaUpper(part, eps)
					for _, base := range []one{{}, {[]float64{1}, []float64{1}},
						{[]float64{-1, -1, -1}, []float64{1, 1, 1}}, {[]float64{1, -1, 0.5}, []float64{1, 1, -1}}} {
						for _, x := range []float64{-1, 0.7, 1} {
							more := one{append(append([]float64(nil), base.x...), x),
								append(append([]float64(nil), base.y...), 1)}
							exact := math.Max(exactTogether(base, more, lambda, sigma, c.Sigma, eps),
								exactTogether(more, base, lambda, sigma, c.Sigma, eps))
							if exact > claimed*(1+1e-6)+1e-9 {
								t.Errorf("λ = %v, σ = %v, ε = %v, %v and x = %v: exact δ %v, claimed %v", lambda, sigma,
									eps, base, x, exact, claimed)
							}
							if exact > 1e-8 {
								worst, alone = math.Max(worst, exact/claimed), math.Max(alone, exact/fitAlone)
							}
						}
					}
				}
			}
		}
	}
	what := fmt.Sprintf("largest exact/claimed %.3f, of what is claimed for the fit alone %.3f", worst, alone)
	t.Log(what)
	if worst < 0.5 || alone <= 1 {
		t.Errorf("%s: the pairs tried are too tame to test anything", what)
	}
}
