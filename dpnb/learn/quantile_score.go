package learn

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/dpnb/notebooks/dpnb/display"
	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/loss"
)

// QuantileScores says how well quantiles are predicted, level by level. No guarantee covers it: score on records that
// may become known. Show displays a table.
type QuantileScores struct {
	Levels []float64
	// Pinball is the mean of ρ(y − q̂) of each level, ρ(r) = max(τr, (τ−1)r), in the target's own unit.
	Pinball []float64
	// Explained is R¹ of each level, 1 − Σρ(y − q̂)/Σρ(y − q̄), q̄ the records' own quantile: Koenker and Machado 1999.
	Explained []float64
	// Below is the share of targets that are at most what is predicted; τ is best.
	Below []float64
	// R1 is that of all levels together: with the sums over the levels.
	R1 float64
	// Coverage is the share of targets from the lowest to the highest quantile; NaN if there is one level.
	Coverage float64
	target   frame.Target
}

// QuantileScores scores the predicted quantiles of records, with targets moved into their public bounds.
//
// Errors: as Score; a model of no quantiles.
func (m *Model) QuantileScores(records Records) (*QuantileScores, error) {
	if err := m.Err(); err == nil && m.levels == nil {
		return nil, fmt.Errorf("dpnb: a %s predicts no quantiles: it has a Score", m.title)
	}
	d, t, err := m.scored(records, "")
	if err != nil {
		return nil, err
	}
	y, q := values(d), m.columns(m.predictions(t))
	s := &QuantileScores{Levels: m.levels, Coverage: math.NaN(), target: m.target}
	sorted := slices.Clone(y)
	slices.Sort(sorted)
	var left, total float64
	slope, n := make([]float64, len(y)), float64(len(y))
	for k, tau := range m.levels {
		l := loss.Pinball{Tau: tau}
		mine := l.ValueSlope(slope, q[k], y)
		guess := l.ValueSlope(slope, constant(stat.Quantile(tau, stat.Empirical, sorted, nil), len(y)), y)
		share, err := explained(mine, guess)
		if err != nil {
			return nil, err
		}
		left, total = left+mine, total+guess
		s.Pinball, s.Explained, s.Below = append(s.Pinball, mine/n), append(s.Explained, share),
			append(s.Below, within(y, nil, q[k]))
	}
	s.R1 = 1 - left/total
	if len(q) > 1 {
		s.Coverage = within(y, q[0], q[len(q)-1])
	}
	return s, nil
}

// within returns the share of y that are from lo, where it is not nil, to hi.
func within(y, lo, hi []float64) float64 {
	count := 0
	for i, v := range y {
		if v <= hi[i] && (lo == nil || v >= lo[i]) {
			count++
		}
	}
	return float64(count) / float64(len(y))
}

// Display shows the scores as a table.
func (s *QuantileScores) Display() display.Item {
	it := display.Item{
		Title: fmt.Sprintf("Quantiles of %s: how well they are predicted", s.target.Name), Warning: evaluationWarning,
		Header: []string{"τ", "pinball loss", "R¹", "targets at or below"},
	}
	for k, name := range levelNames(s.Levels) {
		it.Row(name, fmt.Sprintf("%.4g", s.Pinball[k]), fmt.Sprintf("%.3f", s.Explained[k]),
			fmt.Sprintf("%.1f %%", 100*s.Below[k]))
	}
	if k := len(s.Levels) - 1; k > 0 {
		it.Note("All together: R¹ = %.3f. From the lowest to the highest lie %.1f %% of the targets; %.1f %% is meant.",
			s.R1, 100*s.Coverage, 100*(s.Levels[k]-s.Levels[0]))
	}
	it.Note("R¹ = 1 − loss/loss of the records' own quantile: 0 is as good as that.")
	return it
}
