package erm

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/internal/dd"
	"github.com/dpnb/notebooks/dpnb/internal/testing/bigref"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
)

const bits = 300

func wide(x float64) *big.Float { return new(big.Float).SetPrec(bits).SetFloat64(x) }

func zero() *big.Float { return new(big.Float).SetPrec(bits) }

// bigSlope returns f′(t; y) of the losses of the tests.
func bigSlope(l loss.Loss, t *big.Float, y float64) *big.Float {
	of, level, _ := loss.Unclip(l)
	var s *big.Float
	switch of := of.(type) {
	case loss.Logistic:
		m := zero().Mul(t, wide(y))
		s = m.Quo(wide(-y), m.Add(bigref.Exp(m), wide(1)))
	case loss.Squared:
		s = zero().Sub(t, wide(y))
	case loss.Huber:
		s, level = zero().Sub(t, wide(y)), of.Threshold
	default:
		panic("no slope of " + l.Name())
	}
	if c := wide(level); s.Cmp(c) > 0 {
		return c
	} else if c = wide(-level); s.Cmp(c) < 0 {
		return c
	}
	return s
}

// bigSlopes overwrites the forms t by ∇f(t; y).
func bigSlopes(p *Problem, t []*big.Float, y float64) {
	switch f := p.Joint.(type) {
	case nil:
		t[0] = bigSlope(p.Loss, t[0], y)
	case bends:
		for k, l := range f.of {
			t[k] = bigSlope(l, t[k], y)
		}
	default: // all squared
		for k := range t {
			t[k] = bigSlope(loss.Squared{}, t[k], y)
		}
	case loss.Softmax:
		sum := zero()
		for c := range t {
			t[c] = bigref.Exp(t[c])
			sum.Add(sum, t[c])
		}
		for c := range t {
			t[c].Quo(t[c], sum)
		}
		t[int(y)].Sub(t[int(y)], wide(1))
	}
}

// bigGradient returns ∇J at hi + lo in 300 bits; lo may be nil.
func bigGradient(p *Problem, hi, lo []float64) []*big.Float {
	all := p.forms()
	n, d := all[0].rows.Dims()
	theta, g, row := make([]*big.Float, len(hi)), make([]*big.Float, len(hi)), make([]float64, d)
	for j := range theta {
		theta[j] = wide(hi[j])
		if lo != nil {
			theta[j].Add(theta[j], wide(lo[j]))
		}
		ridge := wide(p.Lambda)
		if p.Shrinkage != nil {
			ridge.Add(ridge, wide(p.Shrinkage[j]))
		}
		g[j] = zero().Mul(ridge, theta[j])
		if p.Linear != nil {
			g[j].Add(g[j], wide(p.Linear[j]))
		}
	}
	for k := range theta {
		if p.Quadratic == nil {
			break
		}
		delta := zero().Sub(theta[k], wide(p.Centre[k]))
		for j := range g {
			g[j].Add(g[j], zero().Mul(wide(p.Quadratic.At(j, k)), delta))
		}
	}
	product := zero()
	for i := range n {
		t := make([]*big.Float, len(all))
		for k, f := range all {
			f.rows.Row(row, i)
			t[k] = zero()
			for j, v := range row {
				t[k].Add(t[k], product.Mul(wide(v), theta[f.lo+j]))
			}
		}
		bigSlopes(p, t, p.Labels[i])
		for k, f := range all {
			f.rows.Row(row, i)
			for j, v := range row {
				g[f.lo+j].Add(g[f.lo+j], product.Mul(wide(v), t[k]))
			}
		}
	}
	return g
}

// distance returns ‖want − hi − lo‖; lo may be nil.
func distance(want []*big.Float, hi, lo []float64) float64 {
	sum := zero()
	for j, w := range want {
		d := zero().Sub(w, wide(hi[j]))
		if lo != nil {
			d.Sub(d, wide(lo[j]))
		}
		sum.Add(sum, d.Mul(d, d))
	}
	v, _ := sum.Sqrt(sum).Float64()
	return v
}

// norm returns ‖v‖.
func bigNorm(v []*big.Float) float64 { return distance(v, make([]float64, len(v)), nil) }

