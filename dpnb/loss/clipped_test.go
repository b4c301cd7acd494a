package loss

import (
	"math"
	"math/rand/v2"
	"testing"
)

// bases are losses to clip, with levels that cut them.
func bases() []struct {
	loss   Loss
	labels []float64
	levels []float64
} {
	signs, reals := []float64{-1, 1}, []float64{-2, 0, 5.5}
	return []struct {
		loss   Loss
		labels []float64
		levels []float64
	}{
		{Logistic{}, signs, []float64{1e-3, 0.2, 0.5, 0.9, 0.9999}},
		{Softplus{Width: 0.3}, signs, []float64{1e-3, 0.2, 0.5, 0.9}},
		{Softplus{Width: 0.3, Margin: 1.9}, signs, []float64{1e-3, 0.2, 0.5, 0.9}},
		{SmoothedHinge{0.3}, signs, []float64{1e-3, 0.5, 0.99}},
		{SquaredHinge{}, signs, []float64{1e-3, 1, 30}},
		{Probit{}, signs, []float64{1e-6, 0.1, 1, 4.2, 30}},
		{Squared{}, reals, []float64{1e-3, 1, 30}},
		{Huber{2}, reals, []float64{1e-3, 1, 1.99}},
		{PseudoHuber{2}, reals, []float64{1e-3, 1, 1.999}},
		{SmoothPinball{0.3, 0.7}, reals, []float64{1e-3, 0.29, 0.5, 0.69}},
		{Poisson{6}, []float64{0, 1, 6}, []float64{1e-2, 1.5, 5.9, 30}},
	}
}

// Theorem E.2: the slope is the loss's, cut at ±c, everywhere; the value is the loss's between the clip points and the
// integral of the slope outside. Theorem E.3: the slope is as Lipschitz as before.
func TestClippedIsTheClippedGradient(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, b := range bases() {
		for _, c := range b.levels {
			f := Clipped(b.loss, c)
			if f.Lipschitz() != c || !(f.Smoothness() <= b.loss.Smoothness()*(1+1e-12)) {
				t.Errorf("%s: constants %v and %v", f.Name(), f.Lipschitz(), f.Smoothness())
			}
			for _, y := range b.labels {
				lo, hi := f.(clipped).points(y)
				var points []float64
				for _, p := range []float64{lo, hi} {
					if !math.IsInf(p, 0) {
						points = append(points, p, math.Nextafter(p, -1e9), math.Nextafter(p, 1e9), p-1e-7, p+1e-7)
					}
				}
				for range 300 {
					points = append(points, 10*rng.NormFloat64())
				}
				for _, x := range points {
					want := math.Max(-c, math.Min(c, slope(b.loss, x, y)))
					if got := slope(f, x, y); !(math.Abs(got-want) <= 1e-13*(1+math.Abs(x)+math.Abs(y))*(1+math.Min(1e3,
						f.Smoothness()))) {
						t.Errorf("%s: slope %v at %v, y=%v, want %v", f.Name(), got, x, y, want)
					}
					at := math.Max(lo, math.Min(hi, x))
					v := value(b.loss, at, y)
					if x < lo {
						v += c * (lo - x)
					} else if x > hi {
						v += c * (x - hi)
					}
					if got := value(f, x, y); !(math.Abs(got-v) <= 1e-13*(1+math.Abs(v))) {
						t.Errorf("%s: value %v at %v, y=%v, want %v", f.Name(), got, x, y, v)
					}
					z := x + rng.NormFloat64()
					d := math.Abs(slope(f, z, y) - slope(f, x, y))
					if d > f.Smoothness()*math.Abs(z-x)*(1+1e-12)+1e-12 {
						t.Errorf("%s: the slope changes by %v from %v to %v", f.Name(), d, x, z)
					}
				}
			}
		}
	}
}

