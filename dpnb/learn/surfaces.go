package learn

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/dpnb/notebooks/dpnb/display"
	"github.com/dpnb/notebooks/dpnb/figure"
	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/mechanism/geometry"
)

// Surface is what two columns that a model learnt together add to what it predicts, for every two of their values:
// what each does by itself (Shape), and what they do beyond that (Beyond), which no shape shows. It is computed from
// what was released and costs nothing more. It counts from the mean, all other columns being at theirs, and is of a row
// of the typical norm whose products have the typical one. Show displays it with its figure.
type Surface struct {
	// a and b are the shapes of the columns on the grid of the surface: a number first, if there is one.
	a, b *Shape
	// beyond says that it is what the two do beyond what each does by itself; forms are those of its places, b after b
	// for each of a, with the band for the noise of all at once.
	beyond bool
	forms  []float64
	noise  []Span
	why    error
	// other is the surface with beyond the other way.
	other *Surface
	err   error
}

// SurfacePoint is a surface at two values, in its unit.
type SurfacePoint struct {
	// Names are the values as they are written, At the numbers, NaN of a category.
	Names [2]string
	At    [2]float64
	Value float64
	// NoiseAtOnce is where the same fit without noise has all of the surface, with 95 %; nil is not known.
	NoiseAtOnce *Span
}

// piecesOfSurface is into how many a number is cut at least where a surface is drawn, which is straight between them
// along each axis.
const piecesOfSurface = 14

// Surface returns the surface of two columns that the model has learnt together: as they are crossed (Cross), or as its
// rows have products of columns; of several classes or levels that of the one that is named.
//
//	model.Surface("age", "hours")
//	model.Surface("age", "hours").Beyond()
//
// Errors (in it): as Shape, and columns that were not learnt together.
func (m *Model) Surface(one, other string, of ...string) *Surface {
	shapes, err := m.gridOf(of)
	if err != nil {
		return &Surface{err: err}
	}
	var two []*Shape
	for _, name := range []string{one, other} {
		k := slices.IndexFunc(shapes, func(s *Shape) bool { return s.Column() == name })
		if k < 0 {
			return &Surface{err: m.noColumn(name)}
		}
		two = append(two, shapes[k])
	}
	if !m.together(two[0], two[1]) {
		return &Surface{err: fmt.Errorf("dpnb: nothing was learnt of %q and %q together, beyond what each does by "+
			"itself: Cross(%[1]q, %[2]q) of the data has it be learnt", one, other)}
	}
	s := m.surfaceOf(two[0], two[1])
	m.bandsOfSurfaces([]*Surface{s, s.other})
	return s
}

// gridOf returns shapes of all columns without bands on the grid of surfaces.
func (m *Model) gridOf(of []string) ([]*Shape, error) {
	all, err := m.shapes(nil, of)
	for _, s := range all {
		s.places = slices.DeleteFunc(placesOf(s.term, piecesOfSurface), func(p shapePlace) bool {
			return len(s.term.Knots) > 0 && math.IsNaN(p.at) // a number that is missing has no line
		})
	}
	return all, err
}

// together reports whether two columns were learnt together.
func (m *Model) together(a, b *Shape) bool {
	bought := m.bought()
	return a.term.CrossedWith(b.term) || bought != nil && bought.HasProducts(a.term.Line(), b.term.Line())
}

// surfaceOf returns the surface of two columns without its band, a number first.
func (m *Model) surfaceOf(a, b *Shape) *Surface {
	if len(a.term.Knots) == 0 {
		a, b = b, a
	}
	s := &Surface{a: a, b: b, other: &Surface{a: a, b: b, beyond: true}}
	s.other.other = s
	bought, theta, q := m.own(a.part)
	together, beyond := s.formsOf(bought, q)
	for k, f := range together {
		s.forms = append(s.forms, floats.Dot(f, theta))
		s.other.forms = append(s.other.forms, floats.Dot(beyond[k], theta))
	}
	return s
}

