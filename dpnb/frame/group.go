package frame

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"sync"
)

// Partition deals the rows of a table to the categories of a column of the schema, as its field reads them: a row is in
// one group at most, which depends on that row and on what is public. Of a table that is scanned it remembers for each
// row in which group it was, by its place, in two bytes: one that a rule of a caller's has dealt to a group is in no
// other one, whatever the rule says of it in a later scan.
type Partition struct {
	table Scanner
	e     encoder
	mu    sync.Mutex
	// dealt has for each row of a scan the number of its group from 1 on, 0 for none yet.
	dealt []uint16
}

// NewPartition returns the partition of t by a column.
//
// Errors: *InputError for a column that is not there, or has no categories.
func NewPartition(t Scanner, s *Schema, column string) (*Partition, error) {
	v, err := NewValues(s, t.Names(), []string{column})
	if err != nil {
		return nil, err
	}
	e := v.readers[0]
	if e.categories == nil || len(e.field.Levels) > math.MaxUint16 {
		return nil, inputErrorf("column %q is a number in the schema, or has too many categories: groups are those of "+
			"categories", column)
	}
	return &Partition{table: t, e: e}, nil
}

// Group returns the rows of a category.
//
// Errors: *InputError for a category that is not there.
func (p *Partition) Group(category string) (Scanner, error) {
	column, names := p.e.field.Name, p.table.Names()
	place := slices.Index(p.e.field.Levels, category)
	if place < 0 {
		return nil, inputErrorf("column %q has no category %q; it has %s", column, category,
			quoteAll(p.e.field.Levels))
	}
	rule, err := json.Marshal(p.e.field) // %v cannot tell the categories "a b" from "a" and "b"
	if err != nil {
		return nil, inputErrorf("column %q: %v", column, err)
	}
	c := changed{names: names, print: fmt.Sprintf("group %s %q", rule, category),
		done:  fmt.Sprintf("%s = %s", column, category),
		needs: func(asked []string) []string { return with(asked, []string{column}) }}
	if _, whole := p.table.(*Table); whole {
		c.change = p.of(place, false)
		return apply(p.table, c)
	}
	c.Scanner = p.table
	return &group{c, p, place}, nil
}

// of returns what takes the rows of a group from the chunks of one scan, those of no other group if they are dealt.
func (p *Partition) of(place int, deal bool) func(chunk *Table) (*Table, error) {
	at := 0
	return func(chunk *Table) (*Table, error) {
		c, err := chunk.Column(p.e.field.Name)
		if err != nil {
			return nil, err
		}
		own, err := p.e.over(c)
		if err != nil {
			return nil, err
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		first := at
		if at += chunk.rows; deal && at > len(p.dealt) {
			p.dealt = append(p.dealt, make([]uint16, at-len(p.dealt))...)
		}
		return chunk.Filter(func(i int) bool {
			if own.value(i) != float64(place) {
				return false
			}
			if deal && p.dealt[first+i] == 0 {
				p.dealt[first+i] = uint16(place + 1)
			}
			return !deal || p.dealt[first+i] == uint16(place+1)
		}), nil
	}
}

// group is a group of a table that is scanned.
type group struct {
	changed
	of    *Partition
	place int
}

// Scan implements Scanner.
func (g *group) Scan(columns []string, f func(*Table) error) error {
	c := g.changed
	c.change = g.of.of(g.place, true)
	return c.Scan(columns, f)
}