// The closed forms of the clip points against a search by bisection.
func TestClipPointsBySearch(t *testing.T) {
	for _, b := range bases() {
		for _, c := range b.levels {
			for _, y := range b.labels {
				lo, hi := Clipped(b.loss, c).(clipped).points(y)
				searchedLo, searchedHi := searchPoints(b.loss, c, y)
				for _, p := range [][2]float64{{lo, searchedLo}, {hi, searchedHi}} {
					if math.IsInf(p[0], 0) && p[0] == p[1] {
						continue
					}
					// How well the search can know it: rounding of f′ over f″.
					tol := 1e-14 * (1 + math.Abs(p[1])) * (1 + c/math.Max(curvature(b.loss, 0.999*p[1], y), 1e-3))
					if !(math.Abs(p[0]-p[1]) <= 10*tol) {
						t.Errorf("%s at %v, y=%v: clip point %v, the search finds %v", b.loss.Name(), c, y, p[0], p[1])
					}
				}
			}
		}
	}
}

// Clipped squared is Huber; clipping twice is clipping once; a level that cuts nothing changes nothing.
func TestClippedIdentities(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, pair := range [][2]Loss{
		{Clipped(Squared{}, 1.3), Huber{1.3}},
		{Clipped(Huber{4}, 1.3), Huber{1.3}},
		{Clipped(Clipped(Squared{}, 2), 1.3), Clipped(Squared{}, 1.3)},
		{Clipped(Clipped(Squared{}, 1.3), 2), Clipped(Squared{}, 1.3)},
		{Clipped(Logistic{}, 1), Logistic{}},
		{Clipped(Huber{1.3}, 7), Huber{1.3}},
	} {
		for range 200 {
			x, y := 5*rng.NormFloat64(), math.Copysign(1, rng.NormFloat64())
			a, b := value(pair[0], x, y), value(pair[1], x, y)
			if !(math.Abs(a-b) <= 1e-14*(1+b)) || !(math.Abs(slope(pair[0], x, y)-slope(pair[1], x, y)) <= 1e-15*8) {
				t.Errorf("%s and %s differ at %v", pair[0].Name(), pair[1].Name(), x)
			}
		}
	}
	if of, level, ok := Unclip(Clipped(Clipped(Probit{}, 2), 1)); !ok || level != 1 || of != (Probit{}) {
		t.Errorf("Unclip: %v at %v", of, level)
	}
	if _, level, ok := Unclip(Logistic{}); ok || !math.IsInf(level, 1) {
		t.Error("Unclip invents a level")
	}
}

// Gradients of records: ‖∇ℓ_c‖ ≤ R·c, reached, and never longer than ‖∇ℓ‖ nor turned; at level C/‖x‖ they are ∇ℓ scaled
// down to C, as rkw23's section 4 says.
func TestClippedGradientOfRecords(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	const clip, radius = 0.8, 1.5
	longest := 0.0
	for range 3000 {
		norm := radius * math.Sqrt(rng.Float64())
		x, y := 6*rng.NormFloat64(), math.Copysign(1, rng.NormFloat64())
		plain := norm * slope(SquaredHinge{}, x, y)
		uniform := norm * slope(Clipped(SquaredHinge{}, clip/radius), x, y)
		own := norm * slope(Clipped(SquaredHinge{}, clip/norm), x, y)
		want := plain * math.Min(1, clip/math.Max(math.Abs(plain), 1e-300))
		if !(math.Abs(own-want) <= 1e-12) {
			t.Fatalf("clipped at its own norm: %v, want %v", own, want)
		}
		if !(math.Abs(uniform) <= clip*(1+1e-15)) || !(math.Abs(uniform) <= math.Abs(own)+1e-12) || uniform*plain < 0 {
			t.Fatalf("clipped for all norms: %v, for its own %v", uniform, own)
		}
		longest = math.Max(longest, math.Abs(uniform))
	}
	if longest < 0.97*clip {
		t.Errorf("the bound %v is never reached: %v", clip, longest)
	}
	for _, norm := range []float64{0.1, 0.7, 1, 3} {
		if got := norm * slope(ClippedAt(SquaredHinge{}, clip, norm), -100, 1); !(math.Abs(got+clip) <= 1e-15) {
			t.Errorf("the gradient of a row of norm %v has norm %v, want %v", norm, -got, clip)
		}
	}
}
