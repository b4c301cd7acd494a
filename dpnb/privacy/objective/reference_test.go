package objective

import (
	"encoding/json"
	"math"
	"os"
	"testing"
	"time"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// refCase is a case of testdata/objpert_delta.json, which are the cases of kind objpert_delta of papers.json: numpy and
// scipy, independent of this package.
type refCase struct {
	ID                  string
	Kind                string
	Loss                string
	Threshold, Radius   float64
	Lam, Sigma, Epsilon float64
	TightRemove         float64 `json:"tight_remove"`
	TightAdd            float64 `json:"tight_add"`
	Tight               float64
	RelError            float64 `json:"rel_error"`
	DTZ24               float64
	Pointwise           float64
	GaussianLower       float64 `json:"gaussian_lower"`
}

func (c refCase) curve(t *testing.T) Curve {
	t.Helper()
	var cv Curve
	var err error
	switch c.Loss {
	case "logistic":
		cv, err = Logistic(c.Radius)
	case "huber":
		cv, err = Huber(c.Threshold, c.Radius)
	default:
		t.Fatalf("loss %q", c.Loss)
	}
	if err != nil {
		t.Fatal(err)
	}
	return cv
}

func profileOf(t testing.TB, c Curve, lambda, sigma float64, b Bound) *Profile {
	t.Helper()
	return must.Get(New(Config{Curve: c, Lambda: lambda, Sigma: sigma, Bound: b}))
}

func readReference(t *testing.T) []refCase {
	t.Helper()
	var out []refCase
	for _, name := range []string{"testdata/objpert_delta.json", "../../../../shared/reference/papers.json"} {
		raw, err := os.ReadFile(name)
		if os.IsNotExist(err) && name != "testdata/objpert_delta.json" {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		var all []refCase
		must.Do(json.Unmarshal(raw, &all))
		for _, c := range all {
			if c.Kind == "objpert_delta" {
				out = append(out, c)
			}
		}
	}
	return out
}

func TestReference(t *testing.T) {
	testscale.Slow(t)
	for _, c := range readReference(t) {
		cv := c.curve(t)
		start := time.Now()
		tight := profileOf(t, cv, c.Lam, c.Sigma, Tight)
		up := privacy.DeltaUpper(tight, c.Epsilon)
		low := math.Exp(privacy.LogDeltaLower(tight, c.Epsilon))
		rem := math.Exp(tight.LogDeltaUpper(privacy.Remove, c.Epsilon))
		add := math.Exp(tight.LogDeltaUpper(privacy.Add, c.Epsilon))
		t.Logf("%-28s ε=%-5g upper/ref %.5f lower/ref %.5f remove %.5f add %.5f  %v", c.ID, c.Epsilon,
			up/c.Tight, low/c.Tight, rem/c.TightRemove, add/c.TightAdd, time.Since(start))
		check := func(name string, got, want float64) {
			if !(got >= want*(1-c.RelError) && got <= want*1.005) {
				t.Errorf("%s: %s = %.6g, want in [%.6g, %.6g]", c.ID, name, got, want*(1-c.RelError), want*1.005)
			}
		}
		check("tight", up, c.Tight)
		check("tight remove", rem, c.TightRemove)
		check("tight add", add, c.TightAdd)
		if low > up {
			t.Errorf("%s: lower %g above upper %g", c.ID, low, up)
		}
		if low > c.Tight*(1+c.RelError) {
			t.Errorf("%s: lower %g above the reference %g", c.ID, low, c.Tight)
		}
		if c.DTZ24 > 0 {
			got := privacy.DeltaUpper(profileOf(t, cv, c.Lam, c.Sigma, DTZ24), c.Epsilon)
			if !(math.Abs(got-c.DTZ24) <= 1e-6*c.DTZ24) {
				t.Errorf("%s: dtz24 = %.12g, want %.12g", c.ID, got, c.DTZ24)
			}
		}
		if c.Pointwise > 0 {
			got := math.Exp(profileOf(t, cv, c.Lam, c.Sigma, Pointwise).LogDeltaUpper(privacy.Remove, c.Epsilon))
			// The reference is good to 1.5e-6 absolute and 4e-5 relative: where Theorem A makes it the Gaussian's δ it
			// is off by that, to either side.
			if d := math.Abs(got - c.Pointwise); d > 1.5e-6 || d > 4.5e-5*c.Pointwise {
				t.Errorf("%s: pointwise = %.12g, want %.12g (%.2g relative)", c.ID, got, c.Pointwise, got/c.Pointwise-1)
			}
		}
		gl := math.Exp(profileOf(t, cv, c.Lam, c.Sigma, GaussianLower).LogDeltaLower(privacy.Remove, c.Epsilon))
		if !(math.Abs(gl-c.GaussianLower) <= 1e-9*c.GaussianLower) {
			t.Errorf("%s: gaussian-lower = %.12g, want %.12g", c.ID, gl, c.GaussianLower)
		}
	}
}
