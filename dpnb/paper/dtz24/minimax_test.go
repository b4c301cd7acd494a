package dtz24

import (
	"context"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/paper/internal/measure"
	"github.com/dpnb/notebooks/dpnb/sim/population"
)

// bruteAuxiliary is min_u max_v Q′ for d = 2 over a grid of u and of v.
func bruteAuxiliary(m Minimax, g, h []float64, uStep, vStep float64) float64 {
	n := len(h)
	steps := int(math.Round(2*m.Threshold/vStep)) + 1
	count := int(math.Pow(float64(steps), float64(n)))
	v := make([]float64, n)
	c := 1 / math.Sqrt2
	best := math.Inf(1)
	for u0 := -3.0; u0 <= 3; u0 += uStep {
		for u1 := -3.0; u1 <= 3; u1 += uStep {
			norm := math.Hypot(u0, u1)
			if norm > m.Radius {
				continue
			}
			top := math.Inf(-1)
			for k := range count {
				for i, rest := 0, k; i < n; i, rest = i+1, rest/steps {
					v[i] = -m.Threshold + vStep*float64(rest%steps)
				}
				q := c*(norm*floats.Dot(h, v)+floats.Norm(v, 2)*(g[0]*u0+g[1]*u1)) - 0.5*floats.Dot(v,
					v) + floats.Dot(m.Noise, v)
				top = math.Max(top, q)
			}
			best = math.Min(best, top+0.5*m.Lambda*norm*norm+m.Shift[0]*u0+m.Shift[1]*u1)
		}
	}
	return best
}

// The two scalars give what a search over all u and v gives, to the step of the grid; with a ball that is too small,
// too.
func TestAuxiliaryAgainstGrid(t *testing.T) {
	testscale.Slow(t)
	for seed := range uint64(6) {
		m := NewMinimax(2, 2, seed)
		m.Lambda = 1
		if seed%2 == 1 {
			m.Radius = 0.3
		}
		r := noise.NewSeeded(seed + 100)
		g, h := make([]float64, 2), make([]float64, 2)
		r.Gaussian(g, 1)
		r.Gaussian(h, 1)
		got, want := m.Auxiliary(g, h), bruteAuxiliary(m, g, h, 0.05, 0.1)
		if !(math.Abs(got-want) <= 0.01) {
			t.Errorf("seed %d: %v, by a grid %v", seed, got, want)
		}
	}
}

// With one record and one feature the problem can be solved by hand: on a grid.
func TestPrimaryAgainstGrid(t *testing.T) {
	var s population.Solver
	for seed := range uint64(6) {
		m := NewMinimax(3, 1, seed)
		if seed%2 == 1 {
			m.Radius = 0.2
		}
		x := matrix.NewDense(3, 1, nil)
		noise.NewSeeded(seed+50).Gaussian(x.Data, 1)
		want := math.Inf(1)
		for u := -math.Min(m.Radius, 5); u <= math.Min(m.Radius, 5); u += 1e-4 {
			v := 0.5*m.Lambda*u*u + m.Shift[0]*u
			for i, g := range x.Data {
				if a := math.Abs(m.Noise[i] + g*u); a > m.Threshold {
					v += m.Threshold * (a - 0.5*m.Threshold)
				} else {
					v += 0.5 * a * a
				}
			}
			want = math.Min(want, v)
		}
		got, err := m.Primary(&s, x)
		if err != nil || !(math.Abs(got-want) <= 1e-4) {
			t.Errorf("seed %d: %v, %v, by a grid %v", seed, got, err, want)
		}
	}
}

func TestOptima(t *testing.T) {
	testscale.InTurn(t)
	ctx := context.Background()
	for _, dims := range [][2]int{{3, 2}, {2, 4}, {40, 20}} {
		o := measure.Must(NewMinimax(dims[0], dims[1], 7).Draw(ctx, 3000, 8))
		below, above := o.Compare(2, false), o.Compare(2, true)
		t.Logf("%v: below %.1f (ratio %.2f), above %.1f (ratio %.2f); k=1: %.1f %.1f; medians %.3f %.3f", dims,
			below.Excess, below.Ratio, above.Excess, above.Ratio,
			o.Compare(1, false).Excess, o.Compare(1, true).Excess, o.Primary[1500], o.Auxiliary[1500])
		if below.Excess > 4 || above.Excess > 4 {
			t.Errorf("%v: Theorem 2.8 refuted by %.1f and %.1f standard errors", dims, below.Excess, above.Excess)
		}
	}
	if _, err := NewMinimax(3, 1, 7).Draw(ctx, 10, 8); err == nil {
		t.Error("one feature is accepted")
	}
	// An auxiliary problem without its ‖v‖⟨g, u⟩ is found out.
	m, r, h := NewMinimax(20, 10, 7), noise.NewSeeded(5), make([]float64, 20)
	o := measure.Must(m.Draw(ctx, 1000, 8))
	for k := range o.Auxiliary {
		r.Gaussian(h, 1)
		o.Auxiliary[k] = m.Auxiliary(make([]float64, 10), h)
	}
	slices.Sort(o.Auxiliary)
	if o.Compare(2, false).Excess < 4 && o.Compare(2, true).Excess < 4 {
		t.Errorf("an auxiliary problem without its second term passes: %+v, %+v", o.Compare(2, false),
			o.Compare(2, true))
	}
	// Against matrices that are drawn whole.
	o = measure.Must(SmallestSingular(ctx, 6, 4000, 8))
	rng, whole := noise.NewSeeded(4), make([]float64, 4000)
	for k := range whole {
		x := make([]float64, 36)
		rng.Gaussian(x, 1)
		var svd mat.SVD
		svd.Factorize(mat.NewDense(6, 6, x), mat.SVDNone)
		whole[k] = slices.Min(svd.Values(nil))
	}
	slices.Sort(whole)
	for _, q := range []int{400, 2000, 3600} { // 4.5 standard errors of a share are 0.036 at most
		if at, _ := slices.BinarySearch(o.Primary, whole[q]); !(math.Abs(float64(at-q)) <= 0.036*math.Sqrt2*4000) {
			t.Errorf("%d of 4,000 below the quantile at %d", at, q)
		}
	}
	o = measure.Must(SmallestSingular(ctx, 400, 1000, 9))
	if two, one := o.Compare(2, false), o.Compare(1, false); two.Excess > 4 || one.Excess < 4 ||
		!(two.Ratio > 1.6 && two.Ratio < 2.2) {
		t.Errorf("smallest singular value: %+v with the factor 2, %+v with 1", two, one)
	}
	o = measure.Must(TwoPoints(ctx, 10, 1000, 10))
	if above, below := o.Compare(2, true), o.Compare(2, false); above.Excess < 4 || below.Excess > 4 {
		t.Errorf("two points: %+v above, %+v below", above, below)
	}
}
