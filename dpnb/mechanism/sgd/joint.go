package sgd

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpnb/notebooks/dpnb/internal/recent"
	"github.com/dpnb/notebooks/dpnb/matrix"
)

// joint is the noise between the levels of Quantiles: C = root², and u_j = root⁻¹v_j of the vertices, none longer than
// 1.
type joint struct {
	levels int
	// root by rows, K×K; white has the u_j one after the other, (K+1)×K.
	root, white []float64
	// gap bounds tr C over the least trace that there is.
	gap float64
}

// jointGap is how near tr C comes to the least.
const jointGap = 1.01

var joints = recent.Values[string, *joint]{Kept: 64}

// jointNoise returns the noise for the levels, of nearly the least trace.
//
// For weights w_j of the vertices and M = Σw_j v_jv_jᵀ, C = c·M^{1/2} with c = max_j q_j, q_j = v_jᵀM^{−1/2}v_j, is
// admissible, and no admissible C has a trace below (tr M^{1/2})². Weights that are multiplied by q_j again and again
// approach the best.
// Proof: docs/theory/quantiles.md#dpnb-quantiles-joint.
func jointNoise(levels []float64) *joint {
	c, _ := joints.Of(joined(levels), func() (*joint, error) { return newJoint(levels), nil })
	return c.clone()
}

func newJoint(levels []float64) *joint {
	k := len(levels)
	vertices := make([][]float64, k+1)
	w := slices.Repeat([]float64{1 / float64(k+1)}, k+1)
	for j := range vertices {
		vertices[j] = make([]float64, k)
		for l, tau := range levels {
			if vertices[j][l] = -tau; l >= j {
				vertices[j][l] = 1 - tau
			}
		}
	}
	var vectors *mat.Dense
	q, values := make([]float64, k+1), make([]float64, k)
	along := make([][]float64, k+1) // the vertices along the eigenvectors
	trace, most := 0.0, 0.0
	for range 300 {
		m := mat.NewSymDense(k, nil)
		for j, v := range vertices {
			m.SymRankOne(m, w[j], mat.NewVecDense(k, v))
		}
		squares, turned, ok := matrix.Eigen(m)
		if !ok {
			break
		}
		vectors, trace, most = turned, 0, 0
		for l, v := range squares {
			values[l] = math.Sqrt(math.Max(v, 1e-18)) // of M^{1/2}
			trace += values[l]
		}
		for j, v := range vertices {
			var a mat.VecDense
			a.MulVec(vectors.T(), mat.NewVecDense(k, v))
			along[j], q[j] = a.RawVector().Data, 0
			for l, x := range along[j] {
				q[j] += x * x / values[l]
			}
			most = math.Max(most, q[j])
		}
		if most <= jointGap*trace {
			break
		}
		for j := range w {
			w[j] *= q[j] / trace
		}
		floats.Scale(1/floats.Sum(w), w)
	}
	c := &joint{levels: k, gap: most / trace}
	// root = √c·M^{1/4}, by the eigenvectors.
	for i := range k {
		for l := range k {
			var sum float64
			for p := range k {
				sum += vectors.At(i, p) * vectors.At(l, p) * math.Sqrt(most*values[p])
			}
			c.root = append(c.root, sum)
		}
	}
	longest := 0.0
	for j := range vertices {
		u := make([]float64, k)
		for p, x := range along[j] {
			for l := range u {
				u[l] += vectors.At(l, p) * x / math.Sqrt(most*values[p])
			}
		}
		longest = math.Max(longest, floats.Norm(u, 2))
		c.white = append(c.white, u...)
	}
	// By rounding it may be off 1; the guarantee rests on this line, and on nothing above.
	c.scale(1 / longest)
	return c
}

// scale makes the noise 1/by times as large: u_j is by times as long.
func (c *joint) scale(by float64) {
	floats.Scale(by, c.white)
	floats.Scale(1/by, c.root)
}

func (c *joint) clone() *joint {
	return &joint{c.levels, slices.Clone(c.root), slices.Clone(c.white), c.gap}
}

// LevelCovariance returns C, the covariance between levels of the noise in a step of Quantiles, in units of
// (NoiseMultiplier × RowNorm)². One level alone has max(τ, 1−τ)².
//
// Errors: as ValidLevels.
func LevelCovariance(levels []float64) (*mat.SymDense, error) {
	if err := ValidLevels(levels); err != nil {
		return nil, err
	}
	j := jointNoise(levels)
	root, c := mat.NewDense(j.levels, j.levels, j.root), mat.NewSymDense(j.levels, nil)
	c.SymOuterK(1, root)
	return c, nil
}

// Pool puts the fitted quantiles t₁ … t_K of a record in order, in place: neighbours that cross are replaced by their
// mean, until none do (the isotonic regression of t). The sum of their pinball losses does not rise, at any y.
func Pool(t []float64) {
	// Blocks of equal values: their sums and lengths.
	type block struct {
		sum float64
		n   int
	}
	blocks := make([]block, 0, len(t))
	for _, v := range t {
		b := block{v, 1}
		for len(blocks) > 0 {
			last := blocks[len(blocks)-1]
			if last.sum*float64(b.n) <= b.sum*float64(last.n) {
				break
			}
			b.sum, b.n = b.sum+last.sum, b.n+last.n
			blocks = blocks[:len(blocks)-1]
		}
		blocks = append(blocks, b)
	}
	at := 0
	for _, b := range blocks {
		for range b.n {
			t[at] = b.sum / float64(b.n)
			at++
		}
	}
}
