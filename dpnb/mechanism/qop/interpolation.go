// Package qop releases minimisers of randomly curved objectives: quadratic objective perturbation (QOP) of Cortild and
// Cartis 2026, and, beside it, linear objective perturbation (LOP) with the same regularisers and constraints.
//
// The privacy of QOP rests on interpolation, an assumption about all records that could ever be in the data: see
// AssumeInterpolation. Without it QOP protects nobody, whatever the noise (docs/errata.md, qop-20).
package qop

import (
	"cmp"
	"fmt"
	"math"

	"github.com/dpnb/notebooks/dpnb/erm"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Interpolation is the assumption that all losses, of every record that could be in the data, are minimal at one common
// point θ⋆ within η of the anchor. It is made by AssumeInterpolation and never by default.
type Interpolation struct {
	anchor []float64
	eta    float64
}

// AssumeInterpolation states that every record that could ever be in the data, not only those that are, has its loss
// minimal at one common θ⋆, and that the anchor, which was computed without the data, is within eta of it. A label xᵀθ⋆
// may be off by the rounding of its computation in float64 (Run allows for it), and by no more. It is printed with
// every guarantee that rests on it. There is no test of it on private data: the answer would tell about them.
// CheckPublic tests it on public ones.
func AssumeInterpolation(anchor []float64, eta float64) Interpolation {
	return Interpolation{anchor: append(make([]float64, 0, len(anchor)), anchor...), eta: eta}
}

// Anchor returns a copy of the anchor θ̃⋆.
func (a Interpolation) Anchor() []float64 { return append([]float64(nil), a.anchor...) }

// Eta returns η, the bound on ‖θ̃⋆ − θ⋆‖₂.
func (a Interpolation) Eta() float64 { return a.eta }

// String states the assumption for those who read the guarantee.
func (a Interpolation) String() string {
	at := "at the anchor itself"
	if a.eta > 0 {
		at = fmt.Sprintf("within η = %s of the anchor", privacy.FormatUp(a.eta, 6))
	}
	return fmt.Sprintf("interpolation: the loss of every record that could be in the data is minimal at one common "+
		"point, %s, but for the rounding of its label to float64, and the anchor was found without the data; if a "+
		"single record violates this, nothing is protected", at)
}

// validate refuses an assumption that was not made, or not for d coordinates.
func (a Interpolation) validate() error {
	return cmp.Or(privacy.Within(a.anchor != nil, "Interpolation", nil,
		"to be stated: AssumeInterpolation(anchor, eta); quadratic perturbation protects nobody without it"),
		privacy.Within(len(a.anchor) > 0 && matrix.Finite(a.anchor...), "Interpolation", a.anchor,
			"an anchor of finite numbers, one for each feature"),
		privacy.Within(a.eta >= 0 && !math.IsInf(a.eta, 1), "Interpolation", a.eta, "a finite η ≥ 0"))
}

// PublicData are records that need no protection, and that whoever makes this value says so of.
type PublicData struct {
	Rows   matrix.Rows
	Labels []float64
}

// PublicCheck is how the assumption fares on public records.
type PublicCheck struct {
	// Records that were looked at, and how many of them violate the assumption.
	Records, Violations int
	// Needed is the smallest η that no record contradicts: max |f′(xᵀθ̃; y)|/(‖x‖·sup f″), a lower bound on how far the
	// anchor is from minimising each loss.
	Needed float64
	// Worst is the index of the record that needs it.
	Worst int
}

// CheckPublic looks for public records that contradict the assumption: a loss that is minimal within η of the anchor
// has a slope of at most sup f″·‖x‖·η there. No contradiction is no proof: other records may contradict it, and the
// minimisers of different records may be different points.
//
// Errors: *matrix.DataError, *privacy.ParamError.
func (a Interpolation) CheckPublic(data PublicData, l loss.Loss) (PublicCheck, error) {
	if err := a.validate(); err != nil {
		return PublicCheck{}, err
	}
	p := erm.Problem{Rows: data.Rows, Labels: data.Labels, Loss: l, Lambda: 1}
	if err := p.Validate(); err != nil {
		return PublicCheck{}, err
	}
	n, d := data.Rows.Dims()
	if d != len(a.anchor) {
		return PublicCheck{}, anchorLength(len(a.anchor), d)
	}
	t, slope, norms := make([]float64, n), make([]float64, n), make([]float64, n)
	data.Rows.Margins(t, a.anchor, 0, n)
	l.ValueSlope(slope, t, data.Labels)
	data.Rows.Norms(norms, 0, n)
	c := PublicCheck{Records: n, Worst: -1}
	for i, s := range slope {
		needed := 0.0
		if s != 0 {
			needed = math.Abs(s) / (norms[i] * l.Smoothness()) // +Inf for a row of zeros: no θ minimises it better
		}
		if norms[i] == 0 {
			needed = 0 // a loss that does not depend on θ is minimal everywhere
		}
		// A label that was computed as xᵀθ⋆ is off by rounding.
		if needed > a.eta+1e-12*(1+math.Abs(t[i])/math.Max(norms[i], 1e-300)) {
			c.Violations++
		}
		if needed > c.Needed {
			c.Needed, c.Worst = needed, i
		}
	}
	return c, nil
}

// attains refuses losses that no θ minimises, for which interpolation cannot hold: their slopes tend to zero and never
// are.
func attains(l loss.Loss) error {
	if !loss.Attained(l) {
		return fmt.Errorf("%w: the %s loss has no minimiser (for Poisson: at a count of zero), so that no θ⋆ "+
			"minimises every record's and interpolation cannot hold; use the squared, Huber or pseudo-Huber loss, or "+
			"a squared or smoothed hinge on separable data",
			privacy.ErrUnsupported, l.Name())
	}
	return nil
}

func anchorLength(got, d int) error {
	return &privacy.ParamError{Name: "Interpolation", Value: fmt.Sprintf("an anchor of length %d", got),
		Want: fmt.Sprintf("one of length d = %d, a number for each feature", d)}
}
