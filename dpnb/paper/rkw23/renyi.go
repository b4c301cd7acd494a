package rkw23

import (
	"fmt"
	"math"
	"slices"

	"github.com/dpnb/notebooks/dpnb/audit"
	"github.com/dpnb/notebooks/dpnb/claim"
	"github.com/dpnb/notebooks/dpnb/internal/univariate"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/paper/internal/measure"
	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/privacy/objective"
)

// zcdpOfAddRemove is the check that Corollary 5.2, times a factor, holds where its proof does, for one record added or
// removed, and does not for one replaced, at L/ν = a.
func zcdpOfAddRemove(run measure.Run, a, factor float64) claim.Outcome {
	var ratio, off float64
	// Where L/ν is large a linear loss comes near ρ, as L²/(2ν²) is nearly all of it.
	steep := struct{ lambda, sigma float64 }{100, 1.0 / 30}
	for _, c := range append(slices.Clip(audited), steep) {
		// By its constants alone: a curve may be proved to be better.
		rho := measure.Must(objective.ZCDP(constants(objective.DTZ24, c.lambda, 1/c.sigma)))
		rho *= factor
		off = math.Max(off, math.Abs(rho/rdp(theorem51(0.25, c.lambda, 1/c.sigma), 1)-1))
		worst := divergences(run, c.lambda, c.sigma, func(alpha float64) float64 { return alpha * rho })
		ratio = math.Max(ratio, worst)
	}
	replaced := replacedLinear(a, 1e6)
	claimed := measure.Must(objective.ZCDP(constants(objective.DTZ24, 1e6, a)))
	o := claim.Decide(fmt.Sprintf("largest exact/claimed %.4f; released ρ over the stated one less 1: %s; replaced, λ "+
		"= 1e6: ρ ≥ %.3f (2a² = %.4g), claimed %.3f", ratio, claim.Roughly(off, 1e-8), replaced, 2*a*a, claimed), "at "+
		"most 1; 1e-8", ratio <= 1).As(off < 1e-8).Reaching(ratio)
	if replaced > claimed {
		o = o.Corrected("for add/remove-one only, the adjacency of Theorem 5.1; the paper defines zCDP for " +
			"replace-one, and as λ → ∞ that costs 2a², a = L/ν, against a²/2 + 0.8a")
	}
	return o
}

// constants is objective perturbation of which no more is known than L = 1 and s = 1/4, at σ = 1/a.
func constants(b objective.Bound, lambda, a float64) objective.Config {
	return objective.Config{Slope: 1, Smoothness: 0.25, Lambda: lambda, Sigma: 1 / a, Bound: b}
}

// replacedLinear returns max D_α/α over some α for the loss yLθ, L = 1, whose one record changes from y = 1 to y = −1,
// with noise of deviation 1/a and ridge λ. The minimiser is −(b + y)/λ; its law is cut into cells, so that D_α is from
// below.
func replacedLinear(a, lambda float64) (most float64) {
	law := func(y float64) []float64 { // P(−(b + y)/λ ≤ c) with b = z/a
		reach := 12 / (a * lambda)
		return measure.Cells(func(c float64) float64 { return a * (lambda*c + y) }, -reach, reach, 20_000)[1:20_001]
	}
	for _, alpha := range []float64{1.2, 1.5, 2} {
		most = math.Max(most, audit.Renyi(law(1), law(-1), alpha)/alpha)
	}
	return most
}

// divergences returns the largest exact Rényi divergence of the neighbours at one λ and σ over its bound.
func divergences(run measure.Run, lambda, sigma float64, bound func(alpha float64) float64) (ratio float64) {
	orders := []float64{1.1, 1.5, 2, 5, 30}
	type key struct{ lambda, sigma float64 }
	exact := measure.Shared(key{lambda, sigma}, func() (all []float64) {
		for _, s := range measure.Over(run, around(lambda, sigma)) {
			without, with := s.Cells(2000)
			for _, alpha := range orders {
				all = append(all, measure.Renyi(with, without, alpha))
			}
		}
		return all
	})
	for k, v := range exact {
		if r := v / bound(orders[k%len(orders)]); !(r <= ratio) {
			ratio = r
		}
	}
	return ratio
}

// inRenyi is the check of Theorem 3.2, or of what else a bound by the law of W says of Rényi divergences, times a
// factor, for slopes times another.
func (t theorem) inRenyi(run measure.Run, factor, slope float64) claim.Outcome {
	curve := measure.Must(loss.CurveOf(loss.Logistic{}, 1))
	var ratio, off, above float64
	for _, c := range audited {
		bound := func(alpha float64) float64 {
			return factor * measure.Must(objective.RDP(objective.Config{Curve: curve, Lambda: c.lambda,
				Sigma: c.sigma, Bound: objective.DTZ24}, alpha))
		}
		theorem := func(alpha float64) float64 {
			return factor * measure.Must(constants(t.bound, c.lambda, slope/c.sigma).Law().RDP(alpha))
		}
		ratio = math.Max(ratio, divergences(run, c.lambda, c.sigma, theorem))
		law := t.law(0.25, c.lambda, 1/c.sigma)
		for _, alpha := range []float64{1, 1.1, 1.5, 2, 5, 30} {
			stated := theorem(alpha)
			off = math.Max(off, math.Abs(stated/rdp(law, alpha)-1))
			above = math.Max(above, bound(alpha)/stated)
		}
	}
	return claim.Decide(fmt.Sprintf("largest exact/theorem %.4f, released/theorem %.4f; theorem over its "+
		"integral less 1: %s", ratio, above, claim.Roughly(off, 1e-8)), "at most 1 each; 1e-8", ratio <= 1).
		As(above <= 1 && off < 1e-8).Reaching(ratio)
}

