package statistic

import (
	"fmt"
	"math"

	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Moments is φ for means and variances of d columns and, with Products, for their correlations: x ∈ [−1, 1] being a
// number in units of its bounds,
//
//	φ = (w₀, w₁xⱼ, w₂(2xⱼ² − 1), w₃xⱼx_k for j < k),
//
// each entry of which is largest at |x| = 1, so that the norms are those of the weights. The weights, or their squares
// for Gaussian noise, add up to one; of one column they are equal.
//
// Proof: docs/theory/statistics.md.
type Moments struct {
	Of []Number
	// For is the law of the noise for which φ is made.
	For      Law
	Products bool
}

// Validate implements Summand.
func (m Moments) Validate() error {
	if m.Products && len(m.Of) > 200 {
		return &privacy.ParamError{Name: "columns", Value: len(m.Of), Want: "at most 200 for correlations"}
	}
	return Means{m.Of, m.For}.Validate()
}

// String implements Summand.
func (m Moments) String() string {
	if m.Products {
		return fmt.Sprintf("a count, sums, squares and products of %d columns", len(m.Of))
	}
	return fmt.Sprintf("a count, sums and squares (columns: %d)", len(m.Of))
}

// Columns implements Summand.
func (m Moments) Columns() int { return len(m.Of) }

// pairs returns how many products there are.
func (m Moments) pairs() int {
	if !m.Products {
		return 0
	}
	return len(m.Of) * (len(m.Of) - 1) / 2
}

// Len implements Summand.
func (m Moments) Len() int { return 1 + 2*len(m.Of) + m.pairs() }

// weights returns w₀ … w₃: for one column thirds, for several by how often each is used.
func (m Moments) weights() (w [4]float64) {
	d := float64(len(m.Of))
	w = [4]float64{math.Sqrt(d), 1, 1, 0}
	if pairs := float64(m.pairs()); pairs > 0 {
		w = [4]float64{0.5 * math.Sqrt(pairs), 0.5 * math.Sqrt(d-1), 0.35 * math.Sqrt(d-1), 1}
	}
	sum := w[0] + d*(w[1]+w[2]) + float64(m.pairs())*w[3]
	for i := range w {
		w[i] /= sum
		if m.For == Gaussian {
			w[i] = math.Sqrt(w[i])
		}
		w[i] = round(w[i])
	}
	return w
}

// Norm implements Summand.
func (m Moments) Norm(law Law) float64 {
	w, d, pairs := m.weights(), float64(len(m.Of)), float64(m.pairs())
	if law == Laplace {
		return (w[0] + d*(w[1]+w[2]) + pairs*w[3]) * (1 + 0x1p-50)
	}
	return math.Sqrt(w[0]*w[0]+d*(w[1]*w[1]+w[2]*w[2])+pairs*w[3]*w[3]) * (1 + 0x1p-50)
}

// Error implements Summand.
func (m Moments) Error(s Sums) float64 {
	w := m.weights()
	last := w[2]
	if m.Products && m.pairs() > 0 {
		last = w[3]
	}
	return s.deviation() / last
}

// Sum implements Summand.
func (m Moments) Sum(dst []float64, columns [][]float64) {
	w, d := m.weights(), len(m.Of)
	dst[0] += w[0] * float64(len(columns[0]))
	x := make([]float64, d)
	for i := range columns[0] {
		at := 1 + 2*d
		for j, b := range m.Of {
			x[j] = b.unit(columns[j][i])
			dst[1+j] += round(w[1] * x[j])
			dst[1+d+j] += round(w[2] * (2*x[j]*x[j] - 1))
			if m.Products {
				for _, y := range x[:j] {
					dst[at] += round(w[3] * x[j] * y)
					at++
				}
			}
		}
	}
}

// moments are estimates of what φ adds up, in units of the bounds, with standard deviations of their noise.
type moments struct {
	Moments
	sums, noise []float64
}

// kind is which of the weights entry i of φ has.
func (m Moments) kind(i int) int {
	switch d := len(m.Of); {
	case i == 0:
		return 0
	case i <= d:
		return 1
	case i <= 2*d:
		return 2
	}
	return 3
}

func (m Moments) read(s Sums, released []float64) moments {
	w := m.weights()
	r := moments{m, make([]float64, len(released)), make([]float64, len(released))}
	for i, v := range released {
		k := m.kind(i)
		r.sums[i], r.noise[i] = v/w[k], s.deviation()/w[k]
	}
	return r
}

// estimate returns f of the sums with an interval by its slopes: the noise is Gaussian, or a sum of Laplace variates,
// which is taken to be within what both the normal law and one such variate of its variance are within; the result is
// kept in [lo, hi].
func (r moments) estimate(law Law, confidence, lo, hi float64, uses []int, f func(sums []float64) float64) Estimate {
	z := normalQuantile(1 - confidence)
	if law == Laplace {
		z = math.Max(z, -math.Log(1-confidence)/math.Sqrt2)
	}
	at := append([]float64(nil), r.sums...)
	at[0] = math.Max(at[0], 1)
	value, square := f(at), 0.0
	for _, i := range uses {
		step := 0.01 * r.noise[i]
		at[i] += step
		up := f(at)
		at[i] -= 2 * step
		slope := (up - f(at)) / (2 * step)
		at[i] += step
		square += slope * slope * r.noise[i] * r.noise[i]
	}
	// The slopes go like 1/n, and n is not known better than by its noise.
	surely := at[0] - z*r.noise[0]
	half := z * math.Sqrt(square) * at[0] / surely
	clip := func(x float64) float64 { return math.Max(lo, math.Min(hi, x)) }
	if !(surely > 0) || math.IsNaN(half) || math.IsNaN(value) {
		return Estimate{clip(zeroIfNaN(value)), lo, hi}
	}
	return Estimate{clip(value), clip(value - half), clip(value + half)}
}

// variance of column j, in units of its bounds.
func (m Moments) variance(sums []float64, j int) float64 {
	mean := sums[1+j] / sums[0]
	return 0.5*(1+sums[1+len(m.Of)+j]/sums[0]) - mean*mean
}

// Count returns the number of records.
func (m Moments) Count(s Sums, released []float64, confidence float64) Estimate {
	r := m.read(s, released)
	e := r.estimate(s.Law, confidence, 0, math.Inf(1), []int{0}, func(sums []float64) float64 { return sums[0] })
	z := e.Upper - e.Value
	return Estimate{e.Value, math.Max(0, e.Value-z), e.Upper}
}

// Mean returns the mean of column j in its unit.
func (m Moments) Mean(s Sums, released []float64, confidence float64, j int) Estimate {
	r, b := m.read(s, released), m.Of[j]
	e := r.estimate(s.Law, confidence, -1, 1, []int{0, 1 + j},
		func(sums []float64) float64 { return sums[1+j] / sums[0] })
	return Estimate{b.Value(e.Value), b.Value(e.Lower), b.Value(e.Upper)}
}

// Variance returns that of column j, in the square of its unit: the mean of squares of differences from the mean.
func (m Moments) Variance(s Sums, released []float64, confidence float64, j int) Estimate {
	r, unit := m.read(s, released), m.Of[j].half()*m.Of[j].half()
	e := r.estimate(s.Law, confidence, 0, 1, []int{0, 1 + j, 1 + len(m.Of) + j},
		func(sums []float64) float64 { return m.variance(sums, j) })
	return Estimate{e.Value * unit, e.Lower * unit, e.Upper * unit}
}

// Correlation returns that of columns j and k, of Products. Where a variance is not known to be more than zero, nothing
// is known of it.
func (m Moments) Correlation(s Sums, released []float64, confidence float64, j, k int) Estimate {
	j, k = max(j, k), min(j, k)
	d, place := len(m.Of), 1+2*len(m.Of)+j*(j-1)/2+k
	r := m.read(s, released)
	for _, column := range []int{j, k} {
		if m.Variance(s, released, confidence, column).Lower <= 0 {
			return Estimate{0, -1, 1}
		}
	}
	return r.estimate(s.Law, confidence, -1, 1, []int{0, 1 + j, 1 + k, 1 + d + j, 1 + d + k, place},
		func(sums []float64) float64 {
			mean := func(i int) float64 { return sums[1+i] / sums[0] }
			return (sums[place]/sums[0] - mean(j)*mean(k)) / math.Sqrt(m.variance(sums, j)*m.variance(sums, k))
		})
}

// Even returns what would be released without noise of so many records whose columns are spread evenly between their
// bounds, and are not correlated.
func (m Moments) Even(records float64) []float64 {
	w, out := m.weights(), make([]float64, m.Len())
	out[0] = w[0] * records
	for j := range m.Of {
		out[1+len(m.Of)+j] = -w[2] * records / 3 // the mean of 2x² − 1
	}
	return out
}

// Farthest returns what would be released without noise of so many records that are all at their upper bounds: the
// variance of a column is known less well nowhere.
func (m Moments) Farthest(records float64) []float64 {
	w, out := m.weights(), make([]float64, m.Len())
	for i := range out {
		out[i] = w[m.kind(i)] * records
	}
	return out
}
