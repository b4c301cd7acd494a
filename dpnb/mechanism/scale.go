package mechanism

import (
	"fmt"

	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Scales are parameters by their names, in the order in which they are checked.
type Scales []struct {
	Name  string
	Value float64
}

// Check returns a *privacy.ParamError for the first that is not in 2⁻¹⁰⁰ … 2¹⁰⁰. Parameters on which a solver's
// certificate or the rounding of a release rests are held to that, before anything is charged: what underflows is then
// below 2⁻⁶⁰⁰ of them, and no bound on rounding under- or overflows itself (docs/theory/solvers.md).
func (scales Scales) Check() error {
	for _, s := range scales {
		if !(s.Value >= 0x1p-100 && s.Value <= 0x1p100) {
			return &privacy.ParamError{Name: s.Name, Value: s.Value,
				Want: "a positive number from 2⁻¹⁰⁰ to 2¹⁰⁰ (7.9e-31 to 1.3e30), where float64 keeps its digits: " +
					"change the unit"}
		}
	}
	return nil
}

// NormSlack is by how much, relatively, a record's computed norm may exceed the bound R on rows; the sensitivities pay
// for it.
const NormSlack = 1e-12

// Radius returns a bound on the true norm of every record that CheckNorm admits.
func Radius(rowNorm float64) float64 { return rowNorm * (1 + 2*NormSlack) }

// CheckNorm returns a *matrix.DataError if the longest of the rows is beyond rowNorm.
func CheckNorm(longest, rowNorm float64) error {
	if !(longest <= rowNorm*(1+NormSlack)) {
		return &matrix.DataError{Text: fmt.Sprintf("a record is longer than RowNorm = %g, for which the noise was "+
			"calibrated: scale or clip the rows first", rowNorm)}
	}
	return nil
}

// OnlyAddRemove returns an error unless adj is add/remove-one, under which alone the algorithms that are named are
// calibrated.
//
// Errors: *privacy.ParamError, or one that wraps privacy.ErrUnsupported.
func OnlyAddRemove(adj privacy.Adjacency, named string) error {
	if err := adj.Validate(); err != nil {
		return err
	}
	if adj != privacy.AddRemove {
		return fmt.Errorf("%w: %s calibrated under %v here, not %v", privacy.ErrUnsupported, named, privacy.AddRemove,
			adj)
	}
	return nil
}
