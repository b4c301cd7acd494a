package statistic

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/dpnb/notebooks/dpnb/internal/univariate"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Summary releases the number of records, and the mean, variance and quartiles of each of d columns: Sums of Moments,
// and Quantiles of one column after the other.
//
// Proof: docs/theory/statistics.md.
type Summary struct {
	Of []Number
	// Log has a column's cells as Quantiles.Log.
	Log []bool
	// Law and Scale of the noise in the sums, Eta of the quartiles.
	Law        Law
	Scale, Eta float64
}

// Sums returns the part that adds up.
func (m Summary) Sums() Sums { return Sums{Moments{m.Of, m.Law, false}, m.Law, m.Scale} }

// Quartiles returns the part that finds quartiles of column j.
func (m Summary) Quartiles(j int) Quantiles {
	return Quantiles{Of: m.Of[j], Log: m.Log[j], Levels: []float64{0.25, 0.5, 0.75}, Eta: m.Eta}
}

// Validate implements mechanism.Mechanism.
func (m Summary) Validate() error {
	if len(m.Of) != len(m.Log) {
		return &privacy.ParamError{Name: "Log", Value: len(m.Log), Want: "as many as columns"}
	}
	if err := m.Sums().Validate(); err != nil {
		return err
	}
	return m.Quartiles(0).Validate()
}

// cost returns the event of m.
func (m Summary) cost() privacy.BoundedRange {
	var all privacy.BoundedRange
	one := m.Quartiles(0).cost(m.Eta)
	for range m.Of {
		all.Ranges, all.Pure = append(all.Ranges, one.Ranges...), append(all.Pure, one.Pure...)
	}
	part := math.Nextafter(m.Sums().Of.Norm(m.Law)/m.Scale, math.Inf(1))
	if m.Law == Gaussian {
		all.Gaussian = []float64{part}
	} else {
		all.Pure = append(all.Pure, part)
	}
	return all
}

// CalibrateSummary returns m with noise that is proved to satisfy (ε, δ) under add/remove-one, of which a third, of ε
// or of μ², is for the sums: as pure ε where δ = 0 or where that is the larger η, unless the ledger counts μ.
//
// Errors: *privacy.ParamError.
func CalibrateSummary(of []Number, log []bool, epsilon, delta float64, countsMu bool) (Summary, error) {
	m := Summary{Of: of, Log: log, Law: Laplace, Scale: 1, Eta: 1}
	if err := cmp.Or(m.Validate(), privacy.CheckEpsilon(epsilon)); err != nil {
		return m, err
	}
	d, each := float64(len(of)), float64(m.Quartiles(0).rounds())+shareOfGaps+shareOfCount
	epsilon *= 1 - 1e-10
	m.Scale = 3 * m.Sums().Of.Norm(Laplace) / epsilon
	m.Eta = math.Min(mostEta, 2*epsilon/(3*d*each))
	if delta > 0 {
		mu, err := privacy.MuOf(epsilon, delta)
		if err != nil {
			return m, err
		}
		g := m
		g.Law = Gaussian
		g.Scale = g.Sums().Of.Norm(Gaussian) / (mu * math.Sqrt(1.0/3)) * (1 + 1e-12)
		g.Eta, _ = univariate.Bisect(func(eta float64) bool { g.Eta = eta; return g.cost().Mu() > mu }, 0, mostEta,
			univariate.Arithmetic, 1e-12)
		if countsMu || g.Eta > m.Eta {
			m = g
		}
	}
	return m, m.Validate()
}

// Event implements mechanism.Mechanism.
func (m Summary) Event() (privacy.Event, error) {
	if err := m.Validate(); err != nil {
		return nil, err
	}
	e := m.cost()
	return e, e.Validate()
}

// String describes the mechanism with its parameters.
func (m Summary) String() string {
	return fmt.Sprintf("%v; quartiles of each with η = %.4g", m.Sums(), m.Eta)
}

// Describe implements mechanism.Mechanism.
func (m Summary) Describe() mechanism.Description {
	d := m.Quartiles(0).Describe()
	d.Name, d.Bound = "noisy sums and quartiles", "sums and quartiles one after the other (docs/theory/statistics.md)"
	return d
}

// Feasible implements mechanism.Mechanism.
func (m Summary) Feasible(int, int) error { return m.Validate() }

// Check implements mechanism.Mechanism: it looks at shapes alone.
func (m Summary) Check(rows matrix.Rows, labels []float64) error { return check(m, rows, labels) }

// Run implements mechanism.Mechanism.
func (m Summary) Run(rows matrix.Rows, labels []float64, src noise.Source, settings *mechanism.Settings) (
	*mechanism.Release, error) {
	return run(m, rows, labels, src, settings)
}

// Columns implements Mechanism.
func (m Summary) Columns() int { return len(m.Of) }

// Tally implements Mechanism: what the sums release, then what Quartiles of each column do.
func (m Summary) Tally() Tally {
	t := &summaryTally{sums: m.Sums().Tally(), first: m.Sums().Of.Len()}
	for j := range m.Of {
		t.quartiles = append(t.quartiles, m.Quartiles(j).Tally())
	}
	return t
}

type summaryTally struct {
	sums Tally
	// first is how many sums there are.
	first     int
	quartiles []Tally
}

// Add implements Tally.
func (t *summaryTally) Add(columns [][]float64) {
	t.sums.Add(columns)
	for j, q := range t.quartiles {
		q.Add(columns[j : j+1])
	}
}

// Each implements Tally: the sums, then the cells of one column after the other.
func (t *summaryTally) Each(f func(place int, count int64)) {
	t.sums.Each(f)
	for j, q := range t.quartiles {
		q.Each(func(place int, count int64) { f(t.first+j*cells+place, count) })
	}
}

// Count implements Tally.
func (t *summaryTally) Count(place int, count int64) {
	if place < t.first {
		t.sums.Count(place, count)
		return
	}
	place -= t.first
	t.quartiles[place/cells].Count(place%cells, count)
}

// Release implements Tally.
func (t *summaryTally) Release(src noise.Source) []float64 {
	out := slices.Clone(t.sums.Release(src))
	for _, q := range t.quartiles {
		out = append(out, q.Release(src)...)
	}
	return out
}
