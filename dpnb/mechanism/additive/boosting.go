// Package additive has sums of step functions, one of each column, that are boosted privately: the explainable boosting
// machine. It is a rival to linear models, whose records it takes in the same rows.
//
// Theory, with the proof: docs/theory/additive.md.
package additive

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/dpnb/notebooks/dpnb/erm"
	"github.com/dpnb/notebooks/dpnb/internal/parallel"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/noise/exact"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Boosting is DP-EBM. It learns F(x) = Σ_k f_k(x), f_k a function of the cell of column k (Cells). First the records in
// each cell are counted, for all K columns at once, and cells of numbers are merged to bins of about equal counts:
//
//	N_kc = #{i: cell_k(i) = c} + N(0, K·CountSigma²).
//
// Then, in Rounds times K steps, column by column, its bins are split at Leaves − 1 places drawn uniformly, and to all
// cells of each leaf ℓ
//
//	η·C·(Σ_{i∈ℓ} clip(rᵢ/C, ±1) + N(0, SumSigma²))/max(N_ℓ, 1, √K·CountSigma)
//
// is added, N_ℓ the sum of the counts. rᵢ = y − F(xᵢ) of numbers, and of Classes −1 and 1 the slope y/(1 + e^{yF(xᵢ)})
// of the logistic loss. Coefficients are the values of f_k in its cells, column after column.
//
// Source: Nori, Caruana, Bu, Shen, Kulkarni 2021, arXiv:2106.09680. Proof: docs/theory/additive.md.
type Boosting struct {
	Cells
	// Classes says that labels are −1 and 1, else they are numbers.
	Classes bool
	// Clip is C.
	Clip float64
	// Leaves of each step, Rounds over all columns, LearningRate η in (0, 1].
	Leaves, Rounds int
	LearningRate   float64
	// CountSigma is the noise multiplier of the counts, SumSigma that of the sums of each step.
	CountSigma, SumSigma float64
}

// Config asks for a Boosting that satisfies (ε, δ) under add/remove-one.
type Config struct {
	// Columns and Classes as in Boosting; Clip, too.
	Columns []Column
	Classes bool
	Clip    float64
	// Bins, Leaves, Rounds and LearningRate as in Boosting; zero means 32, 3, 300 and 0.01.
	Bins, Leaves, Rounds int
	LearningRate         float64
	// CountShare is what the counts have of μ²; zero means 0.01, which is about a tenth of ε.
	CountShare float64
	// Epsilon > 0, 0 < Delta < 1.
	Epsilon, Delta float64
}

// Calibrate returns the mechanism with the least noise that is proved to satisfy (ε, δ).
//
// Errors: *privacy.ParamError.
func (c Config) Calibrate() (Boosting, error) {
	m := Boosting{Cells: Cells{c.Columns, cmp.Or(c.Bins, 32)}, Classes: c.Classes, Clip: c.Clip,
		Leaves: cmp.Or(c.Leaves, 3), Rounds: cmp.Or(c.Rounds, 300), LearningRate: cmp.Or(c.LearningRate, 0.01),
		CountSigma: 1, SumSigma: 1}
	share := cmp.Or(c.CountShare, 0.01)
	// ε and δ are taken somewhat smaller, which would hide that they are out of range.
	if err := cmp.Or(
		privacy.Within(share > 0 && share < 1, "CountShare", share, "a number in (0, 1), or 0 for 0.01"),
		privacy.Positive("Epsilon", c.Epsilon), privacy.CheckGaussianDelta(c.Delta), m.Validate()); err != nil {
		return m, err
	}
	sigma, err := privacy.GaussianSigma(privacy.Typed(c.Epsilon, c.Delta))
	if err != nil {
		return m, err
	}
	sigma *= 1 + 0x1p-40 // for mu, which is rounded up
	m.CountSigma = sigma / math.Sqrt(share)
	m.SumSigma = sigma * math.Sqrt(m.steps()/(1-share))
	return m, m.Validate()
}

// steps is how many there are.
func (m Boosting) steps() float64 { return float64(m.Rounds) * float64(len(m.Columns)) }

// mu returns √(1/CountSigma² + steps/SumSigma²), rounded up.
func (m Boosting) mu() float64 {
	return math.Hypot(1/m.CountSigma, math.Sqrt(m.steps())/m.SumSigma) * (1 + 0x1p-48)
}

