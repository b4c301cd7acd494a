package learn

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert"
	"github.com/dpnb/notebooks/dpnb/noise"
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
	testscale.Slow(t)
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

// A threshold that no residual passes is refused in the unit that was meant; others, and those of targets that may be
// anything, are not.
func TestThresholdsThatNothingPasses(t *testing.T) {
	target := frame.Target{Task: frame.Number, Name: "pay", Lower: 10, Upper: 1000}
	logarithmic, open := target, target
	logarithmic.Log, open.Open = true, true
	for _, c := range []struct {
		t    frame.Target
		own  parameter
		want []string
	}{
		{target, parameter{"Clip", 3}, []string{"half the width of the bounds of pay, 495",
			"for 3 in its own unit it is 0.006061"}},
		{logarithmic, parameter{"Threshold", 10}, []string{"half the range of pay on its logarithmic scale, 2.303",
			"for a factor of 10 it is 1"}},
		{target, parameter{"Threshold", largestThreshold}, nil}, {open, parameter{"Clip", 3}, nil},
		{target, parameter{"Width", 3}, nil}, {target, parameter{"Clip", 0}, nil},
	} {
		err := spec{task: frame.Number, own: c.own}.withinThreshold(c.t)
		if (err == nil) != (c.want == nil) {
			t.Errorf("%+v, %+v: %v", c.t, c.own, err)
		}
		for _, want := range c.want {
			if err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("%q is not in %v", want, err)
			}
		}
	}
	if err := (spec{task: frame.Count, own: parameter{"Clip", 3}}).withinThreshold(target); err != nil {
		t.Error(err)
	}
}

