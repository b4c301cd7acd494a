package objective

import (
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/limits"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// Of every parameter the ends of its range are admitted, and what is next to them is not.
func TestLimits(t *testing.T) {
	curve := loss.Logistic{}.Curve(1, 0)
	c := Config{Curve: curve, Slope: 1, Smoothness: 1, Lambda: 2, Sigma: 1, Bound: DTZ24}
	limits.Check(t, c, Config.Validate, limits.Positive("Lambda"), limits.Positive("Sigma"),
		limits.In("Slope", 5e-324, limits.None, 0), limits.In("Smoothness", 5e-324, limits.None, 0))
	c.Bound = RKW23
	limits.Check(t, c, Config.Validate, limits.In("Lambda", limits.Above(1), limits.None))
	for _, change := range []func(*Config){func(c *Config) { c.Bound = GaussianLower }, func(c *Config) { c.Slope = 0 },
		func(c *Config) { c.Bound = Pointwise }, func(c *Config) { c.Smoothness = 0 }} {
		bare := c
		bare.Curve = nil
		if change(&bare); bare.Validate() == nil {
			t.Errorf("%+v needs no curve", bare)
		}
	}
	limits.Check(t, RankK{Rank: 1, Smoothness: 1, Slope: 1, Lambda: 1, Sigma: 1}, RankK.Validate,
		limits.In("Rank", 1, limits.None), limits.Positive("Smoothness"), limits.Positive("Slope"),
		limits.Positive("Lambda"), limits.Positive("Sigma"), limits.NotNegative("Trace"))
	e := Entropic{Vertices: []Vertex{{1, 1}}, Temperature: 1, Lambda: 1, Sigma: 1, Rank: 1}
	limits.Check(t, e, Entropic.Validate, limits.Positive("Temperature"), limits.Positive("Lambda"),
		limits.Positive("Sigma"), limits.NotNegative("Spread"),
		limits.NotNegative("Beyond"))
	e.Rank = 0
	e.Lambda = EntropicLambda(e.Temperature, e.Sigma)
	limits.Check(t, e, Entropic.Validate, limits.In("Lambda", e.Lambda, math.MaxFloat64))
	for _, v := range []Vertex{{-5e-324, 1}, {math.Inf(1), 1}, {1, limits.Below(1)}, {1, math.Inf(1)}, {math.NaN(), 1}} {
		if e.Vertices = []Vertex{v}; e.Validate() == nil {
			t.Errorf("%+v is admitted", v)
		}
	}
	r := Rows{Lambda: 1, Sigma: 1, Forms: []Form{{Curve: curve, Count: 1}}}
	limits.Check(t, r, func(r Rows) error { _, err := r.components(); return err }, limits.NotNegative("Mu"))
	for _, forms := range [][]Form{nil, {{Curve: r.Forms[0].Curve}}} {
		if r.Forms = forms; func() error { _, err := r.components(); return err }() == nil {
			t.Errorf("forms %+v are admitted", forms)
		}
	}
	target := func(e privacy.Approx) error { return checkTarget(e.Epsilon, e.Delta) }
	limits.Check(t, privacy.Approx{Epsilon: 1, Delta: 0.1}, target, limits.NotNegative("Epsilon"))
}
