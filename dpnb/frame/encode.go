package frame

import (
	"math"
	"slices"

	"github.com/dpnb/notebooks/dpnb/internal/logscale"
)

// encoder writes one column's part of a row of features.
type encoder struct {
	column     *Column
	field      *Field
	categories *categories
	// other is the place of the category for texts that are none, −1 if there is none.
	other int
	// at is the place of the first of its features.
	at    int
	scale float64
	log   logscale.Scale
	// fill is what a number that is missing is encoded as.
	fill float64
	// last text and its place: neighbouring rows often agree.
	last      string
	lastPlace int
}

func newEncoder(f *Field, at int) encoder {
	e := encoder{field: f, at: at}
	if f.Kind == Categorical {
		e.categories = newCategories(f.Levels)
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
	return e
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
	if e.field.Kind == Numeric {
		return []string{e.field.Name}
	}
	var names []string
	for _, l := range e.field.Levels {
		names = append(names, e.field.Name+"="+l)
	}
	if e.field.Missing {
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

// encode writes row i and returns where: a field has at most one entry that is not
// zero; −1 is none. It does not fail: there is a rule for every value.
func (e *encoder) encode(row []float64, i int) (at int) {
	if e.categories == nil {
		row[e.at] = e.number(e.column.Number(i))
		return e.at
	}
	k := e.placeOf(i)
	switch {
	case k == placeMissing && e.field.Missing:
		k = len(e.field.Levels)
	case k < 0:
		k = e.other
	}
	if k < 0 {
		return -1
	}
	row[e.at+k] = 1
	return e.at + k
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
