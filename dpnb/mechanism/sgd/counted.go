package sgd

import (
	"cmp"
	"fmt"
	"math"

	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Counted counts the records with noise and then runs Fit for so many: with few of them its rule is another one. One
// Gaussian mechanism is chosen by the result of one before it, and μ² adds up whatever is chosen, as every rule's steps
// cost the same.
//
// Proof: docs/theory/quantiles.md#dpnb-faint.
type Counted struct {
	// Fit is the descent; its Records are zero.
	Fit Quantiles
	// Share κ is which part of μ² of the whole the count has.
	Share float64
}

// WithCount returns the release for counted records that costs what q alone does: the share is taken from the descent,
// whose noise is larger by 1/√(1−κ).
func (q Quantiles) WithCount(share float64) Counted {
	q.NoiseMultiplier *= (1 + 0x1p-48) / math.Sqrt(1-share)
	return Counted{Fit: q, Share: share}
}

// sigma is the noise of the count, of which the sensitivity is 1, rounded up.
func (c Counted) sigma() float64 {
	return c.Fit.NoiseMultiplier / math.Sqrt(float64(c.Fit.Steps)*c.Share/(1-c.Share)) * (1 + 0x1p-48)
}

// Cost is that of both, as one descent with less noise.
func (c Counted) Cost() Cost {
	cost := c.Fit.Cost()
	cost.NoiseMultiplier *= math.Sqrt(1-c.Share) * (1 - 0x1p-50)
	return cost
}

// at returns the fit for a noisy number of records: no fewer than the noise of the count, below which it says nothing.
func (c Counted) at(records float64) Quantiles {
	q := c.Fit
	q.Records = math.Round(math.Max(1, math.Max(records, c.sigma())))
	return q
}

// Validate returns a *privacy.ParamError if a parameter is out of range.
func (c Counted) Validate() error {
	return cmp.Or(c.Fit.Validate(), privacy.Within(c.Fit.Records == 0, "Fit.Records", c.Fit.Records,
		"0: they are counted"), validShare(c.Share), mechanism.Scales{{"Share", c.sigma()}}.Check())
}

// String describes the mechanism with its parameters.
func (c Counted) String() string {
	return fmt.Sprintf("%v, for a count of the records with noise of %.3g", c.Fit, c.sigma())
}

// Describe implements mechanism.Mechanism.
func (c Counted) Describe() mechanism.Description {
	d := c.Fit.Describe()
	d.Also, d.Bound = "records counted", "composition of Gaussian mechanisms, exact"
	d.Assumptions[0] = mechanism.ChosenFrom("the noisy count", "all other parameters", "the rule of the steps")
	return d
}

// Event implements mechanism.Mechanism; it is a Cost.
func (c Counted) Event() (privacy.Event, error) { return c.Cost(), c.Validate() }

// Feasible implements mechanism.Mechanism: nothing can fail.
func (c Counted) Feasible(int, int) error { return nil }

// Check implements mechanism.Mechanism.
func (c Counted) Check(rows matrix.Rows, labels []float64) error {
	return c.Fit.Check(rows, labels)
}

// Run implements mechanism.Mechanism. Fitted is the descent for the noisy number of records; Mechanism says what was
// counted and which rule that is.
func (c Counted) Run(rows matrix.Rows, labels []float64, src noise.Source, settings *mechanism.Settings) (
	*mechanism.Release, error) {
	both, err := mechanism.Begin(c, rows, labels, src, settings)
	if err != nil {
		return nil, err
	}
	n, _ := rows.Dims()
	count := mechanism.Gaussian.Count(n, c.sigma(), src)
	r, err := c.at(count).Run(rows, labels, src, settings)
	if err != nil {
		return nil, err
	}
	r.Guarantee = both.Guarantee
	r.Mechanism = fmt.Sprintf("%s, for a count of the records with noise of %.3g: %.0f", r.Mechanism, c.sigma(),
		math.Round(count))
	return r, nil
}
