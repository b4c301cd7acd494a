package learn

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/go-gota/gota/dataframe"
	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/display"
	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/internal/numeral"
	"github.com/dpnb/notebooks/dpnb/internal/wording"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/mechanism/geometry"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert/interval"
	"github.com/dpnb/notebooks/dpnb/mechanism/sgd"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Intervals has one interval for each coefficient of a released model, in the order of the features. Each by itself
// covers what Covers says, at its level; all of them at once are covered less often (for simultaneous coverage use the
// level 1 − α/d). They are computed from what was released and cost nothing. Show displays a table.
type Intervals struct {
	// Intervals has Level, Estimate, Lower, Upper, Covers, Basis and Proved.
	interval.Intervals
	// own is what Intervals is a copy of: what is shown does not depend on what a program makes of that.
	own   interval.Intervals
	model *Model
	// population says that they are for its coefficients.
	population bool
	// why some have no end, of each part of the model that has one; nil where that is the noise.
	why []string
	// references are categories from which others of their column are counted.
	references []string
}

// Intervals returns intervals, at a level such as 0.95, for the coefficients that the same fit would have had on these
// records without noise. What goes with what among people at large is for PopulationIntervals.
//
// Without a CurvatureShare they come from the law of the noise and λ alone: they hold for every dataset and are wide.
// With one they are, in the limit of many records, no wider than what is known of the curvature allows
// (interval.Minimiser with Linearise); ProvedIntervals hold for any number. For quantiles there are none without a
// CurvatureShare; with one they are about estimates that are corrected for where the descent has stopped
// (sgd.Curvature).
//
// Errors: a level outside (0, 1); a model without privacy, or not released by objective perturbation or as quantiles
// with a CurvatureShare.
func (m *Model) Intervals(level float64) (*Intervals, error) {
	return m.around(nil, level, ofFit)
}

// ProvedIntervals is Intervals with a coverage that is proved for every dataset: with a CurvatureShare they are narrow
// where records are many and features few. Decide between the two beforehand: taking the narrower one after seeing both
// would be a choice that depends on the noise.
//
// Errors: as Intervals; quantiles.
func (m *Model) ProvedIntervals(level float64) (*Intervals, error) {
	return m.around(nil, level, provedOfFit)
}

// PopulationIntervals returns intervals for the coefficients of the population from which the records were drawn,
// corrected for the shrinkage of the ridge: those that a reader of a table of coefficients expects. Those of centred
// rows are approximate where records are few (interval.LikelyLaw). Else they hold in the limit of many records, are
// infinite where the curvature does not stand out from its noise, and are for Logistic alone, whose scores vary by its
// curvature.
//
// For quantiles they are those of quantile regression, with τ(1−τ)H⁻¹GH⁻¹ estimated by a kernel, and what the noise
// adds; they are infinite also where the noise moves the fit too far.
//
// Errors: as Intervals; a fit without a CurvatureShare; rows that are not centred, of a learner other than Logistic,
// Quantile and Quantiles; several rows of a person, which are no independent draws.
func (m *Model) PopulationIntervals(level float64) (*Intervals, error) {
	return m.around(nil, level, ofPopulation)
}

// drawnEach is an error where the records are no independent draws from a population: several may be of one person, and
// say less than as many people do.
func (m *Model) drawnEach() error {
	if rows := m.release.Guarantee.Rows; rows > 1 {
		return fmt.Errorf("dpnb: nothing is known of the population where a person has up to %d rows, which are no "+
			"independent draws: %s, or take those of the same fit without noise%s", rows,
			wording.Setting{Field: "RowsOfAPerson", Value: "1", Go: "PerPerson(column, 1)"},
			wording.Setting{Go: ", Intervals"})
	}
	return nil
}

// coverage is what an interval covers, and how surely.
type coverage int

const (
	ofFit coverage = iota
	provedOfFit
	ofPopulation
)

