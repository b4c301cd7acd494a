package learn

import (
	"math"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert"
	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/privacy/objective"
)

// Names that differ in letters a file name cannot have, or beyond its length, are those of different files.
func TestNamesHaveTheirOwnFiles(t *testing.T) {
	files := map[string]string{}
	for _, name := range []string{"a/b", "a b", "a?b", "a-b", "A-b", "ä", "ö", strings.Repeat("x", 200),
		strings.Repeat("x", 201)} {
		file := fileOf("ledger", name)
		if other, there := files[file]; there || len(file) > 150 || strings.ContainsAny(file, `/\?* `) {
			t.Errorf("%q and %q are kept in %q", name, other, file)
		}
		files[file] = name
	}
}

// What a number is predicted beyond its bounds is scored as the nearer one.
func TestScoreOfANumberBeyondItsBounds(t *testing.T) {
	for _, at := range []float64{1, 1.7, 40} {
		for _, side := range []float64{-1, 1} {
			if got := recordScore(frame.Number, frame.Target{}, side, []float64{side * at}, 1, 1); got != 1 {
				t.Errorf("%v predicted, and %v is right: score %v", side*at, side, got)
			}
		}
	}
}

// The score of a count is 1 less by how far the mean, which is within the bounds, is off, in half widths of them.
func TestScoreOfACount(t *testing.T) {
	for _, c := range []struct{ margin, y, want float64 }{{math.Log(6), 6, 1}, {math.Log(5), 6, 0.75},
		{math.Log(4), 6, 0.5}, {math.Log(10), 6, 0}, {9, 10, 1}, {-9, 2, 1}, {math.NaN(), 2, 0}} {
		got := recordScore(frame.Count, frame.Target{Lower: 2, Upper: 10}, c.y, []float64{c.margin}, 1, 1)
		if !(math.Abs(got-c.want) <= 1e-12) {
			t.Errorf("a mean of %v where there are %v: %v, want %v", math.Exp(c.margin), c.y, got, c.want)
		}
	}
}

// A share is used up: where the search for its (ε, δ) oversteps what one record's curvature asks for, whatever the
// noise, it comes back. Without that a tenth of a budget was spent on noise of 42,804 where 268 does.
func TestSharesAreUsedUp(t *testing.T) {
	b := NewBudget(1, 1e-6, Named(t.Name()))
	for share, most := range map[float64]float64{0.5: 12, 0.1: 300} {
		a := b.Share(share)
		m, entry, err := a.priced(func(epsilon, delta float64) (mechanism.Mechanism, error) {
			return objpert.Calibrate(objpert.Config{Loss: loss.ClippedAt(loss.Squared{}, 1, 1), RowNorm: 1,
				Epsilon: epsilon, Delta: delta, Lambda: 5, Bound: objective.Tight, Adjacency: privacy.AddRemove})
		})
		sigma := must.Get(m, err).(objpert.Objective).Sigma
		if !(entry.Mu <= a.part.Mu && entry.Mu >= 0.97*a.part.Mu && sigma <= most) {
			t.Errorf("a share of %v costs μ = %v of %v, with noise of %v, want at most %v", share, entry.Mu,
				a.part.Mu, sigma, most)
		}
	}
}
