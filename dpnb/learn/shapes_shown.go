package learn

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/dpnb/notebooks/dpnb/display"
	"github.com/dpnb/notebooks/dpnb/figure"
	"github.com/dpnb/notebooks/dpnb/frame"
	"github.com/dpnb/notebooks/dpnb/internal/wording"
)

// whyStraight is said of shapes that can bend.
const whyStraight = "Where few records are, bands are wide and the line is not to be read: it goes on straight, or " +
	"back to the average. How many are where is not shown: a histogram would tell, for some of the budget."

// unsureEverywhere is said where not one place is sure to be above or below the average.
const unsureEverywhere = "Of no value is it sure that it lies above or below the average."

// withoutCurves is said of models that have none, by the noisy number of their records.
const withoutCurves = "Numbers are straight lines: curves have more directions than so few records can tell at this " +
	"budget, by their noisy number."

// tooFewForCurves reports whether numbers that could have had curves are straight lines.
func (m *Model) tooFewForCurves() bool {
	b := m.bought()
	return b != nil && !b.Curved
}

// whyShaped says why numbers have straight lines, here and there or everywhere; nothing where lines were asked for.
func (m *Model) whyShaped() []string {
	switch {
	case m.tooFewForCurves():
		return []string{withoutCurves}
	case m.encoding.Curves() != nil:
		return []string{whyStraight}
	}
	return nil
}

// whereHardly is where bands for the population have ended.
const whereHardly = "where hardly any records are estimated to be"

// added says in plain words what shapes add to, and from where they count.
func added(shapes []*Shape) string {
	s := shapes[0]
	what := "the " + s.unit
	switch {
	case s.model.target.Task == frame.Number:
		what = "the prediction of " + s.unit + ", in its unit"
	case strings.HasPrefix(s.unit, "log-odds"):
		what += " (0.69 more: twice the odds)"
	case strings.HasPrefix(s.unit, "logarithm"):
		what += " (0.69 more: twice the mean)"
	case slices.ContainsFunc(shapes, func(o *Shape) bool { return o.unit != s.unit }):
		what = "the score of its class"
	}
	from := "on average over the records, by an estimate"
	switch {
	case s.model.plain != nil:
		from = "on average over the records"
	case s.model.bought() == nil:
		from = "on average over its scale, as nothing was bought of where the records are"
	}
	crossed := ""
	if s.model.encoding.Crossed() != nil {
		crossed = ", and what a column is crossed with at its mean"
	}
	return fmt.Sprintf("How much a value adds to %s, all other columns equal%s%s. 0 is what its column adds %s.", what,
		crossed, s.model.ofTypicalRow(), from)
}

// ofTypicalRow says that effects are those of a typical row, where rows are scaled.
func (m *Model) ofTypicalRow() string {
	if m.encoding.Clipped() {
		return ""
	}
	return ", for a row of the typical norm"
}

// ofScaledRows says what effects for the population are of where each row is scaled by its own factor, by which those
// of a regression on the columns can be missed however many records there are; "" where none is.
func (m *Model) ofScaledRows() string {
	if m.ofTypicalRow() == "" || m.bought() == nil {
		return ""
	}
	return "They are effects for a row of typical length, since each row is scaled by its own: a regression on the " +
		"columns as they are has others, by a tenth and more where rows differ in length, and what is no effect " +
		"there can be one here, which an interval of many records does not cover. " +
		wording.Setting{Field: "InUnits", Go: "InUnits()"}.String() + " has effects that are the same for all rows."
}

func (s *Shape) title() string {
	return s.Column() + s.model.ofPart(s.part)
}

// ofPart is " of " the class or level, "" of one alone.
func (m *Model) ofPart(part int) string {
	if _, names := m.parts(); part < len(names) {
		return " of " + names[part]
	}
	return ""
}

// of says of which model shapes are.
func (m *Model) of() string {
	if m.release == nil {
		return fmt.Sprintf("a %s for %s, WITHOUT privacy", m.title, m.target.Name)
	}
	edited := ""
	if m.base != nil {
		edited = ", changed after the fit"
	}
	return fmt.Sprintf("a private %s for %s%s", m.title, m.target.Name, edited)
}

