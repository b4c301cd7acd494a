package loss

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/internal/dd"
	"github.com/dpnb/notebooks/dpnb/internal/kernel"
)

// Softmax is the loss of multinomial logistic regression, with one form for each of K classes; the labels are the
// classes 0 … K−1:
//
//	f(t; y) = log Σ_c e^{t_c} − t_y,  ∇f = p − e_y,  ∇²f = diag(p) − ppᵀ,  p_c = e^{t_c}/Σe^{t}.
//
// sup ‖∇f‖₂ = √2, approached where all the probability is on one wrong class; sup λ_max(∇²f) = ½, reached by two
// classes of probability ½.
type Softmax struct {
	// Classes is K ≥ 2.
	Classes int
}

// The methods of Joint.

func (Softmax) Name() string          { return "softmax" }
func (s Softmax) Forms() int          { return s.Classes }
func (Softmax) Coupling() float64     { return 1 }
func (s Softmax) Lipschitz() float64  { return s.inRange(math.Sqrt2) }
func (s Softmax) Smoothness() float64 { return s.inRange(0.5) }

// Derivatives implements Joint. The largest form is subtracted first, so that nothing overflows for finite forms.
func (s Softmax) Derivatives(slope, curv, t, y []float64) (value float64) {
	m, p := len(y), slope
	if m == 0 {
		return 0
	}
	if p == nil {
		p = curv
	}
	top := p[:m]
	copy(top, t)
	for k := m; k < len(t); k += m {
		for i, v := range t[k : k+m] {
			if v > top[i] {
				top[i] = v
			}
		}
	}
	for i, c := range y {
		value += top[i] - t[int(c)*m+i]
	}
	for k := len(t) - m; k >= 0; k -= m { // the first, where top is, comes last
		floats.SubTo(p[k:k+m], top, t[k:k+m])
	}
	value = shares(p, t[:m], value, 1)
	if slope == nil {
		return value
	}
	if curv != nil {
		copy(curv, p)
	}
	for i, c := range y {
		slope[int(c)*m+i]--
	}
	return value
}

// shares replaces the distances x of forms from their record's largest by e^{−|x|} over its sum in the record, and adds
// the sums' logarithms, each times w, to value. room is for a number of each record.
func shares(x, room []float64, value, w float64) float64 {
	m := len(room)
	clear(room)
	for k := 0; k < len(x); k += m {
		kernel.ExpNegAbs(x[k:k+m], x[k:k+m])
		floats.Add(room, x[k:k+m])
	}
	for i, v := range room {
		value += w * math.Log(v)
		room[i] = 1 / v
	}
	for k := 0; k < len(x); k += m {
		floats.Mul(x[k:k+m], room)
	}
	return value
}

// inRange returns v if there are classes enough, NaN otherwise.
func (s Softmax) inRange(v float64) float64 {
	if s.Classes < 2 {
		return math.NaN()
	}
	return v
}

// SlopeError implements Joint, with u = 2⁻⁵³: subtracting the largest form errs by at most u·|t_c − top|, which moves p
// by at most 2uΣp_c|t_c − top| ≤ (2/e)(K−1)u; the exponential errs by at most 4u relatively, the sum of K of them by
// (K+4)u, the reciprocal and the product by 2u, p_y − 1 by u: all in all by at most 3(K+12)u.
func (s Softmax) SlopeError() float64 { return s.inRange(3 * float64(s.Classes+12) * 0x1p-53) }

// Precise implements Joint: subtracting the largest form errs by 3u²|t_c − top|, which moves p by at most (6/e)(K−1)u²;
// the exponential errs by dd.ExpError of itself or ExpUnderflow, the sum by 3Ku², the quotient by 16u², p_y − 1 by 2u².
func (s Softmax) Precise() PreciseGradient {
	k := float64(s.Classes)
	return PreciseGradient{Slopes: preciseSoftmax, Absolute: 3*dd.ExpError + 20*(k+5)*0x1p-106 + 2*k*dd.ExpUnderflow}
}

func preciseSoftmax(t []dd.Number, y float64) {
	top := t[0]
	for _, v := range t[1:] {
		if top.Less(v) {
			top = v
		}
	}
	var sum dd.Number
	for k, v := range t {
		t[k] = dd.Exp(v.Add(top.Neg()))
		sum = sum.Add(t[k])
	}
	for k, v := range t {
		t[k] = v.Div(sum)
		if k == int(y) {
			t[k] = t[k].AddFloat(-1)
		}
	}
}

// ValidLabel reports whether y is a class.
func (s Softmax) ValidLabel(y float64) bool {
	return s.Classes >= 2 && y >= 0 && y < float64(s.Classes) && y == math.Trunc(y)
}

// Labels returns the classes in words.
func (s Softmax) Labels() string {
	if s.Classes < 2 {
		return fmt.Sprintf("at least 2 classes first, not %d", s.Classes)
	}
	return fmt.Sprintf("a class from 0 to %d", s.Classes-1)
}