// rankHolds holds the rank-k accountant, with k = d and with k = 1, against the exact divergences of a radial loss, and
// against the law that is stated; the accountant is told of slope and smoothness times a factor.
func rankHolds(_ measure.Run, rdp bool, factor float64) claim.Outcome {
	reached, off := rankReached, offRank
	if rdp {
		reached, off = rankReachedByOrders, offRankOrders
	}
	var right, wrong, far float64
	for _, d := range []int{1, 2, 5, 20, 100} {
		without, with := audit.Radial{Dimension: d, Slope: 1, Smoothness: 1, Lambda: 3, Sigma: 2}.Cells(4000)
		r := objective.RankK{Rank: d, Smoothness: factor, Slope: factor, Lambda: 3, Sigma: 2}
		right, far = math.Max(right, reached(r, with, without)), math.Max(far, off(r))
		r.Rank = 1
		wrong = math.Max(wrong, reached(r, with, without))
	}
	o := claim.Decide(fmt.Sprintf("largest exact/claimed %.3f with k = d, %.3g with k = 1; claimed over stated "+
		"less 1: %s", right, wrong, claim.Roughly(far, 1e-3)),
		"at most 1 with k = d, above 1 with k = 1; 1e-3", right <= 1 && wrong > 1).As(far < 1e-3).Reaching(right)
	if rdp {
		o = o.Corrected("with L²/(2σ²) and (L/σ)·χ_d where L/(2σ²) and (L²/σ²)·χ_d are printed; checked in the " +
			"sharper form with log(1 + β/λ)")
	}
	return o
}

// statedRank is the law W = k·ln(1 + s/λ) + a²/2 + aχ_k at s = L = 1, λ = 3, σ = 2.
func statedRank(r objective.RankK) measure.Loss {
	k := float64(r.Rank)
	return measure.Loss{Least: k*math.Log(1+1.0/3) + 0.125, A: 0.5, Rank: k}
}

// offRank is the largest relative distance of the accountant's δ from that law's, about the mean of W, and
// offRankOrders that of its Rényi bound.
func offRank(r objective.RankK) (off float64) {
	w, p := statedRank(r), measure.Must(r.Profile(privacy.AddRemove))
	for _, share := range []float64{0.3, 0.8, 1.1} {
		eps := w.Least + w.A*math.Sqrt(w.Rank)*share
		off = math.Max(off, math.Abs(math.Exp(p.LogDeltaUpper(privacy.Remove, eps))/w.Delta(eps)-1))
	}
	return off
}

func offRankOrders(r objective.RankK) (off float64) {
	for _, alpha := range []float64{1.5, 2, 4} {
		want := math.Log(statedRank(r).Mean(func(w float64) float64 { return math.Exp((alpha - 1) * w) })) / (alpha - 1)
		off = math.Max(off, math.Abs(measure.Must(r.RDP(alpha))/want-1))
	}
	return off
}

// rankReached is the largest exact δ over that of the accountant, and rankReachedByOrders of Rényi divergences.
func rankReached(r objective.RankK, with, without []float64) (most float64) {
	p := measure.Must(r.Profile(privacy.AddRemove))
	for _, eps := range []float64{0, 0.25, 0.5, 1, 2, 4} {
		for dir, exact := range map[privacy.Direction]float64{privacy.Remove: audit.HockeyStick(with, without, eps),
			privacy.Add: audit.HockeyStick(without, with, eps)} {
			if exact > 1e-12 {
				most = math.Max(most, exact/math.Exp(p.LogDeltaUpper(dir, eps)))
			}
		}
	}
	return most
}

func rankReachedByOrders(r objective.RankK, with, without []float64) (most float64) {
	for _, alpha := range []float64{1.5, 2, 4} {
		most = math.Max(most, measure.Renyi(with, without, alpha)/measure.Must(r.RDP(alpha)))
	}
	return most
}

