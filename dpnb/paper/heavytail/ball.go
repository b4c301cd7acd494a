package heavytail

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mathext"

	"github.com/dpnb/notebooks/dpnb/claim"
	"github.com/dpnb/notebooks/dpnb/internal/univariate"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/noise/exact"
	"github.com/dpnb/notebooks/dpnb/paper/internal/measure"
)

// OnBall is the C-Lipschitz extension over W = {‖y‖ ≤ R}, the paper's (5), of a loss φ(⟨x,w⟩; y):
//
//	f_C(w) = min_{|a| ≤ R} φ(ρa) + C·√((p − a)² + (q − √(R² − a²))₊²),  ρ = ‖x‖, p = ⟨x,w⟩/ρ,  q = ‖w − px/ρ‖,
//
// convex in the one variable a. Where the ball binds its gradient is not along x.
//
// Source: docs/theory/heavytail.md, heavytail-lem2.2.
type OnBall struct {
	Loss      loss.Convex
	C, Radius float64
}

// slope returns φ and its slope at t.
func (e OnBall) slope(t, norm, y float64) (value, slope float64) {
	return loss.Cut(e.Loss, math.Inf(1), norm, t, y)
}

// Steepest returns A = sup_W ‖∇f‖ of a record with ‖x‖ = norm.
func (e OnBall) Steepest(norm, y float64) float64 {
	_, low := e.slope(-norm*e.Radius, norm, y)
	_, high := e.slope(norm*e.Radius, norm, y)
	return norm * math.Max(math.Abs(low), math.Abs(high))
}

// At returns f_C(w) of a record, x ≠ 0 and w in W, and writes a subgradient of norm at most C to g. Both are right to
// rounding: the sign of a derivative is bisected to the last bit, and the value is that of a point of W.
func (e OnBall) At(g, w, x []float64, y float64) float64 {
	norm := floats.Norm(x, 2)
	p := floats.Dot(x, w) / norm
	across := append([]float64(nil), w...)
	floats.AddScaled(across, -p/norm, x)
	q := floats.Norm(across, 2)
	// The nearest point of the chord at a is off by p − a along x and by this across.
	room := func(a float64) float64 { return math.Sqrt(math.Max(0, (e.Radius-a)*(e.Radius+a))) }
	rises := func(a float64) bool {
		_, slope := e.slope(norm*a, norm, y)
		off, derivative := math.Max(0, q-room(a)), a-p
		if off > 0 {
			derivative += off * a / math.Max(room(a), 1e-300)
		}
		if far := math.Hypot(p-a, off); far > 0 {
			return norm*slope+e.C*derivative/far > 0
		}
		return slope > 0
	}
	lo, hi := univariate.Bisect(rises, -e.Radius, e.Radius, univariate.Arithmetic, 0)
	best := math.Inf(1)
	var at, far, off float64
	try := func(a float64) {
		s := math.Max(0, q-room(a))
		value, _ := e.slope(norm*a, norm, y)
		if value += e.C * math.Hypot(p-a, s); value < best {
			best, at, far, off = value, a, math.Hypot(p-a, s), s
		}
	}
	try(lo)
	try(hi)
	try(p) // w itself
	if far <= 1e-12*e.Radius {
		_, slope := e.slope(norm*p, norm, y)
		floats.ScaleTo(g, math.Max(-e.C/norm, math.Min(slope, e.C/norm)), x)
		return best
	}
	// The gradient of C‖w − y*‖.
	floats.ScaleTo(g, e.C*(p-at)/far/norm, x)
	if off > 0 {
		floats.AddScaled(g, e.C*off/far/q, across)
	}
	return best
}

var allLosses = []loss.Convex{loss.LeastAbsolute{}, loss.Pinball{Tau: 0.8}, loss.Hinge{}, loss.ReLU{}, loss.Affine{},
	loss.Huber{Threshold: 0.6}, loss.Squared{}, loss.Logistic{}}

