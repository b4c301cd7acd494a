package privacy

import (
	"fmt"
	"math"
	"testing"

	. "github.com/dpnb/notebooks/dpnb/internal/testing/bigref"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
)

// subsampledDelta is the profile of SubsampledGaussian from its formula.
func subsampledDelta(d Direction, q, mu, eps F) F {
	switch {
	case d == Remove:
		x := Quo(Expm1(eps), q)
		if x.Cmp(Int(-1)) <= 0 {
			return Neg(Expm1(eps))
		}
		return Product(q, GaussianDelta(Log1p(x), mu))
	case eps.Sign() < 0:
		return Sum(Neg(Expm1(eps)), Product(Exp(eps), subsampledDelta(Remove, q, mu, Neg(eps))))
	}
	x := Quo(Expm1(Neg(eps)), q)
	if x.Cmp(Int(-1)) <= 0 {
		return Int(0)
	}
	return Product(q, Exp(eps), Sum(Int(1), x), GaussianDelta(Neg(Log1p(x)), mu))
}

func TestSubsampledProfileIsExact(t *testing.T) {
	r := newRNG(7)
	b, steep := bracket{t: t, allowed: 4e-12, scale: 100}, bracket{t: t, allowed: 1e-8, scale: 100}
	for range trials(120) {
		s := SubsampledGaussian{Sigma: 1, Sensitivity: r.between(1e-12, 100), Rate: r.between(1e-12, 1)}
		if r.IntN(3) == 0 {
			s.Rate = 1 - r.between(1e-4, 0.5)
		}
		limit := -math.Log1p(-s.Rate)
		eps := s.Rate * r.pick(0, r.between(1e-6, 1), r.between(1, 30))
		eps *= r.pick(1, math.Min(1, s.Sensitivity))
		d := Directions[r.IntN(2)]
		if d == Add && eps > 0.99*limit {
			eps = limit * 0.9 * r.Float64()
		}
		if r.IntN(3) == 0 {
			eps = -eps
		}
		p := must.Get(s.Profile(AddRemove))
		exact := subsampledDelta(d, New(s.Rate), New(s.Sensitivity), New(eps))
		if exact.Sign() <= 0 || exact.MantExp(nil) < -1e6 {
			continue
		}
		low, up := profileAt(p, d, eps)
		to := &b
		if s.Rate > 0.9 {
			to = &steep // next to the largest loss the last place of e^{−ε} decides
		}
		to.check(low, up, Log(exact), fmt.Sprintf("%v %v at %g", s, d, eps))
	}
	b.done()
	steep.done()
}

// Beyond ε = 30, and of rates so small that e^ε − 1 over them is next to the largest float64.
func TestSubsampledProfileFarOutIsExact(t *testing.T) {
	b := bracket{t: t, allowed: 4e-12, scale: 100}
	for _, c := range []struct{ mu, rate, eps float64 }{{1, 0.01, 30.001}, {0.7, 0.5, 30.5}, {4, 0.9, 31},
		{9, 1e-6, 60}, {20, 1e-305, 1e-3}, {30, 1e-306, 2}, {30, 1e-306, 29.9}} {
		p := must.Get(SubsampledGaussian{Sigma: 1, Sensitivity: c.mu, Rate: c.rate}.Profile(AddRemove))
		low, up := profileAt(p, Remove, c.eps)
		exact := Log(subsampledDelta(Remove, New(c.rate), New(c.mu), New(c.eps)))
		b.check(low, up, exact, fmt.Sprintf("%+v", c))
	}
	b.done()
}

// binomialMoment is ln(1 + Σ C(n,k)(1−q)^{n−k} q^k (e^{k(k−1)μ²/2} − 1)).
func binomialMoment(n int64, q, mu F) F {
	odds := Quo(q, Sub(Int(1), q))
	term, sum := Exp(Product(Int(n), Log1p(Neg(q)))), Int(0) // C(n,k)(1−q)^{n−k} q^k
	for k := int64(0); k <= n; k++ {
		sum = Sum(sum, Product(term, Expm1(Product(Int(k*(k-1)/2), mu, mu))))
		term = Quo(Product(term, odds, Int(n-k)), Int(k+1))
	}
	return Log1p(sum)
}

func TestSubsampledRDPIsExact(t *testing.T) {
	r := newRNG(8)
	worst, at := 0.0, ""
	check := func(n int64, q, mu float64) {
		c := must.Get(SubsampledGaussian{Sigma: 1, Sensitivity: mu, Rate: q}.RDP(AddRemove))
		exact := Quo(binomialMoment(n, New(q), New(mu)), Int(n-1))
		got := c.Epsilon(float64(n))
		what := fmt.Sprintf("n = %d, q = %g, μ = %g", n, q, mu)
		if !Above(got, exact) {
			t.Errorf("%s: ε(n) = %.17g below %.20g", what, got, exact)
		}
		if e := got/Float(exact) - 1; e > worst {
			worst, at = e, what
		}
	}
	check(1000, 0.5, 1e-8)
	check(1023, 1e-12, 1e-12)
	for range trials(40) {
		n := int64(r.between(2, 1023))
		if r.IntN(3) > 0 {
			n = int64(r.between(2, 60))
		}
		q := r.between(1e-12, 1)
		if r.IntN(3) == 0 {
			q = 1 - r.between(1e-9, 0.5)
		}
		check(n, q, r.between(1e-12, math.Min(1e3, 1e4/float64(n))))
	}
	t.Logf("largest relative excess %.2g at %s", worst, at)
	if worst > 3e-12 {
		t.Errorf("relative excess %.2g at %s", worst, at)
	}
}

