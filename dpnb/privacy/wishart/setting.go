package wishart

import (
	"cmp"
	"fmt"
	"math"

	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Structure is what is known of the losses besides that each is convex, twice differentiable, L-smooth and minimal at
// θ⋆. More structure costs less noise.
type Structure int

const (
	// AnyLoss: Hessians of rank at most ρ, nothing else.
	AnyLoss Structure = iota
	// LinearModel: ℓ(θ; z) = f(xᵀθ; y), so that gradient and Hessian keep the direction x whatever θ is. Rank one.
	LinearModel
	// LeastSquares: ℓ(θ; z) = a(xᵀ(θ − θ⋆))²/2, a LinearModel of constant curvature. The release is then computed from
	// XᵀX + σ²W alone.
	LeastSquares
)

// String returns the name of the structure.
func (s Structure) String() string {
	switch s {
	case AnyLoss:
		return "any loss"
	case LinearModel:
		return "linear model"
	case LeastSquares:
		return "least squares"
	}
	return fmt.Sprintf("Structure(%d)", int(s))
}

// Accounting is how σ² is derived from (ε₁, δ₁, δ₃).
type Accounting int

const (
	// Best is the sharpest one that the structure admits.
	Best Accounting = iota
	// Theorem31 is the paper's, for any structure.
	Theorem31
	// Spectral counts the eigenvalues of the right sign only, for any structure.
	Spectral
	// Directional uses the law of xᵀW⁻¹x in place of ‖x‖²/λ_min, for linear models.
	Directional
	// Exact is the exact add/remove profile of XᵀX + σ²W, composed for replace-one, for least squares.
	Exact
)

var accountingNames = [...]string{"best", "theorem 3.1", "spectral", "directional", "exact"}

// String returns the name of the accounting.
func (a Accounting) String() string {
	if a >= 0 && int(a) < len(accountingNames) {
		return accountingNames[a]
	}
	return fmt.Sprintf("Accounting(%d)", int(a))
}

// Setting is what the noise is computed from: the perturbation's law, the losses and how exact the anchor and the
// solver are. None of it may depend on records.
type Setting struct {
	// Wishart is the law of W.
	Wishart
	// Shift c ≥ 0 makes the perturbation W + cI. Scaling W instead is scaling σ², which is chosen anyway.
	Shift float64
	// Smoothness L > 0: every loss has an L-Lipschitz gradient.
	Smoothness float64
	// Rank ρ ≥ 1 of the Hessian of one loss.
	Rank int
	// Structure of the losses.
	Structure Structure
	// Accounting; the zero value is the sharpest.
	Accounting Accounting
	// AnchorError η ≥ 0: the anchor is within η of a common minimiser.
	AnchorError float64
	// Accuracy τ ≥ 0: the solver's point is within τ of the minimum of the perturbed objective.
	Accuracy float64
	// Adjacency; zero means privacy.ReplaceOne. A record that is not there is one with the loss zero, which is
	// admissible: what holds for a replacement holds for add/remove-one as well, if the regulariser does not depend on
	// the number of records. privacy.AddRemove asks for no more than that, which needs less noise.
	Adjacency privacy.Adjacency
	// Certified are drawn α and α₁ (certify), used in place of Lemma D.2's where they are for this law and for no more
	// δ than the split has. Nil uses the lemma.
	Certified *CertifiedConstants
}

// exact reports whether nothing is left for the output noise to hide.
func (s Setting) exact() bool { return s.AnchorError == 0 && s.Accuracy == 0 }

// accounting returns the accounting that is used.
func (s Setting) accounting() Accounting {
	if s.Accounting != Best {
		return s.Accounting
	}
	switch s.Structure {
	case LinearModel:
		return Directional
	case LeastSquares:
		return Exact
	}
	return Spectral
}

// addRemove reports whether only records that come or go are accounted for.
func (s Setting) addRemove() bool { return s.Adjacency == privacy.AddRemove }

// AccountingUsed returns the accounting by which Noise is computed.
func (s Setting) AccountingUsed() Accounting { return s.accounting() }

// Validate returns a *privacy.ParamError if a field is out of range, or an error that wraps privacy.ErrUnsupported if
// the losses lack what the accounting needs.
func (s Setting) Validate() error {
	if err := cmp.Or(s.Wishart.Validate(), privacy.NotNegative("Shift", s.Shift),
		privacy.NotNegative("AnchorError", s.AnchorError), privacy.NotNegative("Accuracy", s.Accuracy)); err != nil {
		return err
	}
	if s.Adjacency != 0 {
		if err := s.Adjacency.Validate(); err != nil {
			return err
		}
	}
	if err := cmp.Or(privacy.Within(s.Smoothness > 0 && !math.IsInf(s.Smoothness, 1), "Smoothness", s.Smoothness,
		"a positive finite number: quadratic perturbation needs no bounded gradients, but curvature that "+
			"no record exceeds"),
		privacy.Within(s.Rank >= 1 && s.Rank <= s.D, "Rank", s.Rank, fmt.Sprintf("a rank between 1 and d = %d", s.D)),
		privacy.Within(s.Structure >= AnyLoss && s.Structure <= LeastSquares, "Structure", int(s.Structure),
			"AnyLoss, LinearModel or LeastSquares"),
		privacy.Within(s.Structure == AnyLoss || s.Rank == 1, "Rank", s.Rank,
			"1, the rank that a linear model's Hessians have")); err != nil {
		return err
	}
	switch a := s.accounting(); {
	case a < Best || a > Exact:
		return &privacy.ParamError{Name: "Accounting", Value: int(a),
			Want: "Best, Theorem31, Spectral, Directional or Exact"}
	case a == Directional && s.Structure == AnyLoss, a == Exact && s.Structure != LeastSquares:
		return fmt.Errorf("%w: %v accounting is not proved for the structure %q: it needs a record's gradient to keep "+
			"its direction (LinearModel), and exact accounting a constant curvature (LeastSquares)",
			privacy.ErrUnsupported, a, s.Structure)
	}
	return nil
}

// Split is how (ε, δ) is divided.
type Split struct {
	// Epsilon1 and Delta1 are for the perturbation, Epsilon2 and Delta2 for the output noise.
	Epsilon1, Epsilon2, Delta1, Delta2 float64
	// Delta3 is for λ_min(W) < α, Delta4 for a W that stretches the anchor's error more than was allowed for (λ_max(W)
	// > β in the paper); exact accounting needs no Delta4.
	Delta3, Delta4 float64
}

// Total returns ε₁ + ε₂ and δ₁ + δ₂ + δ₃ + δ₄, rounded up.
func (s Split) Total() (eps, delta float64) {
	up := math.Inf(1)
	eps, delta = s.Epsilon1, s.Delta1
	if s.Epsilon2 > 0 {
		eps = math.Nextafter(eps+s.Epsilon2, up)
	}
	for _, d := range []float64{s.Delta2, s.Delta3, s.Delta4} {
		if d > 0 {
			delta = math.Nextafter(delta+d, up)
		}
	}
	return eps, delta
}

// Within returns an error unless the parts sum to at most (ε, δ). A relative 1e-12 is left for the rounding of a caller
// who divided.
func (s Split) Within(eps, delta float64) error {
	e, d := s.Total()
	return cmp.Or(privacy.Within(e <= eps*(1+1e-12), "Split", e, fmt.Sprintf("ε₁ + ε₂ of at most ε = %g", eps)),
		privacy.Within(d <= delta*(1+1e-12), "Split", d, fmt.Sprintf("δ₁ + δ₂ + δ₃ + δ₄ of at most δ = %g", delta)))
}

// validate refuses a split that s cannot use.
func (s Split) validate(of Setting) error {
	for _, p := range []struct {
		name   string
		value  float64
		needed bool
		top    float64
	}{
		{"ε₁", s.Epsilon1, true, 1e3}, {"δ₁", s.Delta1, true, 1},
		{"ε₂", s.Epsilon2, !of.exact(), 1e3}, {"δ₂", s.Delta2, !of.exact(), 1},
		{"δ₃", s.Delta3, of.needsSpectrum(), 1},
		{"δ₄", s.Delta4, of.needsStretch(), 1},
	} {
		if p.needed && !(p.value > 0 && p.value < p.top) || !p.needed && !(p.value >= 0 && p.value < p.top) {
			want := fmt.Sprintf("a number in (0, %g)", p.top)
			if p.needed && p.value == 0 {
				want += ": an anchor or a solver that is not exact must be paid for, and without a bound on λ_min " +
					"there is nothing to pay with"
			}
			return &privacy.ParamError{Name: p.name, Value: p.value, Want: want}
		}
	}
	return nil
}

// needsSpectrum reports whether α, and with it δ₃, has a part in the guarantee.
func (s Setting) needsSpectrum() bool {
	a := s.accounting()
	return a == Theorem31 || a == Spectral || !s.exact()
}

// needsStretch reports whether δ₄ has a part in the guarantee.
func (s Setting) needsStretch() bool { return s.AnchorError > 0 && s.accounting() != Exact }