// corner is a problem at which a bound on rounding has something to miss, with a point.
type corner struct {
	name  string
	p     *Problem
	theta []float64
}

func corners() []corner {
	var all []corner
	random := func(n, d int, seed uint64) (*matrix.Dense, []float64, []float64) {
		rng := rand.New(rand.NewPCG(seed, 7))
		x, y, theta := matrix.NewDense(n, d, nil), make([]float64, n), make([]float64, d)
		for i := range x.Data {
			x.Data[i] = rng.NormFloat64()
		}
		for i := range y {
			y[i] = float64(1 - 2*rng.IntN(2))
		}
		for j := range theta {
			theta[j] = 3 * rng.NormFloat64()
		}
		return x, y, theta
	}
	add := func(name string, l loss.Loss, n, d int, change func(p *Problem, x *matrix.Dense, theta []float64)) {
		x, y, theta := random(n, d, uint64(len(all)))
		p := &Problem{Rows: x, Labels: y, Loss: l, Lambda: 0.7, Linear: make([]float64, d)}
		for j := range p.Linear {
			p.Linear[j] = 5 * math.Sin(float64(j+1))
		}
		if change != nil {
			change(p, x, theta)
		}
		sparse := *p
		sparse.Rows = x.Sparse()
		other := *p
		other.Rows = rowsOnly{x}
		all = append(all, corner{name + ", dense", p, theta}, corner{name + ", sparse", &sparse, theta},
			corner{name + ", other", &other, theta})
	}
	add("plain", loss.Logistic{}, 60, 5, nil)
	add("many", loss.Logistic{}, 5000, 6, nil)
	add("entries of 2⁻⁶⁰⁰", loss.Logistic{}, 40, 4, func(_ *Problem, x *matrix.Dense, _ []float64) {
		for i := range x.Data {
			x.Data[i] *= 0x1p-600
		}
	})
	add("products that underflow", loss.Squared{}, 40, 4, func(p *Problem, x *matrix.Dense, theta []float64) {
		p.Linear, p.Lambda = nil, 0x1p-100
		clear(p.Labels)
		for j := range theta {
			theta[j] *= 0x1p-1065
		}
	})
	add("rising entries", loss.Logistic{}, 30, 12, func(p *Problem, x *matrix.Dense, theta []float64) {
		for i := range x.Data {
			x.Data[i] *= math.Ldexp(1, 4*(i%12)-40)
		}
		for j := range theta {
			theta[j] *= math.Ldexp(1, 20-4*j)
			p.Linear[j] *= math.Ldexp(1, 4*j-40)
		}
	})
	add("|margins| beyond 708", loss.Logistic{}, 40, 4, func(_ *Problem, _ *matrix.Dense,
		theta []float64) {
		floats.Scale(300, theta)
	})
	add("labels of 1e8", loss.Huber{Threshold: 1.5}, 40, 4, func(p *Problem, x *matrix.Dense, theta []float64) {
		floats.Scale(1e8, p.Labels)
		for j := range theta {
			theta[j] *= 1e8
		}
		for i := range x.N { // residuals of the order of the threshold
			r := x.Data[i*4 : i*4+4]
			floats.AddScaled(r, (p.Labels[i]-floats.Dot(r, theta))/floats.Dot(theta, theta), theta)
		}
	})
	add("labels of 1e8, clipped", loss.Clipped(loss.Squared{}, 1e8), 40, 4, func(p *Problem, x *matrix.Dense,
		theta []float64) {
		floats.Scale(1e8, p.Labels)
	})
	for name, c := range map[string]struct {
		d, k        int
		scale, norm float64
	}{"plain": {4, 3, 3, 1}, "margins beyond 708": {4, 4, 900, 1}, "entries of 2⁻⁶⁰⁰": {3, 3, 3, 0x1p-600},
		"two classes": {3, 2, 10, 5}} {
		add("softmax, "+name, loss.Logistic{}, 40, c.d, func(p *Problem, x *matrix.Dense, _ []float64) {
			p.Loss, p.Joint, p.Linear = nil, loss.Softmax{Classes: c.k}, make([]float64, c.k*c.d)
			for i := range p.Labels {
				p.Labels[i] = float64(i * i % c.k)
			}
			floats.Scale(c.norm, x.Data)
		})
		for i := range 3 {
			at := &all[len(all)-1-i]
			at.theta = make([]float64, c.k*c.d)
			for j := range at.theta {
				at.theta[j] = c.scale * math.Sin(float64(7*j+1))
			}
		}
	}
	for _, sparse := range []bool{false, true} {
		p, theta := norms1(50, 4, 3, sparse)
		all = append(all, corner{fmt.Sprintf("‖A(z)θ‖₁ + h, sparse: %v", sparse), p, theta})
	}
	add("quadratic", loss.Huber{Threshold: 2}, 40, 4, func(p *Problem, x *matrix.Dense,
		_ []float64) {
		*p = *quadratic(p, 1e5)
	})
	add("uneven shrinkage", loss.Logistic{}, 40, 4, func(p *Problem, x *matrix.Dense, theta []float64) {
		p.Shrinkage = []float64{0, 1e-17, 1e5, 3}
	})
	return all
}

