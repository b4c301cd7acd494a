package rkw23

import (
	"fmt"
	"math"

	"github.com/dpnb/notebooks/dpnb/audit"
	"github.com/dpnb/notebooks/dpnb/claim"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/paper/internal/measure"
	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/privacy/objective"
)

// linearLoss is f(t) = t.
type linearLoss struct{ loss.Logistic }

func (linearLoss) ValueSlope(slope, t, _ []float64) (sum float64) {
	for i, v := range t {
		slope[i] = 1
		sum += v
	}
	return sum
}

// linearIsGaussian takes μ = 1/σ times a factor.
func linearIsGaussian(_ measure.Run, factor float64) claim.Outcome {
	low, high := math.Inf(1), 0.0
	for _, c := range [][2]float64{{1, 1}, {0.1, 2}, {20, 5}, {5, 10}, {3, 0.5}} {
		s := audit.Scalar{Loss: linearLoss{}, ExtraX: 1, ExtraY: 1, Lambda: c[0], Sigma: c[1]}
		p, q := s.Cells(20_000)
		for _, eps := range auditedEpsilons {
			exact := measure.Stick(p, q, eps)
			if exact < 1e-12 {
				continue
			}
			r := exact / measure.GaussianDelta(factor/c[1], eps)
			low, high = math.Min(low, r), math.Max(high, r)
		}
	}
	return claim.Decide(fmt.Sprintf("exact/Gaussian δ from %.6f to %.6f", low, high),
		"1 − 1e-3 … 1: cells can only lose",
		low > 1-1e-3 && high <= 1+1e-9, "objective perturbation with a linear loss is not the Gaussian "+
			"mechanism")
}

// gaussianFormula takes δ and μ times factors.
func gaussianFormula(_ measure.Run, delta, scale float64) claim.Outcome {
	var worst float64
	for _, mu := range []float64{0.1, 0.5, 1, 3} {
		for _, eps := range []float64{0, 0.1, 0.5, 1, 2, 4} {
			exact := gaussianIntegral(mu, eps)
			if exact > 1e-15 {
				worst = math.Max(worst, math.Abs(delta*measure.GaussianDelta(scale*mu, eps)/exact-1))
			}
		}
	}
	return claim.Decide("largest relative difference "+claim.Roughly(worst, 1e-9), "1e-9", worst < 1e-9,
		"the closed form is not the integral")
}

// dominatingPair holds Lemma D.6's pair against its privacy loss, with the given sign of L in Q's exponent, and L times
// share.
func dominatingPair(_ measure.Run, sign, share float64) claim.Outcome {
	cases := []stated{{0, 0.5}, {0.3, 0.5}, {1, 0.2}, {0.05, 1.5}}
	mended, printed := pairOff(cases, sign*share), pairOff(cases, -sign*share)
	o := claim.Decide(fmt.Sprintf("largest difference %s with −(t + L)², %.2g with the printed −(t − L)²",
		claim.Roughly(mended, 1e-4), printed), "1e-4: the integrand has kinks",
		mended < 1e-4 && printed > 0.05, "neither sign gives the stated loss")
	return o.Corrected("Q's exponent is −(t + L)², as in Lemma D.4")
}

// pairOff is the largest distance of ∫(p − e^ε q)₊ of Lemma D.6's pair, with a times share in q, from the released δ of
// its loss.
func pairOff(cases []stated, share float64) (worst float64) {
	for _, c := range cases {
		for _, eps := range []float64{0, 0.1, 0.5, 1, 2} {
			pair := measure.Integral(func(t float64) float64 {
				return math.Max(0, 2*measure.Phi(t)-math.Exp(eps-c.k)*2*measure.Phi(t+share*c.a))
			}, 0, 40, 160)
			worst = math.Max(worst, math.Abs(pair-measure.HalfNormal(c.k, c.a, eps)))
		}
	}
	return worst
}

// crowd returns n records of norm 1 in d dimensions with mixed labels, and one more.
func crowd(rng *noise.Seeded, n, d int, lambda, sigma float64) *audit.Neighbours {
	rows := matrix.NewDense(n+1, d, nil)
	rng.Gaussian(rows.Data, 1)
	labels := make([]float64, n)
	for i := range n + 1 {
		r := rows.Data[i*d : (i+1)*d]
		var s float64
		for _, v := range r {
			s += v * v
		}
		for j := range r {
			r[j] /= math.Sqrt(s)
		}
		if i < n {
			labels[i] = float64(1 - 2*(i%2))
		}
	}
	extra := append([]float64(nil), rows.Data[n*d:]...)
	return &audit.Neighbours{Loss: loss.Logistic{}, Rows: matrix.NewDense(n, d, rows.Data[:n*d]), Labels: labels,
		Extra: extra, ExtraLabel: 1, Lambda: lambda, Sigma: sigma}
}

// sampledBelow holds the bound, times a factor, against sampled privacy losses, exact ones in one dimension, and its
// integral.
func sampledBelow(run measure.Run, factor float64) claim.Outcome {
	bound := scaled(factor, released(objective.RKW23))
	exact := boundHolds(run, nil, bound)
	samples := measure.Sized(run.Size, 2000, 100_000)
	rng := noise.NewSeeded(31)
	var ratio float64
	broken := false
	for k, d := range []int{2, 5, 10} {
		nb := crowd(rng.Stream(k), 20, d, 0.5, 1)
		for _, dir := range privacy.Directions {
			for j, eps := range []float64{0, 0.4} {
				measure.Try(run.Err())
				iv := measure.Must(nb.DeltaInterval(dir, eps, samples, 1-1e-6, rng.Stream(100+10*k+j)))
				stated := bound(0.5, 1, eps)
				ratio = math.Max(ratio, iv.Estimate/stated)
				broken = broken || iv.Lower > stated
			}
		}
	}
	off := offStated(bound, theorem31)
	return both(exact, claim.Decide(fmt.Sprintf("largest estimate/bound %.3f; bound over integral less 1: %s", ratio,
		claim.Roughly(off, 1e-6)),
		fmt.Sprintf("12 intervals of level 1 − 1e-6 from %d draws; 1e-6", samples), !broken,
		"an interval lies above the bound, or the bound is not the stated one").As(off < 1e-6).Reaching(ratio))
}

// reductionHolds holds the formula with γ² and r times factors against the ratio of densities.
func reductionHolds(_ measure.Run, times [2]float64) claim.Outcome {
	rng := noise.NewSeeded(32)
	var worst float64
	for k, d := range []int{3, 8} {
		nb := crowd(rng.Stream(k), 15, d, 0.4, 1.3)
		for i := range 200 {
			direct, parts := measure.Must2(nb.Decompose(rng.Stream(1000*k + i)))
			gauss := (times[0]*parts.Gamma*parts.Gamma + 2*parts.Gamma*parts.U) / (2 * nb.Sigma * nb.Sigma)
			worst = math.Max(worst, math.Abs(direct-gauss+math.Log1p(-times[1]*parts.R)))
		}
	}
	return claim.Decide("largest difference "+claim.Roughly(worst, 1e-10), "1e-8", worst < 1e-8,
		"the one-dimensional formula is not the privacy loss")
}
