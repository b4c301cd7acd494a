package smoothing

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats/scalar"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
)

func TestPiecewise(t *testing.T) {
	for _, x := range []float64{-3, -0.5, 0, 0.2, 2} {
		for _, c := range []struct {
			p    Piecewise
			want float64
		}{
			{Absolute(), math.Abs(x)},
			{Positive(), math.Max(0, x)},
			{Pinball(0.3), math.Max(0.3*x, -0.7*x)},
			{SoftThreshold(0.4), math.Max(0, math.Abs(x)-0.4)},
		} {
			if got := c.p.Value(x); !scalar.EqualWithinAbs(got, c.want, 1e-15) {
				t.Errorf("%v at %v: %v, want %v", c.p, x, got, c.want)
			}
		}
	}
}

// TestMax compares with the maximum itself, for random lines, parallel and equal ones among them.
func TestMax(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		n := 1 + rng.IntN(6)
		a, b := make([]float64, n), make([]float64, n)
		for i := range a {
			a[i], b[i] = float64(rng.IntN(7)-3), float64(rng.IntN(9)-4)/2
		}
		p := must.Get(Max(a, b))
		for range 20 {
			x, want := 8*rng.Float64()-4, math.Inf(-1)
			for i := range a {
				want = math.Max(want, a[i]*x+b[i])
			}
			if got := p.Value(x); !scalar.EqualWithinAbs(got, want, 1e-12) {
				t.Fatalf("Max(%v, %v) is %v at %v, want %v", a, b, got, x, want)
			}
		}
		for j, w := range p.Weights {
			if !(w > 0) || j > 0 && p.Kinks[j] <= p.Kinks[j-1] {
				t.Fatalf("Max(%v, %v) = %v", a, b, p)
			}
		}
	}
	for _, c := range [][2][]float64{{nil, nil}, {{1}, nil}, {{math.NaN()}, {0}}, {{0}, {math.Inf(1)}}} {
		if p, err := Max(c[0], c[1]); err == nil {
			t.Errorf("Max(%v, %v) = %v", c[0], c[1], p)
		}
	}
}

func TestNormIsASum(t *testing.T) {
	n := Norm{Kernel: NewExponential(3), Width: 0.4}
	x, grad, curv := []float64{0.3, 0, -2}, make([]float64, 3), make([]float64, 3)
	value := n.ValueGradient(grad, x)
	n.Curvature(curv, x)
	if got := value - n.Gap(x); !scalar.EqualWithinAbs(got, 2.3, 1e-14) {
		t.Errorf("value − gap = %v, want ‖x‖₁ = 2.3", got)
	}
	for j := range x {
		up, down := append([]float64(nil), x...), append([]float64(nil), x...)
		up[j], down[j] = x[j]+1e-5, x[j]-1e-5
		if want := (n.ValueGradient(nil, up) - n.ValueGradient(nil, down)) / 2e-5; !scalar.EqualWithinAbs(grad[j], want,
			1e-8) {
			t.Errorf("gradient %v, differences %v", grad[j], want)
		}
	}
	if !scalar.EqualWithinRel(curv[1], n.Smoothness(), 1e-15) || !scalar.EqualWithinRel(n.LargestGap(3),
		3*n.Gap([]float64{0}), 1e-15) {
		t.Error("the bounds are attained at 0")
	}
}
