package statistic

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/dpnb/notebooks/dpnb/internal/normal"
	"github.com/dpnb/notebooks/dpnb/internal/numeral"
	"github.com/dpnb/notebooks/dpnb/internal/univariate"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/noise/exact"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// MostCells is how many cells a histogram may have.
const MostCells = 1 << 20

// Axis is a public list of places for one number of a record: whole numbers 0 … Levels − 1, or intervals between Edges,
// that rise: Edges[i] ≤ v < Edges[i+1], and v = the last edge in the last. One of the two is given.
type Axis struct {
	Levels int
	Edges  []float64
}

// Len returns how many places there are.
func (a Axis) Len() int {
	if a.Edges != nil {
		return len(a.Edges) - 1
	}
	return a.Levels
}

// place returns where v is, −1 if it is in none.
func (a Axis) place(v float64) int {
	if a.Edges == nil {
		if v >= 0 && v < float64(a.Levels) && v == math.Trunc(v) {
			return int(v)
		}
		return -1
	}
	last := len(a.Edges) - 1
	if !(v >= a.Edges[0] && v <= a.Edges[last]) {
		return -1
	}
	i, found := slices.BinarySearch(a.Edges, v)
	if !found || i == last {
		i--
	}
	return i
}

func (a Axis) validate() error {
	if err := cmp.Or(privacy.Within(a.Edges == nil || a.Levels == 0, "Levels", a.Levels, "0 beside Edges"),
		privacy.Within(a.Edges != nil || a.Levels >= 1, "Levels", a.Levels, "at least 1"),
		privacy.Within(a.Edges == nil || len(a.Edges) >= 2, "Edges", a.Edges, "at least 2")); err != nil {
		return err
	}
	for i, e := range a.Edges {
		if math.IsNaN(e) || math.IsInf(e, 0) || i > 0 && !(e > a.Edges[i-1]) {
			return &privacy.ParamError{Name: "Edges", Value: e, Want: "finite numbers that rise"}
		}
	}
	return nil
}

// Cells are the combinations of one place of each axis, the last axis the fastest.
type Cells []Axis

// Len returns how many there are: the largest int of more than that.
func (c Cells) Len() int {
	n := 1
	for _, a := range c {
		k := a.Len()
		if n > 0 && k > math.MaxInt/n {
			return math.MaxInt
		}
		n *= k
	}
	return n
}

// Validate returns a *privacy.ParamError for no axis or one without places, and for more than 2²⁰ cells.
func (c Cells) Validate() error {
	if len(c) == 0 {
		return &privacy.ParamError{Name: "cells", Value: "none", Want: "at least one axis"}
	}
	for _, a := range c {
		if err := a.validate(); err != nil {
			return err
		}
	}
	n := c.Len()
	return privacy.Within(n <= MostCells, "cells", n, "at most 2²⁰ = 1,048,576")
}

// of returns the cell of record i, −1 if it is in none: columns[j] has the numbers of axis j.
func (c Cells) of(columns [][]float64, i int) int {
	cell := 0
	for j, a := range c {
		at := a.place(columns[j][i])
		if at < 0 {
			return -1
		}
		cell = cell*a.Len() + at
	}
	return cell
}

// Histogram releases how many records there are in each of a public list of cells, whether any are there or not. The
// noise is independent of one cell to the next: normal, N(0, σ²), or geometric, an integer of P(x) ∝ e^{−|x|/b}.
//
// A record is in one cell or in none and moves the vector of counts by 1, however many cells there are: normal noise is
// a Gaussian mechanism of exactly μ = 1/σ, geometric noise is of pure ε = 1/b, and the best there is for one count at
// that ε.
//
// Source: Dwork, McSherry, Nissim, Smith 2006; Ghosh, Roughgarden, Sundararajan 2009, arXiv:0811.2841, for geometric
// noise. Proof: docs/theory/statistics.md.
type Histogram struct {
	Of Cells
	// Sigma is σ and Scale is b: one of them is positive, the other zero.
	Sigma, Scale float64
}

// CalibrateHistogram returns the histogram with the least noise that satisfies (ε, δ) under add/remove-one: geometric
// noise where δ = 0; normal noise where the ledger counts μ; else that of the two which has the smaller deviation.
//
// Errors: *privacy.ParamError.
func CalibrateHistogram(of Cells, epsilon, delta float64, countsMu bool) (Histogram, error) {
	m := Histogram{Of: of, Scale: 1}
	if err := cmp.Or(m.Validate(), privacy.CheckEpsilon(epsilon)); err != nil {
		return m, err
	}
	m.Scale = 1 / math.Nextafter(epsilon, 0) * (1 + 1e-15)
	if delta == 0 {
		return m, m.Validate()
	}
	if err := privacy.CheckGaussianDelta(delta); err != nil {
		return m, err
	}
	sigma, err := privacy.GaussianSigma(privacy.Typed(epsilon, delta))
	if err != nil {
		return m, err
	}
	if normal := (Histogram{Of: of, Sigma: sigma}); countsMu || normal.Deviation() <= m.Deviation() {
		m = normal
	}
	return m, m.Validate()
}

