package calculator

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/privacy/pld"
)

// FuzzCalculator: whatever text parses gets an ε that is a number, not negative, not below its lower bound, and a δ in
// [0, 1].
func FuzzCalculator(f *testing.F) {
	for _, s := range []string{
		`[{"type":"gaussian","sigma":5,"sensitivity":1,"count":10}]`,
		`[{"type":"gaussian","sigma":1e-300,"sensitivity":1e300,"count":4503599627370496}]`,
		`[{"type":"gaussian","sigma":1e300,"sensitivity":1e-300},{"type":"laplace","scale":3}]`,
		`[{"type":"laplace","scale":3,"sensitivity":1,"count":7},` +
			`{"type":"subsampled-gaussian","sigma":1,"rate":0.01,"count":100}]`,
		`[{"type":"laplace","scale":1e-5,"count":3},{"type":"isotropic-laplace","scale":1e9,"count":12}]`,
		`[{"type":"subsampled-gaussian","sigma":0.05,"rate":0.999999,"count":3}]`,
		`[{"type":"subsampled-gaussian","sigma":50,"rate":1e-12,"count":1000000}]`,
		`[{"type":"subsampled-gaussian","sigma":1,"rate":0,"count":2},` +
			`{"type":"laplace","scale":1,"sensitivity":0,"count":2}]`,
		`[{"type":"dp","event_epsilon":0.1,"event_delta":1e-9,"count":20}]`,
		`[{"type":"dp","event_epsilon":0,"event_delta":1,"count":2}]`,
		`[{"type":"dp","event_epsilon":700,"count":2}]`,
		`[{"type":"approximate-minimum","tolerance":1e-6,"lambda":0.1,"sigma_out":1e-4}]`,
		`[{"type":"gaussian","sigma":1,"sigma":2}]`,
		`[{"type":"gaussian","sigma":"1"}] x`,
		`[{"type":"gaussian","Sigma":1}]`,
		`[{"type":"gaussian","sigma":1,"count":1.5}]`,
		`[{"type":"gaussian","sigma":1e999}]`, `[]`, `{}`, `[{}]`, `[{"type":{}}]`, `null`, ``,
	} {
		f.Add([]byte(s), 1e-5, 1.0, false)
		if testscale.Full() {
			f.Add([]byte(s), 1e-300, 1e3, true)
		}
	}
	c := New()
	f.Fuzz(func(t *testing.T, data []byte, delta, eps float64, replace bool) {
		lines, err := c.Parse(data)
		if err != nil || len(lines) > 5 {
			return
		}
		q := Query{Lines: lines, Adjacency: privacy.AddRemove, Settings: &pld.Settings{MaxPoints: 1 << 14}}
		if replace {
			q.Adjacency = privacy.ReplaceOne
		}
		if a, err := c.Epsilon(q, delta); err == nil {
			if math.IsNaN(a.Epsilon) || math.IsNaN(a.EpsilonLower) || a.Epsilon < a.EpsilonLower || a.EpsilonLower < 0 {
				t.Errorf("ε = %v, lower bound %v", a.Epsilon, a.EpsilonLower)
			}
			if _, err := json.Marshal(a); err != nil {
				t.Error(err)
			}
		}
		if a, err := c.Delta(q, eps); err == nil {
			if !(a.Delta <= 1) || !(a.DeltaLower >= 0 && a.DeltaLower <= a.Delta) {
				t.Errorf("δ(%v) = %v, at least %v", eps, a.Delta, a.DeltaLower)
			}
		}
	})
}

func TestParseIsStrict(t *testing.T) {
	c := New()
	for _, s := range []string{
		`[]`, `{}`, ``, `null`, `[null]`, `[1]`, `[{}]`, `[[]]`,
		`[{"type":"gaussian"}]`,
		`[{"type":"gaussian","sigma":1}] [`,
		`[{"type":"gaussian","sigma":1},]`,
		`[{"type":"gaussian","sigma":1,"sigma":2}]`,
		`[{"type":"gaussian","sigma":1,"count":1,"count":2}]`,
		`[{"type":"gaussian","Sigma":1}]`,
		`[{"type":"gaussian","sigma":"1"}]`,
		`[{"type":"gaussian","sigma":true}]`,
		`[{"type":"gaussian","sigma":null}]`,
		`[{"type":"gaussian","sigma":[1]}]`,
		`[{"type":"gaussian","sigma":1e999}]`,
		`[{"type":"gaussian","sigma":1,"count":1.5}]`,
		`[{"type":"gaussian","sigma":1,"count":0}]`,
		`[{"type":"gaussian","sigma":1,"count":-3}]`,
		`[{"type":"gaussian","sigma":1,"rate":0.1}]`,
		`[{"type":"Gaussian","sigma":1}]`,
		`[{"sigma":1}]`,
	} {
		if lines, err := c.Parse([]byte(s)); err == nil {
			t.Errorf("%s parses as %v", s, lines)
		}
	}
	lines, err := c.Parse([]byte(`[{"type":"gaussian","sigma":5},{"type":"laplace","scale":3,"count":7}]`))
	if err != nil || len(lines) != 2 || lines[0].Count != 1 || lines[1].Count != 7 ||
		lines[0].Values.Numbers["sensitivity"] != 1 {
		t.Errorf("%v, %v", lines, err)
	}
}
