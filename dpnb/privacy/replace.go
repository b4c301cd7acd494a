package privacy

import (
	"fmt"
	"math"

	"github.com/dpnb/notebooks/dpnb/internal/logspace"
	"github.com/dpnb/notebooks/dpnb/internal/univariate"
)

// ConvertAdjacency returns p under adj: p itself where it holds under adj, its replace-one consequence where it holds
// under add/remove-one.
//
// Errors: ErrAdjacency for the other way, which no guarantee allows: under replace-one the number of records is public.
func ConvertAdjacency(p Profile, adj Adjacency) (Profile, error) {
	if err := adj.Validate(); err != nil {
		return nil, err
	}
	switch {
	case p.Adjacency() == adj:
		return p, nil
	case p.Adjacency() == AddRemove:
		return ReplaceProfile(p)
	}
	return nil, fmt.Errorf("%w: a guarantee under %s says nothing under %s", ErrAdjacency, p.Adjacency().Words(),
		adj.Words())
}

// ReplaceProfile returns the replace-one profile that follows from an add/remove-one profile: replacing is removing and
// then adding, or the other way round, so for every ε₁ ∈ ℝ
//
//	δ_rep(ε) ≤ δ_rem(ε₁) + e^{ε₁} δ_add(ε − ε₁)   and   δ_add(ε₁) + e^{ε₁} δ_rem(ε − ε₁).
//
// The infimum over ε₁ is exactly the composition g(1 − f) of the two trade-off functions; for a μ-GDP Gaussian it is
// the Gaussian of 2μ.
//
// In α₁ = e^{ε₁} both terms are convex, the second as a perspective, so that a one-dimensional search finds the
// infimum.
//
// Bound: upper; any ε₁ is valid, so the search cannot break it.
// Errors: ErrAdjacency if p does not hold under AddRemove.
// Proof: docs/theory/composition.md.
func ReplaceProfile(p Profile) (Profile, error) {
	if p.Adjacency() != AddRemove {
		return nil, fmt.Errorf("%w: replace-one follows from an add/remove-one profile only", ErrAdjacency)
	}
	if low, high, ok := GaussianMu(p); ok {
		return gaussianProfile{symmetric(ReplaceOne), 2 * low, 2 * high}, nil
	}
	return replaceProfile{symmetric(ReplaceOne), p}, nil
}

type replaceProfile struct {
	symmetric
	p Profile
}

func (r replaceProfile) LogDeltaUpper(_ Direction, eps float64) float64 {
	if math.IsInf(eps, -1) {
		return 0
	}
	best := 0.0
	for _, first := range [...]Direction{Remove, Add} { // not Directions, which others can set
		if first == Add && IsSymmetric(r.p) {
			break
		}
		bound := func(e1 float64) float64 {
			// What the second step cannot turn back at any ε weighs e^{ε₁} too.
			e2 := math.Nextafter(eps-e1, math.Inf(-1))
			return logspace.Add(r.p.LogDeltaUpper(first, e1), e1+r.p.LogDeltaUpper(first.Opposite(), e2))
		}
		starts := []float64{0, 1}
		if !math.IsInf(eps, 1) {
			starts[0] = 0.5 * eps
			if eps > 30 {
				// With mass at infinity the best ε₁ need not grow with ε.
				starts = append(starts, 0, eps)
			} else {
				starts = starts[:1]
			}
		} else if math.IsInf(r.p.LogDeltaUpper(first.Opposite(), eps), -1) {
			best = math.Min(best, r.p.LogDeltaUpper(first, eps))
			continue
		}
		for _, x := range starts {
			best = math.Min(best, minimiseConvex(bound, x, 0.25*math.Min(1, math.Max(math.Abs(x), 1e-3))))
		}
	}
	if math.IsInf(best, -1) {
		return best
	}
	return roundUp(best, 1e-15+5e-16*(math.Abs(best)+math.Abs(finite(eps))))
}

// finite returns x, or 0 if it is infinite.
func finite(x float64) float64 {
	if math.IsInf(x, 0) {
		return 0
	}
	return x
}

// minimiseConvex returns the smallest value of g met while stepping downhill from x and then in a golden-section
// search. Values of 0 and above (a bound that says nothing) count as flat.
func minimiseConvex(g func(float64) float64, x, step float64) float64 {
	a, fa := x-step, g(x-step)
	m, fm := x, g(x)
	b, fb := x+step, g(x+step)
	for i := 0; i < 40 && !(fm <= fa && fm <= fb); i++ {
		step *= 1.8
		if fa < fb {
			b, fb, m, fm = m, fm, a, fa
			a -= step
			fa = g(a)
		} else {
			a, fa, m, fm = m, fm, b, fb
			b += step
			fb = g(b)
		}
	}
	best := math.Min(fm, math.Min(fa, fb))
	_, v := univariate.Golden(g, a, b, 22)
	return math.Min(best, v)
}

// ReplaceByGroup returns the replace-one guarantee (2ε, (1 + e^ε)δ) that (ε, δ)-DP under add/remove-one implies as a
// group of two. ReplaceProfile is never worse; this one is kept for comparison.
//
// Errors: ErrAdjacency, *ParamError.
func ReplaceByGroup(a Approx) (Approx, error) {
	if err := a.Validate(); err != nil {
		return Approx{}, err
	}
	if a.Adj != AddRemove {
		return Approx{}, fmt.Errorf("%w: the group argument starts from add/remove-one", ErrAdjacency)
	}
	d := a.Delta * (1 + math.Exp(a.Epsilon)) * (1 + 1e-15)
	return Approx{Epsilon: 2 * a.Epsilon, Delta: math.Min(1, d), Adj: ReplaceOne}, nil
}
