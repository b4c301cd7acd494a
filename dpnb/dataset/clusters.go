package dataset

import (
	"fmt"
	"math"
	"slices"

	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/noise"
)

// Clusters is a population of two classes, from which records are drawn one by one. A record of cluster k has
//
//	m informative features  v_k + A_k z,  z ~ N(0, I_m),
//	r redundant features    B(v_k + A_k z),
//	and otherwise           N(0, 1) that tell nothing,
//
// with v_k a vertex of the cube {−s, s}^m, another for each cluster, and the entries of A_k (m×m) and B (r×m) uniform
// in (−1, 1). Clusters are equally frequent and belong to the two classes by turns. With probability Flip the label is
// thrown away and drawn by a fair coin. The columns are in random order.
//
// v, A, B and the order of the columns are drawn from Seed, and so is the population; record i comes from a stream of
// its own, so that a larger sample begins with the smaller one.
//
// The design is that of Guyon 2003 for the variable selection benchmark of NIPS.
type Clusters struct {
	// Records n and Features d are at least 1.
	Records, Features int
	// Informative m ≥ 1 and Redundant r ≥ 0, together at most Features.
	Informative, Redundant int
	// PerClass is the number of clusters of a class; zero means 2.
	PerClass int
	// Separation s > 0 is half the side of the cube.
	Separation float64
	// Flip is the share of labels that are drawn anew, between 0 and 1.
	Flip float64
	Seed uint64
}

// SyntheticL is low-dimensional: 10,000 records of 40 features, 30 of them informative and 2 redundant, separation 2,
// one label in a hundred drawn anew. It has the shape of the set of that name in Iyengar et al. 2019 and in Redberg,
// Koskela, Wang 2023 (rkw23), section 5, and other numbers.
func SyntheticL(seed uint64) Clusters {
	return Clusters{Records: 10_000, Features: 40, Informative: 30, Redundant: 2, Separation: 2, Flip: 0.01, Seed: seed}
}

// SyntheticH is high-dimensional: 2,000 records of 2,000 features, 10 of them informative and none redundant; else as
// SyntheticL.
func SyntheticH(seed uint64) Clusters {
	return Clusters{Records: 2_000, Features: 2_000, Informative: 10, Separation: 2, Flip: 0.01, Seed: seed}
}

// Sample is what Clusters drew.
type Sample struct {
	// Rows are the features as drawn, of no bounded norm.
	Rows *matrix.Dense
	// Labels are ±1.
	Labels []float64
	// Features names the columns x1 … xd.
	Features []string
	// Informative says of each column whether it tells anything of the label, redundant ones included.
	Informative []bool
	// Population that it was drawn from.
	Population Clusters
}

// Generate draws the sample. The same Clusters give the same sample, up to the last bits of the numbers on machines
// that multiply and add in one step.
//
// Errors: *frame.InputError if a number is out of range.
func (c Clusters) Generate() (*Sample, error) {
	if c.PerClass == 0 {
		c.PerClass = 2
	}
	if err := c.validate(); err != nil {
		return nil, err
	}
	root := noise.NewSeeded(c.Seed)
	p := newPopulation(c, root.Stream(0))
	s := &Sample{Rows: matrix.NewDense(c.Records, c.Features, nil), Labels: make([]float64, c.Records),
		Features: make([]string, c.Features), Informative: make([]bool, c.Features), Population: c}
	for j, column := range p.order {
		s.Features[j] = fmt.Sprintf("x%d", j+1)
		s.Informative[column] = j < c.Informative+c.Redundant
	}
	z := make([]float64, c.Features)
	for i := range c.Records {
		s.Labels[i] = p.draw(s.Rows.Data[i*c.Features:(i+1)*c.Features], z, root.Stream(i+1))
	}
	return s, s.source().Log()
}

func (c Clusters) validate() error {
	fail := func(format string, a ...any) error { return &frame.InputError{Text: fmt.Sprintf(format, a...)} }
	switch {
	case c.Records < 1 || c.Features < 1:
		return fail("Records = %d, Features = %d, want at least 1 of each", c.Records, c.Features)
	case c.Informative < 1 || c.Redundant < 0 || c.Informative+c.Redundant > c.Features:
		return fail("Informative = %d and Redundant = %d, want at least 1 and 0, together at most Features = %d",
			c.Informative, c.Redundant, c.Features)
	case c.PerClass < 0 || c.Informative < 30 && 2*c.PerClass > 1<<c.Informative || c.PerClass > 1<<20:
		return fail("PerClass = %d, want a positive number of clusters that the 2^%d vertices have room for",
			c.PerClass, c.Informative)
	case !(c.Separation > 0) || math.IsInf(c.Separation, 1):
		return fail("Separation = %v, want a positive number", c.Separation)
	case !(c.Flip >= 0 && c.Flip <= 1):
		return fail("Flip = %v, want a share between 0 and 1", c.Flip)
	}
	return nil
}

