package interval

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// bracket is a set of symmetric matrices {A : B₁ ⪯ A ⪯ B₀} between two that commute: B = U·diag·Uᵀ. With Ā = (B₀ +
// B₁)/2 and D = B₀ − B₁,
//
//	{Aw} = Āw + D^{1/2}·(ball of radius ½√(wᵀDw)),
//
// so that every bound below is reached.
type bracket struct {
	// vectors has the eigenvectors as columns; forms are the linear forms a that are asked for, in these: row j is
	// Uᵀaⱼ.
	vectors, forms *mat.Dense
	low, high      []float64
}

// diagonal returns aⱼᵀ(U·diag(v)·Uᵀ)aⱼ.
func (b bracket) diagonal(j int, v func(i int) float64) float64 {
	var sum float64
	for i := range b.low {
		if u := b.forms.At(j, i); u != 0 {
			sum += u * u * v(i)
		}
	}
	return sum
}

func (b bracket) middle(i int) float64 { return 0.5 * (b.low[i] + b.high[i]) }
func (b bracket) gap(i int) float64    { return b.high[i] - b.low[i] }

func (b bracket) largestGap() float64 {
	var d float64
	for i := range b.low {
		d = math.Max(d, b.gap(i))
	}
	return d
}

// upper returns the largest aⱼᵀAaⱼ.
func (b bracket) upper(j int) float64 {
	return b.diagonal(j, func(i int) float64 { return b.high[i] })
}

// norm returns a bound on ‖Aaⱼ‖.
func (b bracket) norm(j int) float64 {
	centre := math.Sqrt(b.diagonal(j, func(i int) float64 { return b.middle(i) * b.middle(i) }))
	spread := 0.5 * math.Sqrt(b.diagonal(j, b.gap)*b.largestGap())
	return math.Min(centre+spread, b.length(j)*floats.Max(b.high))
}

// length returns ‖aⱼ‖.
func (b bracket) length(j int) float64 { return floats.Norm(b.forms.RawRowView(j), 2) }

// linear returns the least and the largest aⱼᵀAw as centre ± radius, for all j.
func (b bracket) linear(w []float64) (centre, radius []float64) {
	d := len(w)
	coords := make([]float64, d)
	var spread float64
	for i := range d {
		for k := range d {
			coords[i] += b.vectors.At(k, i) * w[k]
		}
		spread += b.gap(i) * coords[i] * coords[i]
	}
	k, _ := b.forms.Dims()
	centre, radius = make([]float64, k), make([]float64, k)
	for j := range k {
		for i := range d {
			centre[j] += b.forms.At(j, i) * b.middle(i) * coords[i]
		}
		radius[j] = 0.5 * math.Sqrt(b.diagonal(j, b.gap)*spread)
	}
	return centre, radius
}

// sandwich returns a bound on √(aⱼᵀASAaⱼ) for the symmetric S ⪰ 0 whose largest eigenvalue is top.
func (b bracket) sandwich(j int, s *mat.SymDense, top float64) float64 {
	d := len(b.low)
	column := make([]float64, d) // Āaⱼ
	for i := range d {
		f := b.middle(i) * b.forms.At(j, i)
		for k := range d {
			column[k] += f * b.vectors.At(k, i)
		}
	}
	v := mat.NewVecDense(d, column)
	return math.Sqrt(math.Max(0, mat.Inner(v, s, v))) + 0.5*math.Sqrt(b.diagonal(j, b.gap)*b.largestGap()*top)
}