// Display shows the shape at the knots of a number and the categories, with its bands of all values at once.
func (s *Shape) Display() display.Item {
	if err := s.Err(); err != nil {
		return display.Failed(err)
	}
	it := display.Item{Title: "The shape of " + s.title() + " in " + s.model.of(), Warning: s.model.warning(),
		Header: []string{s.Column(), "value"}}
	points := s.Points()
	noise := points[0].NoiseAtOnce != nil
	population := withPopulation(points)
	changed := len(s.did) > 0
	if changed {
		it.Header = append(it.Header, "before")
	}
	if noise {
		it.Header = append(it.Header, "without noise, from", "to")
	}
	if population {
		it.Header = append(it.Header, "population, from", "to")
	}
	for k, p := range points {
		if s.places[k].below != s.places[k].above {
			continue
		}
		row := []string{p.Name, fmt.Sprintf("%+.3g", p.Value)}
		if changed {
			row = append(row, fmt.Sprintf("%+.3g", p.Before))
		}
		if noise {
			row = append(row, bound(p.NoiseAtOnce.Lower), bound(p.NoiseAtOnce.Upper))
		}
		if p.PopulationAtOnce != nil {
			row = append(row, bound(p.PopulationAtOnce.Lower), bound(p.PopulationAtOnce.Upper))
		} else if population {
			row = append(row, "", "")
		}
		it.Row(row...)
	}
	it.Note("%s", added([]*Shape{s}))
	for _, did := range s.did {
		it.Note("%s.", capital(did))
	}
	for _, line := range s.bands() {
		it.Note("%s", line)
	}
	it.Notes = append(it.Notes, s.model.whyShaped()...)
	return it
}

func (s *Shape) bands() (lines []string) {
	before := ""
	if len(s.did) > 0 {
		before = ", before it was changed"
	}
	if s.why[0] == nil {
		basis := "the curvature that was released"
		if _, known := s.model.Curvature(); !known {
			basis = "the curvature that is expected of independent columns"
		}
		lines = append(lines, fmt.Sprintf("Without noise: where the same fit has all of the curve%s, with 95 %%, by "+
			"the law of the noise and %s (approximate).", before, basis))
	} else {
		lines = append(lines, noBands(s.why[0]))
	}
	switch {
	case s.why[1] == nil:
		lines = append(lines, "Population: where the curve is, all of it with 95 %, of the people from whom the "+
			"records were drawn, the shrinkage of the ridge corrected for (approximate); it ends "+whereHardly+".")
	case s.why[0] == nil:
		lines = append(lines, capital(strings.TrimPrefix(s.why[1].Error(), "dpnb: "))+".")
	}
	return lines
}

func noBands(why error) string { return "No bands: " + strings.TrimPrefix(why.Error(), "dpnb: ") + "." }