// Where records are from is said with the checksum and the number of rows of a public file, and without them else.
func TestSourceOfRecords(t *testing.T) {
	for want, s := range map[string]frame.Source{
		"a.csv, 7 rows, sha256 0123456789ab…. Of a census": {Name: "a.csv", Public: true, Rows: 7, Note: "Of a census",
			SHA256: "0123456789abcdef"},
		"made": {Name: "made", Public: true, Rows: 7},
		"a.csv, private: its checksum and its number of rows are not published": {Name: "a.csv", Rows: 7,
			SHA256: "0123456789abcdef"},
	} {
		table := must.Get(frame.NewTable(frame.Column{Name: "x", Numbers: []float64{1}}))
		table.Source = s
		if got := FromTable(table).Source(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// Quadratic has Huber's loss where it has a threshold, and the squared one where it has none.
func TestLossOfQuadratic(t *testing.T) {
	d := Regression(Patients(200, 3).Select("age", "weight", "pressure"), "pressure", Uncentred(), RowNorm(1))
	theta := func(l Learner) []float64 { return must.Get(l.FitWithoutPrivacy(d)).Theta() }
	squared, huber := theta(Quadratic{Lambda: 1}), theta(Quadratic{Lambda: 1, Threshold: 0.1})
	if want := theta(Huber{Lambda: 1, Threshold: 0.1}); !floats.EqualApprox(huber, want, 1e-6) {
		t.Errorf("Huber's loss: %v, want %v", huber, want)
	}
	if want := theta(Linear{Lambda: 1, Clip: largestThreshold}); !floats.EqualApprox(squared, want, 1e-6) ||
		floats.EqualApprox(squared, huber, 1e-3) {
		t.Errorf("the squared loss: %v, want %v", squared, want)
	}
}

// Scores that a logistic function takes for certain have the shares of their differences, not 0/0.
func TestSharesOfLargeScores(t *testing.T) {
	for _, apart := range []bool{false, true} {
		m := &Model{target: frame.Target{Task: frame.ManyClasses, Classes: []string{"a", "b", "c"}}, apart: apart}
		for _, by := range []float64{-900, 0, 900} {
			if apart && by > 0 {
				continue // all of them are certain
			}
			t0 := []float64{by, by + math.Ln2, by + math.Log(5)}
			want := []float64{1. / 8, 2. / 8, 5. / 8}
			if apart && by == 0 {
				want = []float64{1. / 4, 1. / 3, 5. / 12}
			}
			if m.shares(t0); !floats.EqualApprox(t0, want, 1e-9) {
				t.Errorf("about %v, apart %v: %v, want %v", by, apart, t0, want)
			}
		}
	}
}

// By how much the ridge has moved an effect is said where that is more than a standard error, of which an interval of
// level 0.95 has 1.96 on either side of its middle, and of no other.
func TestMovedByMoreThanAStandardError(t *testing.T) {
	m := must.Get(Logistic{CurvatureShare: 0.5, Noise: Seed(1)}.Fit(Binary(Patients(20_000, 1), "ill"),
		Simulate(4, 1e-6)))
	iv := must.Get(m.PopulationIntervals(0.95))
	parts, want := []float64{1.03, 0.97, -1.03, -0.97, 3}, make([]string, len(m.coefficients))
	for j := range m.coefficients {
		m.coefficients[j] = iv.own.Estimate[j]
		if j < len(parts) {
			by := parts[j] * (iv.own.Upper[j] - iv.own.Lower[j]) / 2 / 1.96
			if m.coefficients[j] -= by; math.Abs(parts[j]) > 1 {
				want[j] = fmt.Sprintf("%+.2g", by)
			}
		}
	}
	if got := m.shrunk(); !slices.Equal(got, want) {
		t.Errorf("said is %q, want %q", got, want)
	}
}

// Counts that are drawn to stand for those of records are of Poisson's law, cut where counts are, however large the
// mean that the model predicts.
func TestDrawnCounts(t *testing.T) {
	const n, most = 20_000, 6
	m, src := &Model{target: frame.Target{Task: frame.Count, Upper: most}}, noise.NewSeeded(1)
	for margin, mean := range map[float64]float64{-1: math.Exp(-1), math.Log(3): 3, 1000: most} {
		want, p := float64(most), math.Exp(-mean)
		for k := range most {
			want -= (most - float64(k)) * p
			p *= mean / float64(k+1)
		}
		got := 0.0
		for _, y := range m.drawn(slices.Repeat([]float64{margin}, n), src.Float64) {
			got += y / n
		}
		if !(math.Abs(got-want) <= 5*math.Sqrt(mean/n)) {
			t.Errorf("at the margin %g counts are %v on average, want %v", margin, got, want)
		}
	}
}

// Where one model of several may be of a skewed amount, whichever it is, that is said of all.
func TestOneOfSeveralIsSkewed(t *testing.T) {
	of := func(options ...Option) *Model {
		return must.Get(Huber{Noise: Seed(1)}.Fit(Regression(Patients(2000, 1), "pressure", options...),
			Simulate(8, 1e-6)))
	}
	skewed, even := of(Uncentred()), of()
	for _, models := range [][]*Model{{even, even}, {skewed, even}, {even, skewed}} {
		s := &Models{Models: models, Groups: []string{"a", "b"}}
		if got := strings.Contains(s.counted(), "Of a skewed amount"); got != slices.Contains(models, skewed) {
			t.Errorf("lopsided %v, %v: %s", models[0].lopsided(), models[1].lopsided(), s.counted())
		}
	}
}

// The probability of a machine at a margin is the share of positive labels at which its loss is least there: where the
// slopes of both, so weighted, cancel.
func TestProbabilityIsWhereTheLossIsLeast(t *testing.T) {
	for _, l := range []loss.Softplus{{Width: 0.5}, {Width: 0.3, Margin: 0.4}} {
		m, slope := &Model{probabilities: true, hinge: l}, make([]float64, 2)
		for _, at := range []float64{-1.2, -0.3, 0, 0.1, 0.9} {
			l.ValueSlope(slope, []float64{at, at}, []float64{1, -1})
			if got, want := m.probability(at), slope[1]/(slope[1]-slope[0]); !(math.Abs(got-want) <= 1e-12) {
				t.Errorf("%+v: at %g the probability is %v, want %v", l, at, got, want)
			}
		}
	}
}
