package statistic

import (
	"fmt"
	"math"

	"github.com/dpnb/notebooks/dpnb/internal/normal"
	"github.com/dpnb/notebooks/dpnb/internal/univariate"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/noise/exact"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// mostCells is how many cells a histogram may have.
const mostCells = 1 << 20

// Person bounds what one person adds to counts: Records records at most, of them PerCell
// in one cell. With one record each, both are 1.
type Person struct {
	Records, PerCell int
}

// validate returns a *privacy.ParamError if a bound is out of range.
func (p Person) validate() error {
	if p.Records < 1 || p.Records > mostCells {
		return &privacy.ParamError{Name: "Records", Value: p.Records, Want: "at least 1 record a person, at most 2²⁰"}
	}
	if p.PerCell < 1 || p.PerCell > p.Records {
		return &privacy.ParamError{Name: "PerCell", Value: p.PerCell,
			Want: "at least 1 record a person in a cell, at most Records"}
	}
	return nil
}

// sensitivity returns the largest ℓ₁ norm and the square of the largest ℓ₂ norm of what one
// person adds to the counts of so many cells: whole numbers cᵢ of 0 … PerCell with Σcᵢ ≤
// Records. Σcᵢ² is convex, so that it is largest where as many cells as can be are full.
func (p Person) sensitivity(cells int) (sum, square float64) {
	full, rest := p.Records/p.PerCell, p.Records%p.PerCell
	if full >= cells {
		full, rest = cells, 0
	}
	m, r, n := float64(p.PerCell), float64(rest), float64(full)
	return n*m + r, n*m*m + r*r
}

// Histogram releases how many records there are in each of a public list of cells, whether
// any are there or not. The noise is independent of one cell to the next: normal, N(0, σ²), or
// geometric, an integer of P(x) ∝ e^{−|x|/b}.
//
// Under add/remove-one a person moves the vector of counts by Δ₂ at most (Person), and normal
// noise is a Gaussian mechanism of exactly μ = Δ₂/σ; with one record each Δ₂ = 1, however
// many cells there are. Geometric noise is of pure ε = Δ₁/b, and the best there is for one
// count at that ε. A record's label is the number of its cell, 0 … Cells − 1; its features
// are not looked at.
//
// Source: Dwork, McSherry, Nissim, Smith 2006; Ghosh, Roughgarden, Sundararajan 2009,
// arXiv:0811.2841, for geometric noise. Proof: docs/theory/statistics.md.
type Histogram struct {
	// Cells is how many there are.
	Cells int
	Person
	// Sigma is σ and Scale is b: one of them is positive, the other zero.
	Sigma, Scale float64
}

// HistogramConfig asks for a Histogram that satisfies (ε, δ).
type HistogramConfig struct {
	Cells int
	Person
	// Epsilon is in (0, 1000]. Delta = 0 asks for geometric noise, Delta in (0, 1) for normal
	// noise.
	Epsilon, Delta float64
}

// Calibrate returns the histogram with the least noise of its law that satisfies (ε, δ) under
// add/remove-one.
//
// Errors: *privacy.ParamError.
func (c HistogramConfig) Calibrate() (Histogram, error) {
	m := Histogram{Cells: c.Cells, Person: c.Person, Scale: 1}
	if err := m.Validate(); err != nil {
		return m, err
	}
	if !(c.Epsilon > 0) || c.Epsilon > 1e3 {
		return m, &privacy.ParamError{Name: "Epsilon", Value: c.Epsilon, Want: "a number in (0, 1000]"}
	}
	sum, square := m.sensitivity(m.Cells)
	if c.Delta == 0 {
		m.Scale = sum / math.Nextafter(c.Epsilon, 0) * (1 + 1e-15)
		return m, m.Validate()
	}
	if err := privacy.CheckGaussianDelta(c.Delta); err != nil {
		return m, err
	}
	sigma, err := privacy.GaussianSigma(math.Nextafter(c.Epsilon, 0), math.Nextafter(c.Delta, 0))
	if err != nil {
		return m, err
	}
	m.Sigma, m.Scale = sigma*math.Sqrt(square)*(1+1e-15), 0
	return m, m.Validate()
}

// Validate returns a *privacy.ParamError if a parameter is out of range.
func (m Histogram) Validate() error {
	if m.Cells < 1 || m.Cells > mostCells {
		return &privacy.ParamError{Name: "Cells", Value: m.Cells, Want: "at least 1 cell, at most 2²⁰ = 1,048,576"}
	}
	if err := m.Person.validate(); err != nil {
		return err
	}
	switch {
	case m.Scale == 0:
		return mechanism.Scales{{"Sigma", m.Sigma}}.Check()
	case m.Sigma != 0:
		return &privacy.ParamError{Name: "Sigma", Value: m.Sigma, Want: "0 beside a Scale: the noise is of one law"}
	}
	return checkGeometric(m.Scale)
}

// checkGeometric refuses scales of which noise is not drawn (exact.Sampler.Geometrics).
func checkGeometric(scale float64) error {
	if !(scale >= 0x1p-20 && scale <= 0x1p40) {
		return &privacy.ParamError{Name: "Scale", Value: scale, Want: "a number from 2⁻²⁰ to 2⁴⁰"}
	}
	return nil
}

// Event implements mechanism.Mechanism: the Gaussian mechanism of Δ₂/σ, or pure Δ₁/b, which
// geometric noise on one count attains at every δ.
func (m Histogram) Event() (privacy.Event, error) {
	if err := m.Validate(); err != nil {
		return nil, err
	}
	sum, square := m.sensitivity(m.Cells)
	if m.Scale > 0 {
		return privacy.Pure(math.Nextafter(sum/m.Scale, math.Inf(1)), privacy.AddRemove), nil
	}
	norm := math.Sqrt(square)
	if norm != math.Trunc(norm) || square >= 1<<53 { // else it is exact
		norm = math.Nextafter(norm, math.Inf(1))
	}
	return privacy.Gaussian{Sigma: m.Sigma, Sensitivity: norm}, nil
}

// Describe implements mechanism.Mechanism.
func (m Histogram) Describe() mechanism.Description {
	d := mechanism.Description{Name: "histogram", Adjacency: privacy.AddRemove,
		Source:      "Dwork, McSherry, Nissim, Smith 2006",
		Bound:       "Gaussian mechanism of μ = Δ₂/σ (docs/theory/statistics.md)",
		Assumptions: m.Person.assumptions()}
	if m.Scale > 0 {
		d.Source = "Ghosh, Roughgarden, Sundararajan 2009, arXiv:0811.2841"
		d.Bound = "geometric mechanism, pure ε = Δ₁/b (docs/theory/statistics.md)"
	}
	return d
}

// assumptions that mechanisms of counts rest on.
func (p Person) assumptions() []string {
	each := "every person has one record at most"
	if p.Records > 1 {
		each = fmt.Sprintf("every person has at most %d records, of them at most %d in a cell", p.Records, p.PerCell)
	}
	return []string{each, "the cells, the bounds and the noise were chosen without looking at the records",
		mechanism.ExactNoise, mechanism.Unseen}
}

// Feasible implements mechanism.Mechanism.
func (m Histogram) Feasible(int, int) error { return nil }

// String describes the mechanism with its parameters.
func (m Histogram) String() string {
	law := fmt.Sprintf("normal noise, σ = %.5g", m.Sigma)
	if m.Scale > 0 {
		law = fmt.Sprintf("geometric noise, b = %.5g", m.Scale)
	}
	each := ""
	if m.Records > 1 {
		each = fmt.Sprintf(", %d records a person, %d in a cell", m.Records, m.PerCell)
	}
	return fmt.Sprintf("histogram (%d cells%s, %s)", m.Cells, each, law)
}

// Deviation returns the standard deviation of the noise of one cell.
func (m Histogram) Deviation() float64 {
	if m.Scale == 0 {
		return m.Sigma
	}
	return geometricDeviation(m.Scale)
}

// geometricDeviation returns √(2q)/(1 − q), q = e^{−1/b}.
func geometricDeviation(scale float64) float64 {
	return math.Sqrt2 * math.Exp(-0.5/scale) / -math.Expm1(-1/scale)
}

// Margin returns w such that the noise of one cell is in [−w, w] with at least this
// probability: for normal noise exactly that, for geometric noise the least such integer.
// The margin of all cells at once is that of confidence^(1/Cells), their noise being
// independent. It panics unless 0 < confidence < 1.
func (m Histogram) Margin(confidence float64) float64 {
	if !(confidence > 0 && confidence < 1) {
		panic("statistic: a confidence is between 0 and 1")
	}
	if m.Scale > 0 {
		return geometricMargin(m.Scale, 1-confidence)
	}
	return m.Sigma * normalTail((1-confidence)/2)
}

// geometricMargin returns the least integer w ≥ 0 with P(|X| > w) = 2q^{w+1}/(1 + q) ≤ alpha.
func geometricMargin(scale, alpha float64) float64 {
	q := math.Exp(-1 / scale)
	return math.Max(0, math.Ceil(scale*math.Log(2/(alpha*(1+q)))-1))
}

// normalTail returns z ≥ 0 with Φ̄(z) ≤ tail, next to equal.
func normalTail(tail float64) float64 {
	want := math.Log(tail)
	_, z := univariate.Bisect(func(z float64) bool { return normal.LogSurvival(z) <= want }, 0,
		2+math.Sqrt(-2*want), univariate.Arithmetic, 0)
	return z
}

// Check implements mechanism.Mechanism.
func (m Histogram) Check(rows matrix.Rows, labels []float64) error {
	if err := m.Validate(); err != nil {
		return err
	}
	return checkCells(rows, labels, m.Cells)
}

// checkCells refuses labels that are no cells.
func checkCells(rows matrix.Rows, labels []float64, cells int) error {
	if rows == nil {
		return &matrix.DataError{Text: "a count needs rows"}
	}
	if n, _ := rows.Dims(); n != len(labels) {
		return &matrix.DataError{Text: fmt.Sprintf("%d labels for %d records", len(labels), n)}
	}
	for i, y := range labels {
		if !(y >= 0 && y < float64(cells) && y == math.Trunc(y)) {
			return &matrix.DataError{Text: fmt.Sprintf("the label of record %d is no cell: want a whole number from 0 "+
				"to %d", i, cells-1)}
		}
	}
	return nil
}

// Run implements mechanism.Mechanism: it counts the labels and releases.
func (m Histogram) Run(rows matrix.Rows, labels []float64, src noise.Source, _ *mechanism.Settings) (
	*mechanism.Release, error) {
	r, err := mechanism.Begin(m, rows, labels, src)
	if err != nil {
		return nil, err
	}
	counts := make([]int64, m.Cells)
	for _, y := range labels {
		counts[int(y)]++
	}
	m.noisy(r, counts, src)
	return r, nil
}

// Release releases counts of the cells, to which each person has added what Person says and
// nothing else has. The noisy counts are the coefficients; they may be negative. Normal noise
// and a count are rounded, as the real sum that they are, to a public grid of a millionth of
// the noise.
//
// Errors, before any noise is drawn: as Validate; ErrNoSource; *matrix.DataError for another
// number of counts than Cells.
func (m Histogram) Release(counts []int64, src noise.Source) (*mechanism.Release, error) {
	if err := m.Validate(); err != nil {
		return nil, err
	}
	if len(counts) != m.Cells {
		return nil, &matrix.DataError{Text: fmt.Sprintf("%d counts for %d cells", len(counts), m.Cells)}
	}
	r, err := mechanism.Begin(m, matrix.NewDense(0, 1, nil), nil, src)
	if err != nil {
		return nil, err
	}
	m.noisy(r, counts, src)
	return r, nil
}

func (m Histogram) noisy(r *mechanism.Release, counts []int64, src noise.Source) {
	draw := noise.Exact(src)
	r.Coefficients, r.NoiseScale = make([]float64, m.Cells), m.Deviation()
	if m.Scale > 0 {
		draw.Geometrics(r.Coefficients, m.Scale)
		for j, c := range counts {
			r.Coefficients[j] += float64(c)
		}
		return
	}
	z := draw.Normals(m.Cells) // before the counts are looked at
	for j, c := range counts {
		r.Coefficients[j] = float64(c)
	}
	z.AddRounded(r.Coefficients, m.Sigma, exact.Grid(m.Sigma))
}
