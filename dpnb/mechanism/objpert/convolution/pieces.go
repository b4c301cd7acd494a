package convolution

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/erm"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/privacy/objective"
	"github.com/dpnb/notebooks/dpnb/smoothing"
)

const (
	// mostForms and mostPieces bound what a record of Pieces is made of: a row of d numbers for each piece is kept
	// beside the data.
	mostForms, mostPieces = 64, 128
	// piecesSlack pays for rounding in v_p = Aᵀa_p: its entries err by (m + 1)2⁻⁵³ of Σⱼ|a_pⱼ||Aⱼ|, and so v_p by (m +
	// 1)√m·2⁻⁵³·Ā‖a_p‖ < 1e-13·Ā‖a_p‖; a difference of two by twice that.
	piecesSlack = 2e-13
	// mostOffset is the largest offset of a piece in a record, in units of w and of the largest b_p: beyond, a computed
	// gradient has lost its digits, and the offset is cut to it.
	mostOffset = 0x1p30
)

// name returns what the loss is called.
func (l Loss) name() string {
	if l.Pieces != nil {
		return fmt.Sprintf("soft maximum of %d pieces", l.Pieces.Function.Pieces())
	}
	return l.Form.Name() + " loss"
}

// labels says in words which labels the loss is made for.
func (l Loss) labels() string {
	if l.Pieces != nil {
		return "a finite number"
	}
	return l.Form.Labels()
}

// validatePieces is validate for Pieces.
func (l Loss) validatePieces() error {
	if l.Form != nil || l.Other != nil {
		return &privacy.ParamError{Name: "Pieces", Value: l.name(), Want: "none beside a Form or an Other"}
	}
	f := l.Pieces.Function
	if p := f.Pieces(); p < 2 || p > mostPieces {
		return &privacy.ParamError{Name: "Pieces", Value: p, Want: fmt.Sprintf("from 2 to %d pieces", mostPieces)}
	}
	if l.Forms != f.Dim() || l.Forms > mostForms {
		return &privacy.ParamError{Name: "Forms", Value: l.Forms, Want: fmt.Sprintf(
			"the number of coordinates of Pieces, %d, and at most %d", f.Dim(), mostForms)}
	}
	for p := range f.Pieces() {
		if _, b := f.Piece(p); math.Abs(b) > 0x1p100 {
			return &privacy.ParamError{Name: "Pieces", Value: b, Want: "offsets of at most 2¹⁰⁰"}
		}
	}
	return (mechanism.Scales{{"Norm", l.Norm}, {"Pieces.Width", l.Pieces.Width}, {"Lipschitz", l.Lipschitz()},
		{"Smoothness", l.Smoothness()}}).Check()
}

// piecesProblem is problem for Pieces: form p of a record is v_pᵀθ, v_p = Aᵀa_p, and its offset is s·b_p − ⟨a_p, y⟩, y
// scaled by s as the record is; s = 1 where rows are scaled one by one.
func (l Loss) piecesProblem(x *matrix.Dense, y, scales []float64) erm.Problem {
	f, m, d, n := l.Pieces.Function, l.Forms, x.D, x.N/l.Forms
	soft := loss.Maximum{Temperature: l.Pieces.Width}
	p := erm.Problem{Labels: make([]float64, n)}
	most := l.Pieces.Width
	for k := range f.Pieces() {
		_, b := f.Piece(k)
		most = math.Max(most, math.Abs(b))
	}
	most *= mostOffset
	for k := range f.Pieces() {
		a, b := f.Piece(k)
		v, offsets := matrix.NewDense(n, d, nil), make([]float64, n)
		for i := range n {
			row := v.Data[i*d : (i+1)*d]
			for j, w := range a {
				floats.AddScaled(row, w, x.Data[(i*m+j)*d:(i*m+j+1)*d])
			}
			scale := 1.0
			if !l.ByRow {
				scale = scales[i]
			}
			o := scale*b - floats.Dot(a, y[i*m:(i+1)*m])
			if math.IsNaN(o) {
				o = 0
			}
			offsets[i] = math.Max(-most, math.Min(most, o))
			p.Labels[i] = float64(i)
		}
		p.Forms, soft.Offsets = append(p.Forms, v), append(soft.Offsets, offsets)
	}
	p.Joint = soft
	return p
}

// entropicPieces is entropic for Pieces: a vertex is a piece, ‖Aᵀa_p‖ ≤ Ā‖a_p‖, the differences of the v_p span at most
// min(m, P − 1) dimensions, but for their rounding, and their variance under any weights is at most (Āρ)², ρ the radius
// of the a_p.
func (m COP) entropicPieces() objective.Entropic {
	f, bound := m.Pieces.Function, m.bound()
	slack := piecesSlack * f.Lipschitz()
	e := objective.Entropic{Temperature: m.Pieces.Width, Lambda: m.Lambda, Sigma: m.Sigma,
		Rank: min(m.Forms, f.Pieces()-1)}
	spread, beyond := bound*(f.Radius()+slack), bound*slack
	e.Spread, e.Beyond = spread*spread*(1+0x1p-50), beyond*beyond*(1+0x1p-50)
	for p := range f.Pieces() {
		a, _ := f.Piece(p)
		e.Vertices = append(e.Vertices, objective.Vertex{Norm: bound * floats.Norm(a, 2) * (1 + piecesSlack), Count: 1})
	}
	return e
}

// bends returns, as convolution of a kink in each form would have them, the jump of the slope and the variance of the
// kernel: those of P pieces a diameter D apart are taken for m forms whose slopes jump by D/√m, which they are for
// ‖·‖₁, and a soft maximum of two lines of that jump is the convolution with a logistic kernel.
func (l Loss) bends() (jump, variance float64) {
	if l.Pieces == nil {
		k := l.Form.(loss.Convolved)
		return k.Above - k.Below, k.Kernel.Variance() * k.Width * k.Width
	}
	jump = l.Pieces.Function.Diameter() / math.Sqrt(float64(l.Forms))
	return jump, math.Pi * math.Pi / 3 * l.Pieces.Width * l.Pieces.Width / (jump * jump)
}

// wide returns the loss with the kernel's width.
func (l Loss) wide(width float64) Loss {
	if l.Pieces != nil {
		l.Pieces = &smoothing.Entropic{Function: l.Pieces.Function, Width: width}
		return l
	}
	k := l.Form.(loss.Convolved)
	k.Width = width
	l.Form = k
	return l
}

// width returns the kernel's width, and whether the loss has a kernel.
func (l Loss) width() (width float64, ok bool) {
	if l.Pieces != nil {
		return l.Pieces.Width, true
	}
	k, ok := l.Form.(loss.Convolved)
	return k.Width, ok
}
