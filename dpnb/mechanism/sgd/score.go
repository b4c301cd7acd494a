package sgd

import (
	"fmt"
	"math"

	"github.com/dpnb/notebooks/dpnb/erm"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/noise/exact"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Score says how good coefficients are, larger being better. What is selected by a score tells something of what the
// score has read: the scores are Holdout, which reads public records, and Training, which reads the private ones and
// pays.
type Score interface {
	fmt.Stringer
	// bind checks the score and returns it as a function; rows and labels are the training records.
	bind(rows matrix.Rows, labels []float64) (func(theta []float64, draw *exact.Sampler) float64, error)
	// validate returns a *privacy.ParamError for noise that is out of range.
	validate() error
	// multiplier is the score's noise over its sensitivity; +Inf where it does not read the training records.
	multiplier() float64
}

// Holdout scores on records that everybody may know: other people's, given for the purpose, or public. It costs
// nothing. rkw23 selects by the accuracy on the test set, which then is such a set, and no longer a test.
type Holdout struct {
	Rows   matrix.Rows
	Labels []float64
	// Loss is what the score is minus the mean of; nil scores by the share of the labels ±1 that are predicted rightly.
	Loss loss.Loss
}

// String describes the score.
func (h Holdout) String() string {
	if h.Loss != nil {
		return fmt.Sprintf("minus the mean %s loss on public records", h.Loss.Name())
	}
	return "accuracy on public records"
}

func (h Holdout) validate() error { return nil }

func (h Holdout) multiplier() float64 { return math.Inf(1) }

func (h Holdout) bind(rows matrix.Rows, _ []float64) (func([]float64, *exact.Sampler) float64, error) {
	l := h.Loss
	if l == nil {
		l = loss.Logistic{} // for its labels
	}
	p := erm.Problem{Rows: h.Rows, Labels: h.Labels, Loss: l, Lambda: 1}
	if err := p.Validate(); err != nil {
		return nil, fmt.Errorf("the public records of the score: %w", err)
	}
	if sameRecords(h.Rows, rows) {
		return nil, &privacy.ParamError{Name: "Holdout", Value: "the training records",
			Want: "public records; Training scores by the private ones, and pays"}
	}
	n, d := h.Rows.Dims()
	if n == 0 {
		return nil, &matrix.DataError{Text: "there are no public records to score on"}
	}
	if _, want := rows.Dims(); d != want {
		return nil, &matrix.DataError{Text: fmt.Sprintf(
			"the public records have %d features, the others %d: make both with the same schema and options", d, want)}
	}
	if h.Loss == nil {
		return func(theta []float64, _ *exact.Sampler) float64 {
			return float64(right(h.Rows, h.Labels, theta)) / float64(n)
		}, nil
	}
	return func(theta []float64, _ *exact.Sampler) float64 {
		t := make([]float64, n)
		h.Rows.Margins(t, theta, 0, n)
		return worstIfNaN(-h.Loss.ValueSlope(make([]float64, n), t, h.Labels) / float64(n))
	}, nil
}

// sameRecords reports that two matrices are in the same memory. It cannot know of copies.
func sameRecords(a, b matrix.Rows) bool {
	for _, x := range entriesOf(a) {
		for _, y := range entriesOf(b) {
			if len(x) > 0 && len(y) > 0 && &x[0] == &y[0] {
				return true
			}
		}
	}
	return false
}

// entriesOf returns what rows in memory are made of.
func entriesOf(r matrix.Rows) (all [][]float64) {
	switch m := r.(type) {
	case *matrix.Dense:
		return [][]float64{m.Data}
	case *matrix.CSR:
		return [][]float64{m.Values}
	case *matrix.Affine:
		return entriesOf(m.Base)
	case matrix.HStack:
		for _, part := range m.Parts {
			all = append(all, entriesOf(part)...)
		}
	}
	return all
}

// Training scores by the number of training records that are predicted rightly, with noise N(0, Sigma²): one record
// changes it by one at most. Each run pays for its score as for a Gaussian mechanism; the score itself is then part of
// what a run publishes, as the theorems of selection demand. Sigma = 0 reads the records without paying, which only
// Tuner.RunDishonestly allows.
type Training struct{ Sigma float64 }

// String describes the score.
func (s Training) String() string {
	if s.Sigma == 0 {
		return "accuracy on the training records, WITHOUT noise"
	}
	return fmt.Sprintf("number of training records predicted rightly, with noise of standard deviation %.4g", s.Sigma)
}

func (s Training) multiplier() float64 { return s.Sigma }

func (s Training) validate() error {
	if s.Sigma == 0 {
		return nil // not honest: Tuner.Validate refuses it
	}
	return mechanism.Scales{{"Score.Sigma", s.Sigma}}.Check()
}

func (s Training) bind(rows matrix.Rows, labels []float64) (func([]float64, *exact.Sampler) float64, error) {
	if err := s.validate(); err != nil {
		return nil, err
	}
	for i, y := range labels {
		if !(loss.Logistic{}).ValidLabel(y) {
			return nil, &matrix.DataError{Text: fmt.Sprintf(
				"the label of record %d is not −1 or +1, as the score wants it", i)}
		}
	}
	return func(theta []float64, draw *exact.Sampler) float64 {
		if s.Sigma == 0 {
			return float64(right(rows, labels, theta))
		}
		xi, score := draw.Normals(1), []float64{0}
		score[0] = float64(right(rows, labels, theta))
		xi.AddRounded(score, s.Sigma, exact.Grid(s.Sigma))
		return score[0]
	}, nil
}

// right counts the labels ±1 that the sign of the margin predicts; a margin that is no number predicts −1. Each margin
// is rounded as if its record were alone, so that one record more turns the sign of no other.
func right(rows matrix.Rows, labels, theta []float64) int {
	const block = 256
	var t [block]float64
	n, _ := rows.Dims()
	count := 0
	for lo := 0; lo < n; lo += block {
		hi := min(lo+block, n)
		matrix.MarginsAlone(rows, t[:], theta, lo, hi)
		for k, v := range t[:hi-lo] {
			if (v > 0) == (labels[lo+k] > 0) {
				count++
			}
		}
	}
	return count
}

func worstIfNaN(x float64) float64 {
	if math.IsNaN(x) {
		return math.Inf(-1)
	}
	return x
}