func extensionIs(run measure.Run, factor float64) claim.Outcome {
	const none = 1e12 // a level that cuts nothing
	src := noise.NewSeeded(31)
	off, steepest, falls, above := 0.0, 0.0, 0.0, 0.0
	for _, l := range allLosses {
		for range run.Runs(150) {
			norm, y, c := math.Exp(src.NormFloat64()), src.NormFloat64(), math.Exp(src.NormFloat64())
			if !l.ValidLabel(y) {
				y = math.Copysign(1, y)
			}
			t := 3 * src.NormFloat64()
			got, slope := loss.Cut(l, factor*c, norm, t, y)
			if math.IsInf(got, -1) {
				continue
			}
			f := func(t float64) float64 { v, _ := loss.Cut(l, none, norm, t, y); return v }
			at := func(r float64) float64 { return f(t-r) + c/norm*math.Abs(r) }
			_, least := univariate.Golden(at, -1e4, 1e4, 120)
			off = math.Max(off, math.Abs(got-least)/(1+math.Abs(got)))
			_, later := loss.Cut(l, factor*c, norm, t+0.1, y)
			steepest = math.Max(steepest, math.Abs(slope)*norm/c)
			falls, above = math.Max(falls, slope-later), math.Max(above, got-f(t))
		}
	}
	measured := fmt.Sprintf("off by %.1g, largest slope %.6f C, slopes fall by %.1g, above f by %.1g", off,
		steepest, falls, above)
	return outcome(measured, off < 1e-6 && math.Abs(steepest-1) < 1e-9 && falls < 1e-12 && above < 1e-9)
}

// kappa is (k−1)^{k−1}/k^k.
func kappa(k float64) float64 { return math.Exp((k-1)*math.Log(k-1) - k*math.Log(k)) }

func momentBias(_ measure.Run, factor float64) claim.Outcome {
	largest := 0.0
	for _, k := range []float64{1.5, 2, 3, 4, 6} {
		for i := range 40 {
			c := 0.1 * math.Pow(1.2, float64(i))
			bound := func(moment float64) float64 { return factor * kappa(k) * moment / math.Pow(c, k-1) }
			// A is 3 with probability 0.2, else 0.
			largest = math.Max(largest, 0.2*math.Max(0, 3-c)/bound(0.2*math.Pow(3, k)))
			// 3 as near to kC/(k−1) as it gets.
			a := k * c / (k - 1)
			largest = math.Max(largest, 0.01*(a-c)/bound(0.01*math.Pow(a, k)))
			// Pareto's law from 1 on, of exponent k + ½.
			tail := k + 0.5
			excess := math.Pow(c, 1-tail) / (tail - 1)
			if c < 1 {
				excess = tail/(tail-1) - c
			}
			largest = math.Max(largest, excess/bound(tail/(tail-k)))
		}
	}
	return outcome(fmt.Sprintf("%.6f", largest), math.Abs(largest-1) < 1e-3).Reaching(largest)
}

// norms returns the mean norm of draws of isotropic Laplace noise of scale 1, and the share beyond a radius.
func norms(src *noise.Seeded, d, draws int, radius float64) (mean, beyond measure.Mean) {
	draw, b := noise.Exact(src), make([]float64, d)
	for range draws {
		clear(b)
		draw.IsotropicLaplace(d).AddRounded(b, 1, exact.Grid(1))
		n := floats.Norm(b, 2)
		mean.Add(n)
		beyond.Add(measure.Indicator(n > radius))
	}
	return mean, beyond
}

