package descent

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/internal/dd"
	"github.com/dpnb/notebooks/dpnb/internal/kernel"
)

// Refinement takes a point to the minimiser of a λ-strongly convex J whose gradient is M-Lipschitz, by gradients in
// double-double. A step of Newton's method is taken where it halves the norm of the gradient, surely, and so is a part
// of one, maxSearches times at most, where J is surely less; elsewhere the step is g/M, which takes ‖∇J‖² to at most (1
// − λ/M)‖∇J‖² + e², e the error of the gradient. All together end for every J with 4√(M/λ)·e ≤ τ. Proof:
// docs/theory/solvers.md.
type Refinement struct {
	// Gradient writes ∇J(x) to g and returns a bound on the norm of its error.
	Gradient func(g, x dd.Vector) float64
	// Newton writes an approximation of (∇²J)⁻¹g at x to step; nothing rests on it.
	Newton func(step, g, x []float64)
	// Modulus is λ, Smoothness M ≥ λ, rounded up.
	Modulus, Smoothness float64
	// Tolerance τ on the bound of Refined.
	Tolerance float64
	// MaxPasses bounds the number of gradients; zero: as many as the proof needs, if that is at most MostProved.
	// Elsewhere it goes on as long as Newton's steps gain.
	MaxPasses int
}

// Refined says how near to the minimiser the point is.
type Refined struct {
	// Norm is ‖∇J(x)‖ as computed, at x = Hi + Lo.
	Norm float64
	// Rounding bounds its error, and contains λ‖Lo‖: so Hi, too, is within (Norm + Rounding)/λ of the minimiser.
	Rounding float64
	// Lost is ‖Lo‖.
	Lost float64
	// Passes is the number of gradients.
	Passes int
}

// Bound returns Norm + Rounding.
func (r Refined) Bound() float64 { return r.Norm + r.Rounding }

// MostProved is how many steps of 1/M are made if need be: a bound on what a person might wait for.
const MostProved = 1e7

// maxLost is how many of Newton's steps in sequence may fail where there is nothing else to go by.
const maxLost = 6

// maxSearches is how often a step of Newton's that fails is shortened, and maxTrials how many points that may take.
const maxSearches, maxTrials = 100, 100

// maxWait is the largest number of gradient steps between two tries of Newton's.
const maxWait = 256

// Run refines x in place.
func (r *Refinement) Run(x dd.Vector) Refined {
	d := len(x.Hi)
	g, trial, trialG, step := dd.NewVector(d), dd.NewVector(d), dd.NewVector(d), make([]float64, d)
	length := 1 / (r.Smoothness * (1 + 0x1p-40)) // at most 1/M, and the float64 that it is
	err := r.Gradient(g, x)
	now := r.measure(g, x, err)
	now.Passes = 1
	steps := 2 * r.Smoothness / r.Modulus * math.Log(math.Max(4, 4*now.Bound()/r.Tolerance))
	proved := r.MaxPasses == 0 && steps <= MostProved
	searches := 0
	for wait, skip, lost := 0, 1, 0; !(now.Bound() <= r.Tolerance) && !r.hopeless(now, x, err, lost, proved); {
		trial.Copy(x)
		newton := wait == 0
		if newton {
			r.Newton(step, g.Hi, x.Hi)
			for j, s := range step {
				trial.Set(j, x.At(j).AddFloat(-s))
			}
		} else {
			for j := range step {
				trial.Set(j, x.At(j).Add(g.At(j).MulFloat(-length)))
			}
			wait--
		}
		trialErr := r.Gradient(trialG, trial)
		then := r.measure(trialG, trial, trialErr)
		now.Passes++
		switch halved := then.Norm+trialErr <= 0.5*(now.Norm-err); {
		case newton && halved:
			skip, lost = 1, 0
		case newton:
			ok := false
			if searches++; searches <= maxSearches {
				trialErr, ok = r.shorten(trial, trialG, x, g, step, err, &now.Passes)
			}
			if !ok {
				lost++
				wait, skip = skip, min(2*skip, maxWait)
				continue
			}
			then = r.measure(trialG, trial, trialErr)
		}
		then.Passes = now.Passes
		x.Copy(trial)
		g, trialG, now, err = trialG, g, then, trialErr
	}
	return now
}

// shorten looks along a step of Newton's for a point at which J surely is less than at x and falls a third as fast at
// most, and writes it to trial and its gradient to trialG. A flat part of J has steps that are far too long, if the way
// down leads over a bend.
func (r *Refinement) shorten(
	trial, trialG, x, g dd.Vector, step []float64, err float64, passes *int,
) (trialErr float64, ok bool) {
	size := floats.Norm(step, 2) * (1 + 0x1p-30)
	fall := floats.Dot(g.Hi, step)
	if !(fall > 8*err*size) {
		return 0, false
	}
	// The fall at lo is positive, that at hi may not be; J is convex.
	lo, hi, atLo, atHi := 0.0, 1.0, fall, 0.0
	for k := 0; k < maxTrials && (r.MaxPasses == 0 || *passes < r.MaxPasses); k++ {
		t := hi
		if k > 0 {
			t = lo + (hi-lo)*(atLo-0.1*fall)/(atLo-atHi)
			if k%2 == 0 || !(t > lo && t < hi) {
				t = lo + 0.5*(hi-lo)
			}
		}
		for j, s := range step {
			trial.Set(j, x.At(j).Add(dd.From(s).MulFloat(-t)))
		}
		trialErr = r.Gradient(trialG, trial)
		*passes++
		at := floats.Dot(trialG.Hi, step)
		room := (2*trialErr + float64(len(step)+4)*0x1p-52*floats.Norm(trialG.Hi, 2)) * size
		switch {
		case math.IsNaN(at):
			return 0, false
		case at > room && (at <= fall/3 || k == 0):
			return trialErr, true
		case at > room:
			lo, atLo = t, at
		default:
			hi, atHi = t, math.Min(at, 0)
		}
	}
	return 0, false
}

// measure returns the certificate at x.
func (r *Refinement) measure(g, x dd.Vector, err float64) Refined {
	const u = 0x1p-53
	norm, lost := floats.Norm(g.Hi, 2), 1.01*floats.Norm(x.Lo, 2)
	return Refined{Norm: norm, Lost: lost, Rounding: err + (kernel.NormError(len(g.Hi))+2*u)*norm + 1.01*r.Modulus*lost}
}

// hopeless reports that no more passes are to be made.
func (r *Refinement) hopeless(now Refined, x dd.Vector, err float64, lost int, proved bool) bool {
	const u = 0x1p-53
	// A step's own rounding counts as M times itself.
	floor := 4 * math.Sqrt(r.Smoothness/r.Modulus) * (err + 4*u*u*r.Smoothness*floats.Norm(x.Hi, 2))
	switch {
	case !(now.Bound() < math.Inf(1)) || !(r.Smoothness < math.Inf(1)):
		return true
	case r.MaxPasses > 0 && now.Passes >= r.MaxPasses:
		return true
	case now.Norm+err < 1.01*r.Modulus*now.Lost:
		return true // the float64 next to the minimiser is too far from it
	case proved && floor <= r.Tolerance:
		return false
	}
	return lost >= maxLost || now.Norm <= 4*err
}
