package erm

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/internal/dd"
	"github.com/dpnb/notebooks/dpnb/internal/kernel"
)

// MinimizeWithin returns θ within reach of the minimiser of p over the ball ‖θ‖ ≤ radius, rounding included, where
// p.Linear may be off by a vector of norm blur; and it always does, whatever the records are: with a loss of bounded
// slope and curvature its last resort is proved to arrive within twice the error of a gradient in double-double over λ,
// and what blur and the float64 next to a point take. No limit on passes holds.
//
// The certificate at a θ of the ball's surface is g = ∇J(θ) + μθ for some μ ≥ 0: θ is within ‖g‖/(λ + μ/2) of the
// minimiser, however large the linear term b is, so that no precision has to grow with ‖b‖. Proof:
// docs/theory/heavytail.md, dpnb-total-release.
//
// Errors: *DataError for shapes, labels or parameters that have no answer.
func MinimizeWithin(p *Problem, radius, reach, blur float64, workers int) ([]float64, error) {
	start := make([]float64, len(p.Linear))
	if tolerance := 0.5*p.Lambda*reach - blur; tolerance > 0 {
		free, err := Minimize(p, &Settings{Tolerance: tolerance, Workers: workers, Persist: true})
		if free == nil {
			return nil, err
		}
		start = free.Theta
		if err == nil && floats.Norm(start, 2)*(1+kernel.NormError(len(start))) <= radius {
			return start, nil
		}
	} else if err := p.Validate(); err != nil {
		return nil, err
	} else {
		floats.AddScaled(start, -1/p.Lambda, p.Linear)
	}
	w := newWithin(p, radius, reach, blur, workers)
	if theta := w.search(start); theta != nil {
		return theta, nil
	}
	return w.arrive(), nil
}

// within is the state of MinimizeWithin on the surface.
type within struct {
	p                   *Problem
	radius, reach, blur float64
	workers             int
	r                   *search
	// gradient writes ∇J, in double-double, and bounds its error.
	gradient func(g, x dd.Vector) (rounding float64)
	// largest bounds the Hessian of p.
	largest float64
	g       dd.Vector
}

func newWithin(p *Problem, radius, reach, blur float64, workers int) *within {
	w := &within{p: p, radius: radius, reach: reach, blur: blur, workers: workers}
	w.r = newSearch(p, Settings{Workers: workers})
	w.r.e.eval(w.r.g, w.r.x) // finds the longest record
	w.largest = w.r.e.smoothness()
	w.g, w.gradient = dd.NewVector(w.r.e.size), newPrecise(w.r.e).gradient
	return w
}

// search looks for the μ ≥ 0 at which the minimiser of J + (μ/2)‖θ‖² has the norm radius, by 1/‖θ_μ‖, which is nearly
// straight in μ, and goes on from each by Newton's method on the surface. It returns nil if it lost its way.
func (w *within) search(theta []float64) []float64 {
	gap := func(x []float64) float64 { return 1/floats.Norm(x, 2) - 1/w.radius }
	lo, hi, mu := 0.0, math.Inf(1), 0.0
	last, atLast := 0.0, 0.0
	for k := range 60 {
		if k > 0 {
			q := *w.p
			q.Lambda += mu
			set := &Settings{Tolerance: 1e-3 * q.Lambda * w.reach, MaxPasses: 200, Workers: w.workers, Start: theta}
			s, _ := Minimize(&q, set)
			if s == nil {
				return nil
			}
			theta = s.Theta
		}
		at := gap(theta)
		if math.IsInf(at, 0) || math.IsNaN(at) {
			return nil
		}
		x := dd.NewVector(len(theta))
		copy(x.Hi, theta)
		point, next := w.polish(x)
		if point != nil {
			return point
		}
		if at < 0 {
			lo = mu
		} else {
			hi = mu
		}
		if k > 0 {
			next = mu - at*(mu-last)/(at-atLast)
		}
		last, atLast = mu, at
		if !(next > lo && next < hi) {
			if next = 0.5 * (lo + hi); math.IsInf(hi, 1) {
				next = 4*lo + w.p.Lambda
			}
		}
		mu = next
	}
	return nil
}