// Display shows what each column does, those first that matter most.
func (s *Shapes) Display() display.Item {
	if s == nil || len(s.all) == 0 {
		return display.Failed(fmt.Errorf("dpnb: no shapes: look at the err that came with them"))
	}
	first := s.all[0]
	it := display.Item{Title: "What each column does in " + first.model.of(), Warning: first.model.warning(),
		Header: []string{"column", "importance", "lowest to highest"}}
	marked := false
	row := func(title, importance string, points []ShapePoint) {
		mark, known := "", sure(points)
		if len(known) == 0 {
			known, mark, marked = points, " ?", true
		}
		by := func(a, b ShapePoint) int { return cmp.Compare(a.Value, b.Value) }
		at := func(p ShapePoint) string {
			where := " at "
			if math.IsNaN(p.At) {
				where = ", "
			}
			return fmt.Sprintf("%+.3g%s%s%s", p.Value, where, p.Name, mark)
		}
		ends := at(slices.MinFunc(known, by))
		if highest := at(slices.MaxFunc(known, by)); highest != ends {
			ends += " to " + highest
		}
		it.Row(title, importance, ends)
	}
	guessed := false
	for _, one := range s.all {
		about := ""
		if one.guessed() {
			about, guessed = "about ", true
		}
		row(one.title(), fmt.Sprintf("%s%.3g", about, one.Importance()), one.Points())
	}
	for _, two := range s.surfaces {
		var points []ShapePoint
		for _, p := range two.Points() {
			points = append(points, ShapePoint{Name: p.Names[0] + ", " + p.Names[1], At: p.At[0],
				Value: p.Value, NoiseAtOnce: p.NoiseAtOnce})
		}
		row(two.title(), fmt.Sprintf("%.3g", two.Importance()), points)
	}
	it.Note("%s", added(s.all))
	if first.why[0] == nil {
		it.Note("Lowest to highest: of the values that are sure to be above or below the average, by a band without 0 "+
			"in it that has not ended %s.", whereHardly)
	}
	if marked {
		it.Note("?: of none of its values that is sure.")
	}
	if s.pairs > 0 {
		of := ""
		if len(s.surfaces) < s.pairs {
			of = fmt.Sprintf(" Those are shown that matter most, %d of %d.", len(s.surfaces), s.pairs)
		}
		it.Note("a × b: what the two do beyond what each does by itself, to be added to both.%s", of)
	}
	it.Note("Importance: the standard deviation over the records, as far as it is known where they lie; it includes " +
		"noise.")
	if guessed {
		it.Note("About: of a straight number nothing is known of where the records lie but their mean, at most; they " +
			"are taken to spread about it as a usual number does, by 0.29 of the most that such a mean allows (where " +
			"none was bought, evenly), and may do so by up to 3.5 times as much or hardly at all.")
	}
	if bend := s.Bend(); first.model.base == nil && bend < 1.5 {
		it.Note("The curves bend %.2g times as much as lines do by the noise alone: little or nothing is known of "+
			"bends, and %s.", bend, wording.Setting{Field: "Lines", Value: "has none of them",
			Go: "Shapes.Straightened has less of them"})
	}
	return it
}

// withPopulation reports whether some of the points have a band for the population.
func withPopulation(points []ShapePoint) bool {
	return slices.ContainsFunc(points, func(p ShapePoint) bool { return p.PopulationAtOnce != nil })
}

// sure returns the points of which the sign is: by the band for the population, if there is one, else by that for the
// noise, where there is any.
func sure(points []ShapePoint) (all []ShapePoint) {
	ends := withPopulation(points)
	for _, p := range points {
		band := p.NoiseAtOnce
		if ends {
			band = p.PopulationAtOnce
		}
		if band != nil && !band.straddles() || band == nil && !ends {
			all = append(all, p)
		}
	}
	return all
}

// straddles reports whether 0 is in the band.
func (s Span) straddles() bool { return s.Lower <= 0 && 0 <= s.Upper }

// Err returns nil; it is there for Show.
func (s *Shapes) Err() error { return nil }

// Illustration is Figure, for Show.
func (s *Shapes) Illustration() *figure.Figure { return s.Figure() }

// Illustration is Figure, for Show.
func (s *Shape) Illustration() *figure.Figure { return s.Figure() }

// Figure draws the shape with its bands of all values at once: of the noise, and of the population if that is known.
func (s *Shape) Figure() *figure.Figure {
	if s.Err() != nil {
		return nil
	}
	return pageOf("The shape of "+s.title()+" in "+s.model.of(), 1, []*Shape{s}, nil)
}

// Figure draws all shapes on one page, those first that matter most, on one scale.
func (s *Shapes) Figure() *figure.Figure {
	if s == nil || len(s.all) == 0 {
		return nil
	}
	return pageOf("What each column does in "+s.all[0].model.of(), 2, s.all, s.surfaces)
}

// faint is the colour of zero.
var faint = figure.Color{R: 185, G: 185, B: 185, A: 255}

