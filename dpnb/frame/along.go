package frame

import (
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/internal/logscale"
)

// Component is one column of centred rows as a reader sees it: a function of the values of the column, which the
// coefficients make. It is decided by what it is at its handles: the knots of a number and the categories, of which
// being missing is one. On its scale a number is straight between two knots, unless it is Bent.
type Component struct {
	Field Field
	// Knots are values of a number, rising, in its own unit: where its hats are, else its bounds, or of one with a
	// period evenly spread.
	Knots []float64
	// Categories are those of a category, or the intervals of steps; "missing" is the last, and of a number without
	// steps the only one, where it has a feature.
	Categories []string
	// Bent says that a number is a curve between two knots, too.
	Bent bool
	// Crossed says that the column is crossed with others: this is what it adds with these at their mean.
	Crossed bool
	// Shares are about the parts of the records that are at the handles, knots before categories, as the mean row has
	// it: they add up to 1. A record between two knots counts for both.
	Shares []float64
	// Spread is, of a number that is straight between its bounds, about the standard deviation over the records of
	// where they are on its scale, of width 1: that of records imagined about their mean, of which nothing more is
	// known, or all over the scale where that is not either. 0 of others.
	Spread float64

	e      *Encoding
	k      int
	c      *encoder
	means  [][]float64 // of the features of each column for these shares
	places []float64   // of the scale, their shares
}

// wavePlaces are into how many a period is cut by the knots of a number that has one: hours of a day, months of a year.
const wavePlaces = 24

// Components returns the columns of centred rows in their order. One is counted from its mean over the records, as far
// as their mean row says where they are (nil: all over the scale): then it says how far a value is from the usual, no
// value has a band of no width for being the one that others are counted from, and its spread says how much the column
// matters. The mean row has noise of a standard deviation off in each entry, by which shares are taken lower, so that
// few records do not pass for many. Where rows are scaled to a norm each by its own, a row is taken to have the typical
// norm (TypicalNorm).
func (e *Encoding) Components(mean []float64, off float64) []Component {
	all, places := make([]Component, len(e.encoders)), e.margins(mean, doubt{off: off, less: 1}).weights
	means := e.meansOf(places)
	for i, c := range e.encoders {
		t := Component{Field: *c.field, Bent: c.periodic(), e: e, k: i, c: &c, means: means}
		for _, x := range e.crosses {
			t.Crossed = t.Crossed || x.a == i || x.b == i
		}
		if c.levels != nil {
			t.Categories, t.Shares = slices.Clone(c.levels), slices.Clone(places[i])
			if c.more {
				t.Categories = append(t.Categories, missing)
			}
		} else {
			k := max(2, c.hats)
			if t.Bent {
				k = wavePlaces + 1
			}
			for j := range k {
				t.Knots = append(t.Knots, c.unscaled(float64(j)/float64(k-1)))
			}
			t.Shares, t.places = make([]float64, k), places[i]
			for j, w := range places[i] {
				hat(t.Shares, place(j), w)
			}
			if k == 2 {
				t.Spread = deviation(places[i])
			}
			if c.more {
				lost := 0.0
				if mean != nil {
					lost = math.Min(math.Max(0, mean[c.at+c.size]), 1)
				}
				floats.Scale(1-lost, t.Shares)
				t.Categories, t.Shares = []string{missing}, append(t.Shares, lost)
				floats.Scale(1-lost, means[i])
				means[i][c.size] += lost
			}
		}
		all[i] = t
	}
	return all
}

// missing names the category of values that are missing.
const missing = "missing"

// unscaled returns the number at a share of its scale.
func (e *encoder) unscaled(u float64) float64 {
	return logscale.Place(e.field.Lower, e.field.Upper, u, e.field.Log)
}

// Deviation is, of a number that bends, about the standard deviation over the records of where they are on its scale,
// of width 1, as far as the shares of its hats say; 0 of others.
func (t Component) Deviation() float64 {
	if t.c.hats == 0 || t.Bent {
		return 0
	}
	return deviation(t.places)
}

// deviation is the standard deviation of places with such shares.
func deviation(shares []float64) float64 {
	var first, second float64
	for j, w := range shares {
		first, second = first+w*place(j), second+w*place(j)*place(j)
	}
	return math.Sqrt(math.Max(0, second-first*first))
}

// Of returns what a handle adds as an effect.
func (t Component) Of(handle int) Effect {
	switch n := len(t.Knots); {
	case handle < n:
		return t.at(float64(handle) / float64(n-1))
	case n > 0:
		return t.adds(given{place: 1}, nil) // it is missing
	}
	return t.adds(given{place: handle}, nil)
}

// At returns what a number adds as an effect.
func (t Component) At(v float64) Effect { return t.at(t.c.number(v)) }

// at is At for a share of the scale.
func (t Component) at(u float64) Effect {
	places := make([]float64, points)
	hat(places, u, 1)
	return t.adds(given{share: u}, places)
}

// adds returns what a value adds as an effect, less the mean, in a row of the typical norm, what the column is crossed
// with at its mean.
func (t Component) adds(v given, places []float64) Effect {
	own := make([]float64, t.c.width())
	t.c.write(own, v)
	floats.Sub(own, t.means[t.k])
	floats.Scale(t.e.ofRow(), own)
	return Effect{Weights: t.e.changed(t.k, own, t.means), Line: t.c.at, Places: t.lessPlaces(places)}
}

