package interval

import (
	"cmp"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Settings of Minimiser and Population.
type Settings struct {
	// Level is the probability of covering, for example 0.95.
	Level float64
	// Linearise takes the curvature at the released coefficients for that all the way that the noise and the sampling
	// have moved them (not the ridge: Population allows for that). It is what an asymptotic interval does: narrower,
	// and right only where they move no record's predictor by much. Losses with kinks in their slope have nothing else.
	Linearise bool
	// Forms are the linear forms aᵀθ that intervals are for; nil is each coefficient.
	Forms [][]float64
	// Basis has orthonormal columns that span what records differ in, where rows have features that add up to nothing;
	// nil is everything. Along all else a release is noise over the ridge alone. Forms lie in its span, and so does the
	// last coordinate if its ridge is another.
	Basis *mat.Dense
	// NormBound is for Population: a public bound on ‖θ⋆‖₂, zero if there is none. It must not come from the records.
	NormBound float64
}

func (s Settings) validate() error {
	return cmp.Or(privacy.Within(s.NormBound >= 0 && !math.IsInf(s.NormBound, 1), "NormBound", s.NormBound,
		"a positive number, or 0 for none"), CheckLevel(s.Level))
}

// problem is what both kinds of intervals start from.
type problem struct {
	m     objpert.Objective
	theta []float64
	mo    *Moments
	s     Settings
	d     int
	// forms are the linear forms that are asked for in the basis, a row each; at are their values at θ̃, and length
	// their norms.
	forms      *mat.Dense
	at, length []float64
	// given are the forms before that.
	given *mat.Dense
	// k is q·R, the rate at which the curvature changes with ‖Δθ‖; zero if it is not known.
	k float64
	// alpha is 1 − Level; its parts are below.
	alpha float64
	// known is M, or M + Ω in Minimiser, = U·diag(values)·Uᵀ up to slack in each direction. Ω, the ridge besides λ,
	// does not change, so that M + Ω changes by no larger a factor than M.
	values  []float64
	vectors *mat.Dense
	slack   float64
	// off bounds ‖θ̃ − θ_b‖: the solver's tolerance and the output noise.
	off float64
}

// How alpha is divided. Each event below fails with at most its share; the rest is for the Gaussian part, which decides
// the width.
const (
	shareMatrix    = 0.02  // the noise of M, each side
	shareOff       = 0.005 // the output noise
	shareNorm      = 0.02  // ‖b‖
	shareRemainder = 0.05  // what the change of the curvature adds
	shareBall      = 0.05  // FromRelease, which caps Minimiser
	shareScores    = 0.02  // the noise of V
)

// newProblem has what is beside M and λ in the curvature of the problem, if penalised says so.
func newProblem(m objpert.Objective, theta []float64, mo *Moments, s Settings, penalised bool) (*problem, error) {
	if err := cmp.Or(m.Validate(), s.validate(), checkTheta(theta)); err != nil {
		return nil, err
	}
	if mo == nil || mo.Hessian == nil || mo.Hessian.SymmetricDim() != len(theta) ||
		(mo.Scores != nil && mo.Scores.SymmetricDim() != len(theta)) {
		return nil, &privacy.ParamError{Name: "Moments", Value: "matrices of another size",
			Want: "the curvature at these coefficients: run Curvature or PublicCurvature first"}
	}
	p := &problem{m: m, theta: theta, mo: mo, s: s, d: len(theta), alpha: 1 - s.Level}
	q, ok := curvatureChange(m.Loss)
	if !ok && !s.Linearise {
		return nil, fmt.Errorf("%w: nothing is known of how fast the curvature of the %s loss changes; use "+
			"FromRelease, or Linearise for an asymptotic interval",
			privacy.ErrUnsupported, m.Loss.Name())
	}
	p.k = q * m.RowNorm * (1 + 1e-9)
	hessian := mo.Hessian
	if penalised {
		hessian = mat.NewSymDense(p.d, nil)
		hessian.CopySym(mo.Hessian)
		for j, w := range m.Shrink(p.d) {
			hessian.SetSym(j, j, hessian.At(j, j)+w)
		}
		if q := m.Quadratic(p.d); q != nil {
			hessian.AddSym(hessian, q)
		}
	}
	if s.Basis != nil {
		if rows, columns := s.Basis.Dims(); rows != p.d || columns > rows || columns == 0 {
			return nil, &privacy.ParamError{Name: "Basis", Value: "a matrix of another size",
				Want: fmt.Sprintf("%d rows and no more columns", p.d)}
		}
		hessian = within(hessian, s.Basis)
		p.d = hessian.SymmetricDim()
	}
	if p.values, p.vectors, ok = matrix.Eigen(hessian); !ok {
		return nil, &privacy.ParamError{Name: "Moments.Hessian", Value: "a matrix without eigenvalues",
			Want: "finite entries"}
	}
	p.slack = topEigenvalue(p.d, mo.HessianSigma, shareMatrix*p.alpha)
	p.off = m.Tolerance/m.Lambda + m.OutputSigma*chiQuantile(p.d, shareOff*p.alpha)
	return p, p.ask()
}

// within returns BᵀMB.
func within(m *mat.SymDense, b *mat.Dense) *mat.SymDense {
	var all mat.Dense
	all.Product(b.T(), m, b)
	d, _ := all.Dims()
	out := mat.NewSymDense(d, nil)
	for i := range d {
		for j := i; j < d; j++ {
			out.SetSym(i, j, 0.5*(all.At(i, j)+all.At(j, i)))
		}
	}
	return out
}

// ask fills the forms.
func (p *problem) ask() error {
	full := len(p.theta)
	a := mat.NewDense(max(1, len(p.s.Forms)), full, nil)
	if p.s.Forms == nil {
		a = mat.NewDense(full, full, nil)
		for j := range full {
			a.Set(j, j, 1)
		}
	}
	for j, form := range p.s.Forms {
		if len(form) != full {
			return &privacy.ParamError{Name: "Forms", Value: len(form), Want: fmt.Sprintf("%d numbers each", full)}
		}
		a.SetRow(j, form)
	}
	n, _ := a.Dims()
	for j := range n {
		p.at = append(p.at, floats.Dot(a.RawRowView(j), p.theta))
		p.length = append(p.length, floats.Norm(a.RawRowView(j), 2))
	}
	p.given = a
	u := p.vectors
	if p.s.Basis != nil {
		u = new(mat.Dense)
		u.Mul(p.s.Basis, p.vectors)
	}
	p.forms = new(mat.Dense)
	p.forms.Mul(a, u)
	return nil
}

// curvatures returns bounds on the eigenvalues of the mean of M over a segment that ends within r of θ̃, or of M at its
// end: of M̃ ∓ slack, times shrinking and growth.
func (p *problem) curvatures(shrunk, grown float64) (low, high []float64) {
	low, high = make([]float64, p.d), make([]float64, p.d)
	for i, v := range p.values {
		low[i] = shrunk * math.Max(0, v-p.slack)
		if v = math.Max(0, v+p.slack); v > 0 { // 0·∞ is no bound
			high[i] = grown * v
		}
	}
	return low, high
}

// inverse returns the bracket of (λI + A)⁻¹ for low ⪯ A ⪯ high.
func (p *problem) inverse(lambda float64, low, high []float64) bracket {
	b := bracket{vectors: p.vectors, forms: p.forms, low: make([]float64, p.d), high: make([]float64, p.d)}
	for i := range low {
		b.low[i], b.high[i] = 1/(lambda+high[i]), 1/(lambda+low[i])
	}
	return b
}

// Minimiser returns intervals for the coefficients θ̂ that the same fit would have had without noise, the same ridges
// included, with the curvature mo at the released coefficients theta.
//
// Without Linearise they hold at every number of records, and where the noise is small beside the curvature they are
// those of the normal law, ±z·σ‖H⁻¹eⱼ‖ with H = M + Λ, Λ the ridges; where it is large they are those of FromRelease.
//
// Coverage: at least Level, over the noise of the fit and of the matrices, for every dataset; with Linearise, or with
// public records, in the limit of many.
// Errors: *privacy.ParamError; an error that wraps privacy.ErrUnsupported for a loss whose curvature may change
// abruptly, unless Linearise is set.
// Proof: docs/theory/intervals.md, section 3.
func Minimiser(m objpert.Objective, theta []float64, mo *Moments, s Settings) (*Intervals, error) {
	p, err := newProblem(m, theta, mo, s, true)
	if err != nil {
		return nil, err
	}
	if s.Linearise {
		p.k = 0
	}
	gauss := p.alpha * (1 - 2*shareMatrix - shareOff - shareNorm - shareRemainder - shareBall)
	// How far b moves the minimiser: the curvature at θ_b bounds it from one end, then that at θ̂ from the other.
	force := m.Sigma * chiQuantile(p.d, shareNorm*p.alpha)
	moved := radius(m.Lambda, math.Exp(-p.k*p.off)*math.Max(0, p.values[0]-p.slack), p.k, force)
	change := math.Exp(p.k * (moved + p.off))
	low, high := p.curvatures(1/change, change) // M(θ̂)
	r := radius(m.Lambda, floats.Min(low), p.k, force)
	less, more := shrink(p.k*r), shrink(-p.k*r)
	floats.Scale(less, low)
	for i := range high {
		if high[i] > 0 {
			high[i] *= more
		}
	}
	b := p.inverse(m.Lambda, low, high)
	kappa := 1 - less/more
	squares := m.Sigma * m.Sigma * squaresQuantile(b.high, shareRemainder*p.alpha)
	widest := ballHalfWidth(m, p.d, shareBall*p.alpha)
	z := twoSided(gauss)
	half := make([]float64, len(p.at))
	for j, long := range p.length {
		main := z * math.Hypot(m.Sigma*b.norm(j), m.OutputSigma*long)
		half[j] = math.Min(widest*long, main+m.Tolerance/m.Lambda*long+0.5*kappa*math.Sqrt(b.upper(j)*squares))
	}
	iv := newIntervals(s.Level, p.at, half, 0)
	iv.Covers = minimiserCovers
	iv.Proved = !s.Linearise && mo.HessianSigma > 0
	iv.Basis = p.basis("")
	return iv, nil
}

func (p *problem) basis(more string) string {
	where := "the curvature that was released with noise"
	if p.mo.HessianSigma == 0 {
		where = "the curvature of public records of the same kind"
	}
	change := fmt.Sprintf("which changes by a factor of at most exp(%.3g·‖Δθ‖)", p.k)
	if p.s.Linearise {
		change = "taken as constant over what the noise moves (asymptotic)"
	}
	return where + ", " + change + more + " (docs/theory/intervals.md)"
}
