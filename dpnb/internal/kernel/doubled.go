package kernel

import (
	"math"

	"github.com/dpnb/notebooks/dpnb/internal/dd"
)

// Dot2 returns xᵀθ for θ = hi + lo. With A = Σ|xⱼhiⱼ| it errs by at most (d+3)²u²·1.1A, u = 2⁻⁵³, besides what
// underflows (4·2⁻¹⁰⁷⁵ in each product): products and sums are split into a rounded and an exact part (Ogita, Rump and
// Oishi 2005), and only the second parts, each at most du·A in all, are added with rounding.
func Dot2(x, hi, lo []float64) dd.Number {
	hi, lo = hi[:len(x)], lo[:len(x)]
	var s, low float64
	for j, v := range x {
		p := float64(v * hi[j])
		e := math.FMA(v, lo[j], math.FMA(v, hi[j], -p))
		t := s + p
		b := t - s
		low += (s - (t - b)) + (p - b) + e
		s = t
	}
	return dd.Sum(s, low)
}

// SparseDot2 is Dot2 for the entries values in the columns of a row.
func SparseDot2(columns []int32, values, hi, lo []float64) dd.Number {
	values = values[:len(columns)]
	var s, low float64
	for k, j := range columns {
		v := values[k]
		p := float64(v * hi[j])
		e := math.FMA(v, lo[j], math.FMA(v, hi[j], -p))
		t := s + p
		b := t - s
		low += (s - (t - b)) + (p - b) + e
		s = t
	}
	return dd.Sum(s, low)
}

// AddScaled2 adds w·x to hi + lo. The parts are left as they are (Normalise2): a sum of m of them, normalised after
// every B, with A = Σ|w xⱼ|, errs by at most (1.1m(B+6) + 3)u²·A, as in Dot2.
func AddScaled2(hi, lo, x []float64, w dd.Number) {
	hi, lo = hi[:len(x)], lo[:len(x)]
	for j, v := range x {
		p := float64(v * w.Hi)
		e := math.FMA(v, w.Lo, math.FMA(v, w.Hi, -p))
		s := hi[j]
		t := s + p
		b := t - s
		lo[j] += (s - (t - b)) + (p - b) + e
		hi[j] = t
	}
}

// SparseAddScaled2 is AddScaled2 for the entries values in the columns of a row.
func SparseAddScaled2(hi, lo []float64, columns []int32, values []float64, w dd.Number) {
	values = values[:len(columns)]
	for k, j := range columns {
		v := values[k]
		p := float64(v * w.Hi)
		e := math.FMA(v, w.Lo, math.FMA(v, w.Hi, -p))
		s := hi[j]
		t := s + p
		b := t - s
		lo[j] += (s - (t - b)) + (p - b) + e
		hi[j] = t
	}
}

// Normalise2 makes hi the float64 next to hi + lo, without error.
func Normalise2(hi, lo []float64) {
	lo = lo[:len(hi)]
	for j, h := range hi {
		hi[j], lo[j] = dd.TwoSum(h, lo[j])
	}
}