// around returns intervals for effects of m; nil is all that it shows, or its coefficients if it shows these.
func (m *Model) around(effects []frame.Effect, level float64, kind coverage) (*Intervals, error) {
	if err := m.hasIntervals(); err != nil {
		return nil, err
	}
	if err := interval.CheckLevel(level); err != nil {
		return nil, err
	}
	if err := m.drawnEach(); kind == ofPopulation && err != nil {
		return nil, err
	}
	if isDescent(m.release) {
		if kind == provedOfFit {
			return nil, fmt.Errorf("dpnb: no intervals are proved for a %s at every number of records: a loss with a "+
				"kink can have any curvature next to it; Intervals and PopulationIntervals hold in the limit of many",
				m.title)
		}
		return m.aroundQuantiles(level, kind == ofPopulation)
	}
	b := m.bought()
	if effects == nil {
		effects = m.effects()
	}
	curvature, known := m.Curvature()
	if kind == ofPopulation && m.target.Task == frame.ManyClasses {
		return nil, fmt.Errorf("dpnb: there are no intervals for the population of a %s: nothing is released of its "+
			"records' curvature; there are those of the same fit without noise%s", m.title,
			wording.Setting{Go: ", Intervals"})
	}
	if kind == ofPopulation && m.weighted() {
		return nil, errors.New("dpnb: intervals for the population are not known where records have weights; there " +
			"are those of the same fit without noise" + wording.Setting{Go: ", Intervals"}.String())
	}
	if _, ok := m.link(); kind == ofPopulation && b == nil && (!m.probabilities || ok) {
		return nil, fmt.Errorf("dpnb: of rows that are not centred only Logistic and quantiles have intervals for the "+
			"population: the covariance of the scores of a %s is not released; rows are centred without %s, %s, %s "+
			"and %s%s", m.title, wording.Of("Lambda"), wording.Of("Clip"), wording.Of("Threshold"),
			wording.Of("PassesBy"), wording.Setting{Go: ", Uncentred and NoBias (package interval can)"})
	} else if kind == ofPopulation && !known {
		return nil, fmt.Errorf("dpnb: nothing is known of the population without the curvature of the records, "+
			"and that costs a part of the budget: fit with %s", wording.Of("CurvatureShare", "0.05"))
	}
	fit, _ := m.ObjectivePerturbation()
	theta, s := m.linear(), interval.Settings{Level: level, Linearise: kind != provedOfFit}
	var shift []float64
	if b != nil {
		q := b.Stretch
		if kind == ofPopulation {
			q = 1
		}
		theta = b.Raw
		s.Forms, shift = formsOf(m.encoding, effects, b, q)
	} else {
		for _, f := range effects {
			s.Forms = append(s.Forms, f.Weights)
		}
	}
	if s.Forms != nil {
		nowhere, width := m.encoding.Nowhere(), len(m.encoding.Features)
		if b != nil {
			nowhere, width = append(nowhere, b.Nowhere()...), b.Width()
		}
		s.Basis = matrix.Complement(nowhere, width)
	}
	var iv *interval.Intervals
	var err error
	switch {
	case known && b != nil && kind == ofPopulation:
		var law *interval.Law
		if law, err = m.lawOf(true, func(*geometry.Bought, float64) [][]float64 { return s.Forms }); err == nil {
			iv = law.Intervals(level)
		}
	case kind == ofPopulation:
		iv, err = interval.Population(fit, theta, curvature, s)
	case known:
		iv, err = interval.Minimiser(fit, theta, curvature, s)
	}
	// The curvature of losses with kinks in their slope can change at once.
	if !known || errors.Is(err, privacy.ErrUnsupported) {
		if s.Forms == nil {
			iv, err = interval.FromRelease(m.release.Fitted, theta, level)
		} else {
			iv, err = interval.FormsFromRelease(m.release.Fitted, theta, s)
		}
	}
	if err != nil {
		return nil, err
	}
	shifted(shift, iv.Estimate, iv.Lower, iv.Upper)
	return (&Intervals{own: *iv, model: m, population: kind == ofPopulation}).copied(), nil
}

