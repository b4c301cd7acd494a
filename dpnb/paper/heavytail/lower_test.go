package heavytail

import (
	"math"
	"slices"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/paper/internal/measure"
)

// The best sign is ε-DP: a replaced record moves the sum by two at most; and it errs as SignError says, which is larger
// than what no privacy needs, and falls in n, p and ε.
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
		if got, want := SignError(2, 1, epsilon), math.Exp(-epsilon)/2; !(math.Abs(got/want-1) <= 1e-12) {
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
		if p < 1 && !(math.Abs(SignError(200, p, epsilon)-0.1) <= 1e-9) {
			t.Errorf("at p = %g the error is %g", p, SignError(200, p, epsilon))
		}
	}
	// One coin, and three: ¼ and P(two or three wrong).
	if got := CoinError(1, 0.5); !(math.Abs(got-0.25) <= 1e-12) {
		t.Errorf("one coin: %g", got)
	}
	if got, want := CoinError(3, 0.5), 3*0.75/16+1.0/64; !(math.Abs(got-want) <= 1e-12) {
		t.Errorf("three coins: %g, want %g", got, want)
	}
}

// Algorithm 7 draws from the law whose density its claim compares, and that is private by a margin: ε that is twice as
// much would be seen.
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
		w := measure.Must(a.Run(z, src))
		mean, square = mean+w/float64(n), square+w*w/float64(n)
	}
	for i := range 400 {
		w := (float64(i)+0.5)/200 - 1
		p := a.density(z, w)
		want, weight = want+w*p, weight+p
	}
	if se := math.Sqrt((square - mean*mean) / float64(n)); !(math.Abs(mean-want/weight) <= 5*se) {
		t.Errorf("mean %.5f ± %.5f, by quadrature %.5f", mean, se, want/weight)
	}
}

// In more dimensions no private fit, gradient descent included, decodes ±e₁, ±e₂, … better than the bound has it, and
// the sum of the records, which is not private, does. What is best of them is within a factor of it.
func TestPackingBound(t *testing.T) {
	testscale.Slow(t)
	for _, d := range []int{2, 3} {
		const n, p, runs = 60, 0.05, 150
		bound := PackingError(n, p, 1, float64(2*d))
		fits := linearFits(n, d, 1, 2)
		shares := packingShares(fits, n, d, p, runs, noise.NewSeeded(13))
		room := 4 * math.Sqrt(bound*(1-bound)/float64(runs*2*d))
		best := slices.Min(shares[:len(fits)])
		t.Logf("d = %d: bound %.3f ± %.3f, errors %.3f", d, bound, room, shares)
		if open := shares[len(fits)]; best < bound-room || best > 2.5*bound || open > bound-room {
			t.Errorf("d = %d: errors of %.3f; the bound is %.3f ± %.3f", d, shares, bound, room)
		}
	}
}
