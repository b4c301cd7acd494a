package frame

import (
	"encoding/json"
	"fmt"
)

// Group returns the rows whose category of a column is the given one of the schema's, as its field
// reads it: a row is in one group at most, which depends on that row and on what is public.
//
// Errors: *InputError for a column that is not there, has no categories, or not that one.
func Group(t Scanner, s *Schema, column, category string) (Scanner, error) {
	v, err := NewValues(s, t.Names(), []string{column})
	if err != nil {
		return nil, err
	}
	e := v.readers[0]
	if e.categories == nil {
		return nil, inputErrorf("column %q is a number in the schema: groups are those of categories", column)
	}
	place := -1
	for k, l := range e.field.Levels {
		if l == category {
			place = k
		}
	}
	if place < 0 {
		return nil, inputErrorf("column %q has no category %q; it has %s", column, category, quoteAll(e.field.Levels))
	}
	rule, err := json.Marshal(e.field) // %v cannot tell the categories "a b" from "a" and "b"
	if err != nil {
		return nil, inputErrorf("column %q: %v", column, err)
	}
	return apply(t, changed{names: t.Names(), print: fmt.Sprintf("group %s %q", rule, category),
		needs: func(asked []string) []string { return with(asked, []string{column}) },
		change: func(chunk *Table) (*Table, error) {
			c, err := chunk.Column(column)
			if err != nil {
				return nil, err
			}
			own, err := e.over(c)
			if err != nil {
				return nil, err
			}
			return chunk.Filter(func(i int) bool { return own.value(i) == float64(place) }), nil
		}})
}
