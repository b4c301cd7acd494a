package frame

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// Effect is what a reader asks of a linear model of centred rows: how much the linear form is larger for one value of a
// column than for another. It is a linear form of the coefficients, and none of it lies where rows have nothing.
type Effect struct {
	// Name is "column: lower → upper" of a number, or "column=category".
	Name string
	// Weights are those of the coefficients, a feature each.
	Weights []float64
	// Unit is by how much the column changes for it, in its own unit: the width of the bounds of a number, 0 of a
	// category or a number on a logarithmic scale. Column is then the name without the bounds, "" of other effects.
	Unit   float64
	Column string
	// Periodic says that it is of a number with a period, between two places of it.
	Periodic bool
	// Places are, of a number whose line is in feature Line, the weights of evenly spaced places of its scale, the
	// bounds among them: the effect is a difference between records that have these values. nil of other effects.
	Line   int
	Places []float64
}

// Effects returns the effects of centred rows, column by column: of a category K − 1, each level against the reference,
// which is the first unless another is stated, and so of the intervals of steps; of a number one, from its lower bound
// to its upper one, as its name says, by the line that is nearest to its curve for records with the given mean row; of
// one with a period, which ends as it begins, its quarters against the beginning, since its largest value less its
// smallest is no linear form. Columns that are crossed follow: of two categories how much more the one makes for a
// category of the other than for its reference, of a number its effects in each category. All else is as in the mean,
// what a column is crossed with too. Last is that of a bias, the linear form of the mean row. A mean of nil is the
// middle of everything, of numbers that are spread evenly. Where rows are scaled to a norm each by its own, a row is
// taken to have the typical norm (TypicalNorm), and where they are cut, to be as long beyond the column as rows are.
//
// The mean row has noise of a standard deviation off in each entry. Nobody is at a knot whose share does not stand out
// of it: the curve is flat where no records are, and noise there would have much leverage on the line.
func (e *Encoding) Effects(mean []float64, off float64, by Cut) []Effect {
	d := len(e.Features)
	weights := e.margins(mean, doubt{}).weights
	certain := e.margins(mean, doubt{off, standsOut, standsOut}).weights
	means := e.meansOf(weights)
	changes := make([][]change, len(e.encoders))
	var all []Effect
	add := func(k int, c change, means [][]float64) {
		all = append(all, Effect{Name: c.name, Weights: e.changed(k, c.by, means), Unit: c.unit, Column: c.column,
			Periodic: c.periodic})
		if c.places != nil {
			all[len(all)-1].Line, all[len(all)-1].Places = e.encoders[k].at, c.places
		}
	}
	for k := range e.encoders {
		changes[k] = e.encoders[k].changes(certain[k], e.ofRow())
		if by != nil {
			e.cutAt(k, weights, mean, by).apply(changes[k], weights[k])
		}
		for _, c := range changes[k] {
			add(k, c, means)
		}
	}
	for _, x := range e.crosses {
		one, other := &e.encoders[x.a], &e.encoders[x.b]
		for _, c := range changes[x.a] {
			switch {
			case one.levels != nil, other.levels == nil && !c.missing:
				for _, by := range changes[x.b] {
					if by.missing {
						continue
					}
					f := Effect{Name: c.name + " × " + by.name, Weights: make([]float64, d),
						Periodic: c.periodic || by.periodic}
					x.add(f.Weights[x.at:], c.by, by.by)
					floats.Scale(1/e.ofRow(), f.Weights) // it is in both
					all = append(all, f)
				}
			case !c.missing:
				for l, name := range other.names() {
					level := make([]float64, x.levels)
					indicate(level, l)
					within := slices.Clone(means)
					within[x.b] = level
					named := c
					named.name += ", " + name
					if named.unit > 0 {
						named.column += ", " + name
					}
					add(x.a, named, within)
				}
			}
		}
	}
	if bias := e.Bias(); bias != 0 {
		w := make([]float64, d)
		copy(w, mean)
		w[d-1] = bias
		all = append(all, Effect{Name: "bias", Weights: w})
	}
	return all
}

// change is a difference between two values of a column.
type change struct {
	name string
	// by are the weights of the column's features; unit, column, periodic and places are those of Effect.
	by                []float64
	unit              float64
	column            string
	places            []float64
	periodic, missing bool
}

