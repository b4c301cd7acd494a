package learn

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat"

	"github.com/dpnb/notebooks/dpnb/frame"
)

// Score returns how well m predicts the records of data, at most 1:
//
//	classes      the share of records whose class is predicted rightly (accuracy);
//	a number     R² = 1 − Σ(y − ŷ)²/Σ(y − ȳ)², in the target's own unit;
//	a count      D² = 1 − Σ dev(y, ŷ)/Σ dev(y, ȳ), dev(y, μ) = 2(y log(y/μ) − y + μ),
//
// ȳ the mean of data, so that 0 is as good as knowing that mean and nothing
// else. It is a fact about these records that no guarantee covers: score on
// records that may be known.
//
// Records whose label is missing or none of the public classes are scored with the label
// that the schema's rule gives them.
//
// Errors: as Predict, no label, no records, or targets that are all the same where the
// score compares with their mean.
func (m *Model) Score(records Records) (float64, error) {
	d, t, err := m.scored(records)
	if err != nil {
		return 0, err
	}
	switch m.target.Task {
	case frame.Number:
		y := values(d)
		return explained(squares(y, m.predictions(t)), squares(y, constant(stat.Mean(y, nil), len(y))))
	case frame.Count:
		return explained(deviances(d.Labels, m.predictions(t)), deviances(d.Labels, constant(stat.Mean(d.Labels, nil), len(t))))
	case frame.ManyClasses:
		return share(m.largest(t), d.Labels, func(place, y float64) bool { return place == y }), nil
	}
	return share(t, d.Labels, func(v, y float64) bool { return (v > 0) == (y > 0) }), nil
}

// share returns the share of pairs that agree.
func share(a, b []float64, agree func(a, b float64) bool) float64 {
	right := 0
	for i := range a {
		if agree(a[i], b[i]) {
			right++
		}
	}
	return float64(right) / float64(len(a))
}

// RMSE returns the root of the mean squared error of the predictions of a number
// or a count, in its own unit, targets moved into their public bounds. No
// guarantee covers it.
func (m *Model) RMSE(records Records) (float64, error) {
	if err := m.Err(); err != nil {
		return 0, err
	}
	if m.target.Task != frame.Number && m.target.Task != frame.Count {
		return 0, errors.New("dpnb: RMSE is for numbers and counts; classes have a Score")
	}
	d, t, err := m.scored(records)
	if err != nil {
		return 0, err
	}
	return math.Sqrt(squares(values(d), m.predictions(t)) / float64(len(t))), nil
}

// Deviance returns the mean of dev(y, ŷ) = 2(y log(y/ŷ) − y + ŷ) of the
// predictions of a count: about 1 where the counts are Poisson with the
// predicted means and these are not small. No guarantee covers it.
func (m *Model) Deviance(records Records) (float64, error) {
	if err := m.Err(); err != nil {
		return 0, err
	}
	if m.target.Task != frame.Count {
		return 0, errors.New("dpnb: Deviance is for counts; see Score and RMSE")
	}
	d, t, err := m.scored(records)
	if err != nil {
		return 0, err
	}
	return deviances(d.Labels, m.predictions(t)) / float64(len(t)), nil
}

// values returns the targets in their own unit.
func values(d *frame.Design) []float64 {
	y := make([]float64, len(d.Labels))
	for i, l := range d.Labels {
		y[i] = d.Target.Value(l)
	}
	return y
}

func constant(v float64, n int) []float64 {
	c := make([]float64, n)
	for i := range c {
		c[i] = v
	}
	return c
}

// squares returns Σ(yᵢ − pᵢ)².
func squares(y, p []float64) float64 {
	var sum float64
	for i, v := range y {
		sum += (v - p[i]) * (v - p[i])
	}
	return sum
}

// deviances returns Σ 2(yᵢ log(yᵢ/pᵢ) − yᵢ + pᵢ), 0·log 0 = 0. A mean that
// underflowed is taken as the smallest float64.
func deviances(y, p []float64) float64 {
	var sum float64
	for i, v := range y {
		mean := math.Max(p[i], math.SmallestNonzeroFloat64)
		sum += 2 * (mean - v)
		if v > 0 {
			sum += 2 * v * (math.Log(v) - math.Log(mean))
		}
	}
	return sum
}

// explained returns 1 − left/total.
func explained(left, total float64) (float64, error) {
	if !(total > 0) {
		return 0, fmt.Errorf("dpnb: all targets of these records are the same: there is nothing to explain; score on other records")
	}
	return 1 - left/total, nil
}

// measure is how scores of a task are called and written.
type measure struct {
	// name of the score; baseline of the score of guessing without features.
	name, baseline, guess string
	percent               bool
}

func measureOf(task frame.Task) measure {
	switch task {
	case frame.Number:
		return measure{name: "R²", baseline: "mean of the test data", guess: "always predicting the mean of the test data"}
	case frame.Count:
		return measure{name: "D² (share of deviance explained)", baseline: "mean of the test data", guess: "always predicting the mean of the test data"}
	}
	return measure{name: "accuracy", baseline: "majority class", guess: "always guessing the more frequent class", percent: true}
}

// text writes a score.
func (m measure) text(v float64) string {
	if m.percent {
		return fmt.Sprintf("%.2f %%", 100*v)
	}
	return fmt.Sprintf("%.3f", v)
}
