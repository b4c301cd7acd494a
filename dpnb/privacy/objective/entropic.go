package objective

import (
	"fmt"
	"math"

	"github.com/dpnb/notebooks/dpnb/internal/logspace"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Entropic is objective perturbation of sums of soft maxima,
//
//	ℓ(θ; z) = Σⱼ w·ln Σ_p exp((⟨vⱼₚ, θ⟩ + bⱼₚ)/w),
//
// of which |x| smoothed to w·log cosh(x/w) is one. If λw ≥ 2σ², both directions have
//
//	δ(ε) ≤ Σ_c δ_G(ε; ‖v_c‖/σ)  for every ε ≥ 0,
//
// the sum over all combinations c of one piece from each soft maximum, v_c the sum of their
// gradients. It holds for all ε ≥ 0 at once; at one ε Free asks for much less ridge.
//
// Statement: dpnb/entropic; proof: docs/theory/smoothing.md#dpnb-entropic.
type Entropic struct {
	// Vertices are bounds on ‖v_c‖ over all records, and how many combinations have each.
	Vertices []Vertex
	// Temperature is w.
	Temperature float64
	// Lambda and Sigma as in Config.
	Lambda, Sigma float64
}

// Vertex is Count gradients of norm at most Norm.
type Vertex struct{ Norm, Count float64 }

// Validate returns a *privacy.ParamError for the first field that is out of range.
func (e Entropic) Validate() error {
	if len(e.Vertices) == 0 {
		return &privacy.ParamError{Name: "Vertices", Value: 0, Want: "at least one"}
	}
	for _, v := range e.Vertices {
		if !(v.Norm >= 0) || math.IsInf(v.Norm, 1) || !(v.Count >= 1) || math.IsInf(v.Count, 1) {
			return &privacy.ParamError{Name: "Vertices", Value: v, Want: "finite norms ≥ 0 and counts ≥ 1"}
		}
	}
	if err := positive("Temperature", e.Temperature); err != nil {
		return err
	}
	if err := positive("Lambda", e.Lambda); err != nil {
		return err
	}
	if err := positive("Sigma", e.Sigma); err != nil {
		return err
	}
	if least := EntropicLambda(e.Temperature, e.Sigma); !(e.Lambda >= least) {
		return &privacy.ParamError{Name: "Lambda", Value: e.Lambda,
			Want: fmt.Sprintf("at least 2σ²/w = %.6g, which entropic smoothing asks for", least)}
	}
	return nil
}

// EntropicLambda returns the least λ of Entropic, 2σ²/w, rounded up.
func EntropicLambda(temperature, sigma float64) float64 {
	return 2 * sigma * (sigma / temperature) * (1 + 1e-15)
}

// Profile implements privacy.Event.
//
// Bound: upper, for ε ≥ 0, in both directions; below it says nothing.
// Errors: as Validate; one that wraps privacy.ErrUnsupported for any adjacency but
// add/remove-one.
func (e Entropic) Profile(adj privacy.Adjacency) (privacy.Profile, error) {
	if err := e.Validate(); err != nil {
		return nil, err
	}
	if adj != privacy.AddRemove {
		return nil, fmt.Errorf("objective: entropic smoothing under %v; convert the add/remove-one profile: %w", adj,
			privacy.ErrUnsupported)
	}
	return entropicProfile{e}, nil
}

// String describes the event.
func (e Entropic) String() string {
	return fmt.Sprintf("ObjectivePerturbation(entropic, %v, w=%g, λ=%g, σ=%g)", e.Vertices, e.Temperature, e.Lambda,
		e.Sigma)
}

type entropicProfile struct{ e Entropic }

func (p entropicProfile) Adjacency() privacy.Adjacency { return privacy.AddRemove }

func (p entropicProfile) LogDeltaUpper(_ privacy.Direction, eps float64) float64 {
	if !(eps >= 0) {
		return 0
	}
	sum := math.Inf(-1)
	for _, v := range p.e.Vertices {
		if v.Norm > 0 {
			mu := math.Nextafter(v.Norm/p.e.Sigma, math.Inf(1))
			sum = logspace.Add(sum, math.Log(v.Count)+privacy.LogDeltaUpper(privacy.GaussianProfile(mu,
				privacy.AddRemove),
				eps))
		}
	}
	if math.IsInf(sum, -1) {
		return sum
	}
	return math.Min(0, sum+1e-14*(1+math.Abs(sum)))
}
