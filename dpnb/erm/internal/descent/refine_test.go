package descent

import (
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/dd"
)

// quadratic is J = ½Σhⱼ(xⱼ − 1)², whose computed gradient errs by err in a direction that turns.
type quadratic struct {
	h     []float64
	err   float64
	calls int
}

func (q *quadratic) gradient(g, x dd.Vector) float64 {
	q.calls++
	for j, h := range q.h {
		g.Set(j, x.At(j).AddFloat(-1).MulFloat(h))
	}
	// The direction that hurts most: along the gradient of the flattest coordinate.
	j := q.calls % len(q.h)
	g.Set(j, g.At(j).AddFloat(math.Copysign(q.err, -g.Hi[j])))
	return q.err
}

// Steps of 1/M alone arrive within the number that is proved, with errors as large as the proof admits and against
// them; Newton's steps that mislead do no harm. Another unit of J changes nothing.
func TestRefinementArrives(t *testing.T) {
	for _, unit := range []float64{0x1p-20, 1, 0x1p20} {
		refinementArrives(t, unit)
	}
}

func refinementArrives(t *testing.T, unit float64) {
	tau, h := 1e-9*unit, []float64{unit, 3 * unit, 40 * unit, 200 * unit}
	for name, newton := range map[string]func(step, g, x []float64){
		"Newton": func(step, g, _ []float64) {
			for j := range step {
				step[j] = g[j] / h[j]
			}
		},
		"none":   func(step, _, _ []float64) { clear(step) },
		"wrong":  func(step, g, _ []float64) { copy(step, g); step[0] = math.NaN() },
		"uphill": func(step, g, _ []float64) { step[1] = -g[1] },
	} {
		q := &quadratic{h: h, err: tau / (4.1 * math.Sqrt(200))}
		r := Refinement{Gradient: q.gradient, Newton: newton, Modulus: h[0], Smoothness: h[3], Tolerance: tau}
		x := dd.NewVector(4)
		c := r.Run(x)
		proved := 2 * 200 * math.Log(4*250*unit/tau)
		// A try of Newton's is made between, at last once in maxWait steps.
		most := int(proved*(1+1.0/maxWait)) + 12
		if !(c.Bound() <= tau) || c.Passes > most || name == "Newton" && c.Passes > 8 {
			t.Errorf("%s: %.3g of %.3g after %d passes, at most %d are proved", name, c.Bound(), tau, c.Passes, most)
		}
		var truth float64
		for j, v := range x.Hi {
			truth = math.Hypot(truth, h[j]*(v+x.Lo[j]-1))
		}
		if truth > c.Bound() {
			t.Errorf("%s: ‖∇J‖ = %.3g, certified %.3g", name, truth, c.Bound())
		}
		t.Logf("%s: %d passes, %d proved", name, c.Passes, most)
	}
}

// Where the error is too much for the proof, and Newton's steps gain nothing, it ends.
func TestRefinementGivesUp(t *testing.T) {
	for _, unit := range []float64{0x1p-20, 1, 0x1p20} {
		q := &quadratic{h: []float64{unit, 1e9 * unit}, err: 1e-3 * unit}
		r := Refinement{Gradient: q.gradient, Newton: func(step, _, _ []float64) { clear(step) }, Modulus: unit,
			Smoothness: 1e9 * unit, Tolerance: 1e-6 * unit}
		if c := r.Run(dd.NewVector(2)); c.Bound() <= r.Tolerance || c.Passes > 200 {
			t.Errorf("J in units of %g: %+v", unit, c)
		}
		r.MaxPasses, q.calls = 5, 0
		if r.Run(dd.NewVector(2)); q.calls > 5 {
			t.Errorf("J in units of %g: %d passes, 5 are allowed", unit, q.calls)
		}
	}
}

// bend is J = ½λx² + h(x − at) with h of slope x cut to [−1, 1]: flat but for a stretch, so that Newton's steps lead
// far beyond it, from one side to the other and back.
type bend struct{ lambda, at float64 }

func (b bend) gradient(g, x dd.Vector) float64 {
	for j := range x.Hi {
		s := x.At(j).AddFloat(-b.at)
		if s.Hi > 1 {
			s = dd.From(1)
		} else if s.Hi < -1 {
			s = dd.From(-1)
		}
		g.Set(j, x.At(j).MulFloat(b.lambda).Add(s))
	}
	return 1e-13
}

func (b bend) newton(step, g, x []float64) {
	for j, v := range x {
		h := b.lambda
		if math.Abs(v-b.at) <= 1 {
			h++
		}
		step[j] = g[j] / h
	}
}

// Newton's steps that are far too long are made shorter: a few passes find what those of 1/M take thousands for.
func TestLongStepsAreShortened(t *testing.T) {
	for _, start := range []float64{-3000, 90, 5000} {
		b := bend{1e-4, 7}
		r := Refinement{Gradient: b.gradient, Newton: b.newton, Modulus: b.lambda, Smoothness: 1 + b.lambda,
			Tolerance: 1e-8}
		x := dd.NewVector(2)
		x.Hi[0], x.Hi[1] = start, -0.3*start
		c := r.Run(x)
		want := b.at / (1 + b.lambda) // where λx + x = at
		if !(c.Bound() <= 1e-8) || c.Passes > 150 || !(math.Abs(x.Hi[0]-want) <= 1e-7) ||
			!(math.Abs(x.Hi[1]-want) <= 1e-7) {
			t.Errorf("from %v: at %v after %d passes, want %v", start, x.Hi, c.Passes, want)
		}
		t.Logf("from %v: %d passes", start, c.Passes)
	}
}
