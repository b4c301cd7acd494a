package learn

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/internal/univariate"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/mechanism/additive"
	"github.com/dpnb/notebooks/dpnb/mechanism/geometry"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert/interval"
	"github.com/dpnb/notebooks/dpnb/mechanism/pure"
	"github.com/dpnb/notebooks/dpnb/noise"
)

// shown returns the names and values of the coefficients that a model shows. Where rows are centred, single
// coefficients mean nothing, as indicators add up to nothing and a curve has many: then they are effects.
func shown(e *frame.Encoding, theta []float64, also any) (names []string, values []float64) {
	if of, ok := also.(*additive.Cells); ok {
		return cellNames(e, of), theta
	}
	if !e.Centred() {
		return e.Features, theta
	}
	b, _ := also.(*geometry.Bought)
	effects, q := effectsOf(e, b), 1.0
	for _, f := range effects {
		names = append(names, f.Name)
	}
	if b != nil {
		theta, q = b.Raw, b.Stretch
	}
	forms, shift := formsOf(e, effects, b, q)
	for one := range slices.Chunk(theta, len(forms[0])) {
		for k, f := range forms {
			values = append(values, floats.Dot(f, one)+shift[k])
		}
	}
	return names, values
}

// linear returns the coefficients of the linear forms that are predicted, of rows that are placed where that was
// bought.
func (m *Model) linear() []float64 {
	if m.theta != nil {
		return m.theta
	}
	return m.coefficients
}

// effects are those of a model of centred rows; nil of others, which have coefficients.
func (m *Model) effects() []frame.Effect {
	if !m.encoding.Centred() {
		return nil
	}
	return effectsOf(m.encoding, m.bought())
}

// effectsOf are those of centred rows, by what was bought of them.
func effectsOf(e *frame.Encoding, b *geometry.Bought) []frame.Effect {
	return e.Effects(meanRow(b), meanError(b), cutOf(e, b))
}

// meanRow is the mean of the rows without their bias, as it was bought; nil if it was not.
func meanRow(b *geometry.Bought) []float64 {
	if b == nil {
		return nil
	}
	return b.MeanRow()
}

// meanError is the standard deviation of the noise in an entry of meanRow, 0 where that was not bought.
func meanError(b *geometry.Bought) float64 {
	if b == nil {
		return 0
	}
	return b.MeanRowError()
}

// cutOf is by what rows in units are multiplied that are cut, nil where none is.
func cutOf(e *frame.Encoding, b *geometry.Bought) frame.Cut {
	if b == nil || !e.Clipped() || b.Uncut() {
		return nil
	}
	return b.Cut
}

// formsOf returns effects as linear forms aᵀθ + shift of the coefficients of a fit, stretched by q; of those that
// predict where nothing was bought.
func formsOf(e *frame.Encoding, effects []frame.Effect, b *geometry.Bought, q float64) (forms [][]float64,
	shift []float64) {
	typical := 0.0
	if b != nil && len(b.Pairs) > 0 {
		typical = e.TypicalProducts()
	}
	for _, f := range effects {
		if b == nil {
			forms, shift = append(forms, f.Weights), append(shift, 0)
			continue
		}
		a, of := b.Form(f.Weights, f.Line, f.Places, typical, q)
		forms, shift = append(forms, a), append(shift, of)
	}
	return forms, shift
}

// missingAgainst says with what the effects of missing numbers compare them, "" where there are none.
func (m *Model) missingAgainst() string {
	const most = 12
	if !m.encoding.Centred() {
		return ""
	}
	all := m.encoding.MissingAgainst()
	if n := len(all) - most; n > 0 {
		all = append(all[:most], fmt.Sprintf("and so on in %d more", n))
	}
	if all == nil {
		return ""
	}
	return fmt.Sprintf("The effect of being missing is against: %s.", strings.Join(all, "; "))
}

// beside says what rows have beside what each column is by itself, "" for nothing.
func (m *Model) beside() string {
	what := m.encoding.Crossed()
	if b := m.bought(); b != nil {
		if len(b.Pairs) > 0 {
			what = append(what, "products of every two columns")
		}
		for _, n := range b.Cells {
			what = append(what, "127 cells of "+m.encoding.Features[n.Feature])
		}
	}
	return strings.Join(what, ", ")
}