// polish takes a point, brought to the surface, nearer to the minimiser by Newton's method for J with the constraint,
// and returns it where it is within reach; else nil. It also returns the multiplier with which it began.
func (w *within) polish(x dd.Vector) (point []float64, began float64) {
	w.surface(x)
	d := len(x.Hi)
	began, distance := w.certify(x)
	a, c := make([]float64, d), make([]float64, d)
	for mu := began; distance > w.reach; {
		if d > maxFactor {
			return nil, began
		}
		q := *w.p
		q.Lambda += mu
		m := newPrimalMetric(&q, 1, newPenalty(&q, d), w.workers, true)
		m.refresh(x.Hi)
		floats.AddScaledTo(a, w.g.Hi, mu, x.Hi)
		copy(c, x.Hi)
		m.solve(a)
		m.solve(c)
		floats.AddScaled(a, -floats.Dot(x.Hi, a)/floats.Dot(x.Hi, c), c)
		for j := range a {
			x.Set(j, x.At(j).AddFloat(-a[j]))
		}
		w.surface(x)
		before := distance
		if mu, distance = w.certify(x); !(distance < 0.5*before) {
			return nil, began
		}
	}
	return x.Hi, began
}

// norm returns ‖x‖.
func norm(x dd.Vector) dd.Number {
	var square dd.Number
	for j := range x.Hi {
		square = square.Add(x.At(j).Mul(x.At(j)))
	}
	return square.Sqrt()
}

// surface scales x to the norm radius, to (d + 8)·2⁻¹⁰⁰ of it.
func (w *within) surface(x dd.Vector) {
	f := dd.From(w.radius).Div(norm(x))
	for j := range x.Hi {
		x.Set(j, x.At(j).Mul(f))
	}
}

// certify returns μ ≥ 0 for a point of the surface and a bound on the distance of its float64 from the minimiser over
// the ball. The gradient is that in float64 where that will do.
func (w *within) certify(x dd.Vector) (mu, distance float64) {
	lost := 1.01 * floats.Norm(x.Lo, 2)
	_, err := w.r.e.eval(w.g.Hi, x.Hi)
	clear(w.g.Lo)
	if mu, distance = w.bound(x, err+w.largest*lost); distance <= w.reach {
		return mu, distance
	}
	return w.bound(x, w.gradient(w.g, x))
}

// bound is certify for the computed gradient g, which errs by err. There is a point of the surface within δ of x; there
// the gradient is off by Mδ and μx by μδ.
func (w *within) bound(x dd.Vector, err float64) (mu, distance float64) {
	const u = 0x1p-53
	d := len(x.Hi)
	off, rest := w.off(), make([]float64, d)
	mu = math.Max(0, -floats.Dot(w.g.Hi, x.Hi)/(w.radius*w.radius))
	for j := range rest {
		rest[j] = w.g.At(j).Add(x.At(j).MulFloat(mu)).Hi
	}
	size := floats.Norm(rest, 2) * (1 + kernel.NormError(d))
	err += w.blur + 0x1p-98*(floats.Norm(w.g.Hi, 2)+mu*w.radius) + (w.largest+mu)*off
	return mu, ((size+err)/(w.p.Lambda+0.5*mu) + off + 1.01*floats.Norm(x.Lo, 2)) * (1 + 8*u)
}

