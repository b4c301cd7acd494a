package smoothing

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/cmplx"
	"math/rand/v2"
	"os"
	"testing"

	"gonum.org/v1/gonum/diff/fd"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/floats/scalar"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
)

// signs are the slopes of ‖·‖₁ on ℝᵐ.
func signs(m int) [][]float64 {
	if m == 0 {
		return [][]float64{{}}
	}
	var out [][]float64
	for _, s := range signs(m - 1) {
		out = append(out, append([]float64{1}, s...), append([]float64{-1}, s...))
	}
	return out
}

func mustPolyhedral(t *testing.T, a [][]float64, b []float64) Polyhedral {
	t.Helper()
	return must.Get(NewPolyhedral(a, b))
}

func mustGaussian(t *testing.T, f Polyhedral, mu float64) *GaussianMax {
	t.Helper()
	return must.Get(f.Gaussian(mu))
}

// TestGaussianMaxOfOrderStatistics: E max of 2, 3 and 4 independent normal variates, 1/√π, 3/(2√π) and
// (6/π^{3/2})·arctan √2, and the gradient by symmetry.
func TestGaussianMaxOfOrderStatistics(t *testing.T) {
	for n, want := range map[int]float64{1: 0, 2: 1 / math.Sqrt(math.Pi), 3: 1.5 / math.Sqrt(math.Pi),
		4: 6 * math.Pow(math.Pi, -1.5) * math.Atan(math.Sqrt2)} {
		a := make([][]float64, n)
		for p := range a {
			a[p] = make([]float64, n)
			a[p][p] = 1
		}
		grad := make([]float64, n)
		value, off := mustGaussian(t, mustPolyhedral(t, a, make([]float64, n)), 0.5).ValueGradient(grad,
			make([]float64, n))
		if !(math.Abs(value-want/2) <= off+1e-14) || off > 1e-9 {
			t.Errorf("the largest of %d: %v, error said to be %v, want %v", n, value, off, want/2)
		}
		for _, s := range grad {
			if !(math.Abs(s-1/float64(n)) <= 1e-10) {
				t.Errorf("the largest of %d: gradient %v", n, grad)
			}
		}
	}
}

// TestGaussianMaxOfTheNorm: ‖·‖₁ as the largest of 2^m linear functions, whose slopes agree in many coordinates,
// against its closed form.
func TestGaussianMaxOfTheNorm(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for m := 1; m <= 3; m++ {
		f := mustPolyhedral(t, signs(m), make([]float64, 1<<m))
		points := []int{20, 20, 2}[m-1]
		for range points {
			mu := math.Exp(rng.NormFloat64())
			x, grad, want := make([]float64, m), make([]float64, m), make([]float64, m)
			for j := range x {
				x[j] = rng.NormFloat64()
			}
			value, off := mustGaussian(t, f, mu).ValueGradient(grad, x)
			closed := Norm{Gaussian{}, mu}.ValueGradient(want, x)
			if d := math.Max(math.Abs(value-closed), floats.Distance(grad, want, math.Inf(1))); d > off+1e-14 ||
				off > 1e-8*(1+mu) {
				t.Errorf("m = %d, μ = %v at %v: off by %v, said to be %v", m, mu, x, d, off)
			}
		}
	}
}

// TestGaussianMaxOnTheLine agrees with Max, and a function that does not depend on all coordinates with the one that it
// depends on.
func TestGaussianMaxOnTheLine(t *testing.T) {
	a, b := []float64{-2, 0, 0.5, 3, 1, 0.5}, []float64{0, 1, 0.9, -2, -5, 0.2}
	line := must.Get(Max(a, b))
	var one, three [][]float64
	for _, s := range a {
		one, three = append(one, []float64{s}), append(three, []float64{1 + 0.6*s, 5, 0.8 * s})
	}
	s := line.Convolve(Gaussian{}, 0.7)
	for x := -3.0; x < 3; x += 0.17 {
		grad := make([]float64, 3)
		value, off := mustGaussian(t, mustPolyhedral(t, one, b), 0.7).ValueGradient(grad[:1], []float64{x})
		if !(math.Abs(value-s.Value(x)) <= off) || !(math.Abs(grad[0]-s.Slope(x)) <= 1e-14) || off > 1e-13 {
			t.Errorf("%v at %v with slope %v, want %v and %v", value, x, grad[0], s.Value(x), s.Slope(x))
		}
		value, off = mustGaussian(t, mustPolyhedral(t, three, b), 0.7).ValueGradient(grad,
			[]float64{0.6 * x, 2, 0.8 * x})
		want := []float64{1 + 0.6*s.Slope(x), 5, 0.8 * s.Slope(x)}
		if !(math.Abs(value-s.Value(x)-0.6*x-10) <= off) || !floats.EqualApprox(grad, want, 1e-13) {
			t.Errorf("in space: %v at %v with gradient %v, want %v and %v", value, x, grad, s.Value(x)+0.6*x+10, want)
		}
	}
}

