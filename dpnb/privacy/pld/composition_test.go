package pld

import (
	"encoding/json"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

type reference struct {
	ID    string
	Parts []struct {
		Type                     string
		Sigma, Rate, Scale, K, A float64
		Count                    int
	}
	Expected []struct {
		Quantity      string
		At, Value, Ln float64
	}
}

// references are kinds c to g of the accounting reference: mpmath 1.2.1, closed forms and complex-contour inversion, 22
// and more digits.
func references(t testing.TB) []reference {
	t.Helper()
	b := must.Get(os.ReadFile("testdata/compositions.json"))
	var all []reference
	must.Do(json.Unmarshal(b, &all))
	return all
}

func (r reference) components(t testing.TB) []Component {
	t.Helper()
	var cs []Component
	for _, p := range r.Parts {
		var profile privacy.Profile
		var err error
		switch p.Type {
		case "gaussian":
			profile, err = privacy.Gaussian{Sigma: p.Sigma, Sensitivity: 1}.Profile(privacy.AddRemove)
		case "laplace":
			profile, err = privacy.Laplace{Scale: p.Scale, Sensitivity: 1}.Profile(privacy.AddRemove)
		case "subsampled":
			profile, err = privacy.SubsampledGaussian{Sigma: p.Sigma, Sensitivity: 1,
				Rate: p.Rate}.Profile(privacy.AddRemove)
		case "halfnormal":
			profile, err = privacy.HalfNormal{K: p.K, A: p.A}.Profile(privacy.AddRemove)
		default:
			t.Fatalf("%s: type %q", r.ID, p.Type)
		}
		if err != nil {
			t.Fatal(err)
		}
		cs = append(cs, Component{profile, p.Count})
	}
	return cs
}

// The exact value lies strictly inside the bounds, rounding included, and they are within 1e-3·ε of each other (for δ:
// within what such an ε error makes).
func TestReferenceCompositions(t *testing.T) {
	for _, r := range references(t) {
		if f := os.Getenv("ONLY"); f != "" && !strings.Contains(r.ID, f) {
			continue
		}
		c, err := New(r.components(t), nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range r.Expected {
			start := time.Now()
			var b Bounds
			switch e.Quantity {
			case "epsilon":
				b, err = c.EpsilonBounds(e.At)
				if b.Upper-b.Lower > 1e-3*e.Value {
					t.Errorf("%s %s at %g: bounds %.3g apart", r.ID, e.Quantity, e.At, b.Upper-b.Lower)
				}
			case "delta":
				b, err = c.DeltaBounds(e.At)
				e.Value = e.Ln
			case "epsilon_remove", "epsilon_add":
				d := privacy.Remove
				if e.Quantity == "epsilon_add" {
					d = privacy.Add
				}
				s := c.newRoot(d, math.Log(e.At))
				s.run(1)
				b = s.b
			}
			if err != nil {
				t.Fatal(err)
			}
			if !(b.Lower < e.Value && e.Value < b.Upper) {
				t.Errorf("%s %s at %g: exact %.15g not inside (%.15g, %.15g)", r.ID, e.Quantity, e.At, e.Value, b.Lower,
					b.Upper)
			}
			t.Logf("%-50s %-14s %8.2g: −%.2e +%.2e %v %s", r.ID, e.Quantity, e.At, e.Value-b.Lower, b.Upper-e.Value,
				time.Since(start).Round(time.Microsecond), b.Method)
		}
	}
}