// arrive is projected gradient descent in double-double from the origin, with steps ℓ ≤ 1/M. One without an error takes
// the distance from the minimiser to at most 1 − ℓλ of it, so that after k of them, of which each erred by at most r,
// it is
//
//	R·e^{−kℓλ} + r/(ℓλ)
//
// at most: their number is a certificate, too, where errors keep gradients from being small. It ends, if it may take
// long.
func (w *within) arrive() []float64 {
	d := w.r.e.size
	x := dd.NewVector(d)
	length := 1 / (w.largest * (1 + 0x1p-40))
	rate := length * w.p.Lambda * (1 - 0x1p-50)
	worst, blurred, onSurface := 0.0, w.blurred(), false
	for k := 0.0; ; k++ {
		err := w.gradient(w.g, x)
		size := floats.Norm(w.g.Hi, 2) * (1 + kernel.NormError(d))
		lost := 1.01 * floats.Norm(x.Lo, 2)
		distance := ((size+err+w.blur)/w.p.Lambda + lost) * (1 + 0x1p-50)
		if onSurface {
			_, distance = w.bound(x, err)
		}
		walked := (w.radius*math.Exp(-k*rate) + worst/rate + blurred + lost) * (1 + 0x1p-40)
		if min(distance, walked) <= w.reach {
			return x.Hi
		}
		var slip float64
		slip, onSurface = w.step(x, length, err, size)
		worst = math.Max(worst, slip)
	}
}

// step takes a step of the given length along the gradient g at x, which errs by err and has at most the norm size, and
// bounds how far from the exact step it ends.
func (w *within) step(x dd.Vector, length, err, size float64) (slip float64, onSurface bool) {
	slip = length*err + 0x1p-103*(floats.Norm(x.Hi, 2)+length*size) // before the projection
	for j := range x.Hi {
		x.Set(j, x.At(j).Add(w.g.At(j).MulFloat(-length)))
	}
	reached := norm(x)
	if onSurface = dd.From(w.radius).Less(reached); onSurface {
		// Of two points beyond the surface the projections are nearer to each other by R over the distance of the
		// nearer one.
		slip *= min(1, w.radius/max(0, reached.Hi*(1-0x1p-40)-slip))
		w.surface(x)
	}
	return slip + w.off(), onSurface
}

// WithinError bounds λ times what is left, however many steps it takes, of the distance to which the last resort of
// MinimizeWithin is proved to come, blur and the float64 next to a point aside: of n records of norm 1 with a loss of
// slope C and curvature S at most whose slopes in double-double err by 2⁻⁷⁹C, with a ridge λ and any linear term, over
// a ball of radius R. Steps err by
//
//   - 1.01n·2⁻⁷⁹C of the slopes, and with n/4 + 512 records in a chunk (n/4 + 512)(300 + 1.2d)u² of their sum nC;
//   - 110u²·(nC + MR) of the sums with what is left of J and of the steps, M = λ + nS;
//   - 2(d + 20)²u²·MR of the margins, in which 1.2(d + 3)², and of projections.
//
// Proof: docs/theory/heavytail.md, dpnb-total-release.
func WithinError(n, d int, slope, curvature, lambda, radius float64) float64 {
	const u = 0x1p-53
	records, features := float64(n), float64(d)
	slopes, sum := records*slope, (lambda+records*curvature)*radius
	return (0x1.03p-79+((records/4+512)*(300+1.2*features)+110)*u*u)*slopes +
		2*(features+20)*(features+20)*u*u*sum
}

// off is how far from the surface a point is that surface returned, and one within is that was taken to be.
func (w *within) off() float64 { return float64(w.r.e.size+8) * 0x1p-100 * w.radius }

// blurred bounds how far the minimiser is from that with the exact linear term b: blur over λ + μ/2, where the
// multiplier μ is at least (‖b‖ − ‖∇J − b‖)/R.
func (w *within) blurred() float64 {
	e := w.r.e
	others := (float64(e.n)*e.f.Lipschitz()*e.maxNorm + w.p.Lambda*w.radius) * (1 + 0x1p-40)
	mu := (floats.Norm(w.p.Linear, 2)*(1-0x1p-40) - others) / w.radius
	if !(mu > 0) {
		mu = 0
	}
	return w.blur / (w.p.Lambda + 0.5*mu) * (1 + 0x1p-50)
}
