package statistic

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/dpnb/notebooks/dpnb/internal/logscale"
	"github.com/dpnb/notebooks/dpnb/internal/univariate"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/noise/exact"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Quantiles releases quantiles of one column at several levels at once, and the number of records with Laplace noise.
// The middle level is found first, by an exponential mechanism; what lies to its left and to its right then has fewer
// levels each, and a record is in one part only, so that m levels take ⌈log₂(m + 1)⌉ rounds of range η. One more round,
// of η/4, finds a level in each gap between those that were asked for: by these is seen how dense the records are
// around each quantile, and so how far the noise may have moved it.
//
// Source: Kaplan, Schnapp, Stemmer 2022, arXiv:2110.05429, for the rounds; the accounting by ranges, the spreading of
// records over cells and the intervals are ours.
// Proof: docs/theory/statistics.md.
type Quantiles struct {
	Of Number
	// Log has the cells of equal width on the logarithmic scale (package logscale).
	Log bool
	// Levels are in (0, 1), rising.
	Levels []float64
	// Eta is the range of a round, as privacy.BoundedRange has it.
	Eta float64
}

const (
	// shareOfGaps and shareOfCount are what the round of the gaps and the count have of η.
	shareOfGaps, shareOfCount = 0.25, 0.25
	leastEta, mostEta         = 0x1p-16, 64
	mostLevels                = 1 << 10
)

// ends returns the levels with 0 before and 1 behind them.
func (m Quantiles) ends() []float64 { return slices.Concat([]float64{0}, m.Levels, []float64{1}) }

// rounds returns ⌈log₂(m + 1)⌉.
func (m Quantiles) rounds() int { return bits.Len(uint(len(m.Levels))) }

// inRounds calls find for the levels in the order in which they are found: for the middle one of those between the ends
// lo and hi, themselves found before, which is at the share q of the way from one to the other. All are places among
// ends.
func (m Quantiles) inRounds(find func(lo, i, hi int, q float64)) {
	level := m.ends()
	var split func(lo, hi int)
	split = func(lo, hi int) {
		if hi-lo < 2 {
			return
		}
		i := (lo + hi) / 2
		find(lo, i, hi, (level[i]-level[lo])/(level[hi]-level[lo]))
		split(lo, i)
		split(i, hi)
	}
	split(0, len(m.Levels)+1)
}

// Validate implements mechanism.Mechanism.
func (m Quantiles) Validate() error {
	if err := cmp.Or(m.Of.validate(),
		privacy.Within(len(m.Levels) > 0 && len(m.Levels) <= mostLevels, "Levels", len(m.Levels),
			fmt.Sprintf("at least one level, and at most %d", mostLevels))); err != nil {
		return err
	}
	last := 0.0
	for _, q := range m.Levels {
		if !(q > last && q-last >= 1e-6 && q <= 1-1e-6) {
			return &privacy.ParamError{Name: "Levels", Value: q, Want: "rising numbers in (0, 1), a millionth or " +
				"more apart"}
		}
		last = q
	}
	return privacy.Within(m.Eta >= leastEta && m.Eta <= mostEta, "Eta", m.Eta,
		fmt.Sprintf("a number in [%.2g, %d]", leastEta, mostEta))
}

// cost returns the event at any η.
func (m Quantiles) cost(eta float64) privacy.BoundedRange {
	e := privacy.BoundedRange{Ranges: []float64{shareOfGaps * eta}, Pure: []float64{shareOfCount * eta}}
	for range m.rounds() {
		e.Ranges = append(e.Ranges, eta)
	}
	return e
}

// CalibrateQuantiles returns m with the largest η that is proved to satisfy (ε, δ) under add/remove-one: as pure ε, or
// by way of Gaussian mechanisms, which is the better one for many levels, and the only one that counts where the ledger
// counts μ.
//
// Errors: *privacy.ParamError.
func CalibrateQuantiles(m Quantiles, epsilon, delta float64, countsMu bool) (Quantiles, error) {
	m.Eta = 1
	if err := cmp.Or(m.Validate(), privacy.CheckEpsilon(epsilon)); err != nil {
		return m, err
	}
	m.Eta = epsilon / (float64(m.rounds()) + shareOfGaps + shareOfCount) * (1 - 1e-12)
	if delta > 0 {
		mu, err := privacy.MuOf(epsilon, delta)
		if err != nil {
			return m, err
		}
		byMu, _ := univariate.Bisect(func(eta float64) bool { return m.cost(eta).Mu() > mu }, 0, mostEta,
			univariate.Arithmetic, 1e-12)
		if countsMu {
			m.Eta = byMu
		}
		m.Eta = math.Max(m.Eta, byMu)
	}
	m.Eta = math.Min(m.Eta, mostEta)
	return m, m.Validate()
}