// Validate returns a *privacy.ParamError if a parameter is out of range.
func (m Histogram) Validate() error {
	if err := m.Of.Validate(); err != nil {
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
	return privacy.Within(scale >= 0x1p-20 && scale <= 0x1p40, "Scale", scale, "a number from 2⁻²⁰ to 2⁴⁰")
}

// Event implements mechanism.Mechanism: the Gaussian mechanism of 1/σ, or pure 1/b, which geometric noise on one count
// attains at every δ.
func (m Histogram) Event() (privacy.Event, error) {
	if err := m.Validate(); err != nil {
		return nil, err
	}
	if m.Scale > 0 {
		return privacy.Pure(math.Nextafter(1/m.Scale, math.Inf(1)), privacy.AddRemove), nil
	}
	return privacy.Gaussian{Sigma: m.Sigma, Sensitivity: 1}, nil
}

// Describe implements mechanism.Mechanism.
func (m Histogram) Describe() mechanism.Description {
	d := mechanism.Description{Name: "histogram", Adjacency: privacy.AddRemove,
		Source:      "Dwork, McSherry, Nissim, Smith 2006",
		Bound:       "Gaussian mechanism of μ = 1/σ (docs/theory/statistics.md)",
		Assumptions: assumptions}
	if m.Scale > 0 {
		d.Source = "Ghosh, Roughgarden, Sundararajan 2009, arXiv:0811.2841"
		d.Bound = "geometric mechanism, pure ε = 1/b (docs/theory/statistics.md)"
	}
	return d
}

// Feasible implements mechanism.Mechanism.
func (m Histogram) Feasible(int, int) error { return nil }

// String describes the mechanism with its parameters.
func (m Histogram) String() string {
	return fmt.Sprintf("histogram (%s, %s)", numeral.Count(m.Of.Len(), "cell"), m.law())
}

// law names that of the noise.
func (m Histogram) law() string {
	if m.Scale > 0 {
		return fmt.Sprintf("geometric noise, b = %.5g", m.Scale)
	}
	return fmt.Sprintf("normal noise, σ = %.5g", m.Sigma)
}

// Deviation returns the standard deviation of the noise of one cell.
func (m Histogram) Deviation() float64 {
	if m.Scale == 0 {
		return m.Sigma
	}
	return math.Sqrt2 * math.Exp(-0.5/m.Scale) / -math.Expm1(-1/m.Scale) // √(2q)/(1 − q), q = e^{−1/b}
}

// Margin returns w such that the noise of one cell is in [−w, w] with at least this probability: for normal noise
// exactly that, for geometric noise the least such integer. The margin of all K cells at once is that of
// confidence^(1/K), their noise being independent. It panics unless 0 < confidence < 1.
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

// Check implements mechanism.Mechanism: it looks at shapes alone.
func (m Histogram) Check(rows matrix.Rows, labels []float64) error { return check(m, rows, labels) }

// Run implements mechanism.Mechanism: Coefficients are the noisy counts, which may be negative. Normal noise and a
// count are rounded, as the real sum that they are, to a public grid of a millionth of the noise.
func (m Histogram) Run(rows matrix.Rows, labels []float64, src noise.Source, settings *mechanism.Settings) (
	*mechanism.Release, error) {
	r, err := run(m, rows, labels, src, settings)
	if err != nil {
		return nil, err
	}
	r.NoiseScale = m.Deviation()
	return r, nil
}

// Columns implements Mechanism: one for each axis.
func (m Histogram) Columns() int { return len(m.Of) }

// Tally implements Mechanism.
func (m Histogram) Tally() Tally { return &counts{m, make([]int64, m.Of.Len())} }

type counts struct {
	Histogram
	of []int64
}

// Add implements Tally.
func (t *counts) Add(columns [][]float64) {
	for i := range columns[0] {
		if at := t.Of.of(columns, i); at >= 0 {
			t.of[at]++
		}
	}
}

// Each implements Tally: cells.
func (t *counts) Each(f func(place int, count int64)) {
	for j, c := range t.of {
		if c != 0 {
			f(j, c)
		}
	}
}

// Count implements Tally.
func (t *counts) Count(place int, count int64) { t.of[place] += count }

// Release implements Tally.
func (t *counts) Release(src noise.Source) []float64 {
	draw, x := noise.Exact(src), make([]float64, len(t.of))
	if t.Scale > 0 {
		draw.Geometrics(x, t.Scale)
		for j, c := range t.of {
			x[j] += float64(c)
		}
		return x
	}
	z := draw.Normals(len(x)) // before the counts are looked at
	for j, c := range t.of {
		x[j] = float64(c)
	}
	z.AddRounded(x, t.Sigma, exact.Grid(t.Sigma))
	return x
}
