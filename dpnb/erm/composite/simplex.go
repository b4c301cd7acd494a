package composite

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// Simplex is C = {θ : θⱼ ≥ 0, Σθⱼ = s}.
type Simplex struct {
	// Sum is s > 0.
	Sum float64
}

// Name returns "simplex".
func (Simplex) Name() string { return "simplex" }

// Validate checks s.
func (c Simplex) Validate(int) error {
	if !(c.Sum > 0) || math.IsInf(c.Sum, 1) {
		return dataError("the sum of the simplex is %v, want a positive number", c.Sum)
	}
	return nil
}

// Contains grants the rounding of the sum.
func (c Simplex) Contains(theta []float64) bool {
	return len(theta) > 0 && floats.Min(theta) >= 0 && math.Abs(floats.Sum(theta)-c.Sum) <= c.Sum*edge(len(theta))
}

// Project is max(vⱼ − t, 0) with the t that makes the sum s, which is found by leaving out the coordinates below the
// mean until none is (Michelot 1986), and scaled to the sum once more, against rounding.
func (c Simplex) Project(dst, v []float64) {
	t := level(v, nil, c.Sum)
	var sum float64
	for j, x := range v {
		dst[j] = math.Max(x-t, 0)
		sum += dst[j]
	}
	floats.Scale(c.Sum/sum, dst)
}

// level returns the m with Σ(vⱼ − m) = less over the support of θ, nil for none, and those others with vⱼ > m.
func level(v, theta []float64, less float64) float64 {
	m, count := math.Inf(-1), len(v)+1
	for {
		var sum float64
		k := 0
		for j, x := range v {
			if x > m || theta != nil && theta[j] > 0 {
				sum += x
				k++
			}
		}
		if k >= count || k == 0 { // it falls until it is right; ties may rise in rounding
			return m
		}
		count, m = k, (sum-less)/float64(k)
	}
}

// Nearest projects on {v : vⱼ = m where θⱼ > 0, vⱼ ≤ m elsewhere, for some m}. The best m is the mean over the support
// and over those others with vⱼ > m.
func (c Simplex) Nearest(dst, v, theta []float64) {
	m := level(v, theta, 0)
	for j, x := range v {
		if theta[j] > 0 {
			dst[j] = m
		} else {
			dst[j] = math.Min(x, m)
		}
	}
}

// Gap is s·max vⱼ − ⟨v, θ⟩ = Σθⱼ(max v − vⱼ), and the error of the sum of θ.
func (c Simplex) Gap(v, theta []float64) (slack, rounding float64) {
	top := floats.Max(v)
	var gap float64
	for j, x := range theta {
		gap += x * (top - v[j])
	}
	return up(gap, len(v)) + 2*edge(len(v))*c.Sum*math.Max(math.Abs(top), math.Abs(floats.Min(v))), 0
}
