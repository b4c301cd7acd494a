package frame

import (
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/dpnb/notebooks/dpnb/internal/wording"
)

// Reading is how the texts of a column are read: what the settings of its file said, once for all records. A copy of
// the texts in another format has to have it beside them.
type Reading struct {
	// Decimal and Thousands are the marks in numbers, as in CSVSettings; zero is '.' and none.
	Decimal   rune `json:"decimal,omitempty"`
	Thousands rune `json:"thousands,omitempty"`
	// Missing has the texts that mean "missing", besides the empty one.
	Missing []string `json:"missing,omitempty"`
}

// Reading returns how the texts of c are read.
func (c *Column) Reading() Reading {
	var r Reading
	if c.format != nil {
		r.Decimal, r.Thousands = c.format.decimal, c.format.thousands
	}
	for _, m := range slices.Sorted(maps.Keys(c.missing)) {
		if m != "" {
			r.Missing = append(r.Missing, m)
		}
	}
	return r
}

// ReadLike reports whether the columns of t hold what those of o do, numbers or texts, and the texts are read in the
// same way: files that are one table (Together) may differ in both.
func (t *Table) ReadLike(o *Table) bool {
	return slices.EqualFunc(t.columns, o.columns, func(a, b Column) bool {
		return a.Kind == b.Kind && reflect.DeepEqual(a.Reading(), b.Reading())
	})
}

// errUnlike refuses rows of files that differ in how they are read, where they are to be read in one way.
var errUnlike = inputErrorf("its files hold a column as numbers and as texts, or read its texts in different ways " +
	"(decimal marks, what is missing): take them one by one, or all in one format")

// ReadAs has the texts of c read as r says.
//
// Errors: *InputError if the marks contradict each other.
func (c *Column) ReadAs(r Reading) error {
	if r.Decimal == 0 {
		r.Decimal = '.'
	}
	if err := checkMarks(r.Decimal, r.Thousands); err != nil {
		return err
	}
	c.format, c.missing, c.sentinels = nil, map[string]bool{"": true}, false
	if r.Decimal != '.' || r.Thousands != 0 {
		c.format = &numberFormat{decimal: r.Decimal, thousands: r.Thousands}
	}
	for _, m := range r.Missing {
		m = trim(m)
		c.missing[m] = true
		v, ok := c.format.parse(m)
		c.sentinels = c.sentinels || ok && !math.IsNaN(v)
	}
	return nil
}

// mark is a setting that is a character.
func mark(name string, of rune) wording.Setting { return wording.Of(name, strconv.QuoteRune(of)) }

// skip is the setting of how many lines are skipped.
func skip(lines int) wording.Setting { return wording.Of("Skip", strconv.Itoa(lines)) }

// checkMarks refuses marks of which numbers cannot be read.
func checkMarks(decimal, thousands rune) error {
	const taken = "+-0123456789\"\r\n"
	switch {
	case !validMark(decimal) || strings.ContainsRune(taken, decimal):
		return inputErrorf("%s: want the mark before the decimals of a number: '.' or ','", mark("Decimal", decimal))
	case thousands != 0 && (!validMark(thousands) || thousands == decimal || strings.ContainsRune(taken, thousands)):
		return inputErrorf("%s: want a mark between groups of three digits that is not that of %s",
			mark("Thousands", thousands), mark("Decimal", decimal))
	}
	return nil
}
