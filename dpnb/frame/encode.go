package frame

import (
	"fmt"
	"math"
	"slices"

	"github.com/dpnb/notebooks/dpnb/internal/logscale"
)

// encoder writes one column's part of a row of features.
type encoder struct {
	column     *Column
	field      *Field
	centred    bool
	categories *categories
	// levels of which each has an indicator: categories, or of centred rows the intervals of steps; nil of a number.
	levels []string
	// size is how many features there are without that of a missing value, which there is if more.
	size int
	more bool
	// other is the place of the category for texts that are none, −1 if there is none.
	other int
	// at is the place of the first of its features.
	at    int
	scale float64
	log   logscale.Scale
	// fill is what a number that is missing is encoded as.
	fill float64
	// hats, of which a number has so many, is 0 where it is not Centred.
	hats int
	// typical is the share of the scale at which a number counts as 0, reach the largest distance from it.
	typical, reach float64
	// last text and its place: neighbouring rows often agree.
	last      string
	lastPlace int
}

func newEncoder(f *Field, at int, s *DesignSettings) encoder {
	e := encoder{field: f, at: at, centred: s.Centred}
	if f.Kind == Categorical {
		e.categories, e.levels, e.size, e.more = newCategories(f.Levels), f.Levels, len(f.Levels), f.Missing
		e.other = slices.Index(f.Levels, f.Else)
		return e
	}
	e.scale = 1 / (f.Upper - f.Lower)
	if f.Log {
		e.log = logscale.Between(f.Lower, f.Upper)
	}
	if e.fill = 0.5; f.Fill != nil {
		e.fill = e.number(*f.Fill)
	}
	if f.Open {
		e.reach = 1
	} else if s.Centred {
		e.hats, e.typical = s.Curves, 0.5
		if f.Typical != nil {
			e.typical = e.number(*f.Typical)
		}
		if f.Fill == nil {
			e.fill = e.typical
		}
		e.reach = max(e.typical, 1-e.typical)
	}
	if !s.Centred || f.Line || f.Cuts != nil || f.Period != 0 {
		e.hats = 0
	}
	e.size, e.more = 1+e.hats, s.Centred && f.Missing && f.Fill == nil
	switch {
	case s.Centred && f.Cuts != nil:
		e.levels = f.intervals()
		e.size = len(e.levels)
	case e.periodic():
		e.size = 2 * harmonics
	}
	return e
}

// periodic reports whether the column is a number whose curve closes up.
func (e *encoder) periodic() bool { return e.centred && e.field.Period != 0 }

// Coded is how a column becomes features: whether it is centred, and whether being missing is a feature; of a number
// the share of its scale that one which is missing has, that at which it counts as 0, the largest distance from that,
// which is 0 where it is not centred, and the number of hats. MissingStep is the place among steps of one that is
// missing, and Waves are the weights of the cosines and sines of one with a period; nil of others.
type Coded struct {
	Centred, Missing     bool
	Fill, Typical, Reach float64
	Hats, MissingStep    int
	Waves                []float64
}

// Coded returns that of each of Columns.
func (e *Encoding) Coded() (all []Coded) {
	for _, c := range e.encoders {
		of := Coded{Centred: c.centred, Missing: c.more, Fill: c.fill, Typical: c.typical, Reach: c.reach, Hats: c.hats}
		switch {
		case c.levels != nil && c.categories == nil:
			of.MissingStep = c.step(math.NaN())
		case c.periodic():
			start := make([]float64, 2*harmonics) // where cosines are 1
			wave(start, 0, 1)
			for k := range harmonics {
				of.Waves = append(of.Waves, start[2*k])
			}
		}
		all = append(all, of)
	}
	return all
}

func (e *encoder) width() int {
	if e.more {
		return e.size + 1
	}
	return e.size
}

// hat adds (h₁(u), …, h_K(u)) times a number to dst, h_k the linear B-splines with knots at (k − 1)/(K − 1).
func hat(dst []float64, u, times float64) {
	at := u * float64(len(dst)-1)
	k := min(int(at), len(dst)-2)
	part := at - float64(k)
	dst[k] += times * (1 - part)
	dst[k+1] += times * part
}

// given is what a record has of a column: the place of an indicator, −1 for none; of a number its share of the scale,
// or the place 1 if it is missing and has an indicator.
type given struct {
	place int
	share float64
}

func (e *encoder) given(i int) given {
	if e.levels != nil {
		return given{place: e.place(i)}
	}
	v := e.column.Number(i)
	if e.more && math.IsNaN(v) {
		return given{place: 1}
	}
	return given{share: e.number(v)}
}

