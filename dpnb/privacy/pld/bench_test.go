package pld

import (
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

func benchmarkSubsampled(b *testing.B, tol float64) {
	b.ReportAllocs()
	var gap float64
	for b.Loop() {
		plans.Clear() // from nothing
		p := must.Get(privacy.SubsampledGaussian{Sigma: 1, Sensitivity: 1, Rate: 0.01}.Profile(privacy.AddRemove))
		c := must.Get(New([]Component{{p, 10_000}}, &Settings{Tolerance: tol}))
		e := must.Get(c.EpsilonBounds(1e-5))
		gap = e.Upper - e.Lower
		if gap > tol {
			b.Fatalf("gap %g above %g", gap, tol)
		}
	}
	b.ReportMetric(gap, "gap")
}

// BenchmarkSubsampled10000 is DP-SGD with q = 0.01, σ = 1, 10,000 steps: ε at δ = 1e-5, both bounds, from nothing.
func BenchmarkSubsampled10000(b *testing.B) {
	b.Run("1e-3", func(b *testing.B) { benchmarkSubsampled(b, 1e-3) })
	b.Run("1e-5", func(b *testing.B) { benchmarkSubsampled(b, 1e-5) })
}

// thousand returns 1,000 different events: subsampled Gaussians, Laplace mechanisms, half-normal losses.
func thousand(tb testing.TB) []Component {
	var cs []Component
	for i := range 1000 {
		x := float64(i) / 1000
		var p privacy.Profile
		var err error
		switch i % 3 {
		case 0:
			p, err = privacy.SubsampledGaussian{Sigma: 0.8 + x, Sensitivity: 1, Rate: 0.005 + 0.01*x}.Profile(
				privacy.AddRemove)
		case 1:
			p, err = privacy.Laplace{Scale: 20 + 10*x, Sensitivity: 1}.Profile(privacy.AddRemove)
		case 2:
			p, err = privacy.HalfNormal{K: 1e-4 * x, A: 0.02 + 0.01*x}.Profile(privacy.AddRemove)
		}
		if err != nil {
			tb.Fatal(err)
		}
		cs = append(cs, Component{p, 1})
	}
	return cs
}

// BenchmarkHeterogeneous1000 composes 1,000 different events.
func BenchmarkHeterogeneous1000(b *testing.B) {
	b.ReportAllocs()
	var gap float64
	for b.Loop() {
		plans.Clear()
		c := must.Get(New(thousand(b), nil))
		e := must.Get(c.EpsilonBounds(1e-5))
		gap = (e.Upper - e.Lower) / e.Upper
		if !(gap < 1e-3) || math.IsInf(e.Upper, 1) {
			b.Fatalf("bounds %v", e)
		}
	}
	b.ReportMetric(gap, "relative-gap")
}
