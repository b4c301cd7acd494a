package ledger

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/dpnb/notebooks/dpnb/internal/numeral"
	"github.com/dpnb/notebooks/dpnb/internal/wording"
)

// UnitOf is the unit (Entry.Unit) of people whose rows a column tells, of whom so many count.
func UnitOf(column string, rows int) string {
	return fmt.Sprintf("person of up to %s (%q)", numeral.Count(rows, "row"), column)
}

// several reports whether a unit may be of several rows, which may be in several groups: any but a row and UnitOf of
// one row.
func several(unit string) bool {
	return unit != "" && !strings.HasPrefix(unit, "person of up to 1 row (")
}

// protected is what a unit protects: of people whose rows a column tells the whole person, however many rows count.
func protected(unit string) string {
	if rows, ok := strings.CutPrefix(unit, "person of up to "); ok {
		if _, column, ok := strings.Cut(rows, " ("); ok {
			return "person (" + column
		}
	}
	return unit
}

// Protected is what all releases of a budget protect, by their entries: the unit of all, or the person of whom one
// release counts more rows than another.
func Protected(entries []Entry) string {
	for _, e := range entries {
		if e.Unit != entries[0].Unit {
			return protected(e.Unit) + ", of whom each release counts so many rows as it says"
		}
	}
	return entries[0].Unit
}

// UnitError refuses a release whose neighbours are not those of the releases before it (Entry.Unit): what they cost
// together is then not known.
type UnitError struct {
	// Budget is the name of the budget; Has is what its releases protect, Asked what the refused one would: "" is one
	// row.
	Budget, Has, Asked string
}

// Error implements error.
func (e *UnitError) Error() string {
	unit := func(of string) string { return cmp.Or(of, "one row") }
	return fmt.Sprintf("ledger: each release of budget %q is for a unit of %s, and this one is for a unit of %s: "+
		"refused; nothing was drawn and nothing spent. A person with several rows is not protected by releases for "+
		"single rows as the budget promises; say %s, with the same column, for all releases of a budget, or for none",
		e.Budget, unit(e.Has), unit(e.Asked), wording.Of("PerPerson"))
}

// sameUnit refuses entries that protect different things.
// Proof: docs/theory/ledger.md, section 8.
func (b *Budget) sameUnit(entries []Entry) error {
	for _, e := range entries {
		if has := entries[0].Unit; protected(e.Unit) != protected(has) {
			return &UnitError{b.config.Name, has, e.Unit}
		}
	}
	return nil
}
