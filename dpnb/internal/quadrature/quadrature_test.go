package quadrature

import (
	"fmt"
	"math"
	"testing"
)

// Polynomials up to degree 22 are integrated exactly, on panels of any width.
func TestPanels(t *testing.T) {
	for degree := range 23 {
		f := func(x float64) float64 { return math.Pow(x, float64(degree)) }
		want := math.Pow(2, float64(degree+1)) / float64(degree+1)
		if got := Panels(f, 0, 2, 3); !(math.Abs(got/want-1) <= 1e-14) {
			t.Errorf("∫x^%d = %v, want %v", degree, got, want)
		}
	}
}

// A kink is found by bisection, several components share their nodes, and the error that is reported bounds the one
// that is made.
func TestAdaptive(t *testing.T) {
	v, relErr := Adaptive(2, func(x []float64, out [][]float64) {
		for i, u := range x {
			out[0][i], out[1][i] = math.Abs(u-0.3), math.Exp(u)
		}
	}, []float64{-1, 1}, 1e-12)
	want := [2]float64{0.5 * (1.3*1.3 + 0.7*0.7), math.E - 1/math.E}
	for c, w := range want {
		if !(math.Abs(v[c]/w-1) <= relErr+1e-15) || relErr > 1e-11 {
			t.Errorf("component %d: %v, want %v; estimated error %.1e", c, v[c], w, relErr)
		}
	}
}

// A jump is found wherever it is, down to the width of a panel that is accepted as it is.
func TestJumps(t *testing.T) {
	for _, at := range []float64{0.01, 0.3, 2.0 / 3, 0.99} {
		v, _ := Adaptive(1, func(x []float64, out [][]float64) {
			for i, u := range x {
				out[0][i] = 0
				if u < at {
					out[0][i] = 1
				}
			}
		}, []float64{0, 1}, 1e-15)
		if !(math.Abs(v[0]-at) <= 2e-14) {
			t.Errorf("a step of length %v: off by %.1e", at, v[0]-at)
		}
	}
}

// The moments of the normal law, also with a step at which Gauss and Hermite's rule of as many nodes is no better.
func TestNormal(t *testing.T) {
	z, w := Normal(0.45)
	want := []float64{1, 0, 1, 0, 3, 0, 15}
	for k, m := range want {
		var got float64
		for i, x := range z {
			got += w[i] * math.Pow(x, float64(k))
		}
		if !(math.Abs(got-m) <= 1e-12) {
			t.Errorf("E N^%d = %v, want %v", k, got, m)
		}
	}
}

func ExampleAdaptive() {
	v, _ := Adaptive(1, func(x []float64, out [][]float64) {
		for i, t := range x {
			out[0][i] = math.Sqrt(t)
		}
	}, []float64{0, 1}, 1e-12)
	fmt.Printf("%.10f\n", v[0])
	// Output: 0.6666666667
}

// What is 0 all over, alone or beside another, has no panel cut for it.
func TestNothingCostsNothing(t *testing.T) {
	count := func(components int) (asked int) {
		Adaptive(components, func(x []float64, out [][]float64) {
			asked++
			for i, v := range x {
				out[components-1][i], out[0][i] = 0, v*v
			}
			if components == 1 {
				clear(out[0])
			}
		}, []float64{0, 1, 3}, 1e-10)
		return asked
	}
	if one, two := count(1), count(2); one != 2 || two != 2 {
		t.Errorf("%d and %d panels of two", one, two)
	}
}