// hingeOf returns the loss with the margin that a mechanism has fitted with.
func hingeOf(l loss.Softplus, fitted mechanism.Mechanism) loss.Softplus {
	var of any
	if o, ok := perturbationOf(fitted); ok {
		of, _ = loss.Weightless(o.Loss)
	} else if o, ok := fitted.(pure.Objective); ok {
		of = o.Loss
	}
	if used, ok := of.(loss.Softplus); ok {
		return used
	}
	return l
}

// shrunkBy says what the column of shrunk is.
const shrunkBy = "Shrunk by: how far the ridge has moved an effect of the model, where that is more than a standard " +
	"error; intervals for the population are corrected for it."

// shrunk says of each effect by how much the ridge has moved it, as far as that is known, or "" where it is less than
// the standard error of the population's; nil where it is so of all or not known.
func (m *Model) shrunk() []string {
	const level, errors = 0.95, 1.96
	if _, ok := m.Curvature(); m.bought() == nil || !ok {
		return nil
	}
	iv, err := m.PopulationIntervals(level)
	if err != nil {
		return nil
	}
	some, all := false, make([]string, len(m.coefficients))
	for j, v := range m.coefficients {
		if by := iv.Estimate[j] - v; math.Abs(by) > (iv.Upper[j]-iv.Lower[j])/(2*errors) {
			some, all[j] = true, fmt.Sprintf("%+.2g", by)
		}
	}
	if !some {
		return nil
	}
	return all
}

// imagined is how many records stand for those of a fit where what is expected of their curvature is reckoned.
const imagined = 8192

// Of the noise of shares they are taken lower by lessUsual, for the population; by lessSure where bands are to be wide
// enough where hardly anybody is; by lessRare at least of categories that do not stand out of the noise, which else
// pass for frequent ones: docs/theory/intervals.md, section 6.
const lessUsual, lessSure, lessRare = 0.5, 1.5, 1

// guess is what is expected of the curvature of the records of a fit: that of independent columns with the shares that
// were bought, lower by less times their noise or more, and labels that follow the model.
func (m *Model) guess(b *geometry.Bought, fit objpert.Objective, less float64) interval.Guess {
	d := len(b.Raw)
	src := noise.NewSeeded(1)
	rows := b.Placed(m.encoding.Imagined(meanRow(b), meanError(b), less, lessRare, imagined, src.Float64))
	t, w := make([]float64, imagined), make([]float64, imagined)
	rows.Margins(t, b.Raw, 0, imagined)
	g := interval.Guess{Curvature: mat.NewSymDense(d, nil), Factor: factorOfLabels,
		Sizes: slices.Repeat([]float64{sizeOfLabels}, d), Doubts: make([]float64, d), Normals: normals, Constant: d - 1}
	shares, off := m.encoding.Shares(meanRow(b), meanError(b), less, lessRare)
	for j, p := range shares {
		if p > 0 { // of one that may be nothing but noise, nothing is known at 1
			g.Doubts[j] = math.Min(1, off[j]/p)
		}
	}
	if m.target.Task == frame.Number {
		g.Factor = factorOfNumbers
		for j := range d {
			g.Sizes[j] = sizeOfNumbers
			if j < len(shares) && shares[j] > 0 { // of one that is rare for certain
				p := math.Min(0.5, shares[j]+2*off[j])
				g.Sizes[j] = math.Min(sizeOfLabels, sizeOfNumbers*math.Max(1, spreadOfUsual/math.Sqrt(p*(1-p))))
			}
		}
		usual, _ := ofResiduals(fit.Loss, usualResidual)
		for i := range w {
			w[i] = usual
		}
		// The residuals are as large as the curvature says.
		g.Scores = func(f float64) float64 {
			_, sd := univariate.Bisect(func(sd float64) bool {
				curvature, _ := ofResiduals(fit.Loss, sd)
				return !(curvature > f*usual)
			}, 0.01, 8, univariate.Geometric, 1e-11)
			curvature, square := ofResiduals(fit.Loss, sd)
			return square / curvature
		}
	} else {
		labels, slopes := m.drawn(t, src.Float64), make([]float64, imagined)
		fit.Loss.ValueSlope(slopes, t, labels)
		fit.Loss.Curvature(w, t, labels)
		ratio := floats.Dot(slopes, slopes) / floats.Sum(w)
		g.Scores = func(float64) float64 { return ratio }
	}
	row := make([]float64, d)
	weighted := mat.NewDense(imagined, d, nil)
	for i := range imagined {
		rows.Row(row, i)
		floats.Scale(math.Sqrt(w[i]*b.Records/imagined), row)
		weighted.SetRow(i, row)
	}
	g.Curvature.SymOuterK(1, weighted.T())
	at := 0
	for k, size := range m.encoding.Groups() {
		c := interval.Column{Span: matrix.Span{First: at, Len: size}}
		if columns := m.encoding.Columns(); k >= len(columns) { // a cross, whose columns may depend on each other
			c.Off = doubtOfSpread
		} else if f, _ := m.encoding.Field(columns[k]); f.Kind == frame.Numeric {
			c.Off = doubtOfSpread
			if m.encoding.Curves() != nil { // hats say how numbers spread
				c.Off /= 2
			}
		}
		g.Columns = append(g.Columns, c)
		at += size
	}
	for _, more := range []int{len(b.Mean) - at, b.CellFeatures(), 1} { // products, cells, the constant
		if more > 0 {
			g.Columns = append(g.Columns, interval.Column{Span: matrix.Span{First: at, Len: more}})
		}
		at += more
	}
	return g
}