func figureFour(_ measure.Run, factor float64) claim.Outcome {
	var gaps []float64
	off, above := 0.0, true
	for _, lambda := range []float64{2, 20, 200} {
		law := objective.Config{Slope: 1, Smoothness: factor, Lambda: lambda, Sigma: 5, Bound: objective.RKW23}.Law()
		gap := 0.0
		for _, alpha := range []float64{1.5, 2, 5, 20, 100} {
			curve := measure.Must(law.RDP(alpha))
			half := rdp(measure.HalfNormalLoss(0, 0.2), alpha)
			gap = curve - half
			off = math.Max(off, math.Abs(gap+math.Log(1-1/lambda)))
			above = above && half > alpha*0.2*0.2/2
		}
		gaps = append(gaps, gap)
	}
	return claim.Decide(fmt.Sprintf("gap %.4f, %.4f, %.4f at λ = 2, 20, 200, from −log(1 − β/λ) %s at every α",
		gaps[0], gaps[1], gaps[2], claim.Roughly(off, 1e-9)), "1e-9", above && gaps[0] > gaps[1] &&
		gaps[1] > gaps[2]).As(off < 1e-9)
}

// crossing finds where the Rényi curves of DP-SGD and objective perturbation cross, the latter with σ times a factor;
// where they must is computed by quadrature.
func crossing(_ measure.Run, factor float64) claim.Outcome {
	const n, sigma = 100, 4
	sgd := measure.Must(privacy.SubsampledGaussian{Sigma: sigma, Sensitivity: 1, Rate: 1.0 / n}.RDP(privacy.AddRemove))
	law := objective.Config{Slope: 1, Smoothness: 1, Lambda: 20, Sigma: factor * sigma, Bound: objective.RKW23}.Law()
	last, first := 0.0, math.Inf(1)
	for alpha := 2.0; alpha <= 256; alpha++ {
		curve := measure.Must(law.RDP(alpha))
		if n*n*sgd.Epsilon(alpha) < curve {
			last = alpha
		} else {
			first = math.Min(first, alpha)
		}
	}
	own := subsampledCrossing(n, sigma, theorem31(1, 20, 1.0/sigma))
	return claim.Decide(fmt.Sprintf("DP-SGD has the smaller bound up to α = %g, objective perturbation from α = "+
		"%g on; by quadrature up to %g", last, first, own), "one crossing, at the same α", last > 0 &&
		first == last+1 && own == last)
}

// subsampledCrossing is the largest integer α at which n² rounds of the Gaussian mechanism with rate 1/n, from ∫((1 −
// q)φ(x) + qφ(x − 1/σ))^α φ(x)^{1−α}, cost less than the law.
func subsampledCrossing(n, sigma float64, law measure.Loss) (last float64) {
	q, mu := 1/n, 1/sigma
	for alpha := 2.0; alpha <= 256; alpha++ {
		sum := measure.Integral(func(x float64) float64 {
			return math.Exp(-x*x/2+alpha*math.Log1p(q*math.Expm1(mu*x-mu*mu/2))) / math.Sqrt(2*math.Pi)
		}, -12, alpha*mu+12, 200)
		if n*n*math.Log(sum)/(alpha-1) < rdp(law, alpha) {
			last = alpha
		}
	}
	return last
}

// Linearised is the Rényi bound of appendix C.1, which has the slope at the minimiser without noise and what the noise
// changes of it apart: a = L/σ, κ = β/λ < 1.
//
// Proof: docs/theory/objective_perturbation.md, rkw23-secC.1.
type Linearised struct{ A, Kappa float64 }

// Printed returns the appendix's bound with z ~ N(0, 1) (erratum rkw23-45) and the best p of Hölder's inequality,
//
//	−ln(1 − κ) + a²/2 + min_p p(α − 1)a²/2 − ln(1 − 2q(α − 1)κ)/(2q(α − 1)),  1/p + 1/q = 1,
//
// +∞ where no p makes it finite, which is from 2(α − 1)κ = 1 on.
func (l Linearised) Printed(alpha float64) float64 {
	t := alpha - 1
	most := 1 / (2 * t * l.Kappa) // q is below it
	if !(most > 1) {
		return math.Inf(1)
	}
	at := func(share float64) float64 { // of the way of q from 1 to its end
		q := 1 + share*(most-1)
		return q/(q-1)*t*l.A*l.A/2 - math.Log1p(-q/most)/(2*q*t)
	}
	least := univariate.Minimum(at, 1e-9, 1-1e-9, 40, 60)
	return -math.Log1p(-l.Kappa) + l.A*l.A/2 + least
}

// Remove and Add return what is proved of each direction without Hölder's inequality: D_α of the release with the
// record from that without it, and the other way,
//
//	ln(1 + κ) + αa²/2,   a²/2 + (α − 1)a²/(2(1 − 2k)) − ln(1 − 2k)/(2(α − 1)),  k = (α − 1)κ < ½.
func (l Linearised) Remove(alpha float64) float64 { return math.Log1p(l.Kappa) + alpha*l.A*l.A/2 }

// Add is beside Remove.
func (l Linearised) Add(alpha float64) float64 {
	t := alpha - 1
	rest := 1 - 2*t*l.Kappa
	if !(rest > 0) {
		return math.Inf(1)
	}
	return l.A*l.A/2 + t*l.A*l.A/(2*rest) - math.Log(rest)/(2*t)
}
