package heavytail

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/mechanism"
	"github.com/dpnb/notebooks/dpnb/mechanism/pure"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// The best sign is ε-DP: a replaced record moves the sum by two at most; and it errs as SignError says, which
// is larger than what no privacy needs, and falls in n, p and ε.
func TestLowerBounds(t *testing.T) {
	for _, epsilon := range []float64{0.01, 0.5, 1, 3} {
		tight := 0.0
		for s := -9; s <= 9; s++ {
			for _, other := range []int{s - 2, s - 1, s + 1, s + 2} {
				p, q := BestSign(s, epsilon), BestSign(other, epsilon)
				ratio := math.Max(math.Abs(math.Log(p/q)), math.Abs(math.Log((1-p)/(1-q))))
				if tight = math.Max(tight, ratio); ratio > epsilon*(1+1e-6) {
					t.Fatalf("ε = %g: sums %d and %d differ by %g", epsilon, s, other, ratio)
				}
			}
		}
		if tight < epsilon*(1-1e-6) {
			t.Errorf("ε = %g: only %g is used", epsilon, tight)
		}
		// By hand: all n = 2 records tell the sign at p = 1.
		if got, want := SignError(2, 1, epsilon), math.Exp(-epsilon)/2; math.Abs(got/want-1) > 1e-12 {
			t.Errorf("SignError(2, 1, %g) = %g, want %g", epsilon, got, want)
		}
		if a, b := SignError(50, 0.1, epsilon), SignError(50, 0.2, epsilon); !(a > b && b > math.Exp(-epsilon*50)/2) {
			t.Errorf("errors %g and %g", a, b)
		}
		// Two points are no easier than by SignError, whose proof goes half the way in each of two steps.
		for _, p := range []float64{0.03, 0.3} {
			if PackingError(50, p, epsilon, 2) > SignError(50, p, epsilon)*(1+1e-12) {
				t.Errorf("two points: %g, as signs %g", PackingError(50, p, epsilon, 2), SignError(50, p, epsilon))
			}
		}
		p := Unavoidable(0.1, func(p float64) float64 { return SignError(200, p, epsilon) })
		if p < 1 && math.Abs(SignError(200, p, epsilon)-0.1) > 1e-9 {
			t.Errorf("at p = %g the error is %g", p, SignError(200, p, epsilon))
		}
	}
	// One coin, and three: ¼ and P(two or three wrong).
	if got := CoinError(1, 0.5); math.Abs(got-0.25) > 1e-12 {
		t.Errorf("one coin: %g", got)
	}
	if got, want := CoinError(3, 0.5), 3*0.75/16+1.0/64; math.Abs(got-want) > 1e-12 {
		t.Errorf("three coins: %g, want %g", got, want)
	}
}

// Algorithm 7 draws from the law whose density its claim compares, and that is private by a margin: ε that is twice
// as much would be seen.
func TestAlgorithm7(t *testing.T) {
	if got := algorithm7Ratio(1); got > 1 || got < 0.55 {
		t.Errorf("neighbours' densities are apart by %.4f of what they may be", got)
	}
	if got := algorithm7Ratio(2); got < 1 {
		t.Errorf("run at 2ε they are apart by %.4f", got)
	}
	a, z := Algorithm7{C: 1, Lambda: 20, Epsilon: 1}, []float64{1, 1, -1, 1}
	src, n := noise.NewSeeded(8), 4000
	var mean, square, want, weight float64
	for range n {
		w, err := a.Run(z, src)
		if err != nil {
			t.Fatal(err)
		}
		mean, square = mean+w/float64(n), square+w*w/float64(n)
	}
	for i := range 400 {
		w := (float64(i)+0.5)/200 - 1
		p := a.density(z, w)
		want, weight = want+w*p, weight+p
	}
	if se := math.Sqrt((square - mean*mean) / float64(n)); math.Abs(mean-want/weight) > 5*se {
		t.Errorf("mean %.5f ± %.5f, by quadrature %.5f", mean, se, want/weight)
	}
}

// In three dimensions no private fit decodes ±e₁, ±e₂, ±e₃ better than the bound has it, and the sum of the records,
// which is not private, does.
func TestPackingBound(t *testing.T) {
	const n, d, epsilon, p = 60, 3, 1.0, 0.05
	bound := PackingError(n, p, epsilon, 2*d)
	m, err := pure.Config{Loss: loss.Affine{}, Epsilon: epsilon, Adjacency: privacy.ReplaceOne, Features: d, Records: n,
		Radius: 1, MomentBound: 1, WorstCase: true}.Calibrate()
	if err != nil {
		t.Fatal(err)
	}
	src, ones := noise.NewSeeded(13), slices.Repeat([]float64{1}, n)
	const runs = 200
	var private, open float64
	for i := range runs * 2 * d {
		h := Hard{Direction: make([]float64, d), P: p, A: math.Pow(p, -0.5)}
		axis, sign := i%d, 1-2*float64(i/d%2)
		h.Direction[axis] = sign
		rows := h.Sample(n, src)
		r, err := m.Run(rows, ones, src, &mechanism.Settings{Workers: 1})
		if err != nil {
			t.Fatal(err)
		}
		sum := make([]float64, d)
		for k := range n {
			floats.Sub(sum, rows.Data[k*d:(k+1)*d])
		}
		for _, c := range []struct {
			w     []float64
			wrong *float64
		}{{r.Coefficients, &private}, {sum, &open}} {
			at := 0
			for j := range c.w {
				if math.Abs(c.w[j]) > math.Abs(c.w[at]) {
					at = j
				}
			}
			if at != axis || c.w[at]*sign >= 0 {
				*c.wrong += 1.0 / (runs * 2 * d)
			}
		}
	}
	room := 4 * math.Sqrt(bound*(1-bound)/(runs*2*d))
	if private < bound-room || open > bound-room {
		t.Errorf("errors of %.3f, and %.3f without privacy; the bound is %.3f ± %.3f", private, open, bound, room)
	}
}