// Validate returns a *privacy.ParamError if a parameter is out of range.
func (m Boosting) Validate() error {
	const few = "a number from 1 to 32,767"
	return cmp.Or(m.Cells.validate(),
		privacy.Within(m.Leaves >= 1 && m.Leaves <= mostCells, "Leaves", m.Leaves, few),
		privacy.Within(m.Rounds >= 1 && m.Rounds <= mostCells, "Rounds", m.Rounds, few),
		privacy.Within(m.LearningRate > 0 && m.LearningRate <= 1, "LearningRate", m.LearningRate, "a number in (0, 1]"),
		mechanism.Scales{{"Clip", m.Clip}, {"CountSigma", m.CountSigma}, {"SumSigma", m.SumSigma}}.Check())
}

// Event implements mechanism.Mechanism: the Gaussian mechanism of μ.
//
// Proof: docs/theory/additive.md#dpnb-additive.
func (m Boosting) Event() (privacy.Event, error) {
	if err := m.Validate(); err != nil {
		return nil, err
	}
	return mechanism.Known(m, privacy.GaussianProfile(m.mu(), privacy.AddRemove), nil)
}

// Describe implements mechanism.Mechanism.
func (m Boosting) Describe() mechanism.Description {
	return mechanism.Description{
		Name: "DP-EBM", Source: "Nori, Caruana, Bu, Shen, Kulkarni 2021, arXiv:2106.09680, Algorithm 2",
		Adjacency: privacy.AddRemove,
		Bound:     "Gaussian mechanisms composed: μ² adds, that of each step included (docs/theory/additive.md)",
		Assumptions: []string{mechanism.Chosen("all parameters, the columns and their cells among them,"),
			mechanism.ExactNoise, mechanism.Unseen},
	}
}

// String describes the mechanism with its parameters.
func (m Boosting) String() string {
	of := "numbers"
	if m.Classes {
		of = "two classes"
	}
	return fmt.Sprintf("DP-EBM (%s, %d columns, %d bins, %d leaves, %d rounds, η = %.4g, C = %.4g, σ of counts, "+
		"sums = %.5g, %.5g)", of, len(m.Columns), m.Bins, m.Leaves, m.Rounds, m.LearningRate, m.Clip, m.CountSigma,
		m.SumSigma)
}

// Feasible implements mechanism.Mechanism: nothing can fail.
func (m Boosting) Feasible(int, int) error { return nil }

// Check implements mechanism.Mechanism.
func (m Boosting) Check(rows matrix.Rows, labels []float64) error {
	p := erm.Problem{Rows: rows, Labels: labels, Loss: loss.Squared{}, Lambda: 1}
	if m.Classes {
		p.Loss = loss.Logistic{}
	}
	if err := p.Validate(); err != nil {
		return err
	}
	if _, d := rows.Dims(); d < m.width() {
		return &matrix.DataError{Text: fmt.Sprintf("%d features for columns of %d", d, m.width())}
	}
	return nil
}

// block is how many records are looked at at a time.
const block = 4096

// unit is of what every residual, over C, is a multiple: sums of up to 2²⁹ records are exact in any order.
const unit = 0x1p-24

// Run implements mechanism.Mechanism. Also in the release are the Cells.
func (m Boosting) Run(rows matrix.Rows, labels []float64, src noise.Source, settings *mechanism.Settings) (
	*mechanism.Release, error) {
	r, err := mechanism.Begin(m, rows, labels, src, settings)
	if err != nil {
		return nil, err
	}
	draw, workers := noise.Exact(src), settings.Value().Workers
	of := m.of(rows, workers)
	counts := m.counts(of, draw)
	bins := make([][]int, len(m.Columns))
	for k, c := range m.Columns {
		bins[k] = m.bins(c, counts[k])
	}
	r.Coefficients = make([]float64, m.Len())
	xi, sums, score := draw.Normals(m.Leaves), make([]float64, m.Leaves), make([]float64, len(labels))
	grid, fewest := exact.Grid(m.SumSigma), math.Max(1, m.countScale())
	var last []int16            // the cells of the column before, and what was added to them
	added := make([]float64, 1) // of the records of no cell, nothing
	for step := range m.Rounds * len(m.Columns) {
		k := step % len(m.Columns)
		leaf := split(draw, bins[k], m.Leaves)
		m.sum(sums, score, labels, last, added, of[k], leaf, workers)
		if step > 0 {
			xi.Redraw()
		}
		xi.AddRounded(sums, m.SumSigma, grid)
		// From here on nothing looks at the records.
		in := make([]float64, m.Leaves)
		for c, l := range leaf {
			in[l] += counts[k][c]
		}
		f := r.Coefficients[m.first(k):]
		last, added = of[k], make([]float64, 1+len(leaf))
		for c, l := range leaf {
			added[1+c] = m.LearningRate * m.Clip * sums[l] / math.Max(in[l], fewest)
			f[c] += added[1+c]
		}
	}
	r.NoiseScale, r.Also = m.SumSigma*m.Clip, &Cells{slices.Clone(m.Columns), m.Bins}
	return r, nil
}

