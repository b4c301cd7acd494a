package privacy

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
)

// referenceCase is a case of testdata/closed_forms.json: mpmath 1.2.1 at 40 or more digits (kinds a, b, g, h of the
// accounting reference).
type referenceCase struct {
	ID, Kind string
	Inputs   map[string]float64
	At       float64
	Value    float64
	Ln       float64
}

func referenceCases(t *testing.T, kind string) []referenceCase {
	t.Helper()
	b := must.Get(os.ReadFile("testdata/closed_forms.json"))
	var all []referenceCase
	must.Do(json.Unmarshal(b, &all))
	var some []referenceCase
	for _, c := range all {
		if c.Kind == kind {
			some = append(some, c)
		}
	}
	if len(some) == 0 {
		t.Fatalf("no case of kind %s", kind)
	}
	return some
}

// lnTolerance is the relative accuracy 1e-12 asked of δ where it is a float, and of ln δ where it is not.
func lnTolerance(ln float64) float64 {
	if ln > -700 {
		return 1e-12
	}
	return 1e-12 * math.Abs(ln)
}

func checkBrackets(t *testing.T, c referenceCase, p LowerProfile) {
	t.Helper()
	for _, d := range Directions {
		up, low := p.LogDeltaUpper(d, c.At), p.LogDeltaLower(d, c.At)
		if !(low < c.Ln && c.Ln < up) {
			t.Errorf("%s: ln δ = %.17g outside (%.17g, %.17g)", c.ID, c.Ln, low, up)
		}
		if tol := lnTolerance(c.Ln); up-c.Ln > tol || c.Ln-low > tol {
			t.Errorf("%s: bracket (%.3g, %.3g) about the exact value is wider than %.3g", c.ID, low-c.Ln, up-c.Ln, tol)
		}
	}
}