// changes returns the differences that Effects shows of a column, times a number, with weights of its places.
func (e *encoder) changes(weights []float64, by float64) (all []change) {
	add := func(name string, unit float64) []float64 {
		all = append(all, change{name: name, by: make([]float64, e.width()), unit: unit})
		return all[len(all)-1].by
	}
	f := e.field
	switch {
	case e.levels != nil:
		against := e.reference()
		for k, name := range e.names() {
			if k != against {
				w := add(name, 0)
				w[against], w[k] = -by, by
			}
		}
		return all
	case e.periodic():
		for quarter := 1; quarter < 4; quarter++ {
			u := float64(quarter) / 4
			w := add(fmt.Sprintf("%s: %s → %s", f.Name, f.shown(f.Lower), f.shown(f.Lower+u*f.Period)), 0)
			wave(w, u, by)
			wave(w, 0, -by)
			all[len(all)-1].periodic = true
		}
	default:
		unit := f.Upper - f.Lower
		if f.Log {
			unit = 0
		}
		w := add(fmt.Sprintf("%s: %s → %s", f.Name, f.shown(f.Lower), f.shown(f.Upper)), unit)
		if unit > 0 {
			all[0].column = f.Name
		}
		w[0] = by / e.reach
		if e.hats > 0 {
			places := slope(weights)
			for p, weight := range places {
				hat(w[1:1+e.hats], place(p), by*weight)
			}
			all[0].places = places
		}
	}
	if e.more {
		add(f.Name+" missing", 0)[e.size] = by
		all[len(all)-1].missing = true
	}
	return all
}

// Cut returns by what a row without its bias is multiplied whose distance from the mean row has this square, as long
// ones are cut. nil is for rows of which none is.
type Cut func(square float64) float64

// shortened is about the rows that have a value of one column: how far off the mean they are beside it, squared, and so
// by what they are multiplied.
type shortened struct {
	c      *encoder
	mean   []float64 // of the column's features
	beside float64
	by     Cut
}

// cutAt is that of column k, the others being independent and as their shares say, in rows that are centred by mean.
func (e *Encoding) cutAt(k int, shares [][]float64, mean []float64, by Cut) shortened {
	about := func(j int) shortened {
		c := &e.encoders[j]
		return shortened{c: c, mean: mean[c.at : c.at+c.width()], by: by}
	}
	out := about(k)
	for j := range e.encoders {
		if j == k {
			continue
		}
		c := about(j)
		far := func(share float64, v given) {
			own := c.less(v)
			out.beside += share * floats.Dot(own, own)
		}
		missing := c.c.missing(mean)
		for i, share := range shares[j] {
			far((1-missing)*share, c.c.valueAt(i))
		}
		if missing > 0 {
			far(missing, given{place: 1})
		}
	}
	return out
}

// missing is the share of the records that a number is missing of, as the mean row has it where that has an indicator,
// which is 1, and as long a row as others about.
func (e *encoder) missing(mean []float64) float64 {
	if !e.more || e.levels != nil || mean == nil {
		return 0
	}
	return math.Min(math.Max(0, mean[e.at+e.size]), 1)
}

// valueAt is what a record has that counts for share i of the column.
func (e *encoder) valueAt(i int) given {
	if e.levels != nil {
		return given{place: i}
	}
	return given{share: place(i)}
}

// less returns what a value has more than the mean.
func (c shortened) less(v given) []float64 {
	own := make([]float64, c.c.width())
	c.c.write(own, v)
	floats.Sub(own, c.mean)
	return own
}

// of returns the same in a row that is cut.
func (c shortened) of(v given) []float64 {
	own := c.less(v)
	floats.Scale(c.by(floats.Dot(own, own)+c.beside), own)
	return own
}

// apply changes what differences of a column are of to those between rows that are cut, of a number along the line
// that is nearest to what remains of its own, of what is missing against where all of the column is 0. Those of periods
// stay.
func (c shortened) apply(all []change, shares []float64) {
	if c.c.levels != nil {
		against, next := c.of(given{place: c.c.reference()}), 0
		for place := range shares {
			if place != c.c.reference() {
				floats.SubTo(all[next].by, c.of(given{place: place}), against)
				next++
			}
		}
		return
	}
	if c.c.more {
		last, zero := all[len(all)-1].by, slices.Clone(c.mean)
		floats.Scale(-c.by(floats.Dot(zero, zero)+c.beside), zero)
		floats.SubTo(last, c.of(given{place: 1}), zero)
	}
	if along := slope(shares); !c.c.periodic() && floats.Norm(along, 1) > 0 {
		clear(all[0].by)
		for i, w := range along {
			floats.AddScaled(all[0].by, w, c.of(c.c.valueAt(i)))
		}
	}
}

// changed returns the weights of all features for a change of column k, what it is crossed with being as means say.
func (e *Encoding) changed(k int, by []float64, means [][]float64) []float64 {
	w := make([]float64, len(e.Features))
	copy(w[e.encoders[k].at:], by)
	for _, x := range e.crosses {
		switch k {
		case x.a:
			x.add(w[x.at:], by, means[x.b])
		case x.b:
			x.add(w[x.at:], means[x.a], by)
		}
	}
	return w
}

// slope returns the weights with which the places of the scale, that have some share each of the records, make the
// slope cov(u, f)/var(u) of the line that is nearest to a curve f.
func slope(shares []float64) []float64 {
	var mean, square float64
	for i, w := range shares {
		mean += w * place(i)
	}
	of := make([]float64, len(shares))
	for i, w := range shares {
		u := place(i) - mean
		square += w * u * u
		of[i] = w * u
	}
	if square > 0 { // else all records have one value, and there is no slope
		floats.Scale(1/square, of)
	}
	return of
}

