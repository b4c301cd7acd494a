// Package convolution is objective perturbation of losses with kinks in several linear forms of a record, each kink
// smoothed by a kernel: convolution-then-objective-perturbation (cop), with every accounting of it that is proved, with
// parameters chosen from public numbers, and in several stages, each around what the last released.
//
// Proofs: docs/theory/smoothing.md.
package convolution

import (
	"cmp"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpnb/notebooks/dpnb/erm"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/privacy/objective"
	"github.com/dpnb/notebooks/dpnb/smoothing"
)

// Loss is that of one record, of m linear forms,
//
//	ℓ(θ) = Σⱼ f(aⱼᵀθ; yⱼ) + h(zᵀθ; y),  A the m × d matrix of the rows aⱼ,  ‖A‖₂ ≤ Ā,  ‖z‖ ≤ D.
//
// With f the absolute loss, convolved, and yⱼ = 0 it is cop's E‖Aθ + μk‖₁ + h(zᵀθ). A record is m rows of features that
// follow each other, each with its label, and where there is an h one more, z with the label y.
//
// The bound is enforced: a record with ‖A‖₂ > Ā is multiplied, its labels too, by Ā/‖A‖₂, which keeps the relation
// between the two and lowers the record's weight; one with an entry that is not finite, or beyond 2⁹⁰⁰Ā, becomes zero.
// z is scaled by itself, and its label kept. Nothing is said of whether that happened.
type Loss struct {
	// Form is f, convex and of bounded slope and curvature.
	Form loss.Loss
	// Pieces is in place of Form and Other: ℓ(θ) = g(Aθ − y), g a smooth maximum of affine functions of all m forms
	// together (cop, section 4.3 and appendix B.4). A record that is scaled has their offsets scaled too.
	Pieces *smoothing.Entropic
	// Forms is m.
	Forms int
	// Norm is Ā > 0.
	Norm float64
	// ByRow says that Norm bounds each row by itself: rows are scaled one by one, and Ā = √m·Norm.
	ByRow bool
	// Other is h, convex and of bounded slope and curvature, or loss.Linear, and OtherNorm is D; nil for none.
	Other     loss.Loss
	OtherNorm float64
}

// rows returns how many rows a record has.
func (l Loss) rows() int {
	if l.Other != nil {
		return l.Forms + 1
	}
	return l.Forms
}

// other returns D·sup|h′| and D²·sup h″, zero where there is no h.
func (l Loss) other() (slope, curvature float64) {
	if l.Other == nil {
		return 0, 0
	}
	d := mechanism.Radius(l.OtherNorm)
	return d * l.Other.Lipschitz(), d * d * l.Other.Smoothness()
}

// bound returns Ā for what clip returns.
func (l Loss) bound() float64 {
	a := mechanism.Radius(l.Norm)
	if l.ByRow {
		a *= math.Sqrt(float64(l.Forms)) * (1 + 0x1p-50)
	}
	return a
}

// Lipschitz returns L = √m·Ā·sup|f′| + D·sup|h′|, a bound on the norm of a record's gradient. Of Pieces a_p it is
// Ā·max‖a_p‖.
func (l Loss) Lipschitz() float64 {
	if l.Pieces != nil {
		return l.bound() * l.Pieces.Function.Lipschitz() * (1 + piecesSlack)
	}
	slope, _ := l.other()
	return math.Sqrt(float64(l.Forms))*l.bound()*l.Form.Lipschitz() + slope
}

// Smoothness returns s = Ā²·sup f″ + D²·sup h″, a bound on the curvature of a record's loss in θ. Of Pieces a_p it is
// Ā²·max‖a_p − a_q‖²/(4w).
func (l Loss) Smoothness() float64 {
	if l.Pieces != nil {
		apart := l.bound() * (l.Pieces.Function.Diameter() + piecesSlack*l.Pieces.Function.Lipschitz())
		return apart * apart / (4 * l.Pieces.Width) * (1 + 0x1p-50)
	}
	_, curvature := l.other()
	return l.bound()*l.bound()*l.Form.Smoothness() + curvature
}