// TestGaussianMaxIsConvexAndSmooth: random pieces in the plane; values above the function and below the bound,
// gradients by differences, curvature never above the constant, and convexity along random lines.
func TestGaussianMaxIsConvexAndSmooth(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 2))
	for range 20 {
		n := 3 + rng.IntN(5)
		a, b := make([][]float64, n), make([]float64, n)
		for p := range a {
			a[p], b[p] = []float64{rng.NormFloat64(), rng.NormFloat64()}, rng.NormFloat64()
		}
		f := mustPolyhedral(t, a, b)
		mu := math.Exp(rng.NormFloat64())
		g := mustGaussian(t, f, mu)
		x, e, grad := []float64{rng.NormFloat64(), rng.NormFloat64()}, []float64{rng.NormFloat64(), rng.NormFloat64()},
			make([]float64, 2)
		floats.Scale(1/floats.Norm(e, 2), e)
		value, off := g.ValueGradient(grad, x)
		if gap := value - f.Value(x); gap < -off || gap > f.Lipschitz()*mu*math.Sqrt2 {
			t.Errorf("gap %v", gap)
		}
		along := func(u float64) []float64 { return []float64{x[0] + u*e[0], x[1] + u*e[1]} }
		diff := fd.Derivative(func(u float64) float64 { v, _ := g.ValueGradient(nil, along(u)); return v }, 0,
			&fd.Settings{Formula: fd.Central, Step: 1e-4 * mu})
		if !scalar.EqualWithinAbs(diff, floats.Dot(grad, e), 1e-6) {
			t.Errorf("slope %v, differences give %v", floats.Dot(grad, e), diff)
		}
		up := make([]float64, 2)
		g.ValueGradient(up, along(0.01*mu))
		floats.Sub(up, grad)
		if c := floats.Dot(up, e) / (0.01 * mu); c < -1e-7 || c > g.Smoothness()*(1+1e-7) {
			t.Errorf("curvature %v, bound %v", c, g.Smoothness())
		}
	}
	if _, err := mustPolyhedral(t, signs(4), make([]float64, 16)).Gaussian(1); !errors.Is(err, ErrRank) {
		t.Error(err)
	}
}

// TestEntropic: log cosh for two pieces, the bounds, gradients by differences and the curvature.
func TestEntropic(t *testing.T) {
	two := mustPolyhedral(t, [][]float64{{1}, {-1}}, []float64{0, 0}).Entropic(0.6)
	s := Absolute().Convolve(Logistic{}, 0.6)
	for x := -3.0; x < 3; x += 0.1 {
		if got := two.ValueGradient(nil, []float64{x}); !scalar.EqualWithinAbs(got, s.Value(x), 1e-14) {
			t.Errorf("%v at %v, want %v", got, x, s.Value(x))
		}
	}
	if !scalar.EqualWithinRel(two.Smoothness(), s.Smoothness(), 1e-15) {
		t.Errorf("smoothness %v, want %v", two.Smoothness(), s.Smoothness())
	}
	rng := rand.New(rand.NewPCG(3, 3))
	f := mustPolyhedral(t, signs(3), []float64{0, 1, 2, 0, 0, 1, -1, 0})
	e := f.Entropic(0.3)
	for range 100 {
		x, grad, up := make([]float64, 3), make([]float64, 3), make([]float64, 3)
		for j := range x {
			x[j] = rng.NormFloat64()
		}
		value := e.ValueGradient(grad, x)
		if gap := value - f.Value(x); gap < 0 || gap > 0.3*math.Log(8) {
			t.Errorf("gap %v", gap)
		}
		want := fd.Gradient(nil, func(x []float64) float64 { return e.ValueGradient(nil, x) }, x,
			&fd.Settings{Formula: fd.Central})
		if !floats.EqualApprox(grad, want, 1e-6) {
			t.Errorf("gradient %v, differences give %v", grad, want)
		}
		x[0] += 1e-4
		e.ValueGradient(up, x)
		if floats.Distance(up, grad, 2) > 1e-4*e.Smoothness()*(1+1e-9) {
			t.Errorf("curvature %v, bound %v", floats.Distance(up, grad, 2)/1e-4, e.Smoothness())
		}
	}
}

