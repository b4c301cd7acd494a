package frame

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/dpnb/notebooks/dpnb/internal/wording"
)

// Misfit is what in one column does not fit the schema in one way. It is about single records, and no guarantee covers
// it.
type Misfit struct {
	Column string
	// What is wrong, for example "outside the categories".
	What string
	// Count of the rows, 0 where the column itself is what is wrong.
	Count int
	// Lines of the first few: of the file, or numbers of rows from 1 if there is none.
	Lines []int
	// Texts of the first few that differ.
	Texts []string
}

// shownMisfits is how many lines and texts a Misfit lists.
const shownMisfits = 5

// Misfits lists what does not fit the schema, for the keeper of the data, who must hear of typing errors: the rules of
// the schema's fields apply to it without a word.
// It reads raw records, and no guarantee covers what it returns.
//
// Errors: *InputError if something is wrong with the schema, or dates of it cannot be read.
func Misfits(t Scanner, schema *Schema) ([]Misfit, error) {
	if schema == nil {
		return nil, inputErrorf("no public schema to compare with: state one (WithSchema)")
	}
	if err := schema.Validate(); err != nil {
		return nil, err
	}
	var there []string
	found, at := make([][]Misfit, len(t.Names())), []int{}
	for k, name := range t.Names() {
		if _, ok := schema.Field(name); ok {
			there, at = append(there, name), append(at, k)
		} else {
			found[k] = []Misfit{{Column: name, What: "the column is not in the schema"}}
		}
	}
	if before := 0; there != nil {
		err := t.Scan(there, func(chunk *Table) error {
			for i, k := range at {
				f, _ := schema.Field(there[i])
				if err := f.dated(&chunk.columns[i]); err != nil {
					return err
				}
				found[k] = chunk.misfits(found[k], &chunk.columns[i], f, before, func(string) bool { return true })
			}
			before += chunk.rows
			return nil
		})
		if err != nil {
			return nil, err
		}
		if before == 0 {
			found[at[0]] = append(found[at[0]], Misfit{Column: there[0], What: "THERE ARE NO RECORDS"})
		}
		for i, k := range at {
			misfits := 0
			for _, m := range found[k] {
				misfits += m.Count
			}
			if misfits == before && before > 0 {
				found[k] = append([]Misfit{{Column: there[i], What: "NOT ONE VALUE FITS", Count: before}}, found[k]...)
			}
		}
	}
	out := slices.Concat(found...)
	for i := range schema.Fields {
		if name := schema.Fields[i].Name; !slices.Contains(t.Names(), name) {
			out = append(out, Misfit{Column: name, What: "the table has no such column"})
		}
	}
	return out, nil
}

// outside is what is wrong with a text that is no category.
const outside = "outside the categories"

// misfits adds to those of a column that were found in the rows before, those of which only says so.
func (t *Table) misfits(out []Misfit, c *Column, f *Field, before int, only func(what string) bool) []Misfit {
	at := map[string]int{}
	for k := range out {
		at[out[k].What] = k
	}
	known, seen := newCategories(f.Levels), f.read(c)
	for i := range t.rows {
		what := f.misfit(seen, i, known)
		if f.Part.kind() == Numeric && f.Part != NoDate && seen.lacks(i) && !c.lacks(i) {
			what = "no date as " + f.Layout
		}
		if what == "" || !only(what) {
			continue
		}
		k, ok := at[what]
		if !ok {
			k = len(out)
			at[what] = k
			out = append(out, Misfit{Column: c.Name, What: what})
		}
		m := &out[k]
		m.Count++
		if len(m.Lines) < shownMisfits {
			line := before + i + 1
			if t.lines != nil {
				line = t.lines[i]
			}
			m.Lines = append(m.Lines, line)
		}
		if text := c.raw(i); len(m.Texts) < shownMisfits && text != "" && !slices.Contains(m.Texts, text) {
			m.Texts = append(m.Texts, strings.Clone(text))
		}
	}
	return out
}

// Unread adds to found, which has a list for each column and is nil at first, what of the next rows of a table, after
// so many before, is not what it was meant to be: numbers and dates that are none, and texts that are no category where
// the schema has no other for them. Such entries count as missing, or as no category. It is about single records, and
// for whoever has them.
//
// Errors: as Rows.
func (e *Encoding) Unread(found [][]Misfit, t *Table, before int) ([][]Misfit, error) {
	if found == nil {
		found = make([][]Misfit, len(e.fields))
	}
	for k := range e.fields {
		f := &e.fields[k]
		c, err := t.Column(f.Name)
		if err != nil {
			return found, err
		}
		found[k] = t.misfits(found[k], c, f, before, func(what string) bool {
			return strings.HasPrefix(what, "no ") || f.Else == "" && strings.HasPrefix(what, outside)
		})
	}
	return found, nil
}