// lessPlaces returns weights of places less their mean over the records; nil of a category.
func (t Component) lessPlaces(own []float64) []float64 {
	if t.places == nil {
		return nil
	}
	out := make([]float64, points)
	copy(out, own)
	floats.AddScaled(out, -floats.Sum(t.Shares[:len(t.Knots)]), t.places)
	return out
}

// Together returns by how much more two effects make together than each by itself, one a value of t, the other one of
// o: the weights of the coefficients of the cross of the two columns.
func (t Component) Together(one Effect, o Component, other Effect) []float64 {
	w := make([]float64, len(t.e.Features))
	for _, x := range t.e.crosses {
		a, b := t, o
		if x.a == o.k {
			a, b, one, other = o, t, other, one
		}
		if x.a == a.k && x.b == b.k {
			x.add(w[x.at:], one.Weights[a.c.at:], other.Weights[b.c.at:])
			floats.Scale(1/t.e.ofRow(), w) // it is in both
			return w
		}
	}
	return w
}

// CrossedWith reports whether the two columns are crossed with each other.
func (t Component) CrossedWith(o Component) bool {
	return slices.ContainsFunc(t.e.crosses, func(x cross) bool {
		return x.a == t.k && x.b == o.k || x.a == o.k && x.b == t.k
	})
}

// Line is the feature of a number's line, or the first of a category.
func (t Component) Line() int { return t.c.at }

// Between returns n − 1 numbers between each two knots, evenly spread on the scale, and the knots.
func (t Component) Between(n int) []float64 {
	last := n * (len(t.Knots) - 1)
	all := make([]float64, last+1)
	for i := range all {
		if all[i] = t.c.unscaled(float64(i) / float64(last)); i%n == 0 {
			all[i] = t.Knots[i/n]
		}
	}
	return all
}

// Text returns a number as the column's values are written, to four digits if it is no date; of dates more than a few
// days apart to the day.
func (t Component) Text(v float64) string {
	if t.Field.Part == Days {
		if t.Field.Upper-t.Field.Lower > 100 {
			v = math.Round(v)
		}
	} else {
		v, _ = strconv.ParseFloat(strconv.FormatFloat(v, 'g', 4, 64), 64)
	}
	return t.Field.shown(v)
}

// Fixed says why no coefficients change it at its handles as one likes; nil if some do. What is crossed changes alike
// beside everything that it is crossed with.
func (t Component) Fixed() error {
	if t.Bent {
		return inputErrorf("%q has a period, and waves change everywhere or nowhere: it can be Smoothed", t.Field.Name)
	}
	return nil
}

// Damped returns what the waves of a number with a period make of values at its knots if harmonic k is multiplied by
// 1/(1 + by·(2 − 2cos 2πk/n)²), n the places of the period: of all curves f that with the least
// Σ(f − was)² + by·Σ(Δ²f)² around it. At between says the same for a share of the period.
func (t Component) Damped(values []float64, by float64) (at func(u float64) float64) {
	n := len(t.Knots) - 1
	mean, waves := harmonic(values[:n])
	for k := range harmonics {
		bend := 2 - 2*math.Cos(2*math.Pi*float64(k+1)/float64(n))
		floats.Scale(1/(1+by*bend*bend), waves[2*k:2*k+2])
	}
	return func(u float64) float64 { return harmonicAt(mean, waves, u) }
}

// harmonicAt returns the value at a share u of the period.
func harmonicAt(mean float64, waves []float64, u float64) float64 {
	own := make([]float64, 2*harmonics)
	wave(own, u, 1)
	return mean + floats.Dot(own, waves)
}

// harmonic returns the mean of values over a period and the coefficients of its waves, of which cosines and sines at
// n > 2·harmonics places are orthogonal.
func harmonic(values []float64) (mean float64, waves []float64) {
	n := float64(len(values))
	waves = make([]float64, 2*harmonics)
	for j, v := range values {
		own := make([]float64, 2*harmonics)
		wave(own, float64(j)/n, 1)
		mean += v / n
		for k := range waves {
			weight := float64(k/2+1) * harmonicNorm
			waves[k] += 2 / n * weight * weight * v * own[k]
		}
	}
	return mean, waves
}

// Changed returns by how much the coefficients change where one changes by so much at its handles, of a number with a
// period as its waves can. That of the bias, by which the form of a row of the typical norm changes by just that at
// every value, is the last; ok is false where rows have none, and it would not be 0.
func (t Component) Changed(by []float64) (change []float64, ok bool) {
	change = make([]float64, len(t.e.Features))
	own, k := change[t.c.at:t.c.at+t.c.width()], len(t.Knots)
	var constant float64 // what a row of nothing but zeros in the column has
	switch {
	case t.c.levels != nil:
		constant = floats.Sum(by) / float64(len(by))
		copy(own, by)
	case t.Bent:
		var waves []float64
		constant, waves = harmonic(by[:k-1])
		copy(own, waves)
		for j, v := range by[:k] {
			is := harmonicAt(constant, waves, float64(j)/float64(k-1))
			if math.Abs(is-v) > 1e-9*(1+floats.Norm(by, math.Inf(1))) {
				return nil, false
			}
		}
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
		own[t.c.size] = by[k] - constant
	}
	floats.Scale(1/t.e.ofRow(), own)
	bias := t.e.Bias()
	if bias == 0 {
		return change, math.Abs(constant) < 1e-12*(1+floats.Norm(by, math.Inf(1)))
	}
	change[len(change)-1] = constant / bias
	return change, true
}