// shifted adds the shift of forms, nil for none, to what is known of them for each class or level.
func shifted(shift []float64, known ...[]float64) {
	for _, all := range known {
		for from := 0; shift != nil && from < len(all); from += len(shift) {
			floats.Add(all[from:from+len(shift)], shift)
		}
	}
}

// Curvature returns the curvature that was released with the coefficients, for package interval. False for a fit
// without a CurvatureShare.
func (m *Model) Curvature() (*interval.Moments, bool) {
	if m.Err() != nil || m.release == nil {
		return nil, false
	}
	curvature, ok := mechanism.CloneAlso(m.beyond()).(*interval.Moments) // its copy: intervals are made of it
	return curvature, ok
}

// beyond is what was released beside the coefficients and what was bought.
func (m *Model) beyond() any {
	if b := m.bought(); b != nil {
		return b.Also
	}
	return m.release.Also
}

// moments returns what was released of a descent beside its coefficients.
func (m *Model) moments() (*sgd.Moments, bool) {
	released, ok := m.beyond().(*sgd.Moments)
	return released, ok
}

// hasIntervals reports why there are no intervals on m.
func (m *Model) hasIntervals() error {
	switch {
	case m.Err() != nil:
		return m.Err()
	case m.release == nil:
		return errors.New("dpnb: this fit drew no noise, so that there is none to allow for: " +
			"intervals are for released models (Fit)")
	case m.base != nil:
		return errors.New("dpnb: shapes of this model were changed after the fit, and intervals are for what was " +
			"released: ask the model before that (Unedited)")
	case mustRise(m.encoding):
		return errors.New("dpnb: a column of this model had to rise or to fall, and where it was held the noise has " +
			"no law that is known: there are no intervals")
	case m.levels != nil && !isDescent(m.release) && m.Release.Guarantee.Delta > 0:
		return fmt.Errorf("dpnb: there are no intervals for this %s, which was fitted as one problem: a fit by steps "+
			"has them, with %s", m.title, wording.Of("CurvatureShare", "0.2"))
	case isDescent(m.release):
		if _, ok := m.moments(); !ok {
			return fmt.Errorf("dpnb: there are no intervals for this %s: what noise leaves in the coefficients "+
				"depends on the density of the records at the quantile, and that costs a part of the budget: fit with "+
				"%s", m.title, wording.Of("CurvatureShare", "0.2"))
		}
	case !interval.Knows(m.release.Fitted):
		return fmt.Errorf("dpnb: intervals are for objective perturbation with a δ, without a regulariser, by "+
			"learners other than HeavyTails; this %s is by %s", m.title, m.release.Fitted.Describe().Name)
	}
	return nil
}

// copied gives iv the copies of it and of its model that a program does not have.
func (iv *Intervals) copied() *Intervals {
	model := *iv.model
	iv.model, iv.Intervals = &model, iv.own
	iv.Estimate, iv.Lower, iv.Upper = slices.Clone(iv.Estimate), slices.Clone(iv.Lower), slices.Clone(iv.Upper)
	return iv
}