// misfit says what is wrong with row i, "" for nothing.
func (f *Field) misfit(c *Column, i int, known *categories) string {
	if f.Kind == Categorical {
		switch k := known.of(c, i); {
		case k == placeMissing && !f.Missing:
			return "missing"
		case k == placeUnknown:
			text := strings.TrimSpace(c.Text(i))
			for _, l := range f.Levels {
				if strings.EqualFold(strings.TrimSpace(l), text) {
					return outside + ", but for capital letters"
				}
			}
			return outside + missingHint(text)
		}
		return ""
	}
	switch v := c.Number(i); {
	case math.IsNaN(v) && !c.lacks(i):
		return "no number" + c.format.hint(strings.TrimSpace(c.Texts[i]))
	case math.IsNaN(v) && !f.Missing:
		return "missing"
	case f.Open && !math.IsInf(v, 0):
		return ""
	case v < f.Lower:
		return "below " + f.shown(f.Lower)
	case v > f.Upper:
		return "above " + f.shown(f.Upper)
	}
	return ""
}

// missingHint says how a text that usually means "missing" is read as that.
func missingHint(text string) string {
	switch strings.ToLower(text) {
	case "n/a", "n.a.", "#n/a", "na", "nan", "null", "none", "nil", "missing", "unknown", "-", "–", "—", "--", ".",
		"k.a.":
		return fmt.Sprintf("; if it means \"missing\": set %s", wording.Setting{Field: "Missing",
			Value: wording.Quoted(text), Go: fmt.Sprintf("Missing: []string{%q}", text)})
	}
	return ""
}

// hint says with which settings a text that is no number would be one, or be missing; "" if that is not to be seen.
func (f *numberFormat) hint(text string) string {
	if said := missingHint(text); said != "" {
		return said
	}
	number := strings.TrimRightFunc(text, func(r rune) bool { return !unicode.IsDigit(r) })
	suffix := text[len(number):]
	number, prefix := prefixed(number)
	now := numberFormat{decimal: '.'}
	if f != nil {
		now = *f
	}
	var ways []string // those that take the least settings
	least := 0
	for _, other := range []numberFormat{now, {',', now.thousands}, {'.', now.thousands}, {now.decimal, '\''},
		{now.decimal, '’'}, {now.decimal, ' '}, {now.decimal, ','}, {now.decimal, '.'}, {',', '\''}, {',', '.'},
		{',', ' '}, {',', '’'}, {'.', ','}} {
		if checkMarks(other.decimal, other.thousands) != nil {
			continue
		}
		if _, ok := other.parse(number); !ok {
			continue
		}
		var set []string
		for _, m := range []struct {
			field   string
			is, was rune
		}{{"Decimal", other.decimal, now.decimal}, {"Thousands", other.thousands, now.thousands}} {
			if m.is != m.was {
				set = append(set, wording.Setting{Field: m.field, Value: wording.Quoted(string(m.is)),
					Go: fmt.Sprintf("%s: %q", m.field, m.is)}.String())
			}
		}
		if prefix != "" {
			set = append(set, wording.Setting{Field: "TrimPrefix", Value: wording.Quoted(prefix),
				Go: fmt.Sprintf("TrimPrefix: %q", prefix)}.String())
		}
		if suffix != "" {
			set = append(set, wording.Setting{Field: "TrimSuffix", Value: wording.Quoted(suffix),
				Go: fmt.Sprintf("TrimSuffix: %q", suffix)}.String())
		}
		if ways == nil || len(set) < least {
			ways, least = nil, len(set)
		}
		if way := strings.Join(set, " and "); len(set) == least && !slices.Contains(ways, way) {
			ways = append(ways, way)
		}
	}
	if ways == nil {
		return ""
	}
	return "; it is one with " + strings.Join(ways, ", or ")
}

// prefixed returns what a text would be without what stands before its first digit, a sign excepted, and that prefix.
func prefixed(text string) (number, prefix string) {
	digits := strings.TrimLeftFunc(text, func(r rune) bool { return !unicode.IsDigit(r) })
	head, sign := text[:len(text)-len(digits)], ""
	if rest, ok := strings.CutPrefix(head, "-"); ok {
		head, sign = rest, "-"
	} else if rest, ok := strings.CutSuffix(head, "-"); ok {
		head, sign = rest, "-"
	}
	if prefix = strings.TrimSpace(head); strings.Trim(prefix, "+.,") == "" {
		return text, ""
	}
	return sign + digits, prefix
}

// raw is the text of row i as it stands, one that means "missing" included.
func (c *Column) raw(i int) string {
	if c.Kind == Numeric {
		return canonical(c.Numbers[i])
	}
	return strings.TrimSpace(c.Texts[i])
}
