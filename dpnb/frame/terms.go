package frame

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/internal/wording"
	"github.com/dpnb/notebooks/dpnb/matrix"
)

// Term is what is learnt of a column in place of what its kind has, or beside it: exactly one of its parts is set.
// Terms are of centred rows, and public: docs/theory/geometry.md, section 5.
type Term struct {
	Column string
	// Line has a number be a straight line where others bend.
	Line bool
	// Steps are cuts strictly within the bounds of a number: each interval between them has an indicator. A cut belongs
	// to the interval above it.
	Steps []float64
	// Periodic has the curve of a number end as it begins. Period is the width of its bounds, or 0 for that.
	Periodic bool
	Period   float64
	// Rises is +1 of a column that must not fall, and −1 of one that must not rise, beside what else it has: a number
	// over its scale, categories in the order of the schema.
	Rises int
	// With is a column that this one is crossed with: of two categories each pair has its own effect, of a number and a
	// category each category its own curve, and the slope of one number is a line over another. A number with Steps is
	// a category here.
	With string
}

func (t Term) set(f *Field) error {
	switch {
	case t.Rises != 0:
		if f.Rises = t.Rises + f.Rises; f.Rises == 0 {
			return inputErrorf("field %q is to rise and to fall", f.Name)
		}
		f.Rises = t.Rises
	case t.Periodic:
		if f.Period = t.Period; t.Period == 0 {
			f.Period = f.Upper - f.Lower
		}
	case t.With != "":
		f.Cross = append(f.Cross, t.With)
		return nil // beside what the column has
	case t.Line:
		f.Line = true
	default:
		if f.Cuts = slices.Clone(t.Steps); len(t.Steps) == 0 {
			return inputErrorf("field %q: Steps wants at least one cut between the bounds", f.Name)
		}
	}
	return nil
}

// term is the one of a line, steps and a period that f has; "" for none.
func (f *Field) term() string {
	switch {
	case f.Line:
		return "a line"
	case f.Cuts != nil:
		return "steps"
	case f.Period != 0:
		return "a period"
	}
	return ""
}