// population is what the records of Clusters have in common.
type population struct {
	Clusters
	vertex, mix [][]float64 // of each cluster: m and m×m
	redundant   []float64   // r×m
	order       []int       // column of each feature
}

func newPopulation(c Clusters, rng *noise.Seeded) *population {
	p := &population{Clusters: c, order: rng.Perm(c.Features)}
	uniform := func(n int) []float64 {
		u := make([]float64, n)
		for i := range u {
			u[i] = 2*rng.Float64() - 1
		}
		return u
	}
	for len(p.vertex) < 2*c.PerClass {
		v := make([]float64, c.Informative)
		for j := range v {
			v[j] = c.Separation * float64(2*rng.IntN(2)-1)
		}
		if slices.ContainsFunc(p.vertex, func(w []float64) bool { return slices.Equal(v, w) }) {
			continue
		}
		p.vertex, p.mix = append(p.vertex, v), append(p.mix, uniform(c.Informative*c.Informative))
	}
	p.redundant = uniform(c.Redundant * c.Informative)
	return p
}

// draw writes one record to x and returns its label; z has room for d numbers.
func (p *population) draw(x, z []float64, rng *noise.Seeded) float64 {
	k, m := rng.IntN(len(p.vertex)), p.Clusters.Informative
	rng.Gaussian(z, 1)
	for i := range m {
		v := p.vertex[k][i]
		for j, a := range p.mix[k][i*m : (i+1)*m] {
			v += a * z[j]
		}
		x[p.order[i]] = v
	}
	for i := range p.Redundant {
		var v float64
		for j, b := range p.redundant[i*m : (i+1)*m] {
			v += b * x[p.order[j]]
		}
		x[p.order[m+i]] = v
	}
	for i := m + p.Redundant; i < len(x); i++ {
		x[p.order[i]] = z[i]
	}
	if rng.Float64() < p.Flip {
		k = rng.IntN(2)
	}
	return float64(2*(k%2) - 1)
}

// Split returns the first share of the records and the rest. Records are independent, so no shuffling is needed. Either
// part may be empty.
func (s *Sample) Split(share float64) (first, rest *Sample) {
	cut := int(math.Round(float64(s.Rows.N) * math.Max(0, math.Min(1, share))))
	part := func(lo, hi int) *Sample {
		p := *s
		p.Rows = matrix.NewDense(hi-lo, s.Rows.D, s.Rows.Data[lo*s.Rows.D:hi*s.Rows.D])
		p.Labels = s.Labels[lo:hi]
		return &p
	}
	return part(0, cut), part(cut, s.Rows.N)
}

// Design makes the sample into records for learning: every row is scaled to the given norm and a bias of 1 is appended.
// A row's scale is its own, so that it costs no privacy.
func (s *Sample) Design(rowNorm float64) (*frame.Design, error) {
	if !(rowNorm > 0) || math.IsInf(rowNorm, 1) {
		return nil, &frame.InputError{Text: fmt.Sprintf("the norm of rows is %v, want a positive number", rowNorm)}
	}
	n, d := s.Rows.Dims()
	rows := matrix.NewDense(n, d+1, nil)
	out := &frame.Design{Rows: rows, Labels: slices.Clone(s.Labels),
		Features: append(slices.Clone(s.Features), "bias"), RowNorm: math.Nextafter(math.Hypot(rowNorm, 1),
			math.Inf(1)),
		Source: s.source()}
	out.Steps = []frame.Step{{What: fmt.Sprintf("every row scaled to norm %g, bias 1 appended: ‖x‖ ≤ %.4g", rowNorm,
		out.RowNorm),
		Cost: "nothing: each record is treated by itself"}}
	// A computed norm of d numbers errs by at most (d/2 + 2)·2^−53, the products by a little more; rows this much
	// shorter are no longer than rowNorm.
	safe := rowNorm * (1 - float64(d+8)*0x1p-53)
	norms := make([]float64, n)
	s.Rows.Norms(norms, 0, n)
	for i, norm := range norms {
		row := rows.Data[i*(d+1) : (i+1)*(d+1)]
		if norm > 0 {
			for j, v := range s.Rows.Data[i*d : (i+1)*d] {
				row[j] = v * (safe / norm)
			}
		}
		row[d] = 1
	}
	return out, nil
}

func (s *Sample) source() frame.Source {
	p := s.Population
	return frame.Source{Name: fmt.Sprintf("Gaussian clusters of %d features, seed %d", p.Features, p.Seed),
		Rows: p.Records, Public: true, Invented: true}
}
