package dataset

import (
	"fmt"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/frame"
)

// What is said to be public of each data set is what is said here once more: a bound that moves, moves what every
// figure of the notebooks is scaled by.
func TestPublicBounds(t *testing.T) {
	for name, c := range map[string]struct {
		schema *frame.Schema
		want   string
	}{
		"Adult": {AdultSchema(), "age 17 90, workclass 8 or missing, fnlwgt log 10000 1.5e+06, education 16, " +
			"education-num 1 16, marital-status 7, occupation 14 or missing, relationship 6, race 5, sex 2, " +
			"capital-gain 0 20000, capital-loss 0 5000, hours-per-week 0 99, native-country 41 or missing, income 2"},
		"patients": {PatientsSchema(), "age 18 90, weight 40 150, smoker 2, " +
			"pressure 80 200, visits 0 20, ill 2, ward 3"},
	} {
		var all []string
		for _, f := range c.schema.Fields {
			text := fmt.Sprintf("%s %d", f.Name, len(f.Levels))
			if f.Kind == frame.Numeric {
				text = fmt.Sprintf("%s %g %g", f.Name, f.Lower, f.Upper)
				if f.Log {
					text = fmt.Sprintf("%s log %g %g", f.Name, f.Lower, f.Upper)
				}
			}
			if f.Missing {
				text += " or missing"
			}
			all = append(all, text)
		}
		if got := strings.Join(all, ", "); got != c.want {
			t.Errorf("%s:\n%s, want\n%s", name, got, c.want)
		}
	}
}