func ballHolds(run measure.Run, factor float64) claim.Outcome {
	largest := 0.0
	for d, zeta := range measure.Pairs(run, []float64{1, 2, 5, 50, 1000}, []float64{1, 2, 3, 10, 20}) {
		for _, radius := range []float64{16.5 * zeta * d, d + math.Sqrt(2*d*zeta) + zeta} {
			largest = math.Max(largest, mathext.GammaIncRegComp(d, radius)*math.Exp(zeta))
		}
	}
	draws := run.Runs(20_000)
	_, beyond := norms(noise.NewSeeded(32), 5, draws, factor*1.832*5)
	want := math.Exp(-3)
	z := (beyond.M - want) / math.Sqrt(want*(1-want)/float64(draws))
	return outcome(fmt.Sprintf("tail over e^{−ζ} at most %.3f; beyond the exact radius %.4f, %+.1f standard errors",
		largest, beyond.M, z), largest <= 1 && math.Abs(z) < 4).Reaching(largest).Corrected(
		"by another tail bound than the printed one")
}

// oneStage holds the distance of the minimisers against its term and the mean norm of the noise against its own, times
// factors, and the sum of both, at the theorem's C times the third, against the theorem's bound.
func oneStage(run measure.Run, times [3]float64) claim.Outcome {
	bias, spread, choice := times[0], times[1], times[2]
	const d, m, eps, lambda, share = 5.0, 1000.0, 1.0, 0.1, 0.01
	moved, above := 0.0, 0.0
	for _, k := range []float64{2, 3, 5} {
		q := 2 * d / (m * eps)
		c := choice * (k - 1) / k * math.Pow(q, -1/k) // of G_k = 1
		above = math.Max(above, (kappa(k)/math.Pow(c, k-1)+q*c)/math.Pow(q, 1-1/k)-1)
		// A share of the losses has the slope a along one axis, the others none: minimisers are the mean slopes
		// over −λ.
		a := k * c / (k - 1)
		distance := share * (a - c) / lambda
		moved = math.Max(moved, math.Abs(distance/(bias*kappa(k)*share*math.Pow(a, k)/math.Pow(c, k-1)/lambda)-1))
	}
	mean, _ := norms(noise.NewSeeded(33), int(d), run.Runs(20_000), 1)
	z := (mean.M - spread*d) / mean.Err()
	return outcome(fmt.Sprintf("bias off by %.1g of its term, noise %.4f d, %+.1f standard errors, the terms "+
		"above the bound by %.1g", moved, mean.M/d, z, above), moved < 1e-9 && math.Abs(z) < 4 &&
		above < 1e-9).Corrected("by one stage; the printed bias over W₀ is false")
}

// overBall holds f − f_C on a ball against factor·D(A − C)₊; everywhere takes the infimum over ℝᵈ.
func overBall(run measure.Run, everywhere bool, factor float64) claim.Outcome {
	src, most := noise.NewSeeded(35), 0.0
	for i := range run.Runs(400) {
		d := 1 + i%3
		e := OnBall{Loss: allLosses[i%len(allLosses)], C: math.Exp(src.NormFloat64()), Radius: 0.7}
		x, w, g, y := make([]float64, d), make([]float64, d), make([]float64, d), 3*src.NormFloat64()
		src.Gaussian(x, 3)
		src.Gaussian(w, 1)
		if !e.Loss.ValidLabel(y) {
			y = math.Copysign(1, y)
		}
		norm := floats.Norm(x, 2)
		floats.Scale(e.Radius/floats.Norm(w, 2), w)
		if i%2 == 0 { // where the loss is largest: at the end of x
			floats.ScaleTo(w, math.Copysign(e.Radius/norm, y), x)
		}
		t := floats.Dot(x, w)
		f, _ := e.slope(t, norm, y)
		extended := e.At(g, w, x, y)
		if everywhere {
			if extended, _ = loss.Cut(e.Loss, e.C, norm, t, y); math.IsInf(extended, -1) {
				continue
			}
		}
		if excess := e.Steepest(norm, y) - e.C; excess > 0 {
			most = math.Max(most, (f-extended)/(factor*2*e.Radius*excess))
		} else if f-extended > 1e-9 {
			return outcome("an extension that is not the loss", false)
		}
	}
	return outcome(fmt.Sprintf("at most %.4f of the bound", most), most <= 1+1e-9 && most > 0.999).Reaching(most)
}
