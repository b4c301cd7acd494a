package objective

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// In one dimension the release is θ with h(θ) = −b, h = J′(·; Z) increasing, so P(θ ≤ t) = Φ(h(t)/σ) exactly, with h +
// γ for the dataset that has the record. Summing (p − e^ε q)₊ over cells of θ gives a lower bound on the exact
// hockey-stick divergence of real neighbours, which tends to it.

// world is an increasing h on a grid of θ, that rises by at least λ per unit.
type world struct {
	theta, h, gamma []float64
}

// exact returns the cell sums for both directions.
func (w *world) exact(eps, sigma float64) (remove, add float64) {
	e := math.Exp(eps)
	for i := 0; i <= len(w.h); i++ {
		h0, h1 := math.Inf(-1), math.Inf(1)
		g0, g1 := 0.0, 0.0
		if i > 0 {
			h0, g0 = w.h[i-1]/sigma, w.gamma[i-1]/sigma
		}
		if i < len(w.h) {
			h1, g1 = w.h[i]/sigma, w.gamma[i]/sigma
		}
		without, _ := normalMass(h0, h1, 0)
		with, _ := normalMass(h0+g0, h1+g1, 0)
		remove += max(0, with-e*without)
		add += max(0, without-e*with)
	}
	return remove, add
}

// adversary describes Z, r and the record in few numbers.
type adversary struct {
	scale    float64    // of the record: x = scale·R
	copies   []float64  // how many records of each kind
	at       []float64  // their x (relative) with label in the sign
	shift    float64    // for the regression loss: the record's y
	tilt     float64    // r(θ) = tilt·θ + …
	kinkAt   [3]float64 // + kink·(θ − at)₊, smoothed
	kink     [3]float64
	withKink bool
}

// build lays out h on n points. slope(t, y) is f′.
func (a *adversary) build(n int, lambda, radius float64, slope func(t, y float64) float64) *world {
	w := &world{}
	const reach = 1.0
	// Where h runs over ±9σ is found by marching out from 0.
	h := func(theta float64) float64 {
		v := lambda*theta + a.tilt
		for i, c := range a.copies {
			x := a.at[i] * radius
			v += c * x * slope(x*theta, math.Copysign(1, a.at[i])*a.shift)
		}
		if a.withKink {
			for i, k := range a.kink {
				v += k * 0.5 * (1 + math.Tanh((theta-a.kinkAt[i])*200))
			}
		}
		return v
	}
	x := a.scale * radius
	_ = reach
	lo, hi := -60.0/lambda-60, 60.0/lambda+60
	find := func(target float64) float64 {
		l, r := lo, hi
		for i := 0; i < 60; i++ {
			if m := 0.5 * (l + r); h(m) < target {
				l = m
			} else {
				r = m
			}
		}
		return r
	}
	// Points even in θ where γ changes and even in h elsewhere.
	prev := math.Inf(-1)
	add := func(theta float64) {
		if v := h(theta); v > prev {
			prev = v
			w.theta, w.h, w.gamma = append(w.theta, theta), append(w.h, v), append(w.gamma, x*slope(x*theta, a.shift))
		}
	}
	_ = find
	t0, t1 := find(-9*a.sigmaOf()), find(9*a.sigmaOf())
	for i := 0; i <= n; i++ {
		add(t0 + (t1-t0)*float64(i)/float64(n))
	}
	return w
}

var adversarySigma float64

func (a *adversary) sigmaOf() float64 { return adversarySigma }

func randomAdversary(rng *rand.Rand, kinks bool) adversary {
	a := adversary{scale: 1, withKink: kinks}
	if rng.IntN(4) == 0 {
		a.scale = 0.3 + 0.7*rng.Float64()
	}
	for range rng.IntN(3) {
		a.copies = append(a.copies, math.Floor(math.Exp(rng.Float64()*5)))
		a.at = append(a.at, rng.Float64()*2-1)
	}
	a.shift = rng.NormFloat64() * 2
	if kinks {
		a.tilt = rng.NormFloat64() * 3
		for i := range a.kink {
			a.kink[i] = math.Exp(rng.NormFloat64() * 1.5)
			a.kinkAt[i] = rng.NormFloat64() * 3
		}
	}
	return a
}

