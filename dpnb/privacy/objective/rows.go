package objective

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/privacy/pld"
)

// Rows is objective perturbation of a loss of several linear forms of the record,
//
//	ℓ(θ; z) = Σⱼ fⱼ(aⱼᵀθ; z),  D = diag(αⱼ²) ⪰ AAᵀ,  A with the rows aⱼ
//
// (for ‖A‖₂ ≤ Ā every αⱼ = Ā will do; the rows need not be orthogonal): it costs at most the composition of what each
// form would cost alone, by the bound Pointwise, with the radius αⱼ. That is sharper than RankK, which takes the
// largest norm of the whole gradient for the slope in every direction.
//
// Statement: dpnb/rows-composed; proof: docs/theory/smoothing.md#dpnb-rows-composed.
type Rows struct {
	// Forms are curves with the radius αⱼ, and how many forms have each.
	Forms []Form
	// Lambda and Sigma as in Config.
	Lambda, Sigma float64
	// Mu is that of a Gaussian mechanism beside it: α|c|/σ for a form α·c·zᵀθ of fixed slope, which costs no more than
	// that; 2τ/(λσ_out) for output noise. They add in squares. Zero for none.
	Mu float64
}

// perOctave is how closely the profile of a form is asked: chords between cost some thousandths of δ.
const perOctave = 64

// Form is Count linear forms with one Curve.
type Form struct {
	Curve Curve
	Count int
}

// Profile implements privacy.Event.
//
// Bound: upper, for every ε, in both directions.
// Errors: *privacy.ParamError if a field is out of range; one that wraps privacy.ErrUnsupported for any adjacency but
// add/remove-one.
func (r Rows) Profile(adj privacy.Adjacency) (privacy.Profile, error) {
	return Stages{r}.Profile(adj)
}

// components are the parts of the composition.
func (r Rows) components() ([]pld.Component, error) {
	err := cmp.Or(privacy.Within(len(r.Forms) > 0, "Forms", 0, "at least one form"), privacy.NotNegative("Mu", r.Mu))
	for _, f := range r.Forms {
		err = cmp.Or(err, privacy.Within(f.Count >= 1, "Count", f.Count, "a number of forms ≥ 1"))
	}
	if err != nil {
		return nil, err
	}
	var parts []pld.Component
	for _, f := range r.Forms {
		p, err := New(Config{Curve: f.Curve, Lambda: r.Lambda, Sigma: r.Sigma, Bound: Pointwise})
		if err != nil {
			return nil, err
		}
		parts = append(parts, pld.Component{Profile: privacy.Interpolated(p, perOctave), Count: f.Count})
	}
	if r.Mu > 0 {
		parts = append(parts, pld.Component{Profile: privacy.GaussianProfile(r.Mu, privacy.AddRemove), Count: 1})
	}
	return parts, nil
}

// String describes the event.
func (r Rows) String() string {
	var forms []string
	for _, f := range r.Forms {
		forms = append(forms, fmt.Sprintf("%d × %v", f.Count, f.Curve))
	}
	beside := ""
	if r.Mu > 0 {
		beside = fmt.Sprintf(", beside μ=%g", r.Mu)
	}
	return fmt.Sprintf("ObjectivePerturbation(%s, λ=%g, σ=%g%s)", strings.Join(forms, ", "), r.Lambda, r.Sigma, beside)
}

// Stages are releases one after the other, each with parameters and a regulariser that may depend on what the earlier
// ones released, as the ridge around the last release does: they cost the composition of all their forms.
//
// Statement: dpnb/recentring; proof: docs/theory/smoothing.md#dpnb-recentring.
type Stages []Rows

// Profile implements privacy.Event.
//
// Bound: upper, for every ε, in both directions. Errors: as Rows.Profile.
func (s Stages) Profile(adj privacy.Adjacency) (privacy.Profile, error) {
	if err := cmp.Or(addRemoveOnly("several forms", adj),
		privacy.Within(len(s) > 0, "Stages", 0, "at least one stage")); err != nil {
		return nil, err
	}
	var parts []pld.Component
	for _, r := range s {
		p, err := r.components()
		if err != nil {
			return nil, err
		}
		parts = append(parts, p...)
	}
	if len(parts) == 1 && parts[0].Count == 1 {
		return parts[0].Profile, nil
	}
	c, err := pld.New(parts, nil)
	if err != nil {
		return nil, err
	}
	return c.Profile(), nil
}

// String describes the event.
func (s Stages) String() string {
	var all []string
	for _, r := range s {
		all = append(all, r.String())
	}
	return strings.Join(all, ", then ")
}