// effect is that of a shape at a place.
func (s *Shape) effect(p shapePlace) frame.Effect {
	if math.IsNaN(p.at) {
		return s.term.Of(p.below)
	}
	return s.term.At(p.at)
}

// formsOf returns the linear forms of the coefficients of a fit, stretched by q, that the surface is at its places: all
// of it, and what is beyond its columns by themselves.
func (s *Surface) formsOf(bought *geometry.Bought, q float64) (together, beyond [][]float64) {
	e, one, other := s.a.model.encoding, s.a.effects(), s.b.effects()
	ones, _ := formsOf(e, one, bought, q)
	others, _ := formsOf(e, other, bought, q)
	for i, u := range one {
		for j, v := range other {
			more, _ := formsOf(e, []frame.Effect{{Weights: s.a.term.Together(u, s.b.term, v)}}, bought, q)
			form := more[0]
			if bought != nil && len(bought.Pairs) > 0 {
				floats.Add(form, bought.Together(u.Weights, v.Weights, e.TypicalProducts(), q))
			}
			all := slices.Clone(ones[i])
			floats.Add(all, others[j])
			floats.Add(all, form)
			together, beyond = append(together, all), append(beyond, form)
		}
	}
	return together, beyond
}

// bandsOfSurfaces gives surfaces of one model their bands, or says why they have none.
func (m *Model) bandsOfSurfaces(all []*Surface) {
	law, err := m.lawOf(false, func(b *geometry.Bought, q float64) (forms [][]float64) {
		for _, s := range all {
			together, beyond := s.formsOf(b, q)
			if s.beyond {
				together = beyond
			}
			forms = append(forms, together...)
		}
		return forms
	})
	first := 0
	for _, s := range all {
		if s.why = err; err == nil {
			halves := law.HalvesAtOnce(first, len(s.forms), func(int) bool { return true }, shapeLevel)
			for k, half := range halves {
				centre := law.Centre[first+k]
				s.noise = append(s.noise, Span{centre, centre - half, centre + half})
			}
		}
		first += len(s.forms)
	}
}

// mostSurfaces are shown on the page of all shapes.
const mostSurfaces = 4

