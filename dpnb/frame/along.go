package frame

import (
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/internal/logscale"
)

// Term is one column of centred rows as a reader sees it: a function of the values of the column, which the
// coefficients make. It is decided by what it is at its handles: the knots of a number and the categories, of which
// being missing is one. On its scale a number is straight between two knots.
type Term struct {
	Field Field
	// Knots are values of a number, rising, in its own unit: where its hats are, else its bounds.
	Knots []float64
	// Categories are those of a category; "missing" is the last, and of a number the only one, where it has a feature.
	Categories []string
	// Shares are about the parts of the records that are at the handles, knots before categories, as the mean row has
	// it: they add up to 1. A record between two knots counts for both.
	Shares []float64

	c        *encoder
	d        int
	by, bias float64
	mean     []float64 // of the features for these shares
	places   []float64 // of the scale, their shares
}

// Terms returns the columns of centred rows in their order. A term is counted from its mean over the records, as far
// as their mean row says where they are (nil: all over the scale): then it says how far a value is from the usual,
// no value has a band of no width for being the one that others are counted from, and its spread says how much the
// column matters. The mean row has noise of a standard deviation off in each entry, by which shares are taken lower, so
// that few records do not pass for many. Where rows are scaled to a norm each by its own, a row is taken to have the
// typical norm (TypicalNorm).
func (e *Encoding) Terms(mean []float64, off float64) []Term {
	terms, places := make([]Term, len(e.encoders)), e.margins(mean, doubt{off, 1})
	for i := range e.encoders {
		c := &e.encoders[i]
		t := Term{Field: *c.field, c: c, d: len(e.Features), by: e.ofRow(), bias: e.Bias()}
		t.mean = make([]float64, t.d)
		if c.categories != nil {
			t.Categories, t.Shares = slices.Clone(c.field.Levels), places[i]
			if c.field.Missing {
				t.Categories = append(t.Categories, missing)
			}
		} else {
			k := max(2, c.hats)
			for j := range k {
				t.Knots = append(t.Knots, c.unscaled(float64(j)/float64(k-1)))
			}
			t.Shares, t.places = make([]float64, k), places[i]
			for j, w := range places[i] {
				hat(t.Shares, place(j), w)
			}
			if c.width() > 1+c.hats {
				lost := 0.0
				if mean != nil {
					lost = math.Min(math.Max(0, mean[c.at+1+c.hats]), 1)
				}
				floats.Scale(1-lost, t.Shares)
				t.Categories, t.Shares = []string{missing}, append(t.Shares, lost)
			}
		}
		of := make([]float64, t.d)
		for j, w := range t.Shares { // what is straight between knots has its mean there
			clear(of)
			c.handle(of, j, len(t.Knots))
			floats.AddScaled(t.mean, w, of)
		}
		terms[i] = t
	}
	return terms
}

// missing names the category of values that are missing.
const missing = "missing"

// unscaled returns the number at a share of its scale.
func (e *encoder) unscaled(u float64) float64 {
	if e.field.Log {
		return logscale.Between(e.field.Lower, e.field.Upper).Value(u)
	}
	return e.field.Lower + u*(e.field.Upper-e.field.Lower)
}

// handle writes what a centred row has in the features of its column at a handle, of which so many are knots.
func (e *encoder) handle(row []float64, k, knots int) {
	own := row[e.at : e.at+e.width()]
	switch {
	case k < knots:
		e.line(own, float64(k)/float64(knots-1))
	case e.categories == nil:
		own[1+e.hats] = 1
	default:
		indicate(own, k)
	}
}

// less returns features less their mean, in a row of the typical norm: the weights of the coefficients.
func (t Term) less(row []float64) []float64 {
	floats.Sub(row, t.mean)
	floats.Scale(t.by, row)
	return row
}

// Of returns what a handle adds as an effect.
func (t Term) Of(handle int) Effect {
	if handle < len(t.Knots) {
		return t.at(float64(handle) / float64(len(t.Knots)-1))
	}
	row := make([]float64, t.d)
	t.c.handle(row, handle, len(t.Knots))
	return Effect{Weights: t.less(row), Line: t.c.at, Places: t.lessPlaces(nil)}
}

// At returns what a number adds as an effect.
func (t Term) At(v float64) Effect { return t.at(t.c.number(v)) }

// at is At for a share of the scale.
func (t Term) at(u float64) Effect {
	row, own := make([]float64, t.d), make([]float64, points)
	t.c.line(row[t.c.at:t.c.at+t.c.width()], u)
	hat(own, u, 1)
	return Effect{Weights: t.less(row), Line: t.c.at, Places: t.lessPlaces(own)}
}

// lessPlaces returns weights of places less their mean over the records; nil of a category.
func (t Term) lessPlaces(own []float64) []float64 {
	if t.places == nil {
		return nil
	}
	out := make([]float64, points)
	copy(out, own)
	floats.AddScaled(out, -floats.Sum(t.Shares[:len(t.Knots)]), t.places)
	return out
}

// Line is the feature of a number's line, or the first of a category.
func (t Term) Line() int { return t.c.at }

// Between returns n − 1 numbers between each two knots, evenly spread on the scale, and the knots.
func (t Term) Between(n int) []float64 {
	last := n * (len(t.Knots) - 1)
	all := make([]float64, last+1)
	for i := range all {
		if all[i] = t.c.unscaled(float64(i) / float64(last)); i%n == 0 {
			all[i] = t.Knots[i/n]
		}
	}
	return all
}

// Text returns a number as the column's values are written, to four digits if it is no date.
func (t Term) Text(v float64) string {
	if t.Field.Part != Days {
		v, _ = strconv.ParseFloat(strconv.FormatFloat(v, 'g', 4, 64), 64)
	}
	return t.Field.shown(v)
}

// Changed returns by how much the coefficients change where the term changes by so much at its handles. That of the
// bias, by which the form of a row of the typical norm changes by just that at every value, is the last; ok is false
// where rows have none, and it would not be 0.
func (t Term) Changed(by []float64) (change []float64, ok bool) {
	change = make([]float64, t.d)
	own, k := change[t.c.at:t.c.at+t.c.width()], len(t.Knots)
	var constant float64 // what a row of nothing but zeros in the column has
	switch {
	case t.c.categories != nil:
		constant = floats.Sum(by) / float64(len(by))
		copy(own, by)
	case t.c.hats > 0:
		copy(own[1:], by[:k])
		if constant = floats.Sum(by[:k]) / float64(k); t.Field.Typical != nil {
			at := make([]float64, k)
			hat(at, t.c.typical, 1)
			constant = floats.Dot(at, by[:k])
		}
	default:
		own[0] = (by[1] - by[0]) * t.c.reach
		constant = by[0] + t.c.typical*(by[1]-by[0])
	}
	if k > 0 && len(t.Categories) > 0 {
		own[len(own)-1] = by[k] - constant
	}
	floats.Scale(1/t.by, own)
	if t.bias == 0 {
		return change, math.Abs(constant) < 1e-12*(1+floats.Norm(by, math.Inf(1)))
	}
	change[t.d-1] = constant / t.bias
	return change, true
}
