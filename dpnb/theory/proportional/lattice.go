package proportional

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/dpnb/notebooks/dpnb/internal/normal"
	"github.com/dpnb/notebooks/dpnb/internal/recent"
)

// nodes are points of a standard normal vector, coordinate by coordinate, and their weights.
type nodes struct {
	z [][]float64 // z[j][i] is coordinate j of point i
	w []float64
}

// tensorNodes is the product of trapezoidal rules with the given step, each shifted by a fraction of it: an error
// estimate is the difference of two shifts.
func tensorNodes(dim int, step, shift float64) nodes {
	k := int(math.Ceil(normalRange / step))
	line := make([]float64, 2*k+1)
	for i := range line {
		line[i] = step * (float64(i-k) + shift)
	}
	n := 1
	for range dim {
		n *= len(line)
	}
	out := nodes{z: make([][]float64, dim), w: make([]float64, 0, n)}
	index := make([]int, dim)
	for range n {
		w := 1.0
		for _, i := range index {
			w *= step * normal.Density(line[i])
		}
		if w > 1e-19 {
			out.w = append(out.w, w)
			for j, i := range index {
				out.z[j] = append(out.z[j], line[i])
			}
		}
		for j := range index {
			if index[j]++; index[j] < len(line) {
				break
			}
			index[j] = 0
		}
	}
	return out
}

// latticeNodes is a rank-one lattice with n points, n prime, shifted by a random vector, folded (Hickernell's baker
// transformation) and mapped to the normal law.
func latticeNodes(dim, n int, r *rand.Rand) nodes {
	a := korobov(n)
	out := nodes{z: make([][]float64, dim), w: slices.Repeat([]float64{1 / float64(n)}, n)}
	g := uint64(1)
	for j := range dim {
		out.z[j] = make([]float64, n)
		shift := r.Float64()
		var x uint64
		for i := range n {
			u := float64(x)/float64(n) + shift
			u -= math.Floor(u)
			u = 1 - math.Abs(2*u-1)
			u = math.Min(math.Max(u, 1e-16), 1-1e-16)
			out.z[j][i] = math.Sqrt2 * math.Erfinv(2*u-1)
			if x += g; x >= uint64(n) {
				x -= uint64(n)
			}
		}
		g = g * a % uint64(n)
	}
	return out
}

var generators = recent.Values[int, uint64]{Kept: 64} // n → a

// korobov returns the multiplier a of the lattice (1, a, a², …)/n that has, among 60 candidates, the smallest
// worst-case error in the weighted Korobov space of smoothness one, with weights 0.85ʲ for the coordinates j < 24.
func korobov(n int) uint64 {
	a, _ := generators.Of(n, func() (uint64, error) { return bestMultiplier(n), nil })
	return a
}

func bestMultiplier(n int) uint64 {
	best, found := math.Inf(1), uint64(1)
	for c := 1; c <= 60; c++ {
		a := uint64(math.Mod(float64(c)*0.6180339887498949, 1)*float64(n-3)) + 2
		if e := latticeError(n, a); e < best {
			best, found = e, a
		}
	}
	return found
}

// latticeError is the mean over the points of Π(1 + γⱼ·2π²B₂(xⱼ)), less one.
func latticeError(n int, a uint64) float64 {
	const dim = 24
	var mult [dim]uint64
	g := uint64(1)
	for j := range mult {
		mult[j] = g
		g = g * a % uint64(n)
	}
	var sum float64
	for i := range uint64(n) {
		p, weight := 1.0, 1.0
		for j := range mult {
			x := float64(i*mult[j]%uint64(n)) / float64(n)
			p *= 1 + weight*2*math.Pi*math.Pi*(x*x-x+1.0/6)
			weight *= 0.85
		}
		sum += p
	}
	return sum/float64(n) - 1
}