// write writes what a record has of a column of Centred rows: of a number (u − u₀)/max(u₀, 1 − u₀), u its share of the
// scale and u₀ that of the typical value, with the hats less their mean 1/K, or less those of the typical value if it
// was stated, or of one with a period its waves; of a category of K its indicators less 1/K, or zeros for a text that
// is none.
func (e *encoder) write(own []float64, v given) {
	switch {
	case e.levels != nil && v.place >= 0:
		indicate(own, v.place)
	case e.levels != nil:
	case v.place == 1:
		own[e.size] = 1
	default:
		e.line(own, v.share)
	}
}

// indicate writes the indicators less their mean for place k.
func indicate(own []float64, k int) {
	for j := range own {
		own[j] = -1 / float64(len(own))
	}
	own[k]++
}

// line writes what write does for the share u of a number's scale.
func (e *encoder) line(own []float64, u float64) {
	if e.periodic() {
		wave(own, u, 1)
		return
	}
	own[0] = (u - e.typical) / e.reach
	if e.hats == 0 {
		return
	}
	hat(own[1:1+e.hats], u, 1)
	if e.field.Typical != nil {
		hat(own[1:1+e.hats], e.typical, -1)
		return
	}
	for k := range e.hats {
		own[1+k] -= 1 / float64(e.hats)
	}
}

// longest bounds the squared norm of what write writes.
func (e *encoder) longest() float64 {
	if e.levels != nil {
		return 1 - 1/float64(e.width())
	}
	// The largest of Σh² is 1, at a knot: less the mean 1/K that is 1 − 1/K; between any two u it is 2.
	long := 1.0
	if e.periodic() {
		long += 0x1p-48 // the squares of cosines and sines are rounded
	}
	if e.hats > 0 && e.field.Typical != nil {
		long += 2
	} else if e.hats > 0 {
		long += 1 - 1/float64(e.hats)
	}
	return long
}

// over returns e for a column of a table.
func (e encoder) over(c *Column) (encoder, error) {
	if err := e.field.dated(c); err != nil {
		return e, err
	}
	c = e.field.read(c)
	e.column = c
	if e.categories == nil {
		return e, nil
	}
	if c.Kind == Categorical && c.len() > 0 {
		e.last, e.lastPlace = c.Texts[0], e.categories.of(c, 0)
	}
	return e, nil
}

func (e *encoder) names() []string {
	var names []string
	for k := range e.size {
		switch {
		case e.levels != nil:
			names = append(names, e.field.Name+"="+e.levels[k])
		case e.periodic():
			names = append(names, fmt.Sprintf("%s~%d", e.field.Name, k+1))
		case k == 0:
			names = append(names, e.field.Name)
		default:
			names = append(names, fmt.Sprintf("%s~%d", e.field.Name, k))
		}
	}
	if e.more {
		names = append(names, e.field.Name+" missing")
	}
	return names
}

// number returns the feature of a number.
func (e *encoder) number(v float64) float64 {
	if math.IsNaN(v) {
		return e.fill
	}
	if e.field.Open {
		return (v - e.field.Lower) * e.scale
	}
	v = min(max(v, e.field.Lower), e.field.Upper) // not math's, which are calls
	if e.field.Log {
		return min(1, e.log.Share(v))
	}
	return min(1, (v-e.field.Lower)*e.scale)
}

// encode writes row i and returns where: a field has at most one entry that is not zero; −1 is none. It does not fail:
// there is a rule for every value.
func (e *encoder) encode(row []float64, i int) (at int) {
	if e.categories == nil {
		row[e.at] = e.number(e.column.Number(i))
		return e.at
	}
	k := e.place(i)
	if k < 0 {
		return -1
	}
	row[e.at+k] = 1
	return e.at + k
}

// place returns which indicator row i has, −1 for none.
func (e *encoder) place(i int) int {
	if e.categories == nil {
		return e.step(e.column.Number(i))
	}
	k := e.placeOf(i)
	switch {
	case k == placeMissing && e.field.Missing:
		return len(e.field.Levels)
	case k < 0:
		return e.other
	}
	return k
}

// step returns in which interval a number is; one that is missing, or no number, counts as number says.
func (e *encoder) step(v float64) int {
	switch typical := e.field.Typical; {
	case math.IsNaN(v) && e.more:
		return len(e.levels)
	case math.IsNaN(v) && e.field.Fill == nil && typical != nil:
		v = *typical
	}
	k, at := slices.BinarySearch(e.field.Cuts, e.field.inBounds(v))
	if at {
		k++
	}
	return k
}

func (e *encoder) placeOf(i int) int {
	if e.column.Kind == Numeric {
		return e.categories.of(e.column, i)
	}
	if text := e.column.Texts[i]; text != e.last {
		e.last, e.lastPlace = text, e.categories.of(e.column, i)
	}
	return e.lastPlace
}