// onlyAt is a curve that is finite at one order.
func onlyAt(alpha, eps float64) RDPCurve {
	return RDPCurve{Adj: AddRemove, Epsilon: func(a float64) float64 {
		if a == alpha {
			return eps
		}
		return math.Inf(1)
	}}
}

// Both conversions, at one order each, so that the search hides nothing.
func TestRenyiConversionsAreExact(t *testing.T) {
	r := newRNG(9)
	worst := 0.0
	check := func(got float64, exact F, size float64, what string) {
		t.Helper()
		if !Above(got, exact) {
			t.Errorf("%s: %.17g below %.20g", what, got, exact)
		}
		worst = math.Max(worst, (got-Float(exact))/(1+size))
	}
	for i := range trials(500) {
		lo, hi, n := math.Log(1e-6), math.Log(1e15), 168
		k := r.IntN(n + 1)
		if i%4 == 0 {
			k = r.IntN(10)
		}
		alpha := 1 + math.Exp(lo+float64(k)*((hi-lo)/float64(n)))
		e, eps, delta := r.between(1e-12, 1e3), r.between(1e-12, 1e3), r.between(1e-300, 1)
		if r.IntN(4) == 0 {
			delta = 1 / alpha * (1 + 1e-6*r.Float64())
		}
		a := New(alpha)
		less := Sub(a, Int(1))
		what := fmt.Sprintf("α = %.17g, ε(α) = %g, ε = %g, δ = %g", alpha, e, eps, delta)
		c := onlyAt(alpha, e)

		// ln δ = (α−1)(ε(α)−ε) + α ln(1−1/α) − ln(α−1)
		exact := Sum(Product(less, Sub(New(e), New(eps))), Product(a, Log(Quo(less, a))), Neg(Log(less)))
		if x := Float(exact); x < 0 {
			check(c.LogDeltaUpper(eps), exact, alpha*(e+eps)+math.Abs(math.Log(alpha-1)), what)
		}
		// ε = ε(α) + ln(1−1/α) − ln(αδ)/(α−1)
		exact = Sum(New(e), Log(Quo(less, a)), Neg(Quo(Log(Product(a, New(delta))), less)))
		got := must.Get(c.EpsilonUpper(delta))
		if exact.Sign() > 0 {
			check(got, exact, e+20+(math.Log(alpha)-math.Log(delta))/(alpha-1), what)
		}
		// The profile's own orders.
		alpha = 1 + math.Exp(math.Log(1e-5)+(math.Log(1e7)-math.Log(1e-5))*float64(r.IntN(801))/800)
		a = New(alpha)
		less = Sub(a, Int(1))
		exact = Sum(Product(less, Sub(New(e), New(eps))), Product(a, Log(Quo(less, a))), Neg(Log(less)))
		if x := Float(exact); x < 0 {
			check(onlyAt(alpha, e).Profile().LogDeltaUpper(Remove, eps), exact, alpha*(e+eps)+20, "profile at "+what)
		}
	}
	t.Logf("largest excess %.2g of what is summed", worst)
	if worst > 1e-14 {
		t.Errorf("excess %.2g of what is summed", worst)
	}
}

// What is certified of a trade-off function, against that of the Gaussian: f(α) = Φ(Φ⁻¹(1 − α) − μ), by the threshold z
// of the test.
func TestGaussianTradeOffIsBelowTheExactOne(t *testing.T) {
	r := newRNG(11)
	for range trials(30) {
		mu, z := r.between(1e-6, 5), 6*r.Float64()-3
		alpha := Float(Survival(New(z)))
		got := must.Get(TradeOff(GaussianProfile(mu, AddRemove), Remove, alpha))
		// α is rounded; f has slope above −e^{μz + …}, so that a step of z covers it.
		exact := Float(Survival(Sub(New(mu), New(z))))
		slack := 3e-16 * alpha * math.Exp(mu*math.Abs(z))
		if got > exact+slack || got < exact-2e-4 {
			t.Errorf("μ = %g, α = %g: f ≥ %.17g, exact %.17g", mu, alpha, got, exact)
		}
	}
}

func TestZCDPIsExact(t *testing.T) {
	const most = min(1e15, math.MaxInt)
	r := newRNG(12)
	for range trials(300) {
		mu, alpha := r.between(1e-170, 1e6), 1+r.between(1e-9, 1e9)
		exact := Product(New(0.5), New(mu), New(mu))
		rho := RhoOfGaussian(mu, AddRemove)
		if !Above(rho.Value, exact) {
			t.Errorf("μ = %g: ρ = %g below", mu, rho.Value)
		}
		c := RDPCurve{Adj: AddRemove, Epsilon: func(alpha float64) float64 { return rho.Value * alpha }}
		sum := must.Get(ComposeRDP([]int{3, most}, c, GaussianRDP(mu, AddRemove)))
		got, exact := sum.Epsilon(alpha), Product(exact, New(alpha), Int(3+most))
		if !Above(got, exact) || mu > 1e-140 && got > Float(exact)*(1+1e-14) {
			t.Errorf("μ = %g, α = %g: %g, exact %g", mu, alpha, got, Float(exact))
		}
	}
}
