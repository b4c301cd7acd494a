// Package geometry buys where the records lie before a mechanism learns from them: their number and their mean, with
// noise, for a twentieth of the budget. Rows are then centred and scaled, so that the noise, which is in proportion to
// their longest, no longer protects what they all share. It is a mechanism around a mechanism.
//
// Theory, with the proof: docs/theory/geometry.md.
package geometry

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
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
// (of Numbers, s² = 3/2; of counts up to Y (z/R, y/2Y), s² = 5/4; of classes z/R, s = 1), makes of them a mean m, a
// scale c and, of Numbers, a centre ȳ and a unit T (frameOf), and then runs Of on the rows (clip(z/R − m, c)/c, e) and
// the labels (clip(y, 1) − ȳ)/T. What it releases are the coefficients of (z, e), which a linear map takes from those
// of Of.
type Centred struct {
	// Of has rows of norm 1 before the bias, and numbers whose unit is 1; its profile does not depend on Facts.
	Of mechanism.Informed
	// Law of the noise: Gaussian, of which Of knows what it costs together with it (mechanism.WithGaussians), or
	// Laplace, where Of is of pure ε.
	Law mechanism.Law
	// CountSigma is the noise of the count, MeanSigma the noise multiplier of the sum, in scales of the Law.
	CountSigma, MeanSigma float64
	// Planned is the number of records if that is public: then CountSigma is 0, and nothing is counted. 0 counts.
	Planned float64
	// BaseRate is the share of the positive class if that is public, else 0 (mechanism.Facts).
	BaseRate float64
	// Mu is about the μ that Of is worth, with Laplace noise its ε, by which its parameters are chosen.
	Mu float64
	// RowNorm is R, Bias is e.
	RowNorm, Bias float64
	// Numbers says that labels are numbers in [−1, 1], and that their mean and mean square are bought.
	Numbers bool
	// Wide has a larger unit of numbers that must be skewed, whose mean is near a bound, where records are enough: a
	// loss that bends at it then keeps more of the squares, for noise in proportion.
	Wide bool `json:",omitempty"`
	// Most is Y > 0 of labels that are counts of at most Y, whose mean is bought; 0 of other labels.
	Most float64
	// Weighted says that labels have weights within them (internal/weight).
	Weighted bool `json:",omitempty"`
	// Curves are the features that are hats. They are there if n̂ times the μ of all is at least Gate of each, with
	// Laplace noise of each coordinate that rows have with them; else rows are without them.
	Curves []matrix.Span
	Gate   float64
	// Crossed are the last of Curves, which one number has in each category of another column: there may be records
	// enough for the others, and not for these, which rows are then without.
	Crossed int `json:",omitempty"`
	// Nowhere are orthonormal directions in which no row has anything: the noise in the mean is left out there.
	Nowhere []matrix.Direction
	// Whole is about the norm of a row in units of R where rows are moved and, where there are records enough, not
	// clipped, so that coefficients mean the same in all of them; else 0.
	Whole float64 `json:",omitempty"`
	// Held are directions v of the features along which coefficients are held to vᵀθ ≥ 0 (mechanism.Holding), each of
	// one column, all of whose coefficients are put in proportion to those of Of. Without the hats those that are left
	// the same are one.
	Held []matrix.Direction
	// Free is how many directions rows have without the hats, the bias included.
	Free int
	// Pairs are runs of features, one of each column, whose products rows may have, and Cells the numbers that may have
	// cells, both where Law is Gaussian and rows lie in memory.
	Pairs []matrix.Span
	Cells []Number
}

// The rule: docs/theory/geometry.md, section 2.
const (
	fewest       = 20   // records that are reckoned with
	towards      = 0.5  // of the mean's shrinkage, in units of the noise
	longest      = 0.98 // mean
	leastScale   = 0.02 // c²
	hatsOfACurve = 2    // directions of a curve beside its line
	// wholeGate is the n̂μ for each direction from which rows that are to be Whole have more room than the typical row.
	wholeGate = 50
	// Of labels: the variances at which the noise in ȳ and in their spread halves what is taken of them, and the spread
	// that is taken for granted.
	towardsLabel, towardsSpread, spread = 0.12, 0.01, 1.0 / 16
	leastUnit, mostUnit                 = 0.02, 0.5
	// From the mean to a bound a bell curve, or an even spread, has more than skewedWithin standard deviations. The
	// unit of others is n̂μ/wideGate times as large, up to widest (docs/theory/geometry.md#dpnb-wide-unit).
	skewedWithin, widest, wideGate = 1.5, 4, 250
)

// cost is the μ or the ε of the count and of the sum together, rounded up.
func (c Centred) cost() float64 {
	if c.Planned > 0 {
		return c.Law.Cost(c.MeanSigma)
	}
	return c.Law.Cost(c.CountSigma, c.MeanSigma)
}