// ofRow is what a difference of features of rows before they are scaled is in those after: of a row of the typical
// norm, if all are scaled.
func (e *Encoding) ofRow() float64 {
	if e.settings.Centred && e.settings.RowNorm > 0 {
		return e.settings.RowNorm / e.TypicalNorm()
	}
	return 1
}

// reference is the place of the category that others are shown against.
func (e *encoder) reference() int { return max(0, slices.Index(e.levels, e.field.Reference)) }

// References returns the categories that others are shown against, each as its feature is named.
func (e *Encoding) References() []string {
	var all []string
	for i := range e.encoders {
		if c := &e.encoders[i]; c.levels != nil {
			all = append(all, c.names()[c.reference()])
		}
	}
	return all
}

// MissingAgainst says of each number whose missing values have an effect of their own with what that compares them:
// the value at which all other features of the column are 0, or the average of its curve.
func (e *Encoding) MissingAgainst() (all []string) {
	for i := range e.encoders {
		c := &e.encoders[i]
		f := c.field
		switch {
		case !c.more || c.levels != nil: // the reference is said
		case c.periodic():
			all = append(all, fmt.Sprintf("the average of %s over its period", f.Name))
		case f.Typical != nil && !f.Open:
			all = append(all, fmt.Sprintf("%s = %s, its typical value", f.Name, f.shown(*f.Typical)))
		case c.hats > 0:
			all = append(all, fmt.Sprintf("the average of the curve of %s from %s to %s", f.Name, f.shown(f.Lower),
				f.shown(f.Upper)))
		case f.Open:
			all = append(all, fmt.Sprintf("%s = %s", f.Name, f.shown(f.Lower)))
		default:
			v, why := f.missingAs()
			all = append(all, fmt.Sprintf("%s = %s, %s", f.Name, f.shown(v), why))
		}
	}
	return all
}

// Contrast returns the effect of one category of a column, or interval of its steps, against another, all else as in
// the given mean row, and between rows that are cut as those of Effects are.
//
// Errors: *InputError if they are none.
func (e *Encoding) Contrast(mean []float64, cut Cut, column, category, against string) (Effect, error) {
	f := Effect{Name: fmt.Sprintf("%s: %s → %s", column, against, category)}
	for i, c := range e.encoders {
		if c.field.Name != column {
			continue
		}
		if c.levels == nil {
			return f, inputErrorf("%q is a number, and has no categories that differ", column)
		}
		change := make([]float64, c.width())
		var means [][]float64
		var short shortened
		if e.crosses != nil {
			means = e.meansOf(e.margins(mean, doubt{}).weights)
		}
		if cut != nil {
			short = e.cutAt(i, e.margins(mean, doubt{}).weights, mean, cut)
		}
		for _, of := range []struct {
			name string
			by   float64
		}{{category, e.ofRow()}, {against, -e.ofRow()}} {
			k := slices.Index(c.levels, of.name)
			if k < 0 && c.more && of.name == "missing" {
				k = len(c.levels)
			}
			if k < 0 {
				return f, inputErrorf("%q is none of the categories of %q%s, which are %s", of.name, column,
					like(of.name, c.levels), quoteAll(c.levels))
			}
			if cut == nil {
				change[k] += of.by
			} else {
				floats.AddScaled(change, of.by, short.of(given{place: k}))
			}
		}
		f.Weights = e.changed(i, change, means)
		return f, nil
	}
	return f, noColumn(column, e.Columns())
}

// TypicalNorm returns the root of the mean squared norm of a centred row before it is scaled, if numbers were spread
// evenly over their scale, and columns independent.
func (e *Encoding) TypicalNorm() float64 { return e.typicalNorm() }

// longest bounds the norm of a centred row before it is scaled.
func (e *Encoding) longest() float64 {
	square := 0.0
	for i := range e.encoders {
		square += e.encoders[i].longest()
	}
	for i := range e.crosses {
		square += e.crosses[i].longest(e.encoders)
	}
	return math.Sqrt(square) * (1 + float64(len(e.Features)+8)*0x1p-53)
}

// evenNorm computes TypicalNorm.
func (e *Encoding) evenNorm() float64 {
	var square float64
	each := make([]float64, len(e.encoders))
	for i, c := range e.encoders {
		if c.levels != nil {
			each[i] = c.longest()
			square += each[i]
			continue
		}
		const points = 1024
		row := make([]float64, c.size)
		for k := range points {
			clear(row)
			c.line(row, (float64(k)+0.5)/points)
			for _, v := range row {
				square += v * v / points
				each[i] += v * v / points
			}
		}
	}
	for _, x := range e.crosses {
		square += x.even(e.encoders, each)
	}
	return math.Sqrt(square)
}
