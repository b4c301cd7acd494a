package learn

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/dpnb/notebooks/dpnb/display"
	"github.com/dpnb/notebooks/dpnb/figure"
	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// CompareSettings are the settings of CompareWith; the zero value has sensible defaults.
type CompareSettings struct {
	// Delta of every fit; zero is 1e-6.
	Delta float64
	// Seeds is the number of fits by each mechanism; zero is 10.
	Seeds int
	// Noise is a Seed; nil is Seed(1).
	Noise noise.Source
	// Test is what the fits are scored on; nil takes every fourth record away from the data for it.
	Test *Dataset
}

// Comparison is an experiment: mechanisms with the same guarantee, fitted many times and scored on records that they
// have not seen.
type Comparison struct {
	Epsilon, Delta float64
	Seeds          int
	// Task decides what the score is: see Model.Score.
	Task frame.Task
	// Rows has the mechanisms in the order given.
	Rows []CompareRow
	// NonPrivate is the score without noise, Baseline that of guessing without the features.
	NonPrivate, Baseline float64
	// Skipped names mechanisms that are not for such records.
	Skipped []string
	warning string
	err     error
}

// CompareRow is one mechanism's part of a Comparison.
type CompareRow struct {
	Mechanism string
	// Mean score, and half its 95 % interval by Student's law.
	Mean, Margin float64
	// Lower and Upper are the smallest and the largest score of the seeds: the next fit's lies between them with
	// probability (seeds − 1)/(seeds + 1). Near the best that can be reached the law of scores is skew, so that no
	// Gaussian interval is shown.
	Lower, Upper float64
	// Lambda and Sigma are the mechanism's ridge, 0 where it has none, and its noise: in the objective, in the
	// coefficients, in a gradient or in moments.
	Lambda, Sigma float64
	// Err says why there are no scores.
	Err error
}

// Compare fits data by every mechanism at (ε, 10⁻⁶) with the noise of ten seeds each, checks that what each releases
// has that guarantee under add/remove-one, learns from three records in four and scores on the fourth. Show displays a
// table and a figure. It is a simulation, for public data: no budget pays for it.
//
//	dpnb.Show(dpnb.Compare(data, 0.5, dpnb.AllMechanisms...))
//
// Errors (in Err, and shown): data's own, ε or δ out of range, or no mechanism.
func Compare(data *Dataset, epsilon float64, mechanisms ...Mechanism) *Comparison {
	return CompareWith(CompareSettings{}, data, epsilon, mechanisms...)
}

// CompareWith is Compare with settings.
func CompareWith(s CompareSettings, data *Dataset, epsilon float64, mechanisms ...Mechanism) *Comparison {
	c := &Comparison{Epsilon: epsilon, Delta: cmp.Or(s.Delta, 1e-6), Seeds: cmp.Or(s.Seeds, 10)}
	c.err = c.run(s, data, mechanisms)
	return c
}

// notPublic is what is said above facts about records that were not declared public, or "".
func notPublic(all ...*Dataset) string {
	if slices.ContainsFunc(all, func(d *Dataset) bool { return d.Err() == nil && !d.design.Source.Public }) {
		return "These records were not declared public (DataFrame.Public): no guarantee covers what is shown here."
	}
	return ""
}

// Err returns the reason if there is nothing to compare.
func (c *Comparison) Err() error { return c.err }

func (c *Comparison) run(s CompareSettings, data *Dataset, mechanisms []Mechanism) error {
	plain, err := standard(data)
	switch {
	case err != nil:
		return err
	case len(mechanisms) == 0:
		return errors.New("dpnb: no mechanism to compare; AllMechanisms... has all")
	case slices.Contains(mechanisms, nil):
		return errors.New("dpnb: one of the mechanisms to compare is nil")
	case !(c.Epsilon > 0) || c.Epsilon > 1e3:
		return &privacy.ParamError{Name: "Epsilon", Value: c.Epsilon, Want: "a number in (0, 1000]"}
	case !(c.Delta > 0 && c.Delta < 1):
		return &privacy.ParamError{Name: "Delta", Value: c.Delta, Want: "a number in (0, 1), or 0 for 1e-6"}
	case c.Seeds < 2:
		return fmt.Errorf("dpnb: %d seeds, want at least two", c.Seeds)
	}
	train, test := data, s.Test
	if test == nil {
		train, test = data.part(func(i int) bool { return i%4 != 3 }), data.part(func(i int) bool { return i%4 == 3 })
	}
	c.Task = data.design.Target.Task
	c.Baseline = test.MajorityShare()
	c.warning = notPublic(train, test)
	m, err := fitWithoutPrivacy(train, plain)
	if err != nil {
		return err
	}
	if c.NonPrivate, err = m.scoreOfTask(test); err != nil {
		return err
	}
	root, err := simulationRoot(s.Noise, "comparison")
	if err != nil {
		return err
	}
	rows := trials(len(mechanisms), c.Seeds, root, test, (*Model).scoreOfTask,
		func(i, seed int, src noise.Source) (*Model, error) {
			m, err := mechanisms[i].Fit(train, Simulate(c.Epsilon, c.Delta), src)
			if err == nil {
				// The guarantee is one of parameters: what one seed has, all have.
				err = c.same(m, seed == 0)
			}
			return m, err
		})
	for i, m := range mechanisms {
		var other *TaskError // it is not for such records
		if rows[i].Mechanism = m.Name(); errors.As(rows[i].Err, &other) {
			c.Skipped = append(c.Skipped, m.Name())
			continue
		}
		c.Rows = append(c.Rows, rows[i])
	}
	return nil
}

