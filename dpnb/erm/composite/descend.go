package composite

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// fewerLooks is after how many steps of descend the certificate is looked at.
const fewerLooks = 32

// passesOfDescent is after how many accelerated projected gradients a bound on the distance of 0 from ∂J + N_C is
// certainly at most the tolerance, of an objective of condition κ.
//
// Proof: docs/theory/composite.md#dpnb-descent.
func passesOfDescent(bound, tolerance, kappa float64) float64 {
	root := math.Sqrt(kappa)
	return math.Max(0, math.Ceil(2*root*math.Log(4*root*bound/tolerance)))
}

// descend goes on from the best point by Nesterov's accelerated projected gradients, with a constant momentum, until
// the certificate is good enough or the passes are made after which it is for certain, if sums were exact.
func (r *search) descend() {
	l, mu := r.o.h.Smoothness(), r.s.Modulus
	if r.done() || !(mu > 0) || math.IsInf(l, 1) {
		return
	}
	l = math.Max(l, mu)
	root := math.Sqrt(l / mu)
	momentum, most := (root-1)/(root+1), passesOfDescent(r.best.Certificate.Bound(), r.s.Tolerance, l/mu)
	x := slices.Clone(r.best.Theta)
	y, next := slices.Clone(x), make([]float64, len(x))
	forward := func(from []float64) {
		r.value, r.rounding = r.o.eval(r.g, from)
		copy(next, from)
		floats.AddScaled(next, -1/l, r.g)
		r.o.c.Project(next, next)
	}
	for k := 1.; k <= most && !r.done(); k++ {
		forward(y)
		for j, v := range next {
			y[j] = v + momentum*(v-x[j])
			x[j] = v
		}
		if k != most && math.Mod(k, fewerLooks) != 0 {
			continue
		}
		forward(x) // a plain step, of whose end the certificate is proved to be small
		copy(r.x, next)
		r.value, r.rounding = r.o.eval(r.g, r.x)
		r.record()
	}
}
