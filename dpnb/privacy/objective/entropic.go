package objective

import (
	"cmp"
	"fmt"
	"math"

	"github.com/dpnb/notebooks/dpnb/internal/logspace"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Entropic is objective perturbation of sums of soft maxima,
//
//	ℓ(θ; z) = Σⱼ w·ln Σ_p exp((⟨vⱼₚ, θ⟩ + bⱼₚ)/w),
//
// of which |x| smoothed to w·log cosh(x/w) is one. For every ε ≥ 0
//
//	δ_add(ε) ≤ Σ_c δ_G(ε; ‖v_c‖/σ),  δ_remove(ε) ≤ Σ_c δ_G(ε − Charge; ‖v_c‖/σ),
//
// the sum over all combinations c of one piece from each soft maximum, v_c the sum of their gradients. From λw = 2σ² on
// there is no charge. It holds for all ε ≥ 0 at once; at one ε and for one form Free asks for much less ridge.
//
// Statements: dpnb/entropic, dpnb/pieces; proofs: docs/theory/smoothing.md#dpnb-entropic and #dpnb-pieces.
type Entropic struct {
	// Vertices are bounds on ‖v_c‖ over all records, and how many combinations have each.
	Vertices []Vertex
	// Temperature is w.
	Temperature float64
	// Lambda and Sigma as in Config.
	Lambda, Sigma float64
	// Rank r and Spread V bound, over all records and all weights q of the combinations, the dimension of the span of
	// the differences of the v_c and the variance Σq_c‖v_c − Σqv‖²; Beyond is that outside of the r dimensions, for
	// what rounding makes of v_c. Rank zero is unknown: then λw ≥ 2σ² is asked for.
	Rank           int
	Spread, Beyond float64
}

// Vertex is Count gradients of norm at most Norm.
type Vertex struct{ Norm, Count float64 }

// Validate returns a *privacy.ParamError for the first field that is out of range.
func (e Entropic) Validate() error {
	err := privacy.Within(len(e.Vertices) > 0, "Vertices", 0, "at least one")
	for _, v := range e.Vertices {
		in := v.Norm >= 0 && v.Count >= 1 && !math.IsInf(v.Norm, 1) && !math.IsInf(v.Count, 1)
		err = cmp.Or(err, privacy.Within(in, "Vertices", v, "finite norms ≥ 0 and counts ≥ 1"))
	}
	least := EntropicLambda(e.Temperature, e.Sigma)
	return cmp.Or(err, privacy.Positive("Temperature", e.Temperature), privacy.Positive("Lambda", e.Lambda),
		privacy.Positive("Sigma", e.Sigma), privacy.NotNegative("Rank", float64(e.Rank)),
		privacy.NotNegative("Spread", e.Spread), privacy.NotNegative("Beyond", e.Beyond),
		privacy.Within(e.Rank != 0 || e.Lambda >= least, "Lambda", e.Lambda,
			fmt.Sprintf("at least 2σ²/w = %.6g, which entropic smoothing asks for", least)))
}

// Charge is what the curvature costs when a record is removed, rounded up:
//
//	max_{0 ≤ v ≤ V} r ln(1 + v/(rwλ)) − v/(2σ²),  and Beyond/(wλ),
//
// the price of the determinant less what the gradients' variance v takes off their norm. The maximum is at v = r(2σ² −
// wλ), cut to the range: at 0 where λw ≥ 2σ².
func (e Entropic) Charge() float64 {
	r, both := float64(e.Rank), e.Temperature*e.Lambda
	v := math.Max(0, math.Min(e.Spread, r*(2*e.Sigma*e.Sigma-both)))
	charge := e.Beyond / both
	if v > 0 {
		// The function is flat at its top: rounding v costs a second order of it.
		charge += r*math.Log1p(v/(r*both))*(1+1e-14) - v/(2*e.Sigma*e.Sigma)*(1-1e-14)
	}
	return charge * (1 + 1e-15)
}

// EntropicLambda returns the least λ of Entropic, 2σ²/w, rounded up.
func EntropicLambda(temperature, sigma float64) float64 {
	return 2 * sigma * (sigma / temperature) * (1 + 1e-15)
}

// Profile implements privacy.Event.
//
// Bound: upper, for ε ≥ 0, in both directions; below it says nothing.
// Errors: as Validate; one that wraps privacy.ErrUnsupported for any adjacency but add/remove-one.
func (e Entropic) Profile(adj privacy.Adjacency) (privacy.Profile, error) {
	if err := cmp.Or(e.Validate(), addRemoveOnly("entropic smoothing", adj)); err != nil {
		return nil, err
	}
	return entropicProfile{e}, nil
}

// String describes the event.
func (e Entropic) String() string {
	charged := ""
	if e.Rank > 0 {
		charged = fmt.Sprintf(", rank %d, V=%g", e.Rank, e.Spread)
	}
	return fmt.Sprintf("ObjectivePerturbation(entropic, %v, w=%g, λ=%g, σ=%g%s)", e.Vertices, e.Temperature, e.Lambda,
		e.Sigma, charged)
}

type entropicProfile struct{ e Entropic }

func (p entropicProfile) Adjacency() privacy.Adjacency { return privacy.AddRemove }

func (p entropicProfile) LogDeltaUpper(d privacy.Direction, eps float64) float64 {
	if !(eps >= 0) {
		return 0
	}
	if d == privacy.Remove && p.e.Rank > 0 {
		eps -= p.e.Charge()
	}
	sum := math.Inf(-1)
	for _, v := range p.e.Vertices {
		if v.Norm == 0 && eps < 0 {
			sum = logspace.Add(sum, math.Log(v.Count)+math.Log(-math.Expm1(eps)))
		}
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