// same reports whether m is a release with the guarantee that is compared at; δ is looked at if thorough.
func (c *Comparison) same(m *Model, thorough bool) error {
	if m == nil || m.release == nil {
		return errors.New("dpnb: the mechanism released nothing private: it cannot be compared at an equal guarantee")
	}
	g := m.release.Guarantee
	if g.Profile == nil || g.Adjacency != privacy.AddRemove || g.Profile.Adjacency() != privacy.AddRemove {
		return fmt.Errorf("dpnb: the mechanism states no guarantee under %v, that of the others", privacy.AddRemove)
	}
	if !thorough {
		return nil
	}
	if d := privacy.DeltaUpper(g.Profile, c.Epsilon); !(d <= c.Delta) {
		return fmt.Errorf("dpnb: the mechanism has δ = %s at ε = %g, more than the δ = %g of the others",
			privacy.FormatUp(d, 3), c.Epsilon, c.Delta)
	}
	return nil
}

// Display shows the comparison as a table.
func (c *Comparison) Display() display.Item {
	if c.err != nil {
		return display.Failed(c.err)
	}
	s := measureOf(c.Task, false)
	it := display.Item{
		Title: fmt.Sprintf("Test %s at the same guarantee: ε = %s, δ = %s, add/remove-one, %d seeds",
			s.name, privacy.FormatUp(c.Epsilon, 4), privacy.FormatUp(c.Delta, 3), c.Seeds),
		Warning: c.warning,
		Header:  []string{"mechanism", "mean", "± (95 %)", "worst fit", "best fit", "λ", "noise σ"},
	}
	number := func(v float64) string {
		if v == 0 {
			return "–"
		}
		return fmt.Sprintf("%.4g", v)
	}
	for _, r := range c.Rows {
		if r.Err != nil {
			it.Row(r.Mechanism, "–", "–", "–", "–", "–", "–")
			it.Note("%s: %v.", r.Mechanism, r.Err)
			continue
		}
		it.Row(r.Mechanism, s.text(r.Mean), s.text(r.Margin), s.text(r.Lower), s.text(r.Upper), number(r.Lambda),
			number(r.Sigma))
	}
	if len(c.Skipped) > 0 {
		it.Note("Not applicable to these records: %s.", strings.Join(c.Skipped, "; "))
	}
	it.Note("λ and σ mean the same in all forms of objective perturbation; other mechanisms' cannot be compared with " +
		"them.")
	it.Note("Without privacy %s; %s %s.", s.text(c.NonPrivate), s.guess, s.text(c.Baseline))
	it.Note("A simulation%s, with noise from seeds: it protects nobody, and each fit would have to be paid for on "+
		"private data.", onPublic(c.warning))
	return it
}

// Figure draws the mean of each mechanism and the range of its fits. It is nil if there are none.
func (c *Comparison) Figure() *figure.Figure {
	var names, words []string
	var lo, mid, hi []float64
	s := measureOf(c.Task, false)
	for _, r := range c.Rows {
		if r.Err == nil {
			names = append(names, r.Mechanism)
			lo, mid, hi = append(lo, r.Lower), append(mid, r.Mean), append(hi, r.Upper)
			words = append(words, fmt.Sprintf("%s %s", r.Mechanism, s.text(r.Mean)))
		}
	}
	if len(names) == 0 {
		return nil
	}
	f := figure.New(fmt.Sprintf("Equal guarantee, ε = %s, δ = %s: mean, and where all %d fits lie",
		privacy.FormatUp(c.Epsilon, 4), privacy.FormatUp(c.Delta, 3), c.Seeds), "test "+s.name, "")
	f.Intervals(names, lo, mid, hi, figure.Blue)
	f.Vertical("without privacy", c.NonPrivate, len(names), figure.Gray)
	if s.percent {
		f.PercentX()
	}
	left, right := min(c.NonPrivate, slices.Min(lo)), max(c.NonPrivate, slices.Max(hi))
	f.XRange(left-0.03*(right-left), right+0.25*(right-left))
	f.Alt = fmt.Sprintf("test %s: %s; without privacy %s", s.name, strings.Join(words, ", "), s.text(c.NonPrivate))
	return f.Warn(c.warning)
}
