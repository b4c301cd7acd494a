package smoothing

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// Polyhedral is the largest of P affine functions on ℝᵐ, f(x) = max_p ⟨a_p, x⟩ + b_p. Create it with NewPolyhedral. On
// the line Max is exact for every kernel.
type Polyhedral struct {
	slopes  [][]float64
	offsets []float64
}

// NewPolyhedral returns the largest of the functions ⟨a[p], x⟩ + b[p].
//
// Errors: no function, a and b or the rows of a of different lengths, numbers that are not finite.
func NewPolyhedral(a [][]float64, b []float64) (Polyhedral, error) {
	if len(a) == 0 || len(a) != len(b) || len(a[0]) == 0 {
		return Polyhedral{}, fmt.Errorf("smoothing: %d slopes and %d offsets, want as many of each, at least one, and "+
			"a coordinate",
			len(a), len(b))
	}
	f := Polyhedral{offsets: slices.Clone(b)}
	for p, row := range a {
		if len(row) != len(a[0]) {
			return Polyhedral{}, fmt.Errorf("smoothing: slope %d has %d coordinates, slope 0 has %d: A must not "+
				"change its shape",
				p, len(row), len(a[0]))
		}
		if v := floats.Sum(row) + b[p]; math.IsNaN(v-v) || floats.HasNaN(row) {
			return Polyhedral{}, fmt.Errorf("smoothing: piece %d is %v and %v, want finite numbers", p, row, b[p])
		}
		f.slopes = append(f.slopes, slices.Clone(row))
	}
	return f, nil
}

// Dim returns m.
func (f Polyhedral) Dim() int { return len(f.slopes[0]) }

// Lipschitz returns max_p ‖a_p‖₂.
func (f Polyhedral) Lipschitz() float64 {
	l := 0.0
	for _, a := range f.slopes {
		l = math.Max(l, floats.Norm(a, 2))
	}
	return l
}

// Value returns f(x).
func (f Polyhedral) Value(x []float64) float64 {
	top := math.Inf(-1)
	for p, a := range f.slopes {
		top = math.Max(top, floats.Dot(a, x)+f.offsets[p])
	}
	return top
}

// Diameter returns max ‖a_p − a_q‖₂.
func (f Polyhedral) Diameter() float64 {
	d := 0.0
	for p, a := range f.slopes {
		for _, b := range f.slopes[:p] {
			d = math.Max(d, floats.Distance(a, b, 2))
		}
	}
	return d
}

// Pieces returns P.
func (f Polyhedral) Pieces() int { return len(f.slopes) }

// Piece returns a_p and b_p, the slopes to be read alone.
func (f Polyhedral) Piece(p int) (slopes []float64, offset float64) { return f.slopes[p], f.offsets[p] }

// Radius returns max_p ‖a_p − c‖₂ about a centre c that is next to that of the smallest ball which holds the slopes:
// the best of 0, all midpoints and some steps of Bădoiu and Clarkson (2003). No mixture of the slopes has a variance
// Σq_p‖a_p − Σqa‖₂² above its square, whatever c is.
func (f Polyhedral) Radius() float64 {
	best, c := f.Lipschitz(), make([]float64, f.Dim())
	farthest := func() (at int) {
		far := 0.0
		for p, a := range f.slopes {
			if d := floats.Distance(a, c, 2); d > far {
				at, far = p, d
			}
		}
		best = math.Min(best, far)
		return at
	}
	for p, a := range f.slopes {
		for _, b := range f.slopes[:p] {
			floats.AddTo(c, a, b)
			floats.Scale(0.5, c)
			farthest()
		}
	}
	for k := 1; k <= 400; k++ {
		at := farthest()
		for j, v := range f.slopes[at] {
			c[j] += (v - c[j]) / float64(k+1)
		}
	}
	return best
}

// NewBowlPieces returns (‖x‖₁ − z)₊ on ℝᵐ as the largest of 2ᵐ + 1 affine functions, m ≤ 6: the signed sums of the
// coordinates less z, and 0. Where Bowl is the Gaussian kernel's mean, by an integral, its Entropic is closed.
//
// Errors: m out of range, z not finite.
func NewBowlPieces(m int, z float64) (Polyhedral, error) {
	if m < 1 || m > 6 {
		return Polyhedral{}, fmt.Errorf("smoothing: a bowl of %d coordinates has 2^%d + 1 pieces, want 1 to 6 "+
			"coordinates", m, m)
	}
	a, b := [][]float64{make([]float64, m)}, []float64{0}
	for signs := range 1 << m {
		row := make([]float64, m)
		for j := range row {
			row[j] = float64(1 - 2*(signs>>j&1))
		}
		a, b = append(a, row), append(b, -z)
	}
	return NewPolyhedral(a, b)
}

// Entropic is f made smooth without an integral, in any dimension:
//
//	g(x) = w·ln Σ_p exp((⟨a_p, x⟩ + b_p)/w),  f ≤ g ≤ f + w·ln P,
//
// with gradients that are means of the a_p: the convolution of max_p t_p, in the space of the pieces' values, with w
// times Gumbel's kernel, about its mean. Its privacy: dpnb/entropic.
type Entropic struct {
	Function Polyhedral
	// Width w > 0.
	Width float64
}

// Entropic returns w·ln Σ exp(·/w). It panics unless w is positive and finite.
func (f Polyhedral) Entropic(width float64) Entropic {
	checkWidth(Logistic{}, width)
	return Entropic{f, width}
}

// ValueGradient returns g(x) and writes ∇g(x) to grad, unless that is nil.
func (e Entropic) ValueGradient(grad, x []float64) float64 {
	checkLength(grad, x)
	top, sum := e.Function.Value(x), 0.0
	clear(grad)
	for p, a := range e.Function.slopes {
		w := math.Exp((floats.Dot(a, x) + e.Function.offsets[p] - top) / e.Width)
		sum += w
		if grad != nil {
			floats.AddScaled(grad, w, a)
		}
	}
	if grad != nil {
		floats.Scale(1/sum, grad)
	}
	return top + e.Width*math.Log(sum)
}

// Smoothness returns max ‖a_p − a_q‖²/(4w), which the curvature in a direction, the variance of ⟨a_p, ·⟩ over w, does
// not exceed.
func (e Entropic) Smoothness() float64 {
	d := e.Function.Diameter()
	return d * d / (4 * e.Width)
}
