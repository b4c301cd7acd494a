package objective

import "math"

// kappaOf returns κ with S̄(γ) = κγ(L − γ) on [0, L], or 0.
func kappaOf(c Curve) float64 {
	if k, ok := c.(interface{ Kappa() float64 }); ok {
		return k.Kappa()
	}
	return 0
}

// thresholds are the proved sufficient values of λ/(κLσ) for Theorem B: with L/σ at least From, λ ≥ Ratio·κLσ suffices.
// Each row is a run of ProveGaussianCase(Ratio, From, +Inf, …), which TestTheoremB repeats;
// docs/theory/gaussian_case.md has the proof.
var thresholds = []struct{ From, Ratio float64 }{
	{0, 0.28},
	{0.75, 0.25},
	{3, 0.2},
}

// thresholdRatio returns the proved ratio for a = L/σ.
func thresholdRatio(a float64) float64 {
	ratio := math.Inf(1)
	for _, t := range thresholds {
		if a >= t.From {
			ratio = math.Min(ratio, t.Ratio)
		}
	}
	return ratio
}

// IsGaussian reports whether objective perturbation with this curve, λ and σ is proved to be exactly (L/σ)-GDP under
// add/remove-one: at every ε, in both directions, its worst case is the Gaussian mechanism of sensitivity L (Theorem
// B). The ratio λ/(κLσ) that suffices is 0.28, from L/σ = 0.75 on 0.25, from 3 on 0.2. False says only that it is not
// proved.
//
// Proof: docs/theory/gaussian_case.md#dpnb-theoremB.
func IsGaussian(c Curve, lambda, sigma float64) bool {
	kappa := kappaOf(c)
	if kappa <= 0 {
		return false
	}
	L := Slope(c)
	return lambda >= thresholdRatio(L/sigma)*kappa*L*sigma*(1+1e-12)
}

// gaussianAt reports whether Theorem A applies at ε: with S̄ = κγ(L − γ), λ ≥ κL²/(ε + L²/(2σ²)) makes Tight the
// Gaussian's δ(ε).
func (p *problem) gaussianAt(eps float64) bool {
	kappa := kappaOf(p.curve)
	if kappa <= 0 {
		return false
	}
	L := Slope(p.curve)
	a := L / p.sigma
	return p.lambda*(eps+0.5*a*a) >= kappa*L*L*(1+1e-12)
}
