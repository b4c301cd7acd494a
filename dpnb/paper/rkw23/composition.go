package rkw23

import (
	"context"
	"fmt"
	"math"

	"github.com/dpnb/notebooks/dpnb/audit"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/privacy"

	"github.com/dpnb/notebooks/dpnb/claim"
	"github.com/dpnb/notebooks/dpnb/privacy/objective"
	"github.com/dpnb/notebooks/dpnb/privacy/pld"
)

// composition lists claims about composing and converting guarantees.
func composition() []claim.Claim {
	return []claim.Claim{
		{
			ID: "rkw23/fig1", Paper: "Redberg, Koskela, Wang 2023, Figure 1", Kind: claim.Figure,
			Statement: "at equal ε the δ's order: Kifer et al. above the RDP bound above the hockey-stick bound above the lower bound",
			Check:     "L = β = 1, (σ, λ) = (5, 20) and (10, 5), ε = 0.1 … 2, corrected bounds", Expected: "that order at every ε",
			Run: figureOne,
		},
		{
			ID: "rkw23/fig3", Paper: "Redberg, Koskela, Wang 2023, Figure 3 and (D.11)", Kind: claim.Figure,
			Statement: "for k compositions the numerical bound lies below the one by Rényi divergences",
			Check:     "L = β = 1, σ = 8, λ = 10, k = 1 … 16, δ = 1e-5: certified ε of the composed half-normal loss against RDP", Expected: "below, at every k",
			Run: figureThree,
		},
		{
			ID: "dtz24/lem2.7", Paper: "Dwork, Tankala, Zhang 2024, Lemma 2.7", Kind: claim.Theorem,
			Statement: "(ε, δ) under add/remove-one is (2ε, (1 + e^ε)δ) under replace-one",
			Check:     "logistic loss in one dimension, λ = 0.5 and 2, σ = 2: exact δ of 8 pairs that differ in a replaced record against (1 + e^{ε/2})δ(ε/2) of Tight", Expected: "none above",
			Run: replaceHolds(func(p privacy.Profile, eps float64) (float64, error) {
				return math.Min(1, (1+math.Exp(eps/2))*privacy.DeltaUpper(p, eps/2)), nil
			}),
		},
		{
			ID: "dpnb/replace-one", Paper: "docs/theory/composition.md", Kind: claim.Ours,
			Statement: "replace-one is remove then add: δ_rep(ε) ≤ min over ε₁ of δ_rem(ε₁) + e^{ε₁}δ_add(ε − ε₁), never above the group bound",
			Check:     "the same pairs against the trade-off composition", Expected: "none above",
			Run: replaceHolds(func(p privacy.Profile, eps float64) (float64, error) {
				r, err := privacy.ReplaceProfile(p)
				if err != nil {
					return 0, err
				}
				return privacy.DeltaUpper(r, eps), nil
			}),
		},
	}
}

// unit is a curve with L = β = 1: the Huber loss with threshold 1.
func unit() (*loss.Curve, error) { return loss.CurveOf(loss.Huber{Threshold: 1}, 1) }

func figureOne(context.Context, claim.Size) (claim.Outcome, error) {
	curve, err := unit()
	if err != nil {
		return claim.Outcome{}, err
	}
	ordered := true
	measured := ""
	for _, c := range [][2]float64{{5, 20}, {10, 5}} {
		profiles := map[objective.Bound]*objective.Profile{}
		for _, b := range []objective.Bound{objective.KST12, objective.RKW23, objective.GaussianLower} {
			if profiles[b], err = objective.New(objective.Config{Curve: curve, Lambda: c[1], Sigma: c[0], Bound: b}); err != nil {
				return claim.Outcome{}, err
			}
		}
		shift := -math.Log1p(-1 / c[1])
		rdp := privacy.RDPCurve{Adj: privacy.AddRemove, Epsilon: func(alpha float64) float64 { return rdpOf(shift, 1/c[0], alpha) }}
		for _, eps := range []float64{0.1, 0.25, 0.5, 1, 1.5, 2} {
			lower := privacy.LogDeltaUpper(profiles[objective.GaussianLower], eps)
			stick := privacy.LogDeltaUpper(profiles[objective.RKW23], eps)
			renyi := math.Min(0, rdp.LogDeltaUpper(eps))
			kst := privacy.LogDeltaUpper(profiles[objective.KST12], eps)
			ordered = ordered && lower <= stick && stick <= renyi && renyi <= kst+1e-9
			if eps == 1 {
				measured += fmt.Sprintf("σ = %g, λ = %g, ε = 1: lower %.2e, hockey-stick %.2e, RDP %.2e, Kifer et al. %.2e; ", c[0], c[1],
					math.Exp(lower), math.Exp(stick), math.Exp(renyi), math.Exp(kst))
			}
		}
	}
	return claim.Decide(measured[:len(measured)-2], "order at 6 values of ε in each panel", ordered, "the order is another one"), nil
}