// TestErfcx against values of mpmath at 30 digits.
func TestErfcx(t *testing.T) {
	for _, c := range []struct{ z, want complex128 }{
		{0, 1}, {1, 0.427583576155807004}, {10, 0.0561409927438226},
		{1i, complex(0.367879441171442322, -0.607157705841393729)},
		{0.5 + 3i, complex(0.0371263660546923447, -0.192983755300362088)},
	} {
		if got := erfcx(c.z); cmplx.Abs(got-c.want) > 2e-13 {
			t.Errorf("erfcx(%v) = %v, want %v", c.z, got, c.want)
		}
	}
}

// TestBowl against mpmath (testdata/bowl.json: nested quadrature at 25 digits, 17 for m = 3), soft thresholds on the
// line, and differences.
func TestBowl(t *testing.T) {
	content := must.Get(os.ReadFile("testdata/bowl.json"))
	var cases []struct {
		X     []float64
		Z, Mu float64
		Value json.Number
	}
	if err := json.Unmarshal(content, &cases); err != nil || len(cases) < 10 {
		t.Fatal(err, len(cases))
	}
	for _, c := range cases {
		b := must.Get(NewBowl(c.Z, c.Mu))
		want, _ := c.Value.Float64()
		if got, off := b.ValueGradient(nil, c.X); !scalar.EqualWithinAbs(got, want, 2e-13) || off > 1e-11 {
			t.Errorf("%+v: %v, off by %.2g, said to be %.2g", c, got, got-want, off)
		}
	}
	rng := rand.New(rand.NewPCG(1, 9))
	for k := range 300 {
		m := 1 + k%4
		mu, z := math.Exp(rng.NormFloat64()), 3*rng.NormFloat64()+1
		b, _ := NewBowl(z, mu)
		x, grad, up := make([]float64, m), make([]float64, m), make([]float64, m)
		for j := range x {
			x[j] = 3 * rng.NormFloat64()
		}
		value, off := b.ValueGradient(grad, x)
		want := fd.Gradient(nil, func(x []float64) float64 { v, _ := b.ValueGradient(nil, x); return v }, x,
			&fd.Settings{Formula: fd.Central, Step: 1e-4 * mu})
		if !floats.EqualApprox(grad, want, 1e-6) || off > 1e-10*(1+mu) {
			t.Errorf("z = %v, μ = %v at %v: gradient %v, differences give %v; error %v", z, mu, x, grad, want, off)
		}
		if plain := math.Max(0, floats.Norm(x, 1)-z); value < plain-off || value > plain+mu*float64(m) {
			t.Errorf("value %v, function %v", value, plain)
		}
		if m == 1 && z > 0 {
			s := SoftThreshold(z).Convolve(Gaussian{}, mu)
			if !scalar.EqualWithinAbs(value, s.Value(x[0]), off+1e-13) || !scalar.EqualWithinAbs(grad[0], s.Slope(x[0]),
				off+1e-12) {
				t.Errorf("z = %v, μ = %v at %v: %v with slope %v, want %v and %v", z, mu, x, value, grad, s.Value(x[0]),
					s.Slope(x[0]))
			}
		}
		copy(up, x)
		up[0] += 0.01 * mu
		b.ValueGradient(up, up)
		if c := floats.Distance(up, grad, 2) / (0.01 * mu); c > b.Smoothness(m)*(1+1e-7) {
			t.Errorf("m = %d: curvature %v, bound %v", m, c, b.Smoothness(m))
		}
	}
	// As the largest of nine affine functions.
	a := append(signs(2), []float64{0, 0})
	f := mustGaussian(t, mustPolyhedral(t, a, []float64{-1, -1, -1, -1, 0}), 0.7)
	b, _ := NewBowl(1, 0.7)
	for range 10 {
		x := []float64{rng.NormFloat64(), rng.NormFloat64()}
		v, off := f.ValueGradient(nil, x)
		if w, offToo := b.ValueGradient(nil, x); !(math.Abs(v-w) <= off+offToo) {
			t.Errorf("%v as a polyhedral function, %v as a bowl, at %v", v, w, x)
		}
	}
}

