package frame

import "math"

// Effect is what a reader asks of a linear model of centred rows: how much the linear form is larger for one value of a
// column than for another. It is a linear form of the coefficients, and none of it lies where rows have nothing.
type Effect struct {
	// Name is the column's, or of a category "column=category".
	Name string
	// Weights are those of the coefficients, a feature each.
	Weights []float64
	// Unit is by how much the column changes for it, in its own unit: the width of the bounds of a number, 0 of
	// a category or a number on a logarithmic scale.
	Unit float64
}

// Effects returns the effects of centred rows, column by column: of a category K − 1, each level
// against the first; of a number one, from its lower bound to its upper one by the line that is
// nearest to its curve; last that of a bias, the linear form of a record in the middle of everything.
// A row is taken to have the typical norm (TypicalNorm), where rows are scaled to a norm each by its
// own.
func (e *Encoding) Effects() []Effect {
	d := len(e.Features)
	by := 1.0
	if norm, ok := e.Normed(); ok {
		by = norm / e.TypicalNorm()
	}
	var all []Effect
	add := func(name string, unit float64) []float64 {
		all = append(all, Effect{name, make([]float64, d), unit})
		return all[len(all)-1].Weights
	}
	for i := range e.encoders {
		c := &e.encoders[i]
		if c.categories != nil {
			for k, name := range c.names()[1:] {
				w := add(name, 0)
				w[c.at], w[c.at+k+1] = -by, by
			}
			continue
		}
		unit := c.field.Upper - c.field.Lower
		if c.field.Log {
			unit = 0
		}
		w := add(c.field.Name, unit)
		w[c.at] = by / c.reach
		// The slope of the nearest line is ∫(u − ½)f du/∫(u − ½)² du, by the rule of Simpson between knots.
		for k := range c.hats {
			h := 1 / float64(c.hats-1)
			at := float64(k) * h
			inner := func(u float64) float64 { return (u - 0.5) * math.Max(0, 1-math.Abs(u-at)/h) }
			for _, lo := range []float64{at - h, at} {
				if lo > -h/2 && lo < 1-h/2 {
					w[c.at+1+k] += 12 * by * h / 6 * (inner(lo) + 4*inner(lo+h/2) + inner(lo+h))
				}
			}
		}
		if c.width() > 1+c.hats {
			add(c.field.Name+" missing", 0)[c.at+1+c.hats] = by
		}
	}
	if bias := e.Bias(); bias != 0 {
		add("bias", 0)[d-1] = bias
	}
	return all
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