const (
	// usualResidual is the standard deviation of a residual that is expected, in units of the loss.
	usualResidual = 1.5
	// doubtOfSpread is how far the curvature of a number may be off, which depends on its spread.
	doubtOfSpread = 0.7
	// factorOfLabels and factorOfNumbers are how far the expected curvature may be off as a whole.
	factorOfLabels, factorOfNumbers = 0.1, 0.4
	// sizeOfLabels and sizeOfNumbers are how large a coefficient of the population may be, a standard deviation, of
	// rows of norm 1 and in units of the loss: classes may be apart, and a number is about as large as its unit.
	sizeOfLabels, sizeOfNumbers = 10, 3
	// spreadOfUsual is the standard deviation of the indicator of a share of 4 %: a category of fewer records may
	// explain as much of a number, by an effect that is larger.
	spreadOfUsual = 0.2
)

// normals fill vectors with standard normal numbers of stream k, to simulate by what was released. Draws of a curvature
// have 1, 2 and so on; 0 is for what is drawn beside them.
func normals(k int) func(z []float64) {
	src := noise.NewSeeded(uint64(k))
	return func(z []float64) { src.Gaussian(z, 1) }
}

// drawn returns classes or counts that follow the model at margins t.
func (m *Model) drawn(t []float64, uniform func() float64) []float64 {
	labels := make([]float64, len(t))
	for i, t := range t {
		if m.target.Task != frame.Count {
			if labels[i] = -1; uniform() < m.probability(t) {
				labels[i] = 1
			}
			continue
		}
		mean := math.Min(math.Exp(t), m.target.Upper)
		for left, p := uniform()-math.Exp(-mean), math.Exp(-mean); left > 0 && labels[i] < m.target.Upper; left -= p {
			labels[i]++
			p *= mean / labels[i]
		}
	}
	return labels
}

// ofResiduals returns the mean curvature and the mean squared slope of a loss at normal residuals of a standard
// deviation.
func ofResiduals(l loss.Loss, sd float64) (curvature, square float64) {
	const points = 400
	t, y, out := make([]float64, points), make([]float64, points), make([]float64, points)
	for i := range t {
		t[i] = sd * math.Sqrt2 * math.Erfinv((2*float64(i)+1)/points-1)
	}
	l.Curvature(out, t, y)
	curvature = floats.Sum(out) / points
	l.ValueSlope(out, t, y)
	return curvature, floats.Dot(out, out) / points
}