func (a adversary) mutate(rng *rand.Rand) adversary {
	b := a
	b.copies, b.at = append([]float64(nil), a.copies...), append([]float64(nil), a.at...)
	s := math.Exp(-4 * rng.Float64())
	switch rng.IntN(4) {
	case 0:
		b.shift += s * rng.NormFloat64()
	case 1:
		if b.withKink {
			b.tilt += s * 3 * rng.NormFloat64()
		}
		for i := range b.at {
			b.at[i] = max(-1, min(1, b.at[i]+s*rng.NormFloat64()))
		}
	case 2:
		for i := range b.copies {
			b.copies[i] = max(0, math.Round(b.copies[i]*math.Exp(s*rng.NormFloat64())))
		}
		if b.withKink {
			b.kink[rng.IntN(3)] *= math.Exp(s * rng.NormFloat64())
		}
	default:
		if b.withKink {
			b.kinkAt[rng.IntN(3)] += s * 2 * rng.NormFloat64()
		}
		b.shift += s * rng.NormFloat64()
	}
	return b
}

func logisticSlope(t, _ float64) float64 { return 1 / (1 + math.Exp(-t)) }

func huberSlope(t, y float64) float64 { return max(-1, min(1, t-y)) }

// poissonSlope is that of counts up to 3 clipped at 1.5.
func poissonSlope(t, y float64) float64 {
	return max(-1.5, min(1.5, math.Exp(t)-math.Round(min(3, math.Abs(y)))))
}

// The exact divergence of neighbours found by adversarial search is never above the certified upper value, and comes
// close to it.
func TestAdversary(t *testing.T) {
	type setting struct {
		name               string
		lambda, sigma, eps float64
	}
	settings := []setting{
		{"logistic", 0.25, 2, 1}, {"logistic", 0.05, 5, 1}, {"logistic", 1, 10, 0.1}, {"logistic", 1, 2, 0.25},
		{"logistic", 0.1, 4, 0.25}, {"logistic", 0.3, 1, 1}, {"logistic", 2, 10, 0.25},
		{"huber", 5, 5, 1}, {"huber", 0.1, 2, 2}, {"huber", 1, 2, 0.5}, {"huber", 0.1, 2, 0.25}, {"huber", 1, 1, 0.5},
		{"poisson", 5, 5, 1}, {"poisson", 0.5, 2, 2}, {"poisson", 1, 3, 0.5}, {"poisson", 1, 3, 0.1},
	}
	rounds, points := 250, 1500
	if !testscale.Full() {
		rounds, points = 60, 800
	}
	logistic, _ := Logistic(1)
	huber, _ := Huber(1, 1)
	poisson, _ := ClippedPoisson(3, 1.5, 1)
	checked, worst := 0, 0.0
	for _, s := range settings {
		curve, slope := logistic, logisticSlope
		switch s.name {
		case "huber":
			curve, slope = huber, huberSlope
		case "poisson":
			curve, slope = poisson, poissonSlope
		}
		p := profileOf(t, curve, s.lambda, s.sigma, Tight)
		adversarySigma = s.sigma
		upRem := math.Exp(p.LogDeltaUpper(privacy.Remove, s.eps))
		upAdd := math.Exp(p.LogDeltaUpper(privacy.Add, s.eps))
		gauss := math.Exp(p.gaussianLower(privacy.Remove, s.eps))
		rng := rand.New(rand.NewPCG(7, uint64(len(s.name))+uint64(1000*s.lambda)))
		for _, kinks := range []bool{false, true} {
			bestRem, bestAdd := 0.0, 0.0
			var top adversary
			for i := range rounds {
				a := randomAdversary(rng, kinks)
				if i >= rounds/3 {
					a = top.mutate(rng)
				}
				rem, add := a.build(points, s.lambda, 1, slope).exact(s.eps, s.sigma)
				checked += 2
				if rem > upRem*(1+1e-9) || add > upAdd*(1+1e-9) {
					t.Fatalf("%+v %+v: exact %g, %g above the bounds %g, %g", s, a, rem, add, upRem, upAdd)
				}
				if rem > bestRem {
					bestRem, top = rem, a
				}
				bestAdd = max(bestAdd, add)
			}
			worst = max(worst, bestRem/upRem)
			t.Logf("%-8s λ=%-5g σ=%-3g ε=%-5g r=%-5v exact/tight: remove %.4f add %.4f; remove exact/Gaussian %.3g",
				s.name, s.lambda, s.sigma, s.eps, kinks, bestRem/upRem, bestAdd/upAdd, bestRem/gauss)
		}
	}
	t.Logf("%d exact evaluations, largest exact/tight %.4f", checked, worst)
	if worst < 0.9 {
		t.Errorf("the search is too weak to test anything: largest exact/tight %.3f", worst)
	}
}
