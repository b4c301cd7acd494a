package composite

import "fmt"

// Within returns a point that is within Tolerance/Modulus of the minimiser, on which a private release may count.
//
// Where C is met up to rounding only, the certificate is about a point θ′ that may be Shift from the one that is
// returned. The gradient's Lipschitz constant times Shift is a part of the bound w that is certified, so that ‖θ − θ⋆‖
// ≤ w/μ + Shift ≤ 2w/μ, and half of the tolerance is asked for.
//
// Errors: as Solve, and for a negative Tolerance.
func Within(p *Problem, s Settings) ([]float64, error) {
	if s.Tolerance < 0 {
		return nil, fmt.Errorf("composite: Tolerance = %v, want a number that is not negative", s.Tolerance)
	}
	switch p.Constraint.(type) {
	case nil, Box:
	default:
		s.Tolerance /= 2
	}
	s.Start = p.Centre
	sol, err := Solve(p, &s)
	if err != nil {
		return nil, err
	}
	return sol.Theta, nil
}
