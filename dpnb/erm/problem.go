// Package erm minimises regularised empirical risks whose losses see the coefficients through K linear forms, and
// returns, with the minimiser, a certificate of how close it is: the one Newton method, and the one bound on rounding,
// of all rooms that fit models.
//
// The objective is a sum over records, never a mean:
//
//	J(θ) = Σᵢ f(tᵢ₁, …, tᵢ_K; yᵢ) + (λ/2)‖θ‖² + ½Σⱼ ωⱼθⱼ² + ½(θ−c)ᵀQ(θ−c) + bᵀθ,
//
// tᵢ_k linear in θ.
//
// For a generalised linear model K = 1 and tᵢ = xᵢᵀθ. It may enter matrix and loss; those who minimise may enter it.
package erm

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
)

// labelsHeld is how many labels are looked at before those of a file may go (stored.Rows).
const labelsHeld = 1 << 20

// unit is u, the relative error of one operation in float64.
const unit = 0x1p-53

// Problem is the objective
//
//	J(θ) = Σᵢ f(tᵢ₁, …, tᵢ_K; yᵢ) + (λ/2)‖θ‖² + ½Σⱼ ωⱼθⱼ² + ½(θ−c)ᵀQ(θ−c) + bᵀθ,
//
// a sum (not a mean) over the records. The ridge λ acts on every coordinate, an intercept included; ω shrinks single
// ones further. With λ > 0 it is λ-strongly convex, whatever ω ≥ 0 and Q are, and has one minimiser. The forms are one
// of
//
//	tᵢ = xᵢᵀθ       of a Loss (K = 1, D = d coefficients),
//	tᵢ_k = xᵢᵀθ_k   of a Joint, θ = (θ_1, …, θ_K) one after another (D = Kd),
//	tᵢ_k = aᵢ_kᵀθ   of a Joint with Forms (D = d).
type Problem struct {
	// Rows are the xᵢ, n×d; nil with Forms. Of a Source they come with their labels, and Labels are nil, or what its
	// method Labels returns.
	Rows matrix.Rows
	// Forms are, for each k, the aᵢ_k, n×d.
	Forms  []matrix.Rows
	Labels []float64
	// Loss is f for one form, Joint for several: one of them is set.
	Loss  loss.Loss
	Joint loss.Joint
	// Lambda is λ > 0.
	Lambda float64
	// Shrinkage is ω, of length D, finite and not negative; nil is zero.
	Shrinkage []float64
	// Linear is b, of length D; nil is zero.
	Linear []float64
	// Quadratic is Q, D×D, symmetric and positive semidefinite; nil is zero. For quadratic objective perturbation it is
	// σ²W.
	Quadratic *mat.SymDense
	// Centre is c, of length D; nil is zero.
	Centre []float64
}

// form is tᵢ_k = xᵢᵀθ[lo:hi] for one k and all records.
type form struct {
	rows   matrix.Rows
	lo, hi int
}

// joint returns f.
func (p *Problem) joint() loss.Joint {
	if p.Joint == nil {
		return loss.Sum(p.Loss)
	}
	return p.Joint
}

// forms returns the K forms of a problem whose shape is valid.
func (p *Problem) forms() []form {
	var all []form
	for _, rows := range p.Forms {
		_, d := rows.Dims()
		all = append(all, form{rows, 0, d})
	}
	if p.Forms == nil {
		_, d := p.Rows.Dims()
		k := 1
		if p.Joint != nil {
			k = p.Joint.Forms()
		}
		for k := range k {
			all = append(all, form{p.Rows, k * d, (k + 1) * d})
		}
	}
	return all
}

// size returns D.
func size(all []form) int { return all[len(all)-1].hi }

// apart reports whether each form sees coefficients of its own, by the same records.
func apart(all []form) bool { return len(all) == 1 || all[1].lo > 0 }

// nonzeros returns the number of entries that are stored in the rows.
func nonzeros(all []form) (sum int) {
	for k, f := range all {
		if k == 0 || !apart(all) {
			sum += matrix.Nonzeros(f.rows)
		}
	}
	return sum
}

// together is the records with Rᵢ for a norm: ‖xᵢ‖, or (Σ_k‖aᵢ_k‖²)^½ with Forms.
type together struct {
	matrix.Rows
	all []form
}

func (t together) Norms(dst []float64, lo, hi int) {
	t.all[0].rows.Norms(dst, lo, hi)
	if apart(t.all) {
		return
	}
	more := make([]float64, hi-lo)
	for _, f := range t.all[1:] {
		f.rows.Norms(more, lo, hi)
		for i, v := range more {
			dst[i] = math.Hypot(dst[i], v)
		}
	}
}

// Validate checks shapes, labels, λ and that every number is finite. It returns a *DataError that says what to do.
func (p *Problem) Validate() error {
	_, err := p.ValidateNorm()
	return err
}

// ValidateNorm is Validate, and returns max Rᵢ, which it reads all records for: Rᵢ = ‖xᵢ‖₂, or (Σ_k‖aᵢ_k‖²)^½ with
// Forms.
func (p *Problem) ValidateNorm() (maxNorm float64, err error) {
	defer matrix.Reading(&err)()
	if err := p.validateShape(); err != nil {
		return 0, err
	}
	all := p.forms()
	if s, ok := p.Rows.(Source); ok {
		at := make([]float64, size(all))
		maxNorm = ask(s, p.joint(), Query{Kind: Gradient, At: at, Norms: true}).MaxNorm + matrix.ShortNorm(len(at))
	} else if p.Forms == nil {
		maxNorm = matrix.MaxNorm(p.Rows)
	} else {
		maxNorm = matrix.MaxNorm(together{all[0].rows, all})
	}
	if math.IsNaN(maxNorm) || math.IsInf(maxNorm, 0) {
		return 0, errNotFinite()
	}
	return maxNorm, nil
}