// validate returns a *privacy.ParamError if a field is out of range, or an error that wraps privacy.ErrUnsupported for
// a loss of unbounded slope or curvature.
func (l Loss) validate() error {
	if l.Pieces != nil {
		return l.validatePieces()
	}
	if err := cmp.Or(privacy.Within(l.Form != nil, "Form", nil, "a loss: loss.Absolute with a kernel, for one"),
		privacy.Within(l.Forms >= 1, "Forms", l.Forms, "a number m ≥ 1 of rows a record")); err != nil {
		return err
	}
	if err := cmp.Or(mechanism.Scales{{"Norm", l.Norm}}.Check(), usable("Form", l.Form)); err != nil {
		return err
	}
	if l.Other != nil {
		if h, fixed := l.Other.(loss.Linear); fixed && h.Lipschitz() > 0 {
			// no curvature
		} else if err := usable("Other", l.Other); err != nil {
			return err
		}
		if err := (mechanism.Scales{{"OtherNorm", l.OtherNorm}}).Check(); err != nil {
			return err
		}
	}
	return (mechanism.Scales{{"Lipschitz", l.Lipschitz()}, {"Smoothness", l.Smoothness()}}).Check()
}

// usable returns an error for a loss with parameters out of range, or without bounds.
func usable(name string, l loss.Loss) error {
	lipschitz, smooth := l.Lipschitz(), l.Smoothness()
	if !(lipschitz > 0) || !(smooth > 0) {
		return &privacy.ParamError{Name: name, Value: l.Name(),
			Want: "a loss whose parameters are in range (it wants the labels: " + l.Labels() + ")"}
	}
	if math.IsInf(lipschitz, 1) || math.IsInf(smooth, 1) {
		return fmt.Errorf("%w: the %s loss has sup|f′| = %v, sup f″ = %v, and objective perturbation needs both: "+
			"convolve it with a kernel (loss.Convolved)",
			privacy.ErrUnsupported, l.Name(), lipschitz, smooth)
	}
	return nil
}

// forms are the rows as the accountant sees them: m with the radius Ā; beside an h they have √(1+c)·Ā, and h has
// √(1+1/c)·D, unless its slope is fixed.
func (l Loss) forms(c float64) ([]objective.Form, error) {
	a, d := l.bound(), 0.0
	if l.Other != nil {
		a *= math.Sqrt(1+c) * (1 + 0x1p-50)
		d = mechanism.Radius(l.OtherNorm) * math.Sqrt(1+1/c) * (1 + 0x1p-50)
	}
	curve, err := loss.CurveOf(l.Form, a)
	if err != nil {
		return nil, fmt.Errorf("%w: %v", privacy.ErrUnsupported, err)
	}
	all := []objective.Form{{Curve: curve, Count: l.Forms}}
	if _, fixed := l.Other.(loss.Linear); l.Other != nil && !fixed {
		curve, err := loss.CurveOf(l.Other, d)
		if err != nil {
			return nil, fmt.Errorf("%w: %v", privacy.ErrUnsupported, err)
		}
		all = append(all, objective.Form{Curve: curve, Count: 1})
	}
	return all, nil
}

// fixed returns √(1+1/c)·D·|h′| of an h of fixed slope, which is a Gaussian mechanism beside the others, else 0.
func (l Loss) fixed(c float64) float64 {
	h, ok := l.Other.(loss.Linear)
	if !ok {
		return 0
	}
	return mechanism.Radius(l.OtherNorm) * h.Lipschitz() * math.Sqrt(1+1/c) * (1 + 0x1p-50)
}

// balance returns the c at which the norm of the whole gradient is bounded least.
func (l Loss) balance() float64 {
	slope, _ := l.other()
	if slope == 0 {
		return 1
	}
	return slope / (math.Sqrt(float64(l.Forms)) * l.bound() * l.Form.Lipschitz())
}

// check returns a *matrix.DataError unless rows are records of this loss.
func (l Loss) check(rows matrix.Rows, labels []float64) error {
	fail := func(format string, a ...any) error { return &matrix.DataError{Text: fmt.Sprintf(format, a...)} }
	if rows == nil {
		return fail("there are no rows")
	}
	n, d := rows.Dims()
	switch {
	case d == 0:
		return fail("there are no features (d = 0): keep at least one column")
	case n%l.rows() != 0:
		return fail("the rows are no multiple of %d: every record has as many (Forms, and one more for Other)",
			l.rows())
	case len(labels) != n:
		return fail("%d labels for %d rows", len(labels), n)
	}
	for i, y := range labels {
		if l.Pieces != nil {
			if math.IsNaN(y - y) {
				return fail("a label is not what the %s wants: %s", l.name(), l.labels())
			}
			continue
		}
		of := l.Form
		if i%l.rows() == l.Forms {
			of = l.Other
		}
		if !of.ValidLabel(y) {
			return fail("a label is not what the %s loss wants: %s", of.Name(), of.Labels())
		}
	}
	return nil
}