// rowsOnly hides what rows are made of.
type rowsOnly struct{ matrix.Rows }

// Both gradients are within what is stated of the one in 300 bits, and what is stated of the one in double-double is
// less than 2⁻⁷⁰ of its terms.
func TestGradientsAgainst300Bits(t *testing.T) {
	testscale.InTurn(t)
	for _, c := range corners() {
		t.Run(c.name, func(t *testing.T) {
			e := newEvaluator(c.p, 1)
			d := e.size
			g := make([]float64, d)
			_, bound := e.eval(g, c.theta)
			err := distance(bigGradient(c.p, c.theta, nil), g, nil)
			if !(err <= bound) {
				t.Errorf("float64: off by %.3g, bound %.3g", err, bound)
			}
			x, fine := dd.NewVector(d), dd.NewVector(d)
			copy(x.Hi, c.theta)
			for j, v := range x.Hi {
				x.Lo[j] = v * 0x1p-54 * math.Sin(float64(j))
			}
			fineBound := newPrecise(e).gradient(fine, x)
			fineErr := distance(bigGradient(c.p, x.Hi, x.Lo), fine.Hi, fine.Lo)
			if !(fineErr <= fineBound) {
				t.Errorf("double-double: off by %.3g, bound %.3g", fineErr, fineBound)
			}
			if fineBound > bound*0x1p-30+0x1p-960 {
				t.Errorf("bounds %.3g and %.3g: little is gained", bound, fineBound)
			}
			t.Logf("float64 %.2g of the bound, double-double %.2g", err/bound, fineErr/fineBound)
		})
	}
}

// The bounds are seen where they are attained: at n = d = 1 a term left out of either of them shows.
func TestGradientBoundsAreNearlyAttained(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	var worst float64
	for range 4000 {
		p := &Problem{Rows: matrix.NewDense(1, 1, []float64{1 + rng.Float64()}), Labels: []float64{0},
			Loss: loss.Squared{}, Lambda: 1e-9}
		theta := []float64{1 + rng.Float64()}
		e := newEvaluator(p, 1)
		g := make([]float64, 1)
		e.eval(g, theta)
		// The part of margins alone: (d+1)u·βR²‖θ‖.
		margin := 2 * 0x1p-53 * e.maxNorm * e.maxNorm * theta[0]
		worst = math.Max(worst, distance(bigGradient(p, theta, nil), g, nil)/margin)
	}
	// Several forms err together by as much for their norm together, and by no more.
	for name, forms := range map[string]int{"apart": 0, "of one θ": 3} {
		var most float64
		for range 4000 {
			p := &Problem{Labels: []float64{0}, Lambda: 1e-9, Joint: loss.Sum(loss.Squared{}, loss.Squared{},
				loss.Squared{})}
			theta := make([]float64, 3)
			for k := range 3 {
				x := matrix.NewDense(1, 1, []float64{1 + rng.Float64()})
				if theta[k] = 1 + rng.Float64(); forms > 0 {
					p.Forms = append(p.Forms, x)
				} else {
					p.Rows = x
				}
			}
			if forms > 0 {
				theta = theta[:1]
			}
			e := newEvaluator(p, 1)
			g := make([]float64, len(theta))
			e.eval(g, theta)
			margin := 2 * 0x1p-53 * e.maxNorm * e.maxNorm * floats.Norm(theta, 2)
			most = math.Max(most, distance(bigGradient(p, theta, nil), g, nil)/margin)
		}
		t.Logf("forms %s: %.3g of the part of margins", name, most)
		if most < 0.5 || most > 1.5 {
			t.Errorf("forms %s: the error is %v of the part that they have in the bound", name, most)
		}
	}
	t.Logf("%.3g of the part of margins", worst)
	if worst < 0.5 || worst > 1.5 {
		t.Errorf("the error is %v of the part that margins have in the bound", worst)
	}
}

