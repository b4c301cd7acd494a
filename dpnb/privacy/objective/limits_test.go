package objective

import (
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/limits"
	"github.com/dpnb/notebooks/dpnb/loss"
)

func TestLimits(t *testing.T) {
	c := Config{Curve: loss.Logistic{}.Curve(1, 0), Slope: 1, Smoothness: 1, Lambda: 2, Sigma: 1, Bound: DTZ24}
	limits.Check(t, c, Config.Validate, limits.Positive("Lambda"), limits.Positive("Sigma"),
		limits.Positive("Slope", 0), limits.Positive("Smoothness", 0))
	bare := func(change func(*Config)) error { c := c; c.Curve = nil; change(&c); return c.Validate() }
	without := bare(func(*Config) {})
	limits.Pairs(t, map[string][2]error{"curve": {without, bare(func(c *Config) { c.Bound = GaussianLower })},
		"slope": {without, bare(func(c *Config) { c.Slope = 0 })}, "bound": {nil, bare(func(c *Config) { c.Bound = Tight })},
		"smoothness": {without, bare(func(c *Config) { c.Smoothness = 0 })}})
	c.Bound = RKW23
	limits.Check(t, c, Config.Validate, limits.In("Lambda", limits.Above(1), limits.None))
	limits.Check(t, RankK{Rank: 1, Smoothness: 1, Slope: 1, Lambda: 1, Sigma: 1}, RankK.Validate,
		limits.In("Rank", 1, limits.None), limits.Positive("Slope"), limits.NotNegative("Trace"))
	e := Entropic{Vertices: []Vertex{{1, 1}}, Temperature: 1, Lambda: 1, Sigma: 1, Rank: 1}
	limits.Check(t, e, Entropic.Validate, limits.Positive("Temperature"), limits.Positive("Lambda"),
		limits.Positive("Sigma"), limits.NotNegative("Spread"), limits.NotNegative("Beyond"))
	e.Rank, e.Lambda = 0, EntropicLambda(e.Temperature, e.Sigma)
	limits.Check(t, e, Entropic.Validate, limits.In("Lambda", e.Lambda, math.MaxFloat64))
	vertex := func(v Vertex) error { e.Vertices = []Vertex{v}; return e.Validate() }
	limits.Argument(t, "norm", 0, math.MaxFloat64, func(x float64) error { return vertex(Vertex{x, 1}) })
	limits.Argument(t, "count", 1, math.MaxFloat64, func(x float64) error { return vertex(Vertex{1, x}) })
	r := Rows{Lambda: 1, Sigma: 1, Forms: []Form{{Curve: c.Curve, Count: 1}}}
	limits.Check(t, r, func(r Rows) error { _, err := r.components(); return err }, limits.NotNegative("Mu"))
	limits.Argument(t, "ε", 0, math.MaxFloat64, func(x float64) error { return checkTarget(x, 0.1) })
}