func dataError(format string, a ...any) error {
	return &matrix.DataError{Text: fmt.Sprintf(format, a...)}
}

func errNotFinite() error {
	return dataError("a record has an entry that is NaN, ±Inf or too large: clean or clip the columns first")
}

// validateShape checks all but the entries of the records, and that λ > 0.
func (p *Problem) validateShape() error {
	if err := p.validateTerms(); err != nil {
		return err
	}
	if p.Lambda == 0 {
		return dataError("Lambda (λ) = 0, want a positive number: " +
			"without it the objective need not have a unique minimiser")
	}
	return nil
}

// ValidateConvex is Validate for λ ≥ 0, without the entries of the records, and asks for a bound on the curvature of
// the loss. Of Q it looks at the diagonal alone.
func (p *Problem) ValidateConvex() error {
	if err := p.validateTerms(); err != nil {
		return err
	}
	return p.bounded()
}

// bounded refuses a loss with which no gradient can be certified.
func (p *Problem) bounded() error {
	if f := p.joint(); math.IsInf(f.Smoothness(), 1) {
		return dataError("the %s loss has no bound on its curvature, so that no gradient can be certified: clip it",
			f.Name())
	}
	return nil
}

// Size returns D, the number of coefficients, of a problem whose shape is valid.
func (p *Problem) Size() int { return size(p.forms()) }

// validateTerms is validateShape for λ ≥ 0.
func (p *Problem) validateTerms() error {
	if (p.Rows == nil) == (p.Forms == nil) || (p.Loss == nil) == (p.Joint == nil) {
		return dataError("a problem needs rows, or the rows of each form, and a loss, or a joint one")
	}
	f := p.joint()
	if k := f.Forms(); p.Forms != nil && (p.Joint == nil || len(p.Forms) != k) {
		return dataError("there are rows for %d forms, and the %s loss has %d", len(p.Forms), f.Name(), k)
	} else if k < 1 || math.IsNaN(f.Smoothness()) {
		return dataError("the %s loss has a parameter that is out of range: %s", f.Name(), f.Labels())
	}
	all := p.forms()
	n, d := all[0].rows.Dims()
	for k, form := range all {
		if in, id := form.rows.Dims(); in != n || id != d {
			return dataError("form %d has %d×%d rows, the first has %d×%d", k, in, id, n, d)
		}
	}
	d = size(all)
	_, source := p.Rows.(Source)
	mapped, _ := p.Rows.(interface{ Done(lo, hi int) })
	switch {
	case d == 0:
		return dataError("there are no features (d = 0): keep at least one column, or add a bias")
	case source && (p.Labels != nil && !ownLabels(p.Rows, p.Labels) || p.Forms != nil):
		return dataError("the rows are added up over elsewhere, with labels of their own, and cannot take others")
	case !source && len(p.Labels) != n:
		return dataError("%d labels for %d records", len(p.Labels), n)
	case p.Linear != nil && len(p.Linear) != d:
		return dataError("the linear term has length %d, want %d, one for each coefficient", len(p.Linear), d)
	case p.Centre != nil && len(p.Centre) != d:
		return dataError("the centre has length %d, want %d, one for each coefficient", len(p.Centre), d)
	case p.Quadratic != nil && p.Quadratic.SymmetricDim() != d:
		return dataError("the quadratic term is of order %d, want %d, one for each coefficient",
			p.Quadratic.SymmetricDim(), d)
	case !(p.Lambda >= 0) || math.IsInf(p.Lambda, 1):
		return dataError("Lambda (λ) = %v, want a finite number that is not negative", p.Lambda)
	}
	if p.Shrinkage != nil && len(p.Shrinkage) != d {
		return dataError("Shrinkage has length %d, want %d, one for each coefficient", len(p.Shrinkage), d)
	}
	for _, w := range p.Shrinkage {
		if !(w >= 0) || math.IsInf(w, 1) {
			return dataError("Shrinkage (ω) has the entry %v, want finite numbers that are not negative", w)
		}
	}
	for lo := 0; lo < len(p.Labels); lo += labelsHeld {
		hi := min(lo+labelsHeld, len(p.Labels))
		if i := loss.Invalid(f, p.Labels[lo:hi]); i >= 0 {
			return dataError("the label of record %d is not what the %s loss wants: %s", lo+i, f.Name(), f.Labels())
		}
		if mapped != nil && hi-lo == labelsHeld {
			mapped.Done(lo, hi)
		}
	}
	if !matrix.Finite(p.Linear...) || !matrix.Finite(p.Centre...) {
		return dataError("the linear term or the centre has an entry that is not finite")
	}
	for i := 0; p.Quadratic != nil && i < d; i++ {
		if raw := p.Quadratic.RawSymmetric(); !matrix.Finite(raw.Data[i*raw.Stride+i : i*raw.Stride+d]...) {
			return dataError("the quadratic term has an entry that is not finite")
		} else if raw.Data[i*raw.Stride+i] < 0 {
			return dataError("the quadratic term has %v on its diagonal: it is not positive semidefinite",
				p.Quadratic.At(i, i))
		}
	}
	return nil
}

// ownLabels reports whether labels are those that the rows say are theirs, and no others of the same length.
func ownLabels(rows matrix.Rows, labels []float64) bool {
	l, ok := rows.(interface{ Labels() []float64 })
	if !ok {
		return false
	}
	own := l.Labels()
	return len(own) == len(labels) && (len(own) == 0 || &own[0] == &labels[0])
}
