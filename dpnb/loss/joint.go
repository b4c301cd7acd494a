package loss

import (
	"math"
	"strings"

	"github.com/dpnb/notebooks/dpnb/internal/dd"
)

// Joint is a convex, differentiable loss f(t; y) of K linear forms t = (t_1, …, t_K) of θ, with the Hessian
//
//	∇²f = diag(c) − κccᵀ,
//
// where κ = 0 (Sum) or κΣc = 1 (Softmax). Its methods work on batches of m records, the forms one after another: form k
// of record i is t[k·m+i], and so for slopes and c. A Loss is a Joint of one form: Sum of it alone.
//
// A Joint whose parameter is out of range has NaN constants and no valid label.
type Joint interface {
	// Name is how the loss is called in tables and reports.
	Name() string
	// Forms returns K.
	Forms() int
	// Derivatives writes ∂f/∂t_k to slope and c to curv, each unless it is nil, and returns Σf, which is not defined
	// without slope. y has length m, the others K·m and no memory in common; t is overwritten.
	Derivatives(slope, curv, t, y []float64) float64
	// Coupling returns κ.
	Coupling() float64
	// Lipschitz returns sup ‖∇f‖₂ over all t and all labels, +Inf if there is none.
	Lipschitz() float64
	// Smoothness returns sup λ_max(∇²f), +Inf if there is none.
	Smoothness() float64
	// SlopeError bounds the error of the computed ∇f beyond 8·2⁻⁵³Σ|∂f/∂t_k|, in the
	// Euclidean norm: a record's gradient errs by that times the norm of its forms.
	SlopeError() float64
	// Precise returns ∇f in double-double.
	Precise() PreciseGradient
	// ValidLabel reports whether y is a label that the loss is made for.
	ValidLabel(y float64) bool
	// Labels says in words which labels those are.
	Labels() string
}

// PreciseGradient is that of a Joint in double-double arithmetic.
type PreciseGradient struct {
	// Slopes overwrites t by ∇f(t; y) to within Relative·Σ|∂f/∂t_k| + Absolute in the Euclidean norm. It is safe for
	// concurrent use.
	Slopes             func(t []dd.Number, y float64)
	Relative, Absolute float64
	// Rounded says that it takes t for the float64 next to it.
	Rounded bool
}

// Sum returns f(t; y) = Σ_k f_k(t_k; y), of as many forms as there are losses. Its labels are those that every one of
// them is made for.
func Sum(of ...Loss) Joint {
	s := &sum{of: of}
	for _, l := range of {
		s.slopes = append(s.slopes, BlockSlopes(l))
	}
	return s
}

// Terms returns the losses of which j is the Sum; ok is false of another Joint.
func Terms(j Joint) (of []Loss, ok bool) {
	s, ok := j.(*sum)
	if !ok {
		return nil, false
	}
	return s.of, true
}

type sum struct {
	of     []Loss
	slopes []func(slope, t, y []float64) float64
}

func (s *sum) names(name func(l Loss) string, between string) string {
	var all []string
	for k, l := range s.of {
		if n := name(l); k == 0 || n != name(s.of[k-1]) {
			all = append(all, n)
		}
	}
	return strings.Join(all, between)
}

func (s *sum) Name() string      { return s.names(Loss.Name, " + ") }
func (s *sum) Labels() string    { return s.names(Loss.Labels, ", and ") }
func (s *sum) Forms() int        { return len(s.of) }
func (s *sum) Coupling() float64 { return 0 }

func (s *sum) Derivatives(slope, curv, t, y []float64) (value float64) {
	m := len(y)
	for k, l := range s.of {
		lo, hi := k*m, (k+1)*m
		switch {
		case m == 1 && slope != nil:
			value += l.ValueSlope(slope[lo:hi], t[lo:hi], y) // faster for one record
		case slope != nil:
			value += s.slopes[k](slope[lo:hi], t[lo:hi], y)
		}
		if curv != nil {
			l.Curvature(curv[lo:hi], t[lo:hi], y)
		}
	}
	return value
}

// euclidean returns the norm of one number of each loss; of a single one that number.
func (s *sum) euclidean(of func(l Loss) float64) (v float64) {
	for _, l := range s.of {
		v = math.Hypot(v, of(l))
	}
	return v
}

func (s *sum) Lipschitz() float64  { return s.euclidean(Loss.Lipschitz) }
func (s *sum) SlopeError() float64 { return s.euclidean(SlopeError) }

func (s *sum) Smoothness() (v float64) {
	for _, l := range s.of {
		v = math.Max(v, l.Smoothness())
	}
	return v
}

func (s *sum) ValidLabel(y float64) bool {
	for _, l := range s.of {
		if !l.ValidLabel(y) {
			return false
		}
	}
	return true
}

// Invalid returns the place of the first label that j is not made for, −1 if there is none.
func Invalid(j Joint, labels []float64) int {
	var of interface{ ValidLabel(y float64) bool } = j
	if s, ok := j.(*sum); ok && len(s.of) == 1 {
		of = s.of[0]
	}
	if len(labels) == 0 {
		return -1
	}
	if !of.ValidLabel(labels[0]) {
		return 0
	}
	// Labels repeat: each place has one that was looked at, to the last bit.
	const bits = 9
	var seen [1 << bits]uint64
	for k := range seen {
		seen[k] = math.Float64bits(labels[0])
	}
	for i, y := range labels {
		b := math.Float64bits(y)
		at := &seen[b*0x9e3779b97f4a7c15>>(64-bits)]
		if *at == b {
			continue
		}
		if !of.ValidLabel(y) {
			return i
		}
		*at = b
	}
	return -1
}

func (s *sum) Precise() PreciseGradient {
	var p PreciseGradient
	of := make([]func(t dd.Number, y float64) dd.Number, len(s.of))
	for k, l := range s.of {
		slope, known := PreciseSlope(l)
		if !known {
			slope = Precise{Relative: 8 * 0x1p-53, Absolute: SlopeError(l),
				Slope: func(t dd.Number, y float64) dd.Number {
					v := [3]float64{t.Hi, y}
					l.ValueSlope(v[2:], v[:1], v[1:2])
					return dd.From(v[2])
				}}
			p.Rounded = true
		}
		of[k] = slope.Slope
		p.Relative, p.Absolute = math.Max(p.Relative, slope.Relative), math.Hypot(p.Absolute, slope.Absolute)
	}
	p.Slopes = func(t []dd.Number, y float64) {
		for k, slope := range of {
			t[k] = slope(t[k], y)
		}
	}
	return p
}