// sums is s, a bound on what one record adds to S, which asks of numbers how many records have a value or does not:
// entries are rounded to multiples of step, computed norms may exceed R by NormSlack.
func (c Centred) sums(d int, asked bool) float64 {
	square := 1.0
	switch {
	case c.Numbers:
		square = 1.5
	case c.Most > 0:
		square = 1.25
	}
	if asked {
		square += 0.25
	}
	return math.Sqrt(square)*(1+1e-11) + 0.5*step*math.Sqrt(float64(d+2+len(c.Cells)))
}

// most is more records than there can be.
const most = 0x1p60

// step is of what each entry of S is a multiple, so that sums of a block of records are exact.
const step = 0x1p-24

// directions checks those of Nowhere and Held against the number of features.
func (c Centred) directions(features int, want string) error {
	for k, v := range slices.Concat(c.Nowhere, c.Held) {
		if v.First < 0 || len(v.Weights) == 0 || v.First > features-len(v.Weights) {
			name := "Nowhere"
			if k >= len(c.Nowhere) {
				name = "Held"
			}
			return &privacy.ParamError{Name: name, Value: v, Want: want}
		}
	}
	return nil
}

// Validate implements mechanism.Mechanism.
func (c Centred) Validate() error {
	if c.Of == nil {
		return &privacy.ParamError{Name: "Of", Value: nil, Want: "a mechanism"}
	}
	scales := mechanism.Scales{{"MeanSigma", c.MeanSigma}, {"Mu", c.Mu}, {"RowNorm", c.RowNorm}, {"Bias", c.Bias}}
	if c.Planned == 0 {
		scales = append(mechanism.Scales{{"CountSigma", c.CountSigma}}, scales...)
	}
	if err := cmp.Or(scales.Check(),
		privacy.Within(c.Planned >= 0 && !math.IsInf(c.Planned, 1) && (!(c.Planned > 0) || c.CountSigma == 0),
			"Planned", c.Planned, "the number of records, with CountSigma = 0, or 0 to count them"),
		privacy.Within(c.BaseRate >= 0 && c.BaseRate < 1, "BaseRate", c.BaseRate,
			"a share in (0, 1), or 0 where none is public"), privacy.NotNegative("Gate", c.Gate),
		privacy.Within(c.Whole >= 0 && c.Whole <= 1, "Whole", c.Whole, "the norm of a usual row over RowNorm, or 0"),
		privacy.Within(c.Most >= 0 && !math.IsInf(c.Most, 1) && (!c.Numbers || !(c.Most > 0)), "Most", c.Most,
			"the largest count, 0 where labels are none"),
		privacy.Within(c.Free >= 1, "Free", c.Free,
			"the number of directions that rows have, at least 1"),
		c.directions(math.MaxInt, "directions over the features")); err != nil {
		return err
	}
	if _, ok := c.Of.(mechanism.Holding); len(c.Held) > 0 && !ok {
		return fmt.Errorf("%w: %s is not proved to hold coefficients to half spaces", privacy.ErrUnsupported,
			c.Of.Describe().Name)
	}
	const rising = "runs of features that rise and do not overlap"
	if err := cmp.Or(privacy.Within(matrix.Rising(c.Pairs), "Pairs", c.Pairs, rising),
		privacy.Within(matrix.Rising(c.Curves), "Curves", c.Curves, rising),
		privacy.Within(c.Crossed >= 0 && c.Crossed <= len(c.Curves), "Crossed", c.Crossed,
			"how many of the curves are of crosses")); err != nil {
		return err
	}
	for _, n := range c.Cells {
		if !n.on(math.MaxInt) {
			return &privacy.ParamError{Name: "Cells", Value: n,
				Want: "a feature, with a scale of some width on which the likely value is"}
		}
	}
	if err := errors.Join(c.Law.Validate(), c.Of.Validate()); err != nil {
		return err
	}
	if _, ok := c.Of.(mechanism.WithGaussians); c.Law == mechanism.Gaussian && !ok {
		return fmt.Errorf("%w: what %s costs together with Gaussian noise is not known", privacy.ErrUnsupported,
			c.Of.Describe().Name)
	}
	if c.Law == mechanism.Laplace {
		if _, err := c.pure(); err != nil {
			return err
		}
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
	if c.Law == mechanism.Laplace {
		of, err := c.pure()
		return privacy.Pure((of+c.cost())*(1+0x1p-50), privacy.AddRemove), err
	}
	p, err := c.Of.(mechanism.WithGaussians).WithGaussian(c.cost())
	return mechanism.Known(c, p, err)
}

// pure returns the ε of Of.
func (c Centred) pure() (float64, error) {
	p, err := mechanism.Profile(c.Of)
	if err != nil {
		return 0, err
	}
	eps, err := privacy.EpsilonUpper(p, 0)
	if err == nil && math.IsInf(eps, 1) {
		err = fmt.Errorf("%w: %s is not of pure ε, which Laplace noise is for", privacy.ErrUnsupported,
			c.Of.Describe().Name)
	}
	return eps, err
}

// String describes the mechanism with its parameters.
func (c Centred) String() string {
	counted := fmt.Sprintf("counted with noise of %.4g", c.CountSigma)
	if c.Planned > 0 {
		counted = fmt.Sprintf("%.6g of which are planned", c.Planned)
	}
	return fmt.Sprintf("%v, for rows that are centred by their mean (noise multiplier %.4g), %s", c.Of, c.MeanSigma,
		counted)
}

// Describe implements mechanism.Mechanism.
func (c Centred) Describe() mechanism.Description {
	d := c.Of.Describe()
	also := "records counted and centred"
	if c.Planned > 0 {
		also = "records centred"
	}
	if d.Also != "" {
		also += ", " + d.Also
	}
	d.Also = also
	counted, released := "the count, ", "the noisy count and the noisy sums"
	if c.Planned > 0 {
		counted, released = "", "the noisy sums"
	}
	unit, fixed, chosen := "μ", "σ, τ, σ_out", []string{"λ", "ω", "smoothness", "the margin of the loss"}
	switch {
	case c.Law == mechanism.Laplace:
		unit, fixed = "ε", "C, R, β"
		chosen = []string{"Λ", "τ", "the output noise", "the stretch", "the margin of the loss"}
	case d.Lambda == 0: // noisy steps have no other ridge
		fixed = "the noise and the number of steps"
		chosen = []string{"the rule of the steps", "its ball and its ridges"}
	}
	d.Bound = fmt.Sprintf("that of %sthe mean (together %s = %s) and the fit; of the fit alone: %s", counted, unit,
		privacy.FormatUp(c.cost(), 3), d.Bound)
	also = fixed + " and the noise of " + counted + "the mean"
	assumptions := []string{
		fmt.Sprintf("every record that could be in the data has features with ‖z‖₂ ≤ %s (checked for those that are)",
			privacy.FormatUp(c.RowNorm, 6)),
		mechanism.ChosenFrom(released, also, append(chosen,
			"the centre and the scale of rows and labels")...),
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
	_, d := rows.Dims()
	if n := len(c.Curves); n > 0 && c.Curves[n-1].First+c.Curves[n-1].Len > d-1 {
		return &privacy.ParamError{Name: "Curves", Value: c.Curves[n-1], Want: fmt.Sprintf("of the %d features", d-1)}
	}
	if n := len(c.Pairs); n > 0 && c.Pairs[n-1].First+c.Pairs[n-1].Len > d-1 {
		return &privacy.ParamError{Name: "Pairs", Value: c.Pairs[n-1], Want: fmt.Sprintf("of the %d features", d-1)}
	}
	for _, n := range c.Cells {
		if n.Feature >= d-1 {
			return &privacy.ParamError{Name: "Cells", Value: n, Want: fmt.Sprintf("of the %d features", d-1)}
		}
	}
	if err := cmp.Or(c.directions(d-1, fmt.Sprintf("over the %d features", d-1)),
		mechanism.CheckNorm(matrix.MaxNorm(rows), math.Hypot(c.RowNorm, c.Bias))); err != nil {
		return err
	}
	if i := slices.IndexFunc(labels, func(y float64) bool { return math.IsNaN(y) || math.IsInf(y, 0) }); i >= 0 {
		return &matrix.DataError{Text: fmt.Sprintf("label %d is no number", i)}
	}
	// What is chosen by a count goes one way with it, so that what the smallest and the largest have is right for all.
	n, _ := rows.Dims()
	for _, count := range []float64{math.Inf(-1), most} {
		f := c.frame(count, rows)
		f.Cells = f.may[:min(len(f.may), mostCells)]
		chosen, _ := c.choose(f)
		nowhere := blank{n, f.features() + f.CellFeatures() + 1, c.Bias}
		if err := cmp.Or(c.Of.Check(nowhere, labels), mechanism.Check(chosen, nowhere, labels)); err != nil {
			return err
		}
	}
	return nil
}

// bought returns the frame that the count and the sums, released with noise from src, make.
func (c Centred) bought(rows matrix.Rows, labels []float64, src noise.Source, workers int) frame {
	n, _ := rows.Dims()
	count := c.Planned
	if count == 0 {
		count = c.Law.Count(n, c.CountSigma, src)
	}
	f := c.frame(count, rows)
	f.centre(f.sums(rows, labels, src, workers))
	return f
}

// Run implements mechanism.Mechanism. Fitted is the mechanism that was chosen, with the coefficients and what else it
// released in Bought.
func (c Centred) Run(rows matrix.Rows, labels []float64, src noise.Source, settings *mechanism.Settings) (
	*mechanism.Release, error) {
	both, err := mechanism.Begin(c, rows, labels, src, settings)
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
	f.Stretch, f.Raw, f.Also = stretch, f.whole(r.Coefficients), r.Also
	r.Coefficients, r.Also = f.unfold(), &f.Bought
	r.Guarantee = both.Guarantee
	counted := fmt.Sprintf("a count with noise of %.3g: %.0f, and ", c.CountSigma, math.Round(f.Count))
	if c.Planned > 0 {
		counted = ""
	}
	r.Mechanism = fmt.Sprintf("%s, after %sthe mean of the rows (noise multiplier %.4g)", r.Mechanism, counted,
		c.MeanSigma)
	return r, nil
}