// With returns a copy of s with terms of columns of a table.
//
// Errors: *InputError for a column that is not there, or a term that does not suit its field or another of it.
func (s *Schema) With(columns []string, terms ...Term) (*Schema, error) {
	out := s.Clone()
	for _, t := range terms {
		f, ok := out.Field(t.Column)
		if !ok || !slices.Contains(columns, t.Column) {
			return nil, noColumn(t.Column, columns)
		}
		if t.With == "" && t.Rises == 0 && f.termed() {
			return nil, inputErrorf("field %q has %s, as its schema says or another term, and can have one of line, "+
				"steps and period: leave out one", f.Name, f.term())
		}
		if err := t.set(f); err != nil {
			return nil, err
		}
		if err := f.validate(); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// termed reports whether a number has another term than its curve.
func (f *Field) termed() bool { return f.term() != "" }

// validTerm checks the field's terms by themselves.
func (f *Field) validTerm() error {
	kinds := 0
	for _, has := range []bool{f.Line, f.Cuts != nil, f.Period != 0} {
		if has {
			kinds++
		}
	}
	switch {
	case kinds > 0 && f.Kind != Numeric:
		return inputErrorf("field %q has categories: a line, steps and a period are for numbers", f.Name)
	case f.Open && kinds+len(f.Cross) > 0:
		return inputErrorf("field %q has no bounds: terms are for numbers within bounds", f.Name)
	case kinds > 1:
		return inputErrorf("field %q has two of the terms line, steps and period: leave out one", f.Name)
	case f.Rises != 0 && (f.Open || f.Period != 0 || f.Cross != nil):
		return inputErrorf("field %q is to rise or to fall: it must have bounds, no period and no cross", f.Name)
	case f.Rises < -1 || f.Rises > 1:
		return inputErrorf("field %q: Rises is %d, want 1, −1 or 0", f.Name, f.Rises)
	case f.Period != 0 && f.Log:
		return inputErrorf("field %q: a period is of a number on its own scale", f.Name)
	case f.Period != 0 && !(math.Abs(f.Upper-f.Lower-f.Period) <= 1e-9*f.Period):
		return inputErrorf("field %q: a curve closes up from one bound to the other, and these, [%s, %s], are not one "+
			"period of %v apart", f.Name, f.shown(f.Lower), f.shown(f.Upper), f.Period)
	}
	last := f.Lower
	for _, c := range f.Cuts {
		if !(c > last && c < f.Upper) {
			return inputErrorf("field %q: cuts of steps must rise and lie between the bounds %s and %s; %s does not",
				f.Name, f.shown(f.Lower), f.shown(f.Upper), f.shown(c))
		}
		last = c
	}
	for k, with := range f.Cross {
		if with == f.Name || slices.Contains(f.Cross[:k], with) {
			return inputErrorf("field %q is crossed with %q, which is itself or there twice", f.Name, with)
		}
	}
	return nil
}

// Held returns independent directions v of the features such that vᵀθ ≥ 0 for all of them says that what coefficients
// θ make of each column that must rise does, from knot to knot or from level to level, and falls where it must fall.
func (e *Encoding) Held() (all []matrix.Direction) {
	for _, c := range e.encoders {
		way := float64(c.field.Rises)
		switch first := c.at + 1; {
		case way == 0 || !c.centred:
		case c.levels != nil:
			for k := range len(c.levels) - 1 {
				all = append(all, matrix.Direction{First: c.at + k, Weights: []float64{-way, way}})
			}
		case c.hats == 0:
			all = append(all, matrix.Direction{First: c.at, Weights: []float64{way}})
		default:
			for k := range c.hats - 1 { // of the line with hats: its part between two knots, and theirs
				w := make([]float64, k+3)
				w[0] = way / (float64(c.hats-1) * c.reach)
				w[first-c.at+k], w[first-c.at+k+1] = -way, way
				all = append(all, matrix.Direction{First: c.at, Weights: w})
			}
		}
	}
	return all
}

// intervals are the names of those between the cuts.
func (f *Field) intervals() (names []string) {
	last := f.Lower
	for _, c := range append(slices.Clone(f.Cuts), f.Upper) {
		names = append(names, f.shown(last)+" to "+f.shown(c))
		last = c
	}
	return names
}

// inWords is the field's term in words, "" if it has none.
func (f *Field) inWords() (said string) {
	switch {
	case f.Line:
		said = ", a straight line"
	case f.Cuts != nil:
		said = ", in steps: " + join(f.intervals())
	case f.Period != 0:
		said = fmt.Sprintf(", with the period %g", f.Period)
	}
	switch {
	case f.Rises > 0:
		said += ", rising"
	case f.Rises < 0:
		said += ", falling"
	}
	if f.Cross != nil {
		said += ", crossed with " + wording.Names(f.Cross)
	}
	return said
}

// harmonics of a periodic number have the weights 1/k: under a ridge of all coefficients that is a penalty on how steep
// its curve is.
const harmonics = 4

// harmonicNorm is the root of the sum of their squared weights, which a row has whatever the number is.
var harmonicNorm = math.Sqrt(1 + 1./4 + 1./9 + 1./16)

// wave adds cosines and sines of a share of the period to dst, of norm 1, times a number.
func wave(dst []float64, u, times float64) {
	for k := range harmonics {
		sin, cos := math.Sincos(2 * math.Pi * float64(k+1) * u)
		w := times / (float64(k+1) * harmonicNorm)
		dst[2*k] += w * cos
		dst[2*k+1] += w * sin
	}
}

// cross has the products of what two columns of an encoding have in centred rows, a row of them for each feature of the
// first, of categories of the second. With hats the products with the line come first, then the hats of one category
// after another. A bare cross has those of blocks, a number's line or waves, and no hats: of two numbers, the one
// direction of all that they may do together for which most records speak, and where records are too few for hats.
type cross struct {
	a, b, at           int
	rows, levels, hats int
	bare               bool
}

// mostCrossed bounds the features of a cross.
const mostCrossed = 1 << 14

// crossed returns the crosses of the fields, whose features begin at a place.
func (e *Encoding) crossed(at int) (all []cross, err error) {
	for a := range e.fields {
		for _, name := range e.fields[a].Cross {
			b := slices.IndexFunc(e.fields, func(f Field) bool { return f.Name == name })
			if name == e.settings.Label {
				return nil, inputErrorf("%q is crossed with %q, which is to be predicted", e.fields[a].Name, name)
			}
			if b < 0 {
				return nil, noColumn(name, e.Columns())
			}
			two := e.encoders[a].levels == nil && e.encoders[b].levels == nil
			x := cross{a: a, b: b, at: at}
			if e.encoders[b].levels == nil && !two {
				x.a, x.b = b, a
			}
			same := func(y cross) bool { return y.a == x.a && y.b == x.b || y.a == x.b && y.b == x.a }
			one, other := &e.encoders[x.a], &e.encoders[x.b]
			x.bare = two || one.hats > 0 && e.settings.CrossedLines
			x.rows, x.levels = one.block(), other.block()
			if one.levels == nil && !x.bare {
				x.rows, x.hats = one.size, one.hats
			}
			switch {
			case one.field.Rises != 0 || other.field.Rises != 0:
				return nil, inputErrorf("%q and %q are crossed, and one of them is to rise or to fall, which it "+
					"then does not by itself", one.field.Name, other.field.Name)
			case x.width() > mostCrossed:
				return nil, inputErrorf("%q × %q has %d features, more than %d", one.field.Name, other.field.Name,
					x.width(), mostCrossed)
			case slices.ContainsFunc(all, same):
				return nil, inputErrorf("%q and %q are crossed twice", one.field.Name, other.field.Name)
			}
			all = append(all, x)
			at += x.width()
		}
	}
	return all, nil
}

// Crossed returns which columns are crossed, as in "age × sex".
func (e *Encoding) Crossed() (all []string) {
	for i := range e.crosses {
		all = append(all, e.fields[e.crosses[i].a].Name+" × "+e.fields[e.crosses[i].b].Name)
	}
	return all
}

// CrossedColumns returns the places among Columns of the two of each cross: the features are those of the first, of a
// number without that of a missing one, times those of the second; all of the first feature of the first come first,
// and of a number with hats then, for each feature of the second, all hats.
func (e *Encoding) CrossedColumns() (all [][2]int) {
	for _, x := range e.crosses {
		all = append(all, [2]int{x.a, x.b})
	}
	return all
}

// CrossedBare reports whether a cross is of lines though its number has a curve, or of two numbers.
func (e *Encoding) CrossedBare() bool {
	return slices.ContainsFunc(e.crosses, func(x cross) bool { return x.bare })
}

func (x *cross) width() int { return x.rows * x.levels }

// place is where the product of feature j and category l is among them.
func (x *cross) place(j, l int) int {
	if x.hats > 0 && j > 0 {
		return x.levels + l*x.hats + j - 1
	}
	return j*x.levels + l
}

// add adds the products of what the two columns have to dst.
func (x *cross) add(dst, a, b []float64) {
	for j := range x.rows {
		if a[j] != 0 {
			for l := range x.levels {
				dst[x.place(j, l)] += a[j] * b[l]
			}
		}
	}
}

func (x *cross) names(e []encoder) []string {
	names, a, b := make([]string, x.width()), e[x.a].names(), e[x.b].names()
	for j := range x.rows {
		for l := range x.levels {
			names[x.place(j, l)] = a[j] + " × " + b[l]
		}
	}
	return names
}

// longest bounds the squared norm of the products: that of one column, or its block, times that of the other.
func (x *cross) longest(e []encoder) float64 {
	if x.bare {
		return e[x.a].longestBlock() * e[x.b].longestBlock()
	}
	return e[x.a].longest() * e[x.b].longest()
}

// even is the mean square of the products where numbers are spread evenly, each being that of a column as a whole.
func (x *cross) even(e []encoder, each []float64) float64 {
	if x.bare {
		return e[x.a].evenBlock() * e[x.b].evenBlock()
	}
	return each[x.a] * each[x.b]
}

// nowhere returns orthonormal directions in which no row has anything: the indicators less their mean add up to
// nothing, for each feature of the first column, and for each category so does what that column has nothing of.
func (x *cross) nowhere(e []encoder) (all []matrix.Direction) {
	if e[x.b].levels == nil {
		return nil
	}
	width := x.width()
	direct := func(set func(w []float64)) {
		w := make([]float64, width)
		set(w)
		first := slices.IndexFunc(w, func(v float64) bool { return v != 0 })
		for w[len(w)-1] == 0 {
			w = w[:len(w)-1]
		}
		all = append(all, direction(x.at+first, w[first:]))
	}
	for j := range x.rows {
		direct(func(w []float64) {
			for l := range x.levels {
				w[x.place(j, l)] = 1
			}
		})
	}
	for _, n := range e[x.a].nowhere() {
		if x.bare { // they are of hats
			break
		}
		for m := 1; m < x.levels; m++ { // directions that are orthogonal to (1, …, 1)
			direct(func(w []float64) {
				for j, v := range n.Weights {
					for l := range m {
						w[x.place(n.First-e[x.a].at+j, l)] = v
					}
					w[x.place(n.First-e[x.a].at+j, m)] = -float64(m) * v
				}
			})
		}
	}
	return all
}

// usual is the product that most places have: 1/JK of two categories of J and K, 0 of a number.
func (x *cross) usual(e []encoder) float64 {
	if e[x.a].levels == nil {
		return 0
	}
	return 1 / float64(x.rows) * (1 / float64(x.levels))
}

// enter adds the products to s, less those that most places have, which are in the mean, and returns the squared norm
// of those of blocks.
func (x *cross) enter(s *entries, e []encoder, a, b given) (square float64) {
	one, other, all := make([]float64, e[x.a].width()), make([]float64, e[x.b].width()), make([]float64, x.width())
	e[x.a].write(one, a)
	e[x.b].write(other, b)
	x.add(all, one, other)
	for j, v := range all {
		square += v * v
		if less := x.usual(e); v != less {
			s.add(x.at+j, v-less)
		}
	}
	return square
}

// enter adds what the columns have of a record to s, with their products, and returns the squared norm.
func (e *Encoding) enter(s *entries, own []encoder, of []given) (square float64) {
	if e.crosses == nil {
		for k := range own {
			square += own[k].enter(s, of[k])
		}
		return square
	}
	squares := make([]float64, len(own))
	for k := range own {
		squares[k] = own[k].enter(s, of[k])
		square += squares[k]
	}
	for _, x := range e.crosses {
		switch products := x.enter(s, own, of[x.a], of[x.b]); {
		case x.bare:
			square += products
		case own[x.a].levels != nil || of[x.a].place == 0: // a number that is missing has no product
			square += squares[x.a] * squares[x.b]
		}
	}
	return square
}

// meansOf are those of what each column has, with weights of its categories or of the places of its scale.
func (e *Encoding) meansOf(weights [][]float64) [][]float64 {
	all := make([][]float64, len(e.encoders))
	for k, c := range e.encoders {
		all[k] = make([]float64, c.width())
		row := make([]float64, c.width())
		for i, w := range weights[k] {
			v := given{place: i}
			if c.levels == nil {
				v = given{share: place(i)}
			}
			clear(row)
			c.write(row, v)
			floats.AddScaled(all[k], w, row)
		}
	}
	return all
}

// termStep says which terms there are, with the norm of each; ok is false if there is none.
func (e *Encoding) termStep() (what string, ok bool) {
	var said []string
	norm := func(square float64) string { return fmt.Sprintf("norm at most %.4g", math.Sqrt(square)) }
	for i := range e.fields {
		f := e.fields[i]
		if f.Cross = nil; f.termed() || f.Rises != 0 {
			said = append(said, f.Name+f.inWords()+" ("+norm(e.encoders[i].longest())+")")
		}
	}
	for i := range e.crosses {
		said = append(said, fmt.Sprintf("%s, the products of what they have (%s)", e.Crossed()[i],
			norm(e.crosses[i].longest(e.encoders))))
	}
	return "terms: " + strings.Join(said, "; "), said != nil
}