// TestBowlOfAllSizes: widths over six decades, coordinates over eight, m up to 30, near the level: never below the
// function, within the bound of Lemma 3.1, slopes within 1.
func TestBowlOfAllSizes(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	for k := range 2000 {
		m := []int{1, 2, 3, 5, 10, 30}[k%6]
		mu, sum := math.Pow(10, 6*rng.Float64()-3), 0.0
		x, grad := make([]float64, m), make([]float64, m)
		for j := range x {
			x[j] = math.Pow(10, 8*rng.Float64()-5) * []float64{1, -1, 0}[rng.IntN(3)]
			sum += math.Abs(x[j])
		}
		z := sum*math.Exp(0.3*rng.NormFloat64()) + 5*mu*rng.NormFloat64()
		b := must.Get(NewBowl(z, mu))
		value, off := b.ValueGradient(grad, x)
		plain, rounding := math.Max(0, sum-z), 1e-13*(sum+math.Abs(z))
		if !(value >= plain-off-rounding && value <= plain+mu*float64(m) && off <= 1e-9*math.Max(1, mu)+10*rounding) ||
			!(floats.Norm(grad, math.Inf(1)) <= 1+1e-9) {
			t.Fatalf("m = %d, μ = %v, z = %v, ‖x‖₁ = %v: %v, error %v, gradient %v", m, mu, z, sum, value, off, grad)
		}
	}
}

// TestGaussianMaxIsTheSameFromEverySide: pieces in another order, some of them twice, in coordinates turned by a random
// rotation of the plane: the same value and the turned gradient, at widths over four decades, with parallel and nearly
// parallel slopes.
func TestGaussianMaxIsTheSameFromEverySide(t *testing.T) {
	rng := rand.New(rand.NewPCG(14, 4))
	for range 100 {
		n, mu := 2+rng.IntN(6), math.Pow(10, 4*rng.Float64()-2)
		var a, turned [][]float64
		var b, again []float64
		sin, cos := math.Sincos(6 * rng.Float64())
		turn := func(v []float64) []float64 { return []float64{cos*v[0] - sin*v[1], sin*v[0] + cos*v[1]} }
		for p := range n {
			slope := []float64{rng.NormFloat64(), rng.NormFloat64()}
			if p > 0 && rng.IntN(3) == 0 { // nearly as the last one, or as it is
				slope = []float64{a[p-1][0], a[p-1][1] + float64(rng.IntN(2))*1e-6}
			}
			a, b = append(a, slope), append(b, rng.NormFloat64())
		}
		for _, p := range append(rng.Perm(n), rng.IntN(n)) {
			turned, again = append(turned, turn(a[p])), append(again, b[p])
		}
		x := []float64{rng.NormFloat64(), rng.NormFloat64()}
		grad, gradToo := make([]float64, 2), make([]float64, 2)
		v, off := mustGaussian(t, mustPolyhedral(t, a, b), mu).ValueGradient(grad, x)
		w, offToo := mustGaussian(t, mustPolyhedral(t, turned, again), mu).ValueGradient(gradToo, turn(x))
		if !(math.Abs(v-w) <= off+offToo+1e-13*(1+mu)) || !floats.EqualApprox(turn(grad), gradToo, 1e-8) ||
			off > 1e-8*(1+mu) {
			t.Errorf("%v and %v at %v, μ = %v: %v ± %v and %v ± %v, gradients %v and %v", a, b, x, mu, v, off, w,
				offToo, turn(grad), gradToo)
		}
	}
}