// Event implements mechanism.Mechanism.
func (m Quantiles) Event() (privacy.Event, error) {
	if err := m.Validate(); err != nil {
		return nil, err
	}
	return m.cost(m.Eta), nil
}

// String describes the mechanism with its parameters.
func (m Quantiles) String() string {
	return fmt.Sprintf("%d levels of quantiles in %d rounds of range η = %.4g, with levels between them and a count",
		len(m.Levels), m.rounds(), m.Eta)
}

// Describe implements mechanism.Mechanism.
func (m Quantiles) Describe() mechanism.Description {
	return mechanism.Description{Name: "quantiles by exponential mechanisms",
		Source: "Kaplan, Schnapp, Stemmer 2022, arXiv:2110.05429", Adjacency: privacy.AddRemove,
		Bound:       "exponential mechanisms of bounded range, round by round (docs/theory/statistics.md)",
		Assumptions: append(slices.Clone(assumptions), "there are fewer than 2³¹ records")}
}

// Feasible implements mechanism.Mechanism: quantiles are always released.
func (m Quantiles) Feasible(int, int) error { return m.Validate() }

// Check implements mechanism.Mechanism: it looks at shapes alone.
func (m Quantiles) Check(rows matrix.Rows, labels []float64) error { return check(m, rows, labels) }

// Run implements mechanism.Mechanism: Coefficients are those of Tally.Release.
func (m Quantiles) Run(rows matrix.Rows, labels []float64, src noise.Source, settings *mechanism.Settings) (
	*mechanism.Release, error) {
	return run(m, rows, labels, src, settings)
}

// Columns implements Mechanism.
func (m Quantiles) Columns() int { return 1 }

func (m Quantiles) log() logscale.Scale { return logscale.Between(m.Of.Lower, m.Of.Upper) }

// cell returns the cell of a value, value the number at a point of the cells, counted in cells.
func (m Quantiles) cell(v float64) uint32 {
	x := 0.5 * (m.Of.unit(v) + 1)
	if m.Log {
		v = math.Max(m.Of.Lower, math.Min(m.Of.Upper, v))
		x = zeroIfNaN(m.log().Share(v))
	}
	return uint32(math.Round(math.Min(1, x) * (cells - 1)))
}

func (m Quantiles) value(at float64) float64 {
	x := math.Max(0, math.Min(1, (at-0.5)/(cells-1)))
	if m.Log {
		return m.log().Value(x)
	}
	return m.Of.Value(2*x - 1)
}

// Tally implements Mechanism.
func (m Quantiles) Tally() Tally { return &quantilesTally{Quantiles: m} }

type quantilesTally struct {
	Quantiles
	sketch sketch
}

// Add implements Tally.
func (t *quantilesTally) Add(columns [][]float64) {
	for _, v := range columns[0] {
		t.sketch.add(t.cell(v))
	}
}

// Each implements Tally: cells.
func (t *quantilesTally) Each(f func(place int, count int64)) {
	ranks := t.sketch.ranks()
	for i, c := range ranks.cell {
		f(int(c), ranks.before[i+1]-ranks.before[i])
	}
}

// Count implements Tally.
func (t *quantilesTally) Count(place int, count int64) { t.sketch.dense()[place] += count }

// Release implements Tally: the noisy number of records, then the quantiles at the levels and between them, in rising
// order: gap, level, gap, …, level, gap.
func (t *quantilesTally) Release(src noise.Source) []float64 {
	ranks, round := t.sketch.ranks(), t.roundNumbers()
	draw := noise.Exact(src)
	m := len(t.Levels)
	out := make([]float64, 2*m+2)
	out[0] = float64(ranks.total())
	b := 1 / (shareOfCount * t.Eta) * (1 + 0x1p-50)
	draw.Laplaces(1).AddRounded(out[:1], b, exact.Grid(b))
	// cut[i] is where level i was found; those of 0 and 1 are the ends.
	level := t.ends()
	cut := make([]int64, m+2)
	cut[m+1] = cells * points
	find := func(lo, hi int, q, eta float64) int64 {
		return ranks.node(&round, cut[lo], cut[hi], (q-level[lo])/(level[hi]-level[lo]), eta).draw(draw, src)
	}
	t.inRounds(func(lo, i, hi int, _ float64) { cut[i] = find(lo, hi, level[i], t.Eta) })
	for i := range m + 1 {
		gap := find(i, i+1, 0.5*(level[i]+level[i+1]), shareOfGaps*t.Eta)
		out[1+2*i] = t.value(float64(gap) / points)
		if i < m {
			out[2+2*i] = t.value(float64(cut[i+1]) / points)
		}
	}
	return out
}
