package learn

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/sim"
)

// Score returns how well m predicts the records of data, at most 1:
//
//	classes      the share of records whose class is predicted rightly (accuracy);
//	a number     R² = 1 − Σ(y − ŷ)²/Σ(y − ȳ)², in the target's own unit;
//	a count      D² = 1 − Σ dev(y, ŷ)/Σ dev(y, ȳ), dev(y, μ) = 2(y log(y/μ) − y + μ),
//	quantiles    R¹ = 1 − Σ ρ(y − q̂)/Σ ρ(y − q̄), over all levels, ρ the pinball loss,
//
// with ȳ the mean of data and q̄ its quantile, so that 0 is as good as knowing that and nothing else. R¹ is that of
// Koenker and Machado 1999; others call it D² of the pinball loss. It is a fact about these records that no guarantee
// covers: score on records that may become known.
//
// Records whose label is missing or not a public class are scored with the label that the schema's rule gives them.
// Where numbers are Unbounded, records with a number that is not finite are left out, as in the fit; and a few targets
// far from all others then decide nearly all of R².
//
// Errors: as Predict, no label, no records, or targets that are all the same where the score compares with their mean.
func (m *Model) Score(records Records) (float64, error) {
	if m.Err() == nil && m.levels != nil {
		s, err := m.QuantileScores(records)
		if err != nil {
			return 0, err
		}
		return s.R1, nil
	}
	return m.scoreOfTask(records)
}

// scoreOfTask is Score, of quantiles R² of the single one: what fits of other kinds of the same records are compared
// by.
func (m *Model) scoreOfTask(records Records) (float64, error) {
	d, t, err := m.scored(records, "")
	if err != nil {
		return 0, err
	}
	if len(m.levels) > 1 {
		return 0, errors.New("dpnb: several quantiles have no R²: see QuantileScores")
	}
	switch m.target.Task {
	case frame.Number:
		y := values(d)
		return explained(squares(y, m.predictions(t)), squares(y, constant(stat.Mean(y, nil), len(y))))
	case frame.Count:
		mean := constant(stat.Mean(d.Labels, nil), len(t))
		return explained(deviances(d.Labels, m.predictions(t)), deviances(d.Labels, mean))
	}
	right := 0
	for i, k := range m.decide(t) {
		y := d.Labels[i]
		if m.target.Task == frame.TwoClasses {
			y = (y + 1) / 2
		}
		if float64(k) == y {
			right++
		}
	}
	return float64(right) / float64(len(d.Labels)), nil
}

// scored returns the records as the model makes them, with their labels, and xᵀθ. If it is for some tasks only, refusal
// says so.
func (m *Model) scored(records Records, refusal string, only ...frame.Task) (*frame.Design, []float64, error) {
	if m.Err() == nil && len(only) > 0 && !slices.Contains(only, m.target.Task) {
		return nil, nil, errors.New(refusal)
	}
	d, err := m.made(records, true)
	if err != nil {
		return nil, nil, err
	}
	t := m.margins(d.Rows)
	if d.Encoding != nil && d.Encoding.Open() {
		d, t = finite(d, t)
	}
	if len(d.Labels) == 0 {
		return nil, nil, errors.New("dpnb: there are no records to score on")
	}
	return d, t, nil
}

// finite returns the labels and margins of the records that have both: of numbers without bounds, and one margin for
// each record.
func finite(d *frame.Design, t []float64) (*frame.Design, []float64) {
	kept := &frame.Design{Target: d.Target, Encoding: d.Encoding}
	var margins []float64
	for i, y := range d.Labels {
		if sum := y + t[i]; !math.IsNaN(sum) && !math.IsInf(sum, 0) {
			kept.Labels, margins = append(kept.Labels, y), append(margins, t[i])
		}
	}
	return kept, margins
}

// AUC returns how well m, of two classes, ranks the records: the probability that xᵀθ is larger for a record of the
// positive class than for one of the other, ½ being chance. It depends on no threshold, so it recognises a fit that
// ranks well but predicts the rarer class too seldom, which Score cannot tell from a bad one. No guarantee covers it:
// score on records that may become known.
//
// Errors: as Score; a model of other than two classes; records of one class only.
func (m *Model) AUC(records Records) (float64, error) {
	d, t, err := m.scored(records, "dpnb: AUC is for models of two classes; others have a Score", frame.TwoClasses)
	if err != nil {
		return 0, err
	}
	a := sim.AUC(t, d.Labels)
	if math.IsNaN(a) {
		return 0, errors.New("dpnb: AUC compares records of both classes: these have one only")
	}
	return a, nil
}

// RMSE returns the root mean squared error of the predictions of a number or a count, in its own unit, with targets
// moved into their public bounds. No guarantee covers it.
func (m *Model) RMSE(records Records) (float64, error) {
	d, t, err := m.scored(records, "dpnb: RMSE is for numbers and counts; classes have a Score", frame.Number,
		frame.Count)
	if err == nil && len(m.levels) > 1 {
		err = errors.New("dpnb: RMSE is for one prediction of each record, not for several quantiles: see " +
			"QuantileScores")
	}
	if err != nil {
		return 0, err
	}
	return math.Sqrt(squares(values(d), m.predictions(t)) / float64(len(t))), nil
}

// Deviance returns the mean of dev(y, ŷ) = 2(y log(y/ŷ) − y + ŷ) of the predictions of a count: about 1 where the
// counts are Poisson with the predicted means and these are not small. No guarantee covers it.
func (m *Model) Deviance(records Records) (float64, error) {
	d, t, err := m.scored(records, "dpnb: Deviance is for counts; see Score and RMSE", frame.Count)
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

func constant(v float64, n int) []float64 { return slices.Repeat([]float64{v}, n) }

// squares returns Σ(yᵢ − pᵢ)².
func squares(y, p []float64) float64 {
	var sum float64
	for i, v := range y {
		sum += (v - p[i]) * (v - p[i])
	}
	return sum
}

// deviances returns Σ 2(yᵢ log(yᵢ/pᵢ) − yᵢ + pᵢ), 0·log 0 = 0. A mean that underflowed is taken as the smallest
// float64.
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
		return 0, errors.New("dpnb: all targets of these records are the same: there is nothing to explain; score on " +
			"other records")
	}
	return 1 - left/total, nil
}

// measure is how scores of a task are called and written.
type measure struct {
	// name of the score; baseline of the score of guessing without features.
	name, baseline, guess string
	percent               bool
}

func measureOf(task frame.Task, quantiles bool) measure {
	name := "R²"
	if quantiles {
		return measure{"R¹ (share of pinball loss explained)", "quantile of the test data",
			"always predicting the quantile of the test data", false}
	}
	switch task {
	case frame.TwoClasses, frame.ManyClasses:
		return measure{"accuracy", "majority class", "always guessing the more frequent class", true}
	case frame.Count:
		name = "D² (share of deviance explained)"
	}
	return measure{name, "mean of the test data", "always predicting the mean of the test data", false}
}

func (m measure) text(v float64) string {
	if m.percent {
		return fmt.Sprintf("%.2f %%", 100*v)
	}
	return fmt.Sprintf("%.3f", v)
}