// aroundQuantiles are the intervals of a descent with its curvature.
func (m *Model) aroundQuantiles(level float64, population bool) (*Intervals, error) {
	c := m.release.Fitted.(sgd.Curvature)
	released, _ := m.moments()
	b := m.bought()
	var forms [][]float64
	var shift []float64
	if b != nil {
		forms, shift = formsOf(m.encoding, m.effects(), b, 1)
	}
	a, err := c.Around(released, level, population, forms)
	if err != nil {
		return nil, err
	}
	shifted(shift, a.Centre)
	iv := &Intervals{model: m, population: population, own: interval.Intervals{Level: level, Estimate: a.Centre,
		Covers: "the coefficients of the same fit to these records without noise, over the noise",
		Basis: "the noisy gradients of the descent, which say how far from their zero it has stopped, and the " +
			"curvature there, which was released with noise; in the limit of many records, drawn one by one, whose " +
			"targets have a density at the quantile (docs/theory/quantile_intervals.md)"}}
	if population {
		iv.own.Covers = "the population's coefficients, over the draw of the records and of the noise"
	}
	for j, centre := range a.Centre {
		iv.own.Lower, iv.own.Upper = append(iv.own.Lower, centre-a.Half[j]), append(iv.own.Upper, centre+a.Half[j])
	}
	for _, r := range c.References {
		iv.references = append(iv.references, m.features[r.Out()])
	}
	for k, why := range a.Why {
		if why != "" {
			if len(a.Why) > 1 {
				why = fmt.Sprintf("τ = %g: %s", m.levels[k], why)
			}
			iv.why = append(iv.why, why)
		}
	}
	return iv.copied(), nil
}

// CoefficientsWithIntervals is Coefficients with the columns lower and upper of Intervals.
//
// Errors: as Intervals.
func (m *Model) CoefficientsWithIntervals(level float64) (dataframe.DataFrame, error) {
	iv, err := m.Intervals(level)
	if err != nil {
		return dataframe.DataFrame{Err: err}, err
	}
	return iv.dataFrame("coefficient"), nil
}

// DataFrame returns the intervals with columns feature, estimate, lower and upper; of several classes with a column
// class before them.
func (iv *Intervals) DataFrame() dataframe.DataFrame {
	if iv == nil {
		return dataframe.DataFrame{Err: errNoIntervals}
	}
	return iv.dataFrame("estimate")
}

// InUnits is DataFrame in the target's unit for one unit of a feature, as CoefficientsInUnits is of the coefficients,
// which are not corrected as estimates for the population are.
//
// Errors (in it): as CoefficientsInUnits; records that are not centred.
func (iv *Intervals) InUnits() dataframe.DataFrame {
	if iv == nil {
		return dataframe.DataFrame{Err: errNoIntervals}
	}
	if err := iv.model.hasUnits(); err != nil {
		return dataframe.DataFrame{Err: err}
	}
	if !iv.model.encoding.Centred() {
		return dataframe.DataFrame{Err: errors.New("dpnb: of records that are not centred no interval of a unit is " +
			"known: the bias would be moved by all coefficients")}
	}
	return iv.model.effectsInUnits([]string{"estimate", "lower", "upper"}, iv.own.Estimate, iv.own.Lower, iv.own.Upper)
}

var errNoIntervals = errors.New("dpnb: no intervals: look at the err that came with them")

func (iv *Intervals) dataFrame(estimate string) dataframe.DataFrame {
	return iv.model.dataFrame([]string{estimate, "lower", "upper"}, iv.own.Estimate, iv.own.Lower, iv.own.Upper)
}

// narrow says of which numbers that bend the records may all be between two hats, "" of none: how far they spread
// there is not known, so that an estimate can be corrected too little for the ridge, and an interval for the population
// can miss.
func (m *Model) narrow() string {
	const small = 0.05 // deviations of the scale
	var names []string
	if m.bought() == nil {
		return ""
	}
	for _, c := range m.terms() {
		if d := c.Deviation(); d > 0 && d < small {
			names = append(names, c.Field.Name)
		}
	}
	if names == nil {
		return ""
	}
	return fmt.Sprintf("By what was bought, records fill a small part of the bounds of %s: of a number that bends an "+
		"interval can then be too near to 0. State narrower bounds, or keep it straight%s.",
		strings.Join(names, ", "), wording.Setting{Go: " (Lines)"})
}

