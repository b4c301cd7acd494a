package privacy

import (
	"fmt"
	"math"
	"testing"

	. "github.com/dpnb/notebooks/dpnb/internal/testing/bigref"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
)

func TestGaussianProfileIsExact(t *testing.T) {
	r := newRNG(3)
	b := bracket{t: t, allowed: 4e-13, scale: 400}
	for range trials(60) {
		mu := r.between(1e-40, 1e6)
		z := r.pick(r.between(1e-9, 1), r.between(1, 30), r.between(1, 1e5))
		eps := mu * z
		if r.IntN(3) == 0 {
			eps = r.between(1e-300, 1e3)
		}
		if r.IntN(3) == 0 {
			eps = -eps
		}
		if x := math.Abs(eps)/mu + mu; x > 3e4 || math.Abs(eps) > 1e8 {
			continue // the reference would need more digits
		}
		low, up := profileAt(GaussianProfile(mu, AddRemove), Remove, eps)
		b.check(low, up, Log(GaussianDelta(New(eps), New(mu))), fmt.Sprintf("μ = %g, ε = %g", mu, eps))
	}
	b.done()
}

// Where δ or μ is beyond what can be written down the bounds are still on their sides: by scaling, δ(ε; μ) = μ·f(ε/μ)
// for μ → 0.
func TestGaussianProfileAtTheEndsOfTheRange(t *testing.T) {
	for _, mu := range []float64{5e-324, 1e-310, 1e-300, 1e-200} {
		for _, z := range []float64{0, 0.5, 3, 20} {
			if mu*z/z != mu {
				continue
			}
			low, up := profileAt(GaussianProfile(mu, AddRemove), Remove, mu*z)
			// f(z) by the reference at μ = 1e-25, whose terms of second order are below that.
			scaled := GaussianDelta(Product(New(1e-25), New(z)), New(1e-25))
			exact := Sum(Log(Quo(scaled, New(1e-25))), Log(New(mu)))
			if !(low <= Float(exact)+1e-12 && up >= Float(exact)-1e-20) || up-low > 3e-12 {
				t.Errorf("μ = %g, ε = %gμ: [%v, %v], want %v", mu, z, low, up, Float(exact))
			}
		}
	}
	for _, c := range []struct{ mu, eps float64 }{{1, 1e154}, {1, 1.7e154}, {1, 1e160}, {1e-300, 1e9}, {1e-12, 1e140},
		{1e-100, 1e50}} {
		low, up := profileAt(GaussianProfile(c.mu, AddRemove), Remove, c.eps)
		x := Sub(Quo(New(c.eps), New(c.mu)), New(c.mu/2))
		most := Product(New(-0.5), x, x, Sum(Int(1), New(1e-12))) // ln δ is between this and −x²/2 here
		if !(Above(up, most)) || up > 0 || math.IsInf(up, -1) || low > up {
			t.Errorf("μ = %g, ε = %g: [%v, %v], exact about %.6g", c.mu, c.eps, low, up, most)
		}
	}
}

func TestLaplaceProfileIsExact(t *testing.T) {
	r := newRNG(4)
	b := bracket{t: t, allowed: 1e-14, scale: 10}
	half := New(0.5)
	for range trials(400) {
		l := Laplace{Scale: r.between(1e-150, 1e150), Sensitivity: 0}
		l.Sensitivity = l.Scale * r.between(1e-150, 1e3)
		mu := Quo(New(l.Sensitivity), New(l.Scale))
		x := Float(mu) * r.pick(r.between(1e-9, 0.9), r.between(1.1, 100))
		if r.IntN(2) == 0 {
			x = -x
		}
		p := must.Get(l.Profile(AddRemove))
		low, up := profileAt(p, Add, x)
		var exact F
		switch eps := New(x); {
		case eps.Cmp(mu) >= 0:
			if !math.IsInf(up, -1) {
				t.Errorf("%v at %g: ln δ ≤ %v", l, x, up)
			}
			continue
		case eps.Cmp(Neg(mu)) <= 0:
			exact = Neg(Expm1(eps))
		default:
			exact = Neg(Expm1(Product(half, Sub(eps, mu))))
		}
		b.check(low, up, Log(exact), fmt.Sprintf("%v at %g", l, x))
	}
	b.done()
	// Where δ(ε) is next to the smallest float64 it is (μ − ε)/2.
	for _, c := range [][2]float64{{1e-292, 0}, {1e-300, 4e-301}, {3e-291, -2.9e-291}} {
		low, up := profileAt(must.Get(Laplace{Scale: 1, Sensitivity: c[0]}.Profile(AddRemove)), Add, c[1])
		b.check(low, up, Log(Product(half, Sub(New(c[0]), New(c[1])))), fmt.Sprintf("μ = %g at %g", c[0], c[1]))
	}
	b.done()
	// μ below the smallest float64 is not zero.
	p := must.Get(Laplace{Scale: 1e300, Sensitivity: 1e-300}.Profile(AddRemove))
	if up := p.LogDeltaUpper(Remove, 0); math.IsInf(up, -1) {
		t.Error("δ(0) of a tiny sensitivity is said to be zero")
	}
}