func TestSpecialCasesRefuse(t *testing.T) {
	for _, c := range []struct {
		a [][]float64
		b []float64
	}{
		{nil, nil}, {[][]float64{{1}}, nil}, {[][]float64{{}}, []float64{0}},
		{[][]float64{{1, 2}, {1}}, []float64{0, 0}},
		{[][]float64{{math.NaN()}}, []float64{0}}, {[][]float64{{1}}, []float64{math.Inf(1)}},
	} {
		if f, err := NewPolyhedral(c.a, c.b); err == nil {
			t.Errorf("%v", f)
		}
	}
	for _, c := range [][2]float64{{1, 0}, {1, -1}, {1, math.NaN()}, {1, math.Inf(1)}, {math.NaN(), 1},
		{math.Inf(1), 1}} {
		if b, err := NewBowl(c[0], c[1]); err == nil {
			t.Errorf("%v", b)
		}
	}
	for name, f := range map[string]func(){
		"width 0":   func() { Absolute().Convolve(Gaussian{}, 0) },
		"width −1":  func() { Norm{Gaussian{}, -1}.ValueGradient(nil, []float64{1}) },
		"width NaN": func() { Absolute().Convolve(Gaussian{}, math.NaN()) },
		"width ∞":   func() { Absolute().Convolve(Gaussian{}, math.Inf(1)) },
		"ε = 0":     func() { Absolute().Convolve(Free{}, 1) }, "no kernel": func() { Absolute().Convolve(nil, 1) },
		"τ = 0": func() { Pinball(0) }, "τ = 1": func() { Pinball(1) }, "τ NaN": func() { Pinball(math.NaN()) },
		"moment of order 1.05": func() { Product{Gaussian{}, 2}.Moment(1.05) },
		"moment of order 3":    func() { Product{Gaussian{}, 2}.Moment(3) },
		"a short gradient":     func() { Norm{Gaussian{}, 1}.ValueGradient([]float64{0}, []float64{1, 2}) },
		"a long gradient":      func() { Norm{Gaussian{}, 1}.ValueGradient(make([]float64, 3), []float64{1, 2}) },
		"a long curvature":     func() { Norm{Gaussian{}, 1}.Curvature(make([]float64, 3), []float64{1, 2}) },
		"a long gradient of a bowl": func() {
			b, _ := NewBowl(1, 0.5)
			b.ValueGradient(make([]float64, 3), []float64{1, 2})
		},
		"a long gradient of a maximum": func() {
			g, err := mustPolyhedral(t, signs(2), make([]float64, 4)).Gaussian(1)
			if err == nil {
				g.ValueGradient(make([]float64, 3), []float64{1, 2})
			}
		},
		"a long gradient of an entropic maximum": func() {
			Entropic{mustPolyhedral(t, signs(2), make([]float64, 4)), 1}.ValueGradient(make([]float64, 3),
				[]float64{1, 2})
		},
		"a short point": func() { mustPolyhedral(t, signs(2), make([]float64, 4)).Value([]float64{1}) },
		"threshold":     func() { SoftThreshold(-1) }, "dimension": func() { NewExponential(0) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s is accepted", name)
				}
			}()
			f()
		}()
	}
}

func BenchmarkSpecialCases(b *testing.B) {
	x, grad := []float64{0.3, -0.2, 0.9}, make([]float64, 3)
	bowl, _ := NewBowl(1, 0.5)
	b.Run("bowl/m=3", func(b *testing.B) {
		for b.Loop() {
			bowl.ValueGradient(grad, x)
		}
	})
	rng := rand.New(rand.NewPCG(1, 1))
	for m := 1; m <= 3; m++ {
		f := Polyhedral{}
		for range 5 {
			a := make([]float64, m)
			for j := range a {
				a[j] = rng.NormFloat64()
			}
			f.slopes, f.offsets = append(f.slopes, a), append(f.offsets, 0.3*rng.NormFloat64())
		}
		g := must.Get(f.Gaussian(0.5))
		b.Run(fmt.Sprintf("five pieces/m=%d", m), func(b *testing.B) {
			for b.Loop() {
				g.ValueGradient(grad[:m], x[:m])
			}
		})
	}
}

// (‖x‖₁ − z)₊ has as many pieces as there are signs, and one more.
func TestBowlPieces(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 6))
	for m := 1; m <= 6; m++ {
		f := must.Get(NewBowlPieces(m, 0.8))
		if f.Dim() != m || f.Pieces() != 1<<m+1 {
			t.Errorf("%d pieces in %d dimensions", f.Pieces(), f.Dim())
		}
		x := make([]float64, m)
		for range 20 {
			for j := range x {
				x[j] = rng.NormFloat64() / float64(m)
			}
			if want := math.Max(0, floats.Norm(x, 1)-0.8); !(math.Abs(f.Value(x)-want) <= 1e-14) {
				t.Errorf("%v: %v, want %v", x, f.Value(x), want)
			}
		}
	}
	for _, c := range []struct {
		m int
		z float64
	}{{0, 1}, {7, 1}, {2, math.NaN()}, {2, math.Inf(1)}} {
		if _, err := NewBowlPieces(c.m, c.z); err == nil {
			t.Errorf("%d dimensions and z = %v are taken", c.m, c.z)
		}
	}
}