// rare says of which categories nothing but noise may have been bought, "" of none.
func (m *Model) rare() string {
	b := m.bought()
	if b == nil {
		return ""
	}
	const most, hardly = 5, 0.5 // of the share
	var names []string
	shares, off := m.encoding.Shares(meanRow(b), meanError(b), lessUsual, lessRare)
	for j, p := range shares {
		if off[j] > hardly*p {
			names = append(names, m.encoding.Features[j])
		}
	}
	if names == nil {
		return ""
	}
	if n := len(names) - most; n > 0 {
		names = append(names[:most], fmt.Sprintf("%d more", n))
	}
	return fmt.Sprintf("By what was bought, hardly any record may have %s: such an interval says how large effects "+
		"may be, and little else.", wording.Names(names))
}

// Display shows the intervals column by column, class by class if there are several, what they cover and why.
func (iv *Intervals) Display() display.Item {
	if iv == nil {
		return display.Failed(errNoIntervals)
	}
	m := iv.model
	of, kind := "for the coefficients of", "in the limit of many records"
	if iv.population {
		of = "for the coefficients of the population, from"
	}
	if iv.own.Proved {
		kind = "proved for every dataset"
	}
	it := display.Item{
		Title: fmt.Sprintf("Intervals %s a private %s for %s, level %s", of, m.title, m.target.Name,
			strconv.FormatFloat(iv.own.Level, 'g', -1, 64)),
		Warning: m.warning(),
		Header:  []string{"feature", "estimate", "lower", "upper"},
	}
	d, all := len(m.features), len(iv.own.Estimate)
	most := max(5, mostShown/(all/d)) // of each class
	if kind, _ := m.parts(); kind != "" {
		it.Header = append([]string{kind}, it.Header...)
	}
	shrunk := m.shrunk()
	if shrunk != nil {
		it.Header = append(it.Header, "shrunk by")
	}
	factors := m.factorWords()
	if factors != "" {
		it.Header = append(it.Header, "factor")
	}
	apart, endless := 0, 0
	for j, estimate := range iv.own.Estimate {
		feature, k := m.features[j%d], j%d
		if slices.Contains(iv.references, feature) {
			continue
		}
		if iv.own.Lower[j] > 0 || iv.own.Upper[j] < 0 {
			apart++
		}
		if math.IsInf(iv.own.Upper[j]-iv.own.Lower[j], 1) {
			endless++
		}
		if k >= most {
			continue
		}
		row := append([]string{feature}, spanned(estimate, iv.own.Lower[j], iv.own.Upper[j])...)
		if part := m.part(j); part != "" {
			row = append([]string{part}, row...)
		}
		if shrunk != nil {
			row = append(row, shrunk[j])
		}
		if by, ok := m.factor(feature, estimate, iv.own.Lower[j], iv.own.Upper[j]); ok {
			row = append(row, by)
		}
		it.Row(row...)
	}
	all -= all / d * len(iv.references)
	if n := all - len(it.Rows); n > 0 {
		it.Note("… and %s.", numeral.Count(n, "more"))
	}
	if shrunk != nil {
		it.Note("%s", shrunkBy)
	}
	nothing, cure := iv.buysNothing(), ""
	if nothing == "" {
		cure = fmt.Sprintf(": more records, a larger ε or a larger %s would help", wording.Of("CurvatureShare"))
	}
	if iv.why != nil {
		it.Note("%d of them reach to infinity (%s)%s.", endless, strings.Join(iv.why, "; "), cure)
	} else if endless > 0 {
		it.Note("%d of them reach to infinity, where the curvature does not stand out of its noise%s.", endless, cure)
	}
	if nothing != "" {
		it.Notes = append(it.Notes, nothing)
	}
	it.Note("%d of %s exclude 0.", apart, numeral.Count(all, "interval"))
	covers := fmt.Sprintf("Each covers: %s; the coverage is %s.", iv.own.Covers, kind)
	if iv.population && !isDescent(m.release) {
		covers += " Estimates are corrected for the shrinkage of the ridge, and so differ from the model's " +
			"coefficients."
	}
	if all > 1 {
		covers += fmt.Sprintf(" Each holds by itself, uncorrected for multiple comparisons: for all %d to cover at "+
			"once with this confidence ask for level %s (Bonferroni).", all,
			strconv.FormatFloat(1-(1-iv.own.Level)/float64(all), 'g', 6, 64))
	}
	it.Notes = append(it.Notes, covers)
	scaled, filled, rare := "", "", ""
	if iv.population {
		scaled, filled, rare = m.ofScaledRows(), m.narrow(), m.rare()
	}
	for _, said := range []string{factors, scaled, m.missingAgainst(), m.counted(), filled, rare} {
		if said != "" {
			it.Notes = append(it.Notes, said)
		}
	}
	it.Note("Basis: %s.", iv.own.Basis)
	if isDescent(m.release) {
		it.Note("Estimates are corrected by what the noisy gradients say; the model predicts with its own " +
			"coefficients.")
		if iv.references != nil {
			it.Note("Reference categories: %s. The bias includes them, and the others are shown as differences from "+
				"them.", wording.Names(iv.references))
		}
	}
	_, narrow := m.Curvature()
	if narrow && !iv.population && !m.weighted() && m.bought() != nil && m.target.Task != frame.ManyClasses {
		it.Note("The bands of the model's shapes are of the same fit without noise, too, and narrower: they go by " +
			"what the curvature is likely to be, and these intervals by the worst that its noise may hide.")
	}
	if _, ok := m.ObjectivePerturbation(); m.weighted() {
		it.Note("Where records have weights there are no narrower ones.")
	} else if ok && !narrow {
		it.Note("With %s in the fit they would be narrower, for a twentieth more noise.",
			wording.Of("CurvatureShare", "0.1"))
	}
	return it
}