func TestLaplaceRDPIsExact(t *testing.T) {
	r := newRNG(5)
	worst := 0.0
	for range trials(300) {
		mu, alpha := r.between(1e-100, 1e3), 1+r.between(1e-9, 1e9)
		if alpha*mu > 1e8 {
			continue
		}
		c := must.Get(Laplace{Scale: 1, Sensitivity: mu}.RDP(AddRemove))
		m, a := New(mu), New(alpha)
		less := Sub(a, Int(1))
		// [α(e^{(α−1)μ} − 1) + (α−1)(e^{−αμ} − 1)]/(2α−1); the second order is what remains.
		sum := Sum(Product(a, Expm1(Product(less, m))), Product(less, Expm1(Neg(Product(a, m)))))
		exact := Quo(Log1p(Quo(sum, Sum(a, less))), less)
		got := c.Epsilon(alpha)
		if Float(Sub(New(got), exact)) < -1e-60*got {
			t.Errorf("μ = %g, α = %g: %.17g below %.20g", mu, alpha, got, exact)
		}
		if x := Float(exact); mu > 1e-60 {
			worst = math.Max(worst, got/x-1)
		}
	}
	t.Logf("largest relative excess %.2g", worst)
	if worst > 2e-14 {
		t.Errorf("relative excess %.2g", worst)
	}
}

// halfNormalDelta is E(1 − e^{ε−W})₊ of W = K + a²/2 + a|N|.
func halfNormalDelta(k, a, eps F) F {
	tt := Sub(eps, k)
	if tt.Cmp(Product(New(0.5), a, a)) >= 0 {
		return Product(Int(2), GaussianDelta(tt, a))
	}
	return Sub(Int(1), Product(Int(2), Exp(tt), Survival(a)))
}

func TestHalfNormalProfileIsExact(t *testing.T) {
	r := newRNG(6)
	b, large := bracket{t: t, allowed: 1e-12, scale: 300}, bracket{t: t, allowed: 4e-9, scale: 300}
	for range trials(120) {
		w := HalfNormal{K: r.pick(0, r.between(1e-12, 10)), A: r.between(1e-30, 1e3)}
		eps := w.K + 0.5*w.A*w.A + w.A*r.pick(r.between(1e-6, 100), 0)
		switch r.IntN(4) {
		case 0:
			eps = w.K * r.Float64()
		case 1:
			eps = -r.between(1e-20, 30)
		case 2:
			eps = w.K + 0.5*w.A*w.A*r.Float64()
		}
		exact := halfNormalDelta(New(w.K), New(w.A), New(eps))
		if tt := eps - w.K; tt < 1e-20 && tt > -1e-20 && w.A > 1e-20 || exact.Sign() <= 0 {
			continue
		}
		p := must.Get(w.Profile(AddRemove))
		low, up := profileAt(p, Add, eps)
		to := &b
		if math.Abs(eps) > 50 {
			to = &large // ε − K errs by the last place of ε
		}
		to.check(low, up, Log(exact), fmt.Sprintf("%+v, ε = %g", w, eps))
	}
	b.done()
	large.done()
}

// Of a slope about 30 and above, just left of a²/2, where 1 − δ is not yet nothing.
func TestHalfNormalProfileOfLargeSlopesIsExact(t *testing.T) {
	b := bracket{t: t, allowed: 1e-11, scale: 300}
	for _, a := range []float64{29.5, 30.5, 45, 200, 1e3} {
		p := must.Get(HalfNormal{A: a}.Profile(AddRemove))
		for _, left := range []float64{0.01, 0.5, 3} {
			eps := 0.5*a*a - left
			low, up := profileAt(p, Add, eps)
			exact := Log(halfNormalDelta(New(0), New(a), New(eps)))
			b.check(low, up, exact, fmt.Sprintf("a = %g, ε = a²/2 − %g", a, left))
		}
	}
	b.done()
}
