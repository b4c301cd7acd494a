package loss

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/internal/dd"
)

// Maximum is the largest of P affine pieces made smooth at the temperature w, with a form for each piece. The label of
// a record is its place i in the table of offsets:
//
//	f(t; i) = w·ln Σ_p exp((t_p + o_ip)/w),  ∇f = π,  ∇²f = (diag(π) − ππᵀ)/w,
//
// π_p ∝ exp((t_p + o_ip)/w). It is between the largest piece and w·ln P above it.
//
// sup ‖∇f‖₂ = 1, approached where one piece is far above the others; sup λ_max(∇²f) = 1/(2w), reached by two equal
// pieces far above the others.
type Maximum struct {
	// Temperature is w > 0.
	Temperature float64
	// Offsets are, for each piece, those of all records.
	Offsets [][]float64
}

// The methods of Joint.

func (Maximum) Name() string          { return "soft maximum" }
func (m Maximum) Forms() int          { return len(m.Offsets) }
func (m Maximum) Lipschitz() float64  { return m.inRange(1) }
func (m Maximum) Smoothness() float64 { return m.inRange(0.5 / m.Temperature) }

// Coupling returns w, as c = π/w.
func (m Maximum) Coupling() float64 { return m.Temperature }

// Derivatives implements Joint. The largest piece is subtracted first, forms and offsets apart, so that nothing
// overflows.
func (m Maximum) Derivatives(slope, curv, t, y []float64) (value float64) {
	n, p := len(y), slope
	if p == nil {
		p = curv
	}
	top := make([]int, n)
	for i, place := range y {
		at := int(place)
		for k := n; k < len(t); k += n {
			if best := top[i]; (t[k+i]-t[best*n+i])+(m.Offsets[k/n][at]-m.Offsets[best][at]) > 0 {
				top[i] = k / n
			}
		}
		best := top[i]
		value += t[best*n+i] + m.Offsets[best][at]
		for k := 0; k < len(t); k += n {
			p[k+i] = ((t[k+i] - t[best*n+i]) + (m.Offsets[k/n][at] - m.Offsets[best][at])) / m.Temperature
		}
	}
	value = shares(p, t[:n], value, m.Temperature)
	if curv != nil {
		floats.ScaleTo(curv, 1/m.Temperature, p)
	}
	return value
}

// inRange returns v if the parameters are in range, NaN otherwise.
func (m Maximum) inRange(v float64) float64 {
	if len(m.Offsets) < 2 || !(m.Temperature > 0) || math.IsInf(m.Temperature, 1) {
		return math.NaN()
	}
	return v
}

// apart returns the largest difference of two offsets of a record.
func (m Maximum) apart() (most float64) {
	for i := range m.Offsets[0] {
		low, high := math.Inf(1), math.Inf(-1)
		for _, o := range m.Offsets {
			low, high = math.Min(low, o[i]), math.Max(high, o[i])
		}
		most = math.Max(most, high-low)
	}
	return most
}

// SlopeError implements Joint, with u = 2⁻⁵³. A piece x below the largest is computed from two differences, of forms
// and of offsets, that err by u of themselves: by at most 4u(|x| + O), O the largest difference of offsets, as that of
// forms is at most |x| + O. In units of w that moves π by at most (4u)·2Σπ_p(|x_p| + O)/w ≤ 8u(P/e + O/w). The rest is
// Softmax's 3(P + 12)u. Which piece is taken for the largest moves nothing.
func (m Maximum) SlopeError() float64 {
	return m.inRange((6*float64(len(m.Offsets)+12) + 10*m.apart()/m.Temperature) * 0x1p-53)
}

// Precise implements Joint: the same sums in double-double err by 4u² where there is u above.
func (m Maximum) Precise() PreciseGradient {
	k := float64(len(m.Offsets))
	absolute := 3*dd.ExpError + (40*(k+5)+40*m.apart()/m.Temperature)*0x1p-106 + 2*k*dd.ExpUnderflow
	return PreciseGradient{Absolute: absolute, Slopes: func(t []dd.Number, y float64) {
		at, best := int(y), 0
		over := func(p, q int) dd.Number {
			return t[p].Add(t[q].Neg()).Add(dd.Sum(m.Offsets[p][at], -m.Offsets[q][at]))
		}
		for p := range t {
			if over(p, best).Hi > 0 {
				best = p
			}
		}
		w, sum := dd.From(m.Temperature), dd.Number{}
		of := make([]dd.Number, len(t))
		for p := range t {
			x := over(p, best)
			if x.Hi > 0 { // rounding
				x = dd.Number{}
			}
			of[p] = dd.Exp(x.Div(w))
			sum = sum.Add(of[p])
		}
		for p := range t {
			t[p] = of[p].Div(sum)
		}
	}}
}

// ValidLabel reports whether y is a place in the table.
func (m Maximum) ValidLabel(y float64) bool {
	return len(m.Offsets) > 0 && y >= 0 && y < float64(len(m.Offsets[0])) && y == math.Floor(y)
}

// Labels says in words which labels those are.
func (m Maximum) Labels() string {
	if math.IsNaN(m.inRange(1)) {
		return "at least two pieces and a positive, finite temperature first"
	}
	return "places in a table of offsets"
}
