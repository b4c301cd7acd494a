package rkw23

import (
	"math"

	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/paper/internal/measure"
	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/privacy/objective"
)

// deltaBound is a claimed bound on δ(ε) of objective perturbation with L = R = 1 and the logistic loss (s = 1/4), under
// add/remove-one.
type deltaBound func(lambda, sigma, eps float64) float64

// released is what the accountant says by a bound for the logistic loss with R = 1. A parameter that the bound does not
// take claims nothing: δ = 1.
func released(b objective.Bound) deltaBound {
	profiles := map[[2]float64]*objective.Profile{}
	return func(lambda, sigma, eps float64) float64 {
		key := [2]float64{lambda, sigma}
		p, ok := profiles[key]
		if !ok {
			curve, err := loss.CurveOf(loss.Logistic{}, 1)
			if err != nil {
				return math.NaN()
			}
			if p, err = objective.New(objective.Config{Curve: curve, Lambda: lambda, Sigma: sigma,
				Bound: b}); err != nil {
				return 1
			}
			profiles[key] = p
		}
		return privacy.DeltaUpper(p, eps)
	}
}

// scaled is a bound times a factor, to see a check fail.
func scaled(factor float64, bound deltaBound) deltaBound {
	return func(lambda, sigma, eps float64) float64 { return math.Min(1, factor*bound(lambda, sigma, eps)) }
}

// noisier is a bound for a σ that is factor times the true one, to see a check fail.
func noisier(factor float64, bound deltaBound) deltaBound {
	return func(lambda, sigma, eps float64) float64 { return bound(lambda, factor*sigma, eps) }
}

// printedRKW23 is Theorem 3.1 of rkw23 as printed, which claims too much.
func printedRKW23(lambda, sigma, eps float64) float64 {
	return math.Min(1, objective.PrintedRKW23(eps, 0.25, lambda, 1/sigma))
}

// stated is the law of W = k + a²/2 + a|N| as a theorem states it, and what follows from that law by quadrature alone.
type stated struct{ k, a float64 }

// lossLaw is the law of W for curvature s and slope a = L/σ.
type lossLaw func(s, lambda, a float64) stated

// theorem31 is rkw23's W, theorem51 that of dtz24.
func theorem31(s, lambda, a float64) stated { return stated{-math.Log(1 - s/lambda), a} }
func theorem51(s, lambda, a float64) stated { return stated{math.Log(1 + s/lambda), a} }

func (w stated) loss() measure.Loss { return measure.Loss{Least: w.k + w.a*w.a/2, A: w.a, Rank: 1} }

// delta is E(1 − e^{ε−W})₊.
func (w stated) delta(eps float64) float64 { return w.loss().Delta(eps) }

// rdp is ln E e^{(α−1)W}/(α − 1), at α = 1 its limit EW.
func (w stated) rdp(alpha float64) float64 {
	if alpha == 1 {
		return w.loss().Mean(func(v float64) float64 { return v })
	}
	// The integrand e^{tan}φ(n) is largest at n = ta.
	t := alpha - 1
	top := t * w.a
	tail := measure.Integral(func(n float64) float64 { return measure.Phi(n - top) }, 0, top+12, 400)
	return w.k + w.a*w.a/2 + (top*top/2+math.Log(2*tail))/t
}

// byRenyi is δ(ε) by the conversion of the Rényi curve at the best α (Canonne, Kamath, Steinke 2020), found in ln(α −
// 1).
func (w stated) byRenyi(eps float64) float64 {
	at := func(logX float64) float64 {
		x := math.Exp(logX)
		return x*(w.rdp(1+x)-eps) + (1+x)*math.Log(x/(1+x)) - logX
	}
	lo, hi := -5.0, 6.5
	for hi-lo > 1e-4 {
		if a, b := lo+0.382*(hi-lo), hi-0.382*(hi-lo); at(a) < at(b) {
			hi = b
		} else {
			lo = a
		}
	}
	return math.Exp(math.Min(0, at(lo)))
}