// buysNothing says how many intervals for the population, which a share was spent on, are no better than what is known
// without looking; "" if none is. It goes by what was released.
func (iv *Intervals) buysNothing() string {
	m := iv.model
	if !iv.population {
		return ""
	}
	known, how := 2.0, "an effect as large as the range of "+m.target.Name
	switch m.target.Task {
	case frame.TwoClasses:
		known, how = 2*math.Log(99), "which as log-odds takes a chance of 1 % to one of 99 %"
	case frame.Count:
		known, how = math.Log1p(m.target.Upper), "which takes a mean of 1 beyond the upper bound of "+m.target.Name
	}
	nothing, all := 0, 0
	for j, lower := range iv.own.Lower {
		if slices.Contains(iv.references, m.features[j%len(m.features)]) {
			continue
		}
		if all++; iv.own.Upper[j]-lower >= 2*known {
			nothing++
		}
	}
	if nothing == 0 {
		return ""
	}
	return fmt.Sprintf("The share for intervals buys nothing for %d of %d effects: their intervals for the population "+
		"reach ± %.3g or farther, %s. That much is known without looking. More records, a larger ε or a larger %s "+
		"would help; a fit without it has less noise.", nothing, all, known, how, wording.Of("CurvatureShare"))
}

// spanned are an estimate and the ends of its interval in three digits, or in as many as tell the ends apart.
func spanned(estimate, lower, upper float64) (all []string) {
	digits := 3
	same := func(a, b float64) bool { return fmt.Sprintf("%.*g", digits, a) == fmt.Sprintf("%.*g", digits, b) }
	for digits < 12 && lower < upper && (same(lower, upper) || same(lower, estimate) && lower < estimate ||
		same(estimate, upper) && estimate < upper) {
		digits++
	}
	for _, v := range []float64{estimate, lower, upper} {
		all = append(all, inDigits(v, digits))
	}
	return all
}

// bound writes an end of an interval.
func bound(v float64) string { return inDigits(v, 3) }

// inDigits is a number with its sign in so many digits.
func inDigits(v float64, digits int) string {
	switch {
	case math.IsInf(v, -1):
		return "−∞"
	case math.IsInf(v, 1):
		return "+∞"
	}
	return fmt.Sprintf("%+.*g", digits, v)
}
