package convolution

import (
	"cmp"
	"fmt"
	"math"

	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/privacy/objective"
)

// Planned is what is publicly known of the records before there are any.
type Planned struct {
	// Records is n, how many records were planned, Features d.
	Records, Features int
	// Radius is R ≥ ‖θ⋆‖.
	Radius float64
	// Residual is the scale r of the residuals aⱼᵀθ⋆ − yⱼ, in the unit of the labels; only Predicted and its like look
	// at it.
	Residual float64
}

func (p Planned) validate() error {
	return cmp.Or(privacy.Within(p.Records >= 1, "Planned.Records", p.Records,
		"a planned number of records ≥ 1: λ is chosen for it"),
		privacy.Within(p.Features >= 1, "Planned.Features", p.Features, "the number of features, ≥ 1"),
		privacy.Within(p.Radius > 0 && !math.IsInf(p.Radius, 1), "Planned.Radius", p.Radius,
			"a public bound R ≥ ‖θ⋆‖, positive and finite"))
}

// NoWidthError says that step 1 of cop's algorithm has no answer: the curvature that is not smoothed asks for more
// ridge than λ. Everything in it is public.
type NoWidthError struct {
	// Lambda is cop's λ, of the mean; Needed is what it must exceed.
	Lambda, Needed float64
	// Records is n, Enough the least n with which there is a width.
	Records, Enough int
}

// Error implements error.
func (e *NoWidthError) Error() string {
	return fmt.Sprintf("convolution: no kernel is wide enough for λ = %.4g (of the mean) at n = %d: the loss itself "+
		"wants λ > %.4g; plan n ≥ %d records, or fix Lambda > %.6g (of the sum)",
		e.Lambda, e.Records, e.Needed, e.Enough, 2*float64(e.Records)*e.Needed)
}

// constant returns cop's C = √(mĀ² + L_h²D²), with the slopes of f in place of ±1.
func (l Loss) constant() float64 {
	slope, _ := l.other()
	return math.Hypot(l.Lipschitz()-slope, slope)
}

// ridge returns cop's λ of Lemma 3.3, of the mean: √(4C²/n + dσ²/n²)/R.
func (p Planned) ridge(c, sigma float64) float64 {
	n := float64(p.Records)
	return math.Sqrt(4*c*c/n+float64(p.Features)*sigma*sigma/(n*n)) / p.Radius
}

// paper is cop's Algorithm 1: σ of Theorem 3.2, λ of Lemma 3.3, μ from step 1,
//
//	λ = (β_μ + β_h)(m + 1)/(nε).
//
// As printed β_μ is that of appendix B.3, L_f/μ for the Gaussian kernel and √6·L_f/μ for the Laplacian one, L_f = √m·Ā
// + D·L_h, and σ² = C²(8 ln(1/δ) + 8ε)/ε². Otherwise β_μ is the true curvature 2k(0)Ā²/μ, β_h = D²·sup h″, and σ the
// least by the rank of the Hessian at that λ: step 1 makes the ratio of curvature and ridge ε/(2(m+1)), whatever n is,
// so that σ comes first.
func (c Config) paper(printed bool) (COP, error) {
	k, ok := c.Form.(loss.Convolved)
	if !ok || k.Width != 0 {
		return COP{}, &privacy.ParamError{Name: "Form", Value: c.name(),
			Want: "a loss.Convolved with Width 0, which step 1 chooses"}
	}
	n, forms := float64(c.Planned.Records), float64(c.Forms)
	unit := c.wide(1)
	m := COP{Loss: unit, Account: ByRank}
	ratio := c.Epsilon / (2 * (forms + 1)) // s/λ, λ of the sum
	otherSlope, otherBeta := unit.other()
	beta := unit.Smoothness() - otherBeta // at width 1
	if printed {
		m.Account = ByRows
		m.Sigma = unit.constant() * math.Sqrt(8*math.Log(1/c.Delta)+8*c.Epsilon) / c.Epsilon
		l := math.Sqrt(forms)*unit.bound()*(k.Above-k.Below)/2 + otherSlope
		switch k.Kernel.Name() {
		case "Gaussian":
			beta = l
		case "Laplacian":
			beta = math.Sqrt(6) * l
		default:
			return COP{}, &privacy.ParamError{Name: "Kernel", Value: k.Kernel.Name(),
				Want: "Gaussian or Laplacian: cop prints no constant for others"}
		}
		m.Unproved = "λ, σ and the kernel's width are those of cop's Theorem 3.2 as printed, which is NOT proved: " +
			"the " +
			"guarantee here is another one, of what is proved at these parameters"
	} else {
		at := func(sigma float64) (float64, error) {
			p, err := objective.RankK{Rank: c.Loss.rows(), Smoothness: ratio, Slope: unit.Lipschitz(), Lambda: 1,
				Sigma: sigma}.Profile(privacy.AddRemove)
			if err != nil {
				return 0, err
			}
			p = privacy.WithGaussian(p, outputShare*unit.Lipschitz()/sigma, unit.Lipschitz()/sigma)
			return privacy.LogDeltaUpper(p, c.Epsilon), nil
		}
		gauss, err := privacy.GaussianSigma(c.Epsilon, c.Delta)
		if err != nil {
			return COP{}, err
		}
		if m.Sigma, err = crossing(at, gauss*unit.Lipschitz(), 1e3*gauss*unit.Lipschitz(), logDown(c.Delta),
			1e-5); err != nil {
			return COP{}, err
		}
		// What follows from it is rounded.
		m.Sigma *= 1 + 1e-9
	}
	mean := c.Planned.ridge(unit.constant(), m.Sigma)
	m.Lambda = 2 * n * mean
	room := n*c.Epsilon*mean/(forms+1) - otherBeta // β_μ
	if !(room > 0) {
		return COP{}, c.noWidth(unit, m.Sigma, mean, otherBeta)
	}
	m.Loss = c.wide(beta / room * (1 + 1e-12))
	m = m.finish(c.Tolerance)
	if err := m.Validate(); err != nil {
		return COP{}, err
	}
	if !printed && !c.satisfied(m) {
		return COP{}, c.noSigma(m)
	}
	return m, nil
}

// noWidth says how many records would do, σ being what it is whatever n is: those with √(4C²n + dσ²)·ε/(R(m+1)) > β_h.
func (c Config) noWidth(l Loss, sigma, lambda, beta float64) error {
	p, forms, big := c.Planned, float64(c.Forms), l.constant()
	root := beta * p.Radius * (forms + 1) / c.Epsilon
	enough := (root*root - float64(p.Features)*sigma*sigma) / (4 * big * big)
	return &NoWidthError{Lambda: lambda, Needed: beta * (forms + 1) / (float64(p.Records) * c.Epsilon),
		Records: p.Records, Enough: int(math.Min(min(1e15, math.MaxInt), math.Floor(enough)+1))}
}
