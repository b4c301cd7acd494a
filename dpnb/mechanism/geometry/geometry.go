// Package geometry buys where the records lie before a mechanism learns from them: their number and their mean, with
// noise, for a twentieth of the budget. Rows are then centred and scaled, so that the noise, which is in proportion to
// their longest, no longer protects what they all share. It is a mechanism around a mechanism.
//
// Theory, with the proof: docs/theory/geometry.md.
package geometry

import (
	"fmt"
	"math"
	"strings"

	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Centred is a mechanism Of for rows that are centred by their noisy mean. Of rows (z, e), ‖z‖ ≤ R the features and e
// the constant Bias in the last place, and labels y, it releases
//
//	n̂ = n + N(0, CountSigma²),   S = Σ(z/R, y/2, y²/2) + N(0, (s·MeanSigma)²)
//
// (the labels of Numbers alone, s² = 1 or 3/2), makes of them a mean m, a scale c and, of Numbers, a centre ȳ and a
// unit T (frameOf), and then runs Of on the rows (clip(z/R − m, c)/c, e) and the labels (clip(y, 1) − ȳ)/T. What it
// releases are the coefficients of (z, e), which a linear map takes from those of Of.
type Centred struct {
	// Of has rows of norm 1 before the bias, and numbers whose unit is 1; its profile does not depend on Facts.
	Of mechanism.Informed
	// CountSigma is the noise of the count, MeanSigma the noise multiplier of the sum.
	CountSigma, MeanSigma float64
	// Mu is about the μ that Of is worth, by which its parameters are chosen.
	Mu float64
	// RowNorm is R, Bias is e.
	RowNorm, Bias float64
	// Numbers says that labels are numbers in [−1, 1], and that their mean and mean square are bought.
	Numbers bool
	// Curves are the features that are hats. They are there if n̂ times the μ of all is at least Gate of each, else
	// rows are without them.
	Curves []matrix.Span
	Gate   float64
	// Nowhere are orthonormal directions in which no row has anything: the noise in the mean is left out there.
	Nowhere []matrix.Direction
	// Free is how many directions rows have without the hats, the bias included.
	Free int
}

// The rule: docs/theory/geometry.md, section 2.
const (
	fewest       = 20   // records that are reckoned with
	towards      = 0.5  // of the mean's shrinkage, in units of the noise
	longest      = 0.98 // mean
	leastScale   = 0.02 // c²
	hatsOfACurve = 2    // directions of a curve beside its line
	// Of labels: the variances at which the noise in ȳ and in their spread halves what is taken of them, and the
	// spread that is taken for granted.
	towardsLabel, towardsSpread, spread = 0.12, 0.01, 1.0 / 16
	leastUnit, mostUnit                 = 0.02, 0.5
)

// mu is that of the count and of the sum together, rounded up.
func (c Centred) mu() float64 {
	return math.Hypot(1/c.CountSigma, 1/c.MeanSigma) * (1 + 0x1p-48)
}

// sums is s, a bound on what one record adds to S: entries are rounded to multiples of step, computed norms may
// exceed R by NormSlack.
func (c Centred) sums(d int) float64 {
	s := 1.0
	if c.Numbers {
		s = math.Sqrt(1.5)
	}
	return s*(1+1e-11) + 0.5*step*math.Sqrt(float64(d+2))
}

// step is of what each entry of S is a multiple, so that sums of up to 2²⁹ records are exact in any order.
const step = 0x1p-24

// Validate implements mechanism.Mechanism.
func (c Centred) Validate() error {
	if c.Of == nil {
		return &privacy.ParamError{Name: "Of", Value: nil, Want: "a mechanism"}
	}
	if err := (mechanism.Scales{{"CountSigma", c.CountSigma}, {"MeanSigma", c.MeanSigma}, {"Mu", c.Mu},
		{"RowNorm", c.RowNorm}, {"Bias", c.Bias}}).Check(); err != nil {
		return err
	}
	switch {
	case !(c.Gate >= 0) || math.IsInf(c.Gate, 1):
		return &privacy.ParamError{Name: "Gate", Value: c.Gate, Want: "a finite number ≥ 0"}
	case c.Free < 1:
		return &privacy.ParamError{Name: "Free", Value: c.Free,
			Want: "the number of directions that rows have, at least 1"}
	}
	for _, v := range c.Nowhere {
		if v.First < 0 || len(v.Weights) == 0 {
			return &privacy.ParamError{Name: "Nowhere", Value: v, Want: "directions over the features"}
		}
	}
	if !matrix.Rising(c.Curves) {
		return &privacy.ParamError{Name: "Curves", Value: c.Curves,
			Want: "runs of features that rise and do not overlap"}
	}
	if err := c.Of.Validate(); err != nil {
		return err
	}
	return mechanism.OnlyAddRemove(c.Of.Describe().Adjacency, "the geometry of records is bought and a fit")
}

// Event implements mechanism.Mechanism: that of the count, the sum and Of together.
//
// Proof: docs/theory/geometry.md#dpnb-geometry.
func (c Centred) Event() (privacy.Event, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	p, err := c.Of.Beside(c.mu())
	return mechanism.Known(c, p, err)
}

// String describes the mechanism with its parameters.
func (c Centred) String() string {
	return fmt.Sprintf("%v, for rows that are centred by their mean (noise multiplier %.4g, of the count %.4g)", c.Of,
		c.MeanSigma, c.CountSigma)
}

// Describe implements mechanism.Mechanism.
func (c Centred) Describe() mechanism.Description {
	d := c.Of.Describe()
	also := "records counted and centred"
	if d.Beside != "" {
		also += ", " + d.Beside
	}
	d.Beside = also
	d.Bound = fmt.Sprintf("that of the count, the mean (together μ = %s) and the fit; of the fit alone: %s",
		privacy.FormatUp(c.mu(), 3), d.Bound)
	also = "σ, τ, σ_out and the noise of the count and of the mean"
	chosen := []string{"λ", "ω", "smoothness", "the margin of the loss"}
	if d.Lambda == 0 { // noisy steps have no other ridge
		also = "the noise and the number of steps and the noise of the count and of the mean"
		chosen = []string{"the rule of the steps", "its ball and its ridges"}
	}
	assumptions := []string{
		fmt.Sprintf("every record that could be in the data has features with ‖z‖₂ ≤ %s (checked for those that are)",
			privacy.FormatUp(c.RowNorm, 6)),
		mechanism.ChosenFrom("the noisy count and the noisy sums", also,
			append(chosen, "the centre and the scale of rows and labels")...),
	}
	for _, a := range d.Assumptions {
		if !strings.HasSuffix(a, mechanism.Chosen("")) { // of Of by itself
			assumptions = append(assumptions, a)
		}
	}
	d.Assumptions = assumptions
	return d
}

// Feasible implements mechanism.Mechanism.
func (c Centred) Feasible(features, _ int) error { return c.Of.Feasible(features, 0) }

// Check implements mechanism.Mechanism.
func (c Centred) Check(rows matrix.Rows, labels []float64) error {
	if err := c.Validate(); err != nil {
		return err
	}
	_, d := rows.Dims()
	if n := len(c.Curves); n > 0 && c.Curves[n-1].First+c.Curves[n-1].Len > d-1 {
		return &privacy.ParamError{Name: "Curves", Value: c.Curves[n-1], Want: fmt.Sprintf("of the %d features", d-1)}
	}
	for _, v := range c.Nowhere {
		if v.First+len(v.Weights) > d-1 {
			return &privacy.ParamError{Name: "Nowhere", Value: v, Want: fmt.Sprintf("over the %d features", d-1)}
		}
	}
	if err := mechanism.CheckNorm(matrix.MaxNorm(rows), math.Hypot(c.RowNorm, c.Bias)); err != nil {
		return err
	}
	n, _ := rows.Dims()
	fewest := c.frame(math.Inf(-1), d)
	chosen, _ := c.choose(fewest)
	nowhere := blank{n, len(fewest.Mean) + 1, c.Bias}
	if err := c.Of.Check(nowhere, labels); err != nil {
		return err
	}
	return chosen.Check(nowhere, labels)
}

// bought returns the frame that the count and the sums, released with noise from src, make.
func (c Centred) bought(rows matrix.Rows, labels []float64, src noise.Source, workers int) frame {
	n, d := rows.Dims()
	f := c.frame(mechanism.NoisyCount(n, c.CountSigma, src), d)
	f.centre(f.sums(rows, labels, src, workers))
	return f
}

// Run implements mechanism.Mechanism. Fitted is the mechanism that was chosen, with the coefficients and what else it
// released in Bought.
func (c Centred) Run(rows matrix.Rows, labels []float64, src noise.Source, settings *mechanism.Settings) (
	*mechanism.Release, error) {
	both, err := mechanism.Begin(c, rows, labels, src)
	if err != nil {
		return nil, err
	}
	workers := settings.Value().Workers
	f := c.bought(rows, labels, src, workers)
	chosen, stretch := c.choose(f)
	centred, scaled := f.rows(rows, workers), f.scaled(labels)
	r, err := chosen.Run(centred, scaled, src, settings)
	if err != nil {
		return nil, err
	}
	f.Stretch, f.Raw, f.Also = stretch, r.Coefficients, r.Also
	r.Coefficients, r.Also = f.unfold(), &f.Bought
	r.Guarantee = both.Guarantee
	r.Mechanism = fmt.Sprintf("%s, after a count (%.0f) and the mean of the rows (noise multipliers %.4g, %.4g)",
		r.Mechanism, math.Round(f.Count), c.CountSigma, c.MeanSigma)
	return r, nil
}
