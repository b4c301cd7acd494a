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
	// Unit is by how much the column changes for it, in its own unit: the width of the bounds of a number, 0 of
	// a category or a number on a logarithmic scale.
	Unit float64
	// Places are, of a number whose line is in feature Line, the weights of evenly spaced places of its scale, the
	// bounds among them: the effect is a difference between records that have these values. nil of other effects.
	Line   int
	Places []float64
}

// Effects returns the effects of centred rows, column by column: of a category K − 1, each level
// against the reference, which is the first unless another is stated; of a number one, from its lower
// bound to its upper one, as its name says, by the line that is nearest to its curve for records with the
// given mean row; last that of a bias, the linear form of the mean row. A mean of nil is the middle of
// everything, of numbers that are spread evenly. Where rows are scaled to a norm each by its own, a row is taken to
// have the typical norm (TypicalNorm).
func (e *Encoding) Effects(mean []float64) []Effect {
	d := len(e.Features)
	by, weights := e.ofRow(), e.margins(mean, doubt{})
	var all []Effect
	add := func(name string, unit float64) []float64 {
		all = append(all, Effect{Name: name, Weights: make([]float64, d), Unit: unit})
		return all[len(all)-1].Weights
	}
	for i := range e.encoders {
		c := &e.encoders[i]
		if c.categories != nil {
			against := c.reference()
			for k, name := range c.names() {
				if k != against {
					w := add(name, 0)
					w[c.at+against], w[c.at+k] = -by, by
				}
			}
			continue
		}
		unit := c.field.Upper - c.field.Lower
		if c.field.Log {
			unit = 0
		}
		w := add(fmt.Sprintf("%s: %s → %s", c.field.Name, c.field.shown(c.field.Lower), c.field.shown(c.field.Upper)),
			unit)
		w[c.at] = by / c.reach
		if c.hats > 0 {
			places := slope(weights[i])
			for p, weight := range places {
				hat(w[c.at+1:c.at+1+c.hats], place(p), by*weight)
			}
			all[len(all)-1].Line, all[len(all)-1].Places = c.at, places
		}
		if c.width() > 1+c.hats {
			add(c.field.Name+" missing", 0)[c.at+1+c.hats] = by
		}
	}
	if bias := e.Bias(); bias != 0 {
		w := add("bias", 0)
		copy(w, mean)
		w[d-1] = bias
	}
	return all
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
	floats.Scale(1/square, of)
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
func (e *encoder) reference() int { return max(0, slices.Index(e.field.Levels, e.field.Reference)) }

// References returns the categories that others are shown against, each as its feature is named.
func (e *Encoding) References() []string {
	var all []string
	for i := range e.encoders {
		if c := &e.encoders[i]; c.categories != nil {
			all = append(all, c.names()[c.reference()])
		}
	}
	return all
}

// Contrast returns the effect of one category of a column against another.
//
// Errors: *InputError if they are none.
func (e *Encoding) Contrast(column, category, against string) (Effect, error) {
	f := Effect{Name: fmt.Sprintf("%s: %s → %s", column, against, category), Weights: make([]float64, len(e.Features))}
	for i := range e.encoders {
		c := &e.encoders[i]
		if c.field.Name != column {
			continue
		}
		if c.categories == nil {
			return f, inputErrorf("%q is a number, and has no categories that differ", column)
		}
		for _, of := range []struct {
			name string
			by   float64
		}{{category, e.ofRow()}, {against, -e.ofRow()}} {
			k := slices.Index(c.field.Levels, of.name)
			if k < 0 && c.field.Missing && of.name == "missing" {
				k = len(c.field.Levels)
			}
			if k < 0 {
				return f, inputErrorf("%q is none of the categories of %q%s, which are %s", of.name, column,
					like(of.name, c.field.Levels), quoteAll(c.field.Levels))
			}
			f.Weights[c.at+k] += of.by
		}
		return f, nil
	}
	return f, noColumn(column, e.Columns())
}

// TypicalNorm returns the root of the mean squared norm of a centred row before it is scaled, if numbers were spread
// evenly over their scale.
func (e *Encoding) TypicalNorm() float64 {
	var square float64
	for i := range e.encoders {
		c := &e.encoders[i]
		if c.categories != nil {
			square += c.longest()
			continue
		}
		const points = 1024
		row := make([]float64, 1+c.hats)
		for k := range points {
			clear(row)
			c.line(row, (float64(k)+0.5)/points)
			for _, v := range row {
				square += v * v / points
			}
		}
	}
	return math.Sqrt(square)
}
