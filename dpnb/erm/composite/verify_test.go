package composite

import "gonum.org/v1/gonum/floats"

// Verify returns the certificate of any point θ of C: how far it is from the minimiser, whatever found it. modulus is μ
// as in Settings.
//
// Errors: *matrix.DataError, also if θ is not in C.
func Verify(p *Problem, theta []float64, modulus float64) (Certificate, error) {
	r, err := newSearch(p, Settings{Start: theta, Modulus: modulus})
	if err != nil {
		return Certificate{}, err
	}
	if theta == nil || !r.o.c.Contains(theta) {
		return Certificate{}, dataError("the point is not in the constraint set, where the normal cone is empty")
	}
	// Contains grants rounding; what is certified is the projection, nearby.
	r.o.c.Project(r.x, theta)
	_, rounding := r.o.eval(r.g, r.x)
	if !structural(r.o.r, r.o.c) { // the multipliers of the minimiser nearby
		r.o.h.Hessian(r.m.h, r.x)
		copy(r.m.centre, r.x)
		copy(r.m.bar, r.g)
		r.inner.renew(r.s.Modulus)
		r.inner.minimise(1e-9*(1+floats.Norm(r.g, 2)), r.s.Modulus, r.pair)
	}
	c := r.o.certify(r.x, r.g, rounding, r.pair, r.s.Modulus)
	if moved := floats.Distance(r.x, theta, 2); moved > 0 {
		c.Shift += moved * (1 + edge(r.o.d))
	}
	return c, nil
}