func pageOf(title string, columns int, shapes []*Shape, surfaces []*Surface) *figure.Figure {
	lo, hi := limits(shapes)
	var panels []*figure.Figure
	var words []string
	changed := false
	for _, s := range shapes {
		name := s.title()
		if len(shapes) == 1 {
			name = "" // it is in the title
		}
		panels = append(panels, s.panel(name, lo, hi))
		changed = changed || len(s.did) > 0
	}
	first := shapes[0]
	words = append(words, "Line or dot: what the model learnt: what goes together, not what causes what. "+
		added(shapes))
	if first.why[0] == nil {
		words = append(words, "Blue: how far the privacy noise may have moved it, with 95 % for all of the curve.")
	} else {
		words = append(words, noBands(first.why[0]))
	}
	if first.why[1] == nil {
		words = append(words, "Orange: how far it may be from that of all people like these, the noise included, with "+
			"95 % for all of it: what is said of people rests on it. It ends, and the line is dashed, "+
			whereHardly+".")
	} else if first.why[0] == nil {
		words = append(words, "How far it may be from that of all people like these is not shown.")
	}
	if first.why[0] == nil {
		words = append(words, "Bands are cut at the edge of a panel.")
		if !slices.ContainsFunc(shapes, func(s *Shape) bool { return len(sure(s.Points())) > 0 }) {
			words = append(words, unsureEverywhere)
		}
	}
	if changed {
		words = append(words, "Dashed or grey: before it was changed, which is what the bands are of.")
	}
	var lines, maps string
	for _, s := range surfaces {
		switch {
		case len(s.a.term.Knots) == 0:
		case s.mapped():
			panels = append(panels, s.panel(s.title()+", on top of both", figure.Width/2, 2.6))
			maps = "Two numbers: what they do beyond what each does by itself, to be added to both; it is no " +
				"effect alone. " + mapWords
		default:
			panels = append(panels, s.other.panel(s.title()+", together", figure.Width/2, 2.6))
			lines = "A number and a category: what the two add together. " + lineWords
		}
	}
	for _, how := range []string{lines, maps} {
		if how != "" {
			words = append(words, how+" Each on a scale of its own.")
		}
	}
	return figure.Page(title, strings.Join(append(words, first.model.whyShaped()...), "\n"), columns, panels...).
		Warn(first.model.warning())
}

// limits are those of the axis of the effect: for all values, and for bands as far as they reach no further beyond them
// than two fifths of the way from the lowest to the highest.
func limits(shapes []*Shape) (lo, hi float64) {
	var low, high float64
	for _, s := range shapes {
		for _, p := range s.Points() {
			lo, hi = min(lo, p.Value, p.Before), max(hi, p.Value, p.Before)
			for _, band := range []*Span{p.NoiseAtOnce, p.PopulationAtOnce} {
				if band != nil {
					low, high = min(low, band.Lower), max(high, band.Upper)
				}
			}
		}
	}
	if hi == lo {
		hi, lo = hi+1, lo-1
	}
	room := 0.4 * (hi - lo)
	lo, hi = min(lo, max(low, lo-room)), max(hi, min(high, hi+room))
	room = 0.03 * (hi - lo)
	return lo - room, hi + room
}

// cutTo moves values to the nearer end of a scale that they are beyond.
func cutTo(lo, hi float64) func(v float64) float64 {
	return func(v float64) float64 { return math.Min(math.Max(v, lo), hi) }
}

// axis is the label of the effect, which says what 0 is.
func (s *Shape) axis() string {
	if s.model.plain == nil && s.model.bought() == nil {
		return "effect on " + s.unit + " (0: mean of the scale)"
	}
	return "effect on " + s.unit + " (0: average)"
}

