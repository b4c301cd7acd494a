package rkw23

import (
	"fmt"
	"math"

	"github.com/dpnb/notebooks/dpnb/audit"
	"github.com/dpnb/notebooks/dpnb/claim"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/paper/internal/measure"
	"github.com/dpnb/notebooks/dpnb/privacy/objective"
)

// worst is how a bound fared against exact divergences of real neighbours.
type worst struct {
	ratio              float64 // largest exact/bound
	lambda, sigma, eps float64
	data               string
	count              int
}

// at says where, and of how many comparisons.
func (w worst) at() string {
	return fmt.Sprintf("at λ = %g, σ = %g, ε = %g, %s; %d comparisons", w.lambda, w.sigma, w.eps, w.data, w.count)
}

// audited are the λ and σ at which bounds are held against exact divergences.
var audited = []struct{ lambda, sigma float64 }{
	{0.26, 1}, {0.26, 5}, {0.3, 2}, {0.5, 0.5}, {0.5, 10}, {1, 2}, {1, 20}, {5, 5}, {5, 0.25},
}

// neighbours are datasets in one dimension, λ, σ and ε that try to break a bound: nothing else in the data, records
// that push the predictor to where the new record's slope is largest, records that hold it where its curvature is.
func neighbours() []audit.Scalar {
	var all []audit.Scalar
	for _, c := range audited {
		all = append(all, around(c.lambda, c.sigma)...)
	}
	return all
}

// around are the datasets of neighbours at one λ and σ.
func around(lambda, sigma float64) []audit.Scalar {
	base := audit.Scalar{Loss: loss.Logistic{}, ExtraX: 1, ExtraY: 1, Lambda: lambda, Sigma: sigma}
	all := []audit.Scalar{base}
	for _, copies := range []int{1, 4, 30} {
		for _, y := range []float64{-1, 1} {
			s := base
			for range copies {
				s.X, s.Y = append(s.X, 1), append(s.Y, y)
			}
			all = append(all, s)
		}
	}
	// A regulariser that is linear where it matters tilts the whole line, so far that the slope is full at last.
	for _, tilt := range []float64{-5 * sigma, 5 * sigma, -20 * lambda, 20 * lambda} {
		s := base
		s.Tilt = tilt
		all = append(all, s)
	}
	return all
}

var auditedEpsilons = []float64{0, 0.05, 0.2, 0.5, 1, 2}

// againstExact holds a bound against exact integration.
func againstExact(run measure.Run, bound deltaBound) worst {
	var w worst
	for _, s := range neighbours() {
		measure.Try(run.Err())
		without, with := s.Cells(4000)
		for _, eps := range auditedEpsilons {
			exact := measure.Stick(with, without, eps)
			// Below 1e-13 the sum over cells is rounding.
			if exact < 1e-13 {
				continue
			}
			w.count++
			claimed := bound(s.Lambda, s.Sigma, eps)
			if !(claimed >= 0 && claimed <= 1) {
				measure.Try(fmt.Errorf("the bound is %v at λ = %g, σ = %g, ε = %g, no probability", claimed, s.Lambda,
					s.Sigma, eps))
			}
			if r := exact / claimed; r > w.ratio {
				w.ratio, w.lambda, w.sigma, w.eps = r, s.Lambda, s.Sigma, eps
				w.data = fmt.Sprintf("%d other records, tilt %g", len(s.X), s.Tilt)
			}
		}
	}
	return w
}

// theorem is a bound on δ(ε) with the law of the privacy loss that a paper states of it, nil where none is compared.
type theorem struct {
	bound objective.Bound
	law   lossLaw
}

// inDelta holds the bound's δ times a factor against exact divergences, and inSigma the bound for a σ times a factor.
func (t theorem) inDelta(run measure.Run, factor float64) claim.Outcome {
	return boundHolds(run, t.law, scaled(factor, released(t.bound)))
}

func (t theorem) inSigma(run measure.Run, factor float64) claim.Outcome {
	return boundHolds(run, t.law, noisier(factor, released(t.bound)))
}

// withOrders are the checks with δ, σ and the Rényi bound times a factor.
func (t theorem) withOrders() claim.Versions {
	return measure.Times(
		func(run measure.Run, f float64) claim.Outcome { return both(t.inDelta(run, f), t.inRenyi(run, 1, 1)) },
		func(run measure.Run, f float64) claim.Outcome { return both(t.inSigma(run, f), t.inRenyi(run, 1, 1)) },
		func(run measure.Run, f float64) claim.Outcome { return both(t.inDelta(run, 1), t.inRenyi(run, f, 1)) })
}

// boundHolds is the check that no exact divergence lies above a bound, and that the bound is what the theorem states,
// if law is not nil.
func boundHolds(run measure.Run, law lossLaw, bound deltaBound) claim.Outcome {
	w := againstExact(run, bound)
	measured, interval := fmt.Sprintf("largest exact/claimed δ: %.4f, %s", w.ratio, w.at()), "at most 1; the sum over "+
		"4,000 cells is a lower bound on the exact δ"
	if law == nil {
		return claim.Decide(measured, interval, w.ratio <= 1,
			"an exact divergence lies above the claimed bound").Reaching(w.ratio)
	}
	off := offStated(bound, law)
	return claim.Decide(measured+"; released over stated δ less 1: "+claim.Roughly(off, 1e-6), interval+"; 1e-6",
		w.ratio <= 1, "an exact divergence lies above the claimed bound, or the bound is not the "+
			"stated one").As(off < 1e-6).Reaching(w.ratio)
}

// both is the outcome that two checks hold.
func both(a, b claim.Outcome) claim.Outcome {
	if a.Verdict == claim.Holds {
		a.Verdict, a.Note = b.Verdict, b.Note
	}
	a = a.As(b.Formula != claim.Other).Reaching(b.Reached)
	a.Measured, a.Interval = a.Measured+"; "+b.Measured, a.Interval+"; "+b.Interval
	return a
}

// as31 says what had to be corrected in Theorem 3.1.
func as31(check func(measure.Run, float64) claim.Outcome) func(measure.Run, float64) claim.Outcome {
	return func(run measure.Run, factor float64) claim.Outcome {
		return check(run, factor).Corrected("the shift must reduce ε (see rkw23/thm3.1-printed), and by its proof " +
			"the order in the second branch is e^{L²/(2σ²)}")
	}
}

// offStated is the largest relative distance of a bound from the integral E(1 − e^{ε−W})₊ over the law that a theorem
// states, for ε of either sign.
func offStated(bound deltaBound, law lossLaw) (off float64) {
	for _, c := range audited {
		for _, eps := range append([]float64{-1, -0.2}, auditedEpsilons...) {
			want := law(0.25, c.lambda, 1/c.sigma).delta(eps)
			if want > 1e-12 {
				off = math.Max(off, math.Abs(bound(c.lambda, c.sigma, eps)/want-1))
			}
		}
	}
	return off
}

// printedIsBroken is the check that the printed theorem fails, which is what the correction rests on.
func printedIsBroken(run measure.Run, bound deltaBound) claim.Outcome {
	w := againstExact(run, bound)
	o := claim.Outcome{Measured: fmt.Sprintf("largest exact/printed δ: above %.0e, %s",
		math.Pow(10, math.Floor(math.Log10(w.ratio))), w.at()), Interval: "above 1 is a counterexample",
		Verdict: claim.Fails, Note: "as printed it claims too much privacy; see rkw23/thm3.1 for the corrected form"}
	if w.ratio <= 1 {
		o.Verdict, o.Note = claim.Holds, "no counterexample was found"
	}
	return o
}