// surfacesOf returns those of the pairs of columns that were learnt together, as what they do beyond what each does by
// itself, those of largest Importance first and the first few of them with bands; and how many pairs there are.
func (m *Model) surfacesOf(of []string) (all []*Surface, pairs int) {
	shapes, err := m.gridOf(of)
	if err != nil {
		return nil, 0
	}
	for k, a := range shapes {
		for _, b := range shapes[:k] {
			if m.together(b, a) {
				all = append(all, m.surfaceOf(b, a).other)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b *Surface) int { return cmp.Compare(b.Importance(), a.Importance()) })
	pairs = len(all)
	all = all[:min(pairs, mostSurfaces)]
	if pairs > 0 {
		banded := slices.Clone(all)
		for _, s := range all {
			if len(s.a.term.Knots) > 0 && !s.mapped() { // the page draws the lines of all that the two do
				banded = append(banded, s.other)
			}
		}
		m.bandsOfSurfaces(banded)
	}
	return all, pairs
}

// Surfaces returns what pairs of columns that were learnt together do beyond what each does by itself, those that
// matter most first, four at most; nil if none were.
func (s *Shapes) Surfaces() []*Surface {
	if s == nil {
		return nil
	}
	return slices.Clone(s.surfaces)
}

// Beyond returns what the two columns do beyond what each does by itself: the surface less the two shapes.
func (s *Surface) Beyond() *Surface {
	if s.Err() != nil || s.beyond {
		return s
	}
	return s.other
}

// AtTypical returns the surface in the unit of what is predicted, as Shape.AtTypical does.
func (s *Surface) AtTypical() *Surface {
	if s.Err() != nil {
		return s
	}
	out, other := *s, *s.other
	if out.a = s.a.AtTypical(); out.a.Err() != nil {
		return &Surface{err: out.a.Err()}
	}
	other.a, out.other, other.other = out.a, &other, &out
	return &out
}

// Err returns what went wrong, nil for nothing.
func (s *Surface) Err() error {
	if s == nil {
		return errors.New("dpnb: no surface")
	}
	return s.err
}

// Unit says what the values of the surface are.
func (s *Surface) Unit() string {
	if s.Err() != nil {
		return ""
	}
	return s.a.unit
}

// Points returns the surface at the places of a grid, all of the second column for each of the first, which is a number
// if one of them is.
func (s *Surface) Points() (all []SurfacePoint) {
	if s.Err() != nil {
		return nil
	}
	for i, p := range s.a.places {
		for j, r := range s.b.places {
			k := i*len(s.b.places) + j
			at := SurfacePoint{Names: [2]string{p.name, r.name}, At: [2]float64{p.at, r.at}, Value: s.a.to(s.forms[k])}
			if s.why == nil {
				at.NoiseAtOnce = s.a.span(&s.noise[k])
			}
			all = append(all, at)
		}
	}
	return all
}

// Importance is the standard deviation of the surface over the records, were the two columns independent, as far as it
// was released where they are.
func (s *Surface) Importance() float64 {
	if s.Err() != nil {
		return 0
	}
	weights := func(of *Shape) []float64 {
		w := make([]float64, len(of.places))
		for k, p := range of.places {
			if p.below == p.above {
				w[k] = of.term.Shares[p.below]
			}
		}
		return w
	}
	a, b := weights(s.a), weights(s.b)
	var values, shares []float64
	for i, u := range a {
		for j, v := range b {
			values, shares = append(values, s.a.to(s.forms[i*len(b)+j])), append(shares, u*v)
		}
	}
	return stat.PopStdDev(values, shares)
}

// unsure says whether the noise leaves the sign of the surface open at a place.
func (s *Surface) unsure(i, j int) bool {
	if s.why != nil {
		return false
	}
	return s.noise[i*len(s.b.places)+j].straddles()
}

func (s *Surface) title() string {
	return s.a.Column() + " × " + s.b.Column() + s.a.model.ofPart(s.a.part)
}

// heading is what a figure says above the surface.
func (s *Surface) heading() string {
	if s.beyond {
		return fmt.Sprintf("What %s do beyond what each does by itself", s.title())
	}
	return fmt.Sprintf("What %s do together", s.title())
}

func (s *Surface) words() []string {
	what := "what the two columns add together"
	if s.beyond {
		what = "what the two columns do together beyond what each does by itself"
	}
	lines := []string{fmt.Sprintf("In %s: %s, counted from the mean, all other columns at theirs%s.", s.a.unit, what,
		s.a.model.ofTypicalRow())}
	if s.why == nil {
		return append(lines, "Where it may be 0 without the noise, by the band that has all of the surface with 95 %, "+
			"its sign is unsure.")
	}
	return append(lines, "Where the noise leaves its sign open is not known. "+noBands(s.why))
}

// Display shows the surface as a table of about eight values of a number for each of about as many of the other, or
// each category; ? marks those whose sign is unsure.
func (s *Surface) Display() display.Item {
	if err := s.Err(); err != nil {
		return display.Failed(err)
	}
	shown := func(of *Shape) (all []int) {
		step := 1
		if len(of.term.Knots) > 0 {
			step = (len(of.places) + 6) / 8
		}
		for k := 0; k < len(of.places); k += max(1, step) {
			all = append(all, k)
		}
		return all
	}
	it := display.Item{Title: s.heading() + ", in " + s.a.model.of(), Warning: s.a.model.warning(),
		Header: []string{s.a.Column() + " ↓ " + s.b.Column() + " →"}}
	for _, j := range shown(s.b) {
		it.Header = append(it.Header, s.b.places[j].name)
	}
	for _, i := range shown(s.a) {
		row := []string{s.a.places[i].name}
		for _, j := range shown(s.b) {
			mark := ""
			if s.unsure(i, j) {
				mark = " ?"
			}
			row = append(row, fmt.Sprintf("%+.2g%s", s.a.to(s.forms[i*len(s.b.places)+j]), mark))
		}
		it.Row(row...)
	}
	for k, line := range s.words() {
		if k == 1 && s.why == nil {
			line = "?: where " + strings.TrimPrefix(line, "Where ")
		}
		it.Note("%s", line)
	}
	it.Note("Importance (the standard deviation over the records, were the columns independent): %.3g.", s.Importance())
	return it
}

// Illustration is Figure, for Show.
func (s *Surface) Illustration() *figure.Figure { return s.Figure() }

// Figure draws the surface: of two numbers a map with contours, hatched where its sign is unsure; of a number and a
// category a line for each category. Of two categories there is the table alone, and this is nil.
func (s *Surface) Figure() *figure.Figure {
	if s.Err() != nil || len(s.a.term.Knots) == 0 {
		return nil
	}
	words := lineWords
	if s.mapped() {
		words = mapWords
	}
	words = "Of " + s.a.model.of() + ". " + words + " " + strings.Join(s.words(), " ")
	return figure.Page(s.heading(), words, 1, s.panel("", figure.Width, 4.2)).Warn(s.a.model.warning())
}

// mapWords say how a map is read, lineWords how lines are.
const (
	mapWords  = "Darker is higher; lines join what is equal; hatched is where the sign is unsure."
	lineWords = "A line for each category of at least a hundredth of the records, dashed where its sign is unsure."
)

func (s *Surface) mapped() bool { return len(s.b.term.Knots) > 0 }

// panel draws the surface of a number and another column.
func (s *Surface) panel(name string, width, height float64) *figure.Figure {
	if !s.mapped() {
		return s.lines(name, width, height)
	}
	f := figure.New(name, s.a.Column(), s.b.Column())
	f.Width, f.Height = width, height
	s.a.logX(f)
	if s.b.logarithmic() {
		f.LogY(s.b.term.Knots[0], s.b.term.Knots[len(s.b.term.Knots)-1])
	}
	x, y, z := s.fine()
	f.Heat(x, y, z)
	if s.why == nil {
		f.Hatch(numbersOf(s.a.places), numbersOf(s.b.places),
			func(row, column int) bool { return s.unsure(column, row) })
	}
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, row := range z {
		lo, hi = math.Min(lo, floats.Min(row)), math.Max(hi, floats.Max(row))
	}
	if levels := levelsBetween(lo, hi); len(levels) > 0 {
		f.Contours(x, y, z, levels, figure.Ink)
		s.label(f, x, y, z, levels)
	}
	f.XRange(x[0], x[len(x)-1]).YRange(y[0], y[len(y)-1])
	at := func(i, j int) string {
		k := i*len(s.b.places) + j
		return fmt.Sprintf("%+.2g at %s and %s", s.a.to(s.forms[k]), s.a.places[i].name, s.b.places[j].name)
	}
	i, j := len(s.a.places)-1, len(s.b.places)-1
	f.Alt = fmt.Sprintf("A map of %s in %s: %s, %s, %s, %s, in the middle %s", s.title(), s.a.unit, at(0, 0), at(i, 0),
		at(0, j), at(i, j), at(i/2, j/2))
	return f
}

// logarithmic says whether a number is drawn on a logarithmic axis.
func (s *Shape) logarithmic() bool { return s.term.Field.Log && s.term.Field.Lower > 0 }

// logX has the axis of a number be as its scale is.
func (s *Shape) logX(f *figure.Figure) {
	if s.logarithmic() {
		f.LogX(s.term.Knots[0], s.term.Knots[len(s.term.Knots)-1])
	}
}

func numbersOf(places []shapePlace) (all []float64) {
	for _, p := range places {
		all = append(all, p.at)
	}
	return all
}

// levelsBetween are about six round numbers strictly between two, 0 among them if it is.
func levelsBetween(lo, hi float64) (all []float64) {
	if !(hi-lo > 1e-9*(1+math.Abs(lo)+math.Abs(hi))) {
		return nil
	}
	step := figure.RoundStep((hi - lo) / 7)
	for k := math.Floor(lo/step) + 1; k*step < hi; k++ {
		if v := k * step; v > lo {
			all = append(all, v+0)
		}
	}
	return all
}

// fine returns the map with three parts between two places of the grid, straight along each axis.
func (s *Surface) fine() (x, y []float64, z [][]float64) {
	const parts = 3
	between := func(of *Shape) (at []float64, place []int, part []float64) {
		n := (len(of.places) - 1) / (len(of.term.Knots) - 1)
		at = of.term.Between(parts * n)
		for k := range at {
			place = append(place, min(k/parts, len(of.places)-2))
			part = append(part, float64(k-parts*place[k])/parts)
		}
		return at, place, part
	}
	x, i, u := between(s.a)
	y, j, v := between(s.b)
	n := len(s.b.places)
	for r := range y {
		row := make([]float64, len(x))
		for c := range x {
			k := i[c]*n + j[r]
			low := s.forms[k] + u[c]*(s.forms[k+n]-s.forms[k])
			high := s.forms[k+1] + u[c]*(s.forms[k+n+1]-s.forms[k+1])
			row[c] = s.a.to(low + v[r]*(high-low))
		}
		z = append(z, row)
	}
	return x, y, z
}

// label writes the levels of contours beside them, where there is room.
func (s *Surface) label(f *figure.Figure, x, y []float64, z [][]float64, levels []float64) {
	type place struct{ c, r float64 }
	var taken []place
	for k, level := range levels {
		for try := range y {
			r := (len(y)/2 + (k%3-1)*len(y)/5 + (1-2*(try%2))*(try+1)/2 + len(y)) % len(y)
			if r < 2 || r > len(y)-3 {
				continue
			}
			c := slices.IndexFunc(z[r][1:], func(v float64) bool { return (v > level) != (z[r][0] > level) })
			at := place{float64(c) / float64(len(x)), float64(r) / float64(len(y))}
			near := func(o place) bool { return math.Abs(o.c-at.c) < 0.16 && math.Abs(o.r-at.r) < 0.09 }
			if c < 0 || at.c > 0.78 || slices.ContainsFunc(taken, near) {
				continue
			}
			taken = append(taken, at)
			sign := ""
			if level > 0 {
				sign = "+"
			}
			f.Note(sign+figure.Number(level), x[c+1], y[r], figure.Ink)
			break
		}
	}
}

// lines draws the surface of a number and a category, a line for each category.
func (s *Surface) lines(name string, width, height float64) *figure.Figure {
	f := figure.New(name, s.a.Column(), "effect on "+s.a.unit)
	f.Width, f.Height = width, height
	s.a.logX(f)
	if s.a.percent {
		f.Percent()
	}
	x := numbersOf(s.a.places)
	f.Level("", x[0], x[len(x)-1], 0, faint)
	var said []string
	colors := []figure.Color{figure.Blue, figure.Orange, figure.Green, figure.Purple, figure.Gold, figure.Rose}
	for j, p := range s.b.places {
		if s.b.term.Shares[p.below] < 0.01 {
			continue
		}
		var sure, all []float64
		for i := range x {
			all = append(all, s.a.to(s.forms[i*len(s.b.places)+j]))
			if sure = append(sure, all[i]); s.unsure(i, j) {
				sure[i] = math.NaN()
			}
		}
		c := colors[j%len(colors)]
		if s.why == nil {
			f.Dashed(p.name, x, all, c)
		} else {
			f.Line(p.name, x, all, c)
		}
		for i := 1; i < len(x); i++ { // whole where the sign is sure at both ends
			if s.why == nil && !math.IsNaN(sure[i]+sure[i-1]) {
				f.Line("", x[i-1:i+1], all[i-1:i+1], c)
			}
		}
		said = append(said, fmt.Sprintf("%s from %+.2g to %+.2g", p.name, all[0], all[len(all)-1]))
	}
	f.Alt = fmt.Sprintf("%s in %s over %s: %s", s.title(), s.a.unit, s.a.Column(), strings.Join(said, "; "))
	return f
}