// The bound in double-double is what docs/theory/solvers.md adds up, in three problems in which one part is nearly all
// of it: margins of a θ that is long and all but orthogonal to the records, the same that a loss takes for float64, and
// sums of slopes where θ is next to 0. No gradient errs by as much, so that a bound of a tenth of it would be no less
// true of any that can be computed.
func TestBoundBeyondFloat64IsTheStatedOne(t *testing.T) {
	const n, d, u2 = 300, 7, 0x1p-106
	rng := rand.New(rand.NewPCG(3, 1))
	x, y, theta := matrix.NewDense(n, d, nil), make([]float64, n), make([]float64, d)
	for i := range x.Data {
		x.Data[i] = rng.NormFloat64()
	}
	for j := range theta {
		theta[j] = 1e9 * rng.NormFloat64()
	}
	for i := range n {
		y[i] = rng.NormFloat64()
		r := x.Data[i*d : (i+1)*d]
		floats.AddScaled(r, -floats.Dot(r, theta)/floats.Dot(theta, theta), theta)
	}
	for name, of := range map[string][]float64{"margins": theta, "rounded": theta, "sums": make([]float64, d)} {
		l := loss.Loss(loss.Huber{Threshold: 1})
		if name == "rounded" {
			l = struct{ loss.Loss }{l} // of which no slope in double-double is known
		}
		e := newEvaluator(&Problem{Rows: x, Labels: y, Loss: l}, 1)
		e.eval(make([]float64, d), of)
		at, g := dd.NewVector(d), dd.NewVector(d)
		copy(at.Hi, of)
		bound := newPrecise(e).gradient(g, at)
		slopes, chunks := 0.0, float64(len(e.chunks))
		for i := range n {
			slopes += math.Min(1, math.Abs(floats.Dot(x.Data[i*d:(i+1)*d], of)-y[i]))
		}
		m, most := n/chunks+float64(e.block), matrix.MaxNorm(x)
		want := 1.1 * (d + 3) * (d + 3) * u2 * n * most * most * floats.Norm(of, 2)
		switch name {
		case "rounded":
			want = 0x1p-53 * n * most * most * floats.Norm(of, 2)
		case "sums":
			want = (1.1*m*(float64(e.period)+6) + 3 + 3.1*chunks + 12 + 0x1p-96/u2) * u2 * most * slopes
		}
		if r := bound / want; r < 1 || r > 1.05 {
			t.Errorf("%s: the bound is %.4g of the part that is nearly all of it, which is %.3g", name, r, want)
		}
	}
}

// The gradient in double-double is the same for any number of workers, dense, sparse with many columns, and for a loss
// that has no slope in double-double.
func TestPreciseDoesNotDependOnWorkers(t *testing.T) {
	several, _ := norms1(900, 7, 3, false)
	several = quadratic(several, 10)
	classes := softmaxProblem(1)
	for name, p := range map[string]*Problem{
		"several forms": several, "softmax": classes,
		"dense": simulated(5000, 7, 1, 1, 1), "sparse": sparseProblem(3000, 900, 6, 1),
		"half": func() *Problem { p := simulated(700, 5, 1, 1, 1); p.Loss = half{}; return p }(),
	} {
		d := size(p.forms())
		var first dd.Vector
		for _, workers := range []int{1, 2, 5} {
			e := newEvaluator(p, workers)
			x, g := dd.NewVector(d), dd.NewVector(d)
			for j := range x.Hi {
				x.Set(j, dd.From(math.Sin(float64(j))).Div(dd.From(3)))
			}
			plain := make([]float64, d)
			_, bound := e.eval(plain, x.Hi)
			fine := newPrecise(e).gradient(g, x)
			if off := floats.Distance(plain, g.Hi, 2); !(off <= bound+fine) || !(fine < bound) {
				t.Errorf("%s: %.3g from the gradient in float64, bounds %.3g and %.3g", name, off, bound, fine)
			}
			if first.Hi == nil {
				first = g
			} else if !slices.Equal(first.Hi, g.Hi) || !slices.Equal(first.Lo, g.Lo) {
				t.Errorf("%s: %d workers compute another gradient", name, workers)
			}
		}
	}
}