func figureThree(ctx context.Context, _ claim.Size) (claim.Outcome, error) {
	w := privacy.HalfNormal{K: -math.Log1p(-0.1), A: 0.125}
	p, err := w.Profile(privacy.AddRemove)
	if err != nil {
		return claim.Outcome{}, err
	}
	below := true
	measured := ""
	for _, k := range []int{1, 4, 16} {
		if err := ctx.Err(); err != nil {
			return claim.Outcome{}, err
		}
		c, err := pld.New([]pld.Component{{Profile: p, Count: k}}, nil)
		if err != nil {
			return claim.Outcome{}, err
		}
		b, err := c.EpsilonBounds(1e-5)
		if err != nil {
			return claim.Outcome{}, err
		}
		rdp := privacy.RDPCurve{Adj: privacy.AddRemove, Epsilon: func(alpha float64) float64 { return float64(k) * rdpOf(w.K, w.A, alpha) }}
		loose, err := rdp.EpsilonUpper(1e-5)
		if err != nil {
			return claim.Outcome{}, err
		}
		below = below && b.Lower < b.Upper && b.Upper < loose && b.Upper-b.Lower < 2e-3*b.Upper
		measured += fmt.Sprintf("k = %d: ε in [%.4f, %.4f], RDP %.4f; ", k, b.Lower, b.Upper, loose)
	}
	return claim.Decide(measured[:len(measured)-2], "upper − lower below 2e-3·ε", below, "the composed loss is not below its Rényi bound"), nil
}

// replaceHolds holds a replace-one bound against exact divergences of datasets
// that differ in a replaced record.
func replaceHolds(bound func(p privacy.Profile, eps float64) (float64, error)) func(context.Context, claim.Size) (claim.Outcome, error) {
	return func(ctx context.Context, _ claim.Size) (claim.Outcome, error) {
		curve, err := loss.CurveOf(loss.Logistic{}, 1)
		if err != nil {
			return claim.Outcome{}, err
		}
		var ratio float64
		for _, lambda := range []float64{0.5, 2} {
			p, err := objective.New(objective.Config{Curve: curve, Lambda: lambda, Sigma: 2, Bound: objective.Tight})
			if err != nil {
				return claim.Outcome{}, err
			}
			for _, eps := range []float64{0, 0.3, 1, 2} {
				if err := ctx.Err(); err != nil {
					return claim.Outcome{}, err
				}
				stated, err := bound(p, eps)
				if err != nil {
					return claim.Outcome{}, err
				}
				for _, others := range []int{0, 3} {
					for _, label := range []float64{-1, 1} {
						a, b := replacedCells(lambda, 2, others, label)
						exact := math.Max(audit.HockeyStick(a, b, eps), audit.HockeyStick(b, a, eps))
						ratio = math.Max(ratio, exact/stated)
					}
				}
			}
		}
		return claim.Decide(fmt.Sprintf("largest exact/claimed δ %.4f", ratio), "at most 1", ratio <= 1 && ratio > 0, "an exact divergence lies above the bound"), nil
	}
}

// replacedCells returns the probabilities of the same cells of θ under two
// datasets in which one record (1, +1) stands for (1, −1). Both are the base
// dataset with one record more, so they come from two pairs of neighbours; the
// cells are those of a fine grid of θ.
func replacedCells(lambda, sigma float64, others int, label float64) (a, b []float64) {
	base := audit.Scalar{Loss: loss.Logistic{}, ExtraX: 1, Lambda: lambda, Sigma: sigma}
	for range others {
		base.X, base.Y = append(base.X, 1), append(base.Y, label)
	}
	one, two := base, base
	one.ExtraY, two.ExtraY = 1, -1
	grid := make([]float64, 0, 8001)
	width := (10*sigma + float64(others) + 1) / lambda
	for i := range 8001 {
		grid = append(grid, width*(float64(i)/4000-1))
	}
	_, a = one.CellsAt(grid)
	_, b = two.CellsAt(grid)
	return a, b
}