// countScale is the noise of each count, √K·CountSigma rounded up.
func (m Boosting) countScale() float64 {
	return math.Sqrt(float64(len(m.Columns))) * m.CountSigma * (1 + 0x1p-50)
}

// counts returns how many records are in each cell of each column, with noise. A record is in one of each.
func (m Boosting) counts(of [][]int16, draw *exact.Sampler) [][]float64 {
	all := make([]float64, m.Len())
	parts := make([][]float64, len(of))
	for k, cells := range of {
		parts[k] = all[m.first(k):m.first(k+1)]
		for _, c := range cells {
			if c >= 0 {
				parts[k][c]++
			}
		}
	}
	draw.Normals(len(all)).AddRounded(all, m.countScale(), exact.Grid(m.countScale()))
	return parts
}

// bins returns the cells with which bins of a column begin: of a number, neighbours are taken together until their
// counts are a Bins-th of all; categories remain as they are.
func (m Boosting) bins(c Column, counts []float64) []int {
	begin := []int{0}
	var all, sum float64
	for _, n := range counts {
		all += n
	}
	for k, n := range counts[:len(counts)-1] {
		if sum += n; !c.Number || sum >= all/float64(m.Bins) {
			begin, sum = append(begin, k+1), 0
		}
	}
	if last := len(begin) - 1; c.Number && last > 0 && sum+counts[len(counts)-1] < all/float64(m.Bins) {
		begin = begin[:last] // what is left over goes to the last one
	}
	return append(begin, len(counts))
}

// split deals bins to at most so many leaves, runs of neighbours with ends drawn uniformly, and returns the leaf of
// each cell.
func split(draw *exact.Sampler, bins []int, leaves int) []int16 {
	inner := slices.Clone(bins[1 : len(bins)-1])
	ends := inner[:min(leaves-1, len(inner))]
	for j := range ends {
		o := j + draw.Below(len(inner)-j)
		inner[j], inner[o] = inner[o], inner[j]
	}
	slices.Sort(ends)
	out := make([]int16, bins[len(bins)-1])
	for l, e := range ends {
		for c := e; c < len(out); c++ {
			out[c] = int16(l + 1)
		}
	}
	return out
}

// sum adds to the score of each record what was added to its last cell, and writes to sums Σ clip(rᵢ/C, ±1) over the
// records of each leaf. What a record adds is a function of it and of what was released, and at most 1 in size.
func (m Boosting) sum(sums, score, labels []float64, last []int16, added []float64, cells, leaf []int16, workers int) {
	parts := make([][]int64, (len(score)+block-1)/block)
	parallel.Each(len(parts), workers, func(p int) {
		part := make([]int64, len(sums))
		for i := p * block; i < min(len(score), (p+1)*block); i++ {
			if last != nil {
				score[i] += added[1+last[i]]
			}
			if cells[i] >= 0 {
				part[leaf[cells[i]]] += m.residual(score[i], labels[i])
			}
		}
		parts[p] = part
	})
	clear(sums)
	for l := range sums {
		var sum int64
		for _, part := range parts {
			sum += part[l]
		}
		sums[l] = float64(sum) * unit
	}
}

// residual returns clip(r/C, ±1) in units.
func (m Boosting) residual(score, y float64) int64 {
	r := y - score
	if m.Classes {
		r = y / (1 + math.Exp(y*score))
	}
	if r /= m.Clip; !(r <= 1) {
		r = 1
	} else if r < -1 {
		r = -1
	}
	return int64(math.RoundToEven(r / unit))
}