// What float64 cannot certify is certified, to what 300 bits confirm: the point is as near to the minimiser as the
// certificate says, by the norm of the true gradient.
func TestCertifiedBeyondFloat64(t *testing.T) {
	testscale.InTurn(t)
	for name, c := range map[string]struct {
		p   *Problem
		tau float64
	}{
		"tight":        {simulated(400, 6, 1, 1, 3), 2e-14},
		"large noise":  {simulated(100, 6, 1, 1, 5e7), 1e-6},
		"little ridge": {separable(200, 5, 1, 1e-6), 1e-13},
		"sparse":       {sparseProblem(300, 40, 5, 0.5), 2e-14},
		"softmax":      {softmaxProblem(2), 2e-14},
	} {
		s, err := Minimize(c.p, &Settings{Tolerance: c.tau})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		d := c.p.Size()
		plain := newEvaluator(c.p, 1)
		if _, rounding := plain.eval(make([]float64, d), s.Theta); rounding < c.tau {
			t.Errorf("%s: float64 could have certified it: %.3g of %.3g", name, rounding, c.tau)
		}
		// ‖∇J(θ)‖ ≤ the certified one + M‖θ′‖, and at least λ times the distance.
		got := bigNorm(bigGradient(c.p, s.Theta, nil))
		half := 0x1p-53 * floats.Norm(s.Theta, 2)
		r := newSearch(c.p, Settings{})
		r.e.maxNorm = matrix.MaxNorm(c.p.Rows)
		if got > s.Certificate.Bound()+r.e.smoothness()*half {
			t.Errorf("%s: ‖∇J‖ = %.3g, certified %.3g", name, got, s.Certificate.Bound())
		}
		t.Logf("%s: ‖∇J(θ)‖ = %.3g, certified %.3g of %.3g, %d passes", name, got, s.Certificate.Bound(), c.tau,
			s.Passes)
	}
}

// Persist reaches the tolerance where the search is given no pass to speak of.
func TestPersist(t *testing.T) {
	p := simulated(300, 4, 1, 1, 2)
	for _, start := range []float64{0, 1e3, -1e8} {
		s, err := Minimize(p, &Settings{Start: []float64{start, -start, start, 1}, MaxPasses: 1, Persist: true,
			Tolerance: 1e-9})
		if err != nil || s.Certificate.Bound() > 1e-9 {
			t.Errorf("from %g: %v", start, err)
			continue
		}
		t.Logf("from %g: %d passes", start, s.Passes)
	}
	if _, err := Minimize(p, &Settings{MaxPasses: 1, Tolerance: 1e-9}); err == nil {
		t.Error("one pass is said to be enough")
	}
}

func ExampleSettings_persist() {
	p := simulated(300, 4, 1, 1, 2)
	s, err := Minimize(p, &Settings{Tolerance: 1e-14, Persist: true})
	fmt.Println(err, s.Certificate.Bound() <= 1e-14)
	// Output: <nil> true
}

func BenchmarkPrecise(b *testing.B) {
	p := simulated(32_561, 109, 1, 1.8, 3.7)
	e := newEvaluator(p, 0)
	x, g := dd.NewVector(109), dd.NewVector(109)
	e.eval(g.Hi, x.Hi)
	fine := newPrecise(e)
	b.Run("float64", func(b *testing.B) {
		for b.Loop() {
			e.eval(g.Hi, x.Hi)
		}
	})
	b.Run("double-double", func(b *testing.B) {
		for b.Loop() {
			fine.gradient(g, x)
		}
	})
	b.Run("fit", func(b *testing.B) {
		for b.Loop() {
			must.Get(Minimize(p, &Settings{Tolerance: 1e-6}))
		}
	})
}