// clip returns the records scaled to the bounds, as copies, the rows of all A, then, where there is an h, all z; and by
// what each A, or each row of it, is scaled.
func (l Loss) clip(rows matrix.Rows, labels []float64) (x *matrix.Dense, y, scales []float64) {
	n, d := rows.Dims()
	out := matrix.NewDense(n, d, nil)
	y = make([]float64, n)
	first, second := 0, n/l.rows()*l.Forms
	for i := range n {
		to := &first
		if i%l.rows() == l.Forms {
			to = &second
		}
		rows.Row(out.Data[*to*d:(*to+1)*d], i)
		y[*to] = labels[i]
		*to++
	}
	k := l.Forms
	if l.ByRow {
		k = 1
	}
	gram := mat.NewSymDense(k, nil)
	for i := 0; i < first; i += k {
		a := out.Data[i*d : (i+k)*d]
		scale := shrink(gram, a, k, d, l.Norm)
		scales = append(scales, scale)
		if scale == 1 {
			continue
		}
		if scale == 0 {
			clear(a)
			clear(y[i : i+k])
			continue
		}
		floats.Scale(scale, a)
		floats.Scale(scale, y[i:i+k])
	}
	for i := first; i < n; i++ {
		z := out.Data[i*d : (i+1)*d]
		if scale := shrink(mat.NewSymDense(1, nil), z, 1, d, l.OtherNorm); scale == 0 {
			clear(z)
		} else if scale != 1 {
			floats.Scale(scale, z)
		}
	}
	return out, y, scales
}

// problem returns the clipped records with their loss, as erm has it.
func (l Loss) problem(rows matrix.Rows, labels []float64) erm.Problem {
	x, y, scales := l.clip(rows, labels)
	if l.Pieces != nil {
		return l.piecesProblem(x, y, scales)
	}
	if l.Other == nil {
		return erm.Problem{Rows: x, Labels: y, Loss: l.Form}
	}
	places := make([]float64, len(y))
	for i := range places {
		places[i] = float64(i)
	}
	return erm.Problem{Rows: x, Labels: places, Loss: loss.Stacked{First: l.Form, Second: l.Other, Table: y,
		Split: len(y) / l.rows() * l.Forms}}
}

// shrink returns min(1, norm/‖A‖₂) for the k × d matrix a, less what rounding may have taken from the computed norm; 0
// if an entry is not finite, or so large that the quotient would lose digits to underflow. Entries of AAᵀ err by d·u of
// their size, which moves its largest eigenvalue by kd·u of itself, and that is found to some k·u; what scaling itself
// rounds is within mechanism.NormSlack.
func shrink(gram *mat.SymDense, a []float64, k, d int, norm float64) float64 {
	largest := 0.0
	for _, v := range a {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return 0
		}
		largest = math.Max(largest, math.Abs(v))
	}
	switch {
	case largest*math.Sqrt(float64(len(a))) <= norm:
		return 1
	case largest > 0x1p900*norm:
		return 0
	}
	// In units of the largest entry, so that nothing overflows or underflows.
	unit := append([]float64(nil), a...)
	for i := range unit {
		unit[i] /= largest
	}
	for i := range k {
		for j := i; j < k; j++ {
			gram.SetSym(i, j, floats.Dot(unit[i*d:(i+1)*d], unit[j*d:(j+1)*d]))
		}
	}
	top := mat.Trace(gram)
	if k > 1 {
		var eigen mat.EigenSym
		if eigen.Factorize(gram, false) {
			top = math.Min(top, floats.Max(eigen.Values(nil)))
		}
	}
	root := math.Sqrt(top) * (1 + float64(k)*float64(d+40)*0x1p-53)
	if root*largest <= norm {
		return 1
	}
	return norm / largest / root
}