// panel draws the shape on a scale of the effect.
func (s *Shape) panel(name string, lo, hi float64) *figure.Figure {
	all := s.Points()
	numbers := all[:len(all)-len(s.term.Categories)]
	if len(numbers) == 0 {
		return s.bars(name, all, lo, hi)
	}
	f := figure.New(name, s.Column(), s.axis())
	if s.logarithmic() {
		k := s.term.Knots
		ticks := []float64{k[0], math.Sqrt(k[0] * k[len(k)-1]), k[len(k)-1]}
		for i, v := range ticks[:2] { // one digit each, and few: there is little room
			ticks[i], _ = strconv.ParseFloat(strconv.FormatFloat(v, 'g', 1, 64), 64)
		}
		f.LogX(max(ticks[0], k[0]), ticks[1], ticks[2])
	}
	if s.term.Field.Part == frame.Days {
		f.DatesX()
	}
	if s.percent {
		f.Percent()
	}
	in := cutTo(lo, hi)
	cut := func(of func(p ShapePoint) float64) []float64 {
		out := make([]float64, len(numbers))
		for k, p := range numbers {
			out[k] = in(of(p))
		}
		return out
	}
	x := numbersOf(s.places[:len(numbers)])
	band := func(of func(p ShapePoint) *Span, c figure.Color) {
		var at, lower, upper []float64
		for _, p := range numbers {
			if b := of(p); b != nil {
				at, lower, upper = append(at, p.At), append(lower, in(b.Lower)), append(upper, in(b.Upper))
			}
		}
		if at != nil {
			f.Band(at, lower, upper, c)
		}
	}
	band(func(p ShapePoint) *Span { return p.PopulationAtOnce }, figure.Orange)
	band(func(p ShapePoint) *Span { return p.NoiseAtOnce }, figure.Blue)
	f.Level("", x[0], x[len(x)-1], 0, faint)
	if len(s.did) > 0 {
		f.Dashed("", x, cut(func(p ShapePoint) float64 { return p.Before }), figure.Gray)
	}
	y := cut(func(p ShapePoint) float64 { return p.Value })
	from, to := 0, len(x)
	if withPopulation(numbers) {
		known := func(p ShapePoint) bool { return p.PopulationAtOnce != nil }
		from = slices.IndexFunc(numbers, known)
		for to = from; to < len(x) && known(numbers[to]); {
			to++
		}
		if to-from < len(x) { // in one piece: a few points of an end would be marked
			f.Dashed("", x, y, figure.Blue)
		}
	}
	f.Line("", x[from:to], y[from:to], figure.Blue)
	for _, p := range all[len(numbers):] {
		f.Note(fmt.Sprintf("%s: %+.2g", p.Name, p.Value), x[0], hi-0.08*(hi-lo), figure.Gray)
	}
	f.YRange(lo, hi)
	f.Width, f.Height = figure.Width/2, 2.5
	f.Alt = s.alt(numbers)
	return f
}

// bars draws categories, those first that add most: it sorts them.
func (s *Shape) bars(name string, all []ShapePoint, lo, hi float64) *figure.Figure {
	slices.SortStableFunc(all, func(a, b ShapePoint) int { return cmp.Compare(b.Value, a.Value) })
	f := figure.New(name, s.axis(), "")
	if s.percent {
		f.PercentX()
	}
	const gap = 0.2
	in := cutTo(lo, hi)
	var names []string
	var lower, middle, upper []float64
	for k, p := range all {
		y := float64(len(all) - k)
		names, middle = append(names, p.Name), append(middle, in(p.Value))
		l, u := in(p.Value), in(p.Value)
		if n := p.NoiseAtOnce; n != nil {
			l, u = in(n.Lower), in(n.Upper)
		}
		lower, upper = append(lower, l), append(upper, u)
		if n := p.PopulationAtOnce; n != nil {
			f.Line("", []float64{in(n.Lower), in(n.Upper)}, []float64{y - gap, y - gap}, figure.Orange)
		}
		if len(s.did) > 0 {
			f.Dots("", []float64{in(p.Before)}, []float64{y + gap}, figure.Gray)
		}
	}
	f.Dashed("", []float64{0, 0}, []float64{0.4, float64(len(all)) + 0.6}, faint)
	f.Intervals(names, lower, middle, upper, figure.Blue)
	f.XRange(lo, hi)
	f.Width, f.Height = figure.Width/2, 1.25+0.2*float64(len(all))
	f.Alt = s.alt(all)
	return f
}

func (s *Shape) alt(points []ShapePoint) string {
	var at []string
	step := max(1, (len(points)-1)/7)
	if len(s.term.Knots) == 0 {
		step = 1
	}
	for k := 0; k < len(points); k += step {
		at = append(at, fmt.Sprintf("%s %+.2g", points[k].Name, points[k].Value))
	}
	return fmt.Sprintf("%s in %s: %s", s.title(), s.unit, strings.Join(at, ", "))
}
