package wishart

import (
	"cmp"
	"fmt"
	"math"

	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Event is one release by quadratic objective perturbation; it implements privacy.Event. That every loss is minimal at
// θ⋆, within AnchorError of the anchor, is an assumption of it.
type Event struct {
	Setting
	Split Split
	// Sigma2 and SigmaOut are the noise that is used.
	Sigma2, SigmaOut float64
}

var _ privacy.Event = Event{}

// Validate returns a *privacy.ParamError if the noise is less than the split needs, or the error of Setting.Noise.
func (e Event) Validate() error {
	n, err := e.Setting.Noise(e.Split)
	if err != nil {
		return err
	}
	if !(e.Sigma2 >= n.Sigma2) || math.IsInf(e.Sigma2, 1) {
		return &privacy.ParamError{Name: "Sigma2", Value: e.Sigma2,
			Want: fmt.Sprintf("a finite number of at least %g for this split", n.Sigma2)}
	}
	// More σ² than needed makes the output noise that is needed smaller.
	if !(e.SigmaOut >= n.SigmaOut) || math.IsInf(e.SigmaOut, 1) {
		return &privacy.ParamError{Name: "SigmaOut", Value: e.SigmaOut,
			Want: fmt.Sprintf("a finite number of at least %g for this split", n.SigmaOut)}
	}
	return nil
}

// Profile implements privacy.Event: (ε₁ + ε₂, δ₁ + δ₂ + δ₃ + δ₄) under the setting's adjacency; for least squares with
// exact anchor and solver the whole curve. What holds under replace-one holds under add/remove-one too (see
// Setting.Adjacency), and the converse follows by composition.
//
// Errors: as Validate; *privacy.ParamError for adj.
func (e Event) Profile(adj privacy.Adjacency) (privacy.Profile, error) {
	if err := cmp.Or(e.Validate(), adj.Validate()); err != nil {
		return nil, err
	}
	if e.Setting.accounting() == Exact && e.exact() {
		return LeastSquaresProfile(e.Wishart, e.Smoothness, e.Sigma2, adj)
	}
	eps, delta := e.Split.Total()
	holds := adj
	if e.addRemove() {
		holds = privacy.AddRemove
	}
	return privacy.Approx{Epsilon: eps, Delta: delta, Adj: holds}.Profile(adj)
}

// String describes the event.
func (e Event) String() string {
	return fmt.Sprintf("QuadraticPerturbation(d=%d, m=%d, L=%.5g, σ²=%.5g, σ_out=%.5g, %v accounting)",
		e.D, e.M, e.Smoothness, e.Sigma2, e.SigmaOut, e.Setting.accounting())
}

// LeastSquaresProfile returns the privacy profile of least squares with an exact anchor and an exact solver, for
// records with ‖∇²ℓ‖ ≤ L. Under add/remove-one it is exact, as it is attained by a linear regulariser along the longest
// record; under replace-one it is the composition of two such steps.
//
// Errors: *privacy.ParamError.
// Proof: docs/theory/quadratic.md, section 4.
func LeastSquaresProfile(w Wishart, smoothness, sigma2 float64, adj privacy.Adjacency) (privacy.Profile, error) {
	s := Setting{Wishart: w, Smoothness: smoothness, Rank: 1, Structure: LeastSquares}
	if err := s.Validate(); err != nil {
		return nil, err
	}
	ratio := smoothness / sigma2 * (1 + 1e-15)
	if !(ratio > 0) || math.IsInf(ratio, 1) {
		return nil, &privacy.ParamError{Name: "Sigma2", Value: sigma2,
			Want: "a positive finite number, not out of all proportion to L"}
	}
	return privacy.ConvertAdjacency(shift{w.freedom(), ratio}, adj)
}
