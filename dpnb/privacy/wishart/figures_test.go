package wishart

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/golden"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// truth is 1 or 0.
func truth(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

// What is computed of Wishart matrices, of the noise of quadratic perturbation and of plans is what it was.
func TestFiguresStay(t *testing.T) {
	testscale.Slow(t)
	golden.Figures(t, "testdata/figures.txt", 1e-9, func(say func(name string, values ...float64)) {
		sayGamma(say)
		sayLaws(say)
		sayNoise(say)
	})
	golden.Figures(t, "testdata/plans.txt", 1e-6, sayPlans)
}

func sayGamma(say func(name string, values ...float64)) {
	for _, p := range []float64{0.5, 1, 7.5, 600} {
		for _, x := range []float64{0, 1e-9, 0.3 * p, 1.5 * p, 2*p + 59, 2*p + 61, 9*p + 700} {
			l, s := logLowerGamma(x, p)
			between := logGammaBetween(x+1e-3, 1e-5, p)
			say(fmt.Sprintf("γ(%g, %g)", x, p), l, math.Log(s), between, logGammaBetween(x+0.1, 3, p))
		}
		for _, y := range []float64{-1e4, -30, -0.1, lgamma(p) - 1e-3, lgamma(p) + 1} {
			x := inverseLowerGamma(y, p)
			say(fmt.Sprintf("γ⁻¹(%g, %g)", y, p), x, math.Round(1e14*(1-inverseLowerGammaDown(y, p)/x)))
		}
		for _, l := range []float64{-1e3, -20, -1e-3} {
			say(fmt.Sprintf("χ² of %g at %g", 2*p, l), chiLowerQuantile(2*p, l), chiUpperQuantile(2*p, l),
				chiSlack(2*p, l), chiUpperQuantile(2*p, math.Inf(-1)), chiSlack(2*p, math.Inf(-1)))
		}
		for _, x := range []float64{-1, 1e-6, 2 * p, 8 * p, 2e4} {
			l, exact := logChiAbove(2*p, x)
			say(fmt.Sprintf("P(χ² of %g > %g)", 2*p, x), math.Exp(l), l, truth(exact), logChiBelow(2*p, x))
		}
	}
	for _, x := range []float64{-0.5, -0.1, -1e-9, 1e-3, 0.11, 4} {
		say(fmt.Sprint("rest ", x), logRest(x), logSlack(x, 3), finite(x), remainder(2, x), remainder(1e15, 1),
			differenceUp(x, x-1, 0.1),
			differenceUp(-3, x-9, 1e-3), differenceUp(-3, -2.9, 1e-3))
	}
	say("largest below", largestBelow(func(x float64) float64 { return x * x }, 0, 9, 2), finite(math.Inf(-1)))
}

func sayLaws(say func(name string, values ...float64)) {
	for _, w := range []Wishart{{1, 2}, {1, 9}, {2, 3}, {5, 10}, {12, 24}, {100, 130}} {
		of := func(what string) string { return fmt.Sprintf("W %d %d, %s", w.D, w.M, what) }
		say(of("law"), w.P(), w.freedom(), w.LogD(), w.dSlack(), w.LogSmallestBelow(0), w.LogSmallestBelow(1),
			w.LogSmallestBelow(50), w.LogLargestAbove(1), w.LogLargestAbove(900), w.largest(0.01, 0),
			w.largest(0.01, 0.2))
		for _, delta := range []float64{1e-12, 1e-3, 0.4} {
			c := must.Get(w.Constants(delta, delta/3, delta/7))
			say(of(fmt.Sprint("constants at ", delta)), c.Alpha, c.Alpha1, c.Beta, c.Mu, c.P, c.F(1), c.F(3),
				w.gap(c.Alpha, 1e-9*delta), w.gap(0.1*c.Alpha, 0.9))
		}
		var s Spectrum
		s.Draw(w, rand.New(rand.NewPCG(1, 2)))
		l := s.Smallest()
		say(of("spectrum"), l, s.Trace(), truth(s.AllAbove(l*(1-1e-6))), truth(s.AllAbove(l*(1+1e-6))),
			truth(s.AllBelow(s.Trace())), truth(s.AllBelow(s.Trace()/float64(w.D+1))))
		if w.D > 20 {
			continue
		}
		c, err := w.certify(0.2, 0.1, 200, rand.New(rand.NewPCG(3, 4)))
		say(of("drawn"), c.Alpha, c.Alpha1, c.Failure, float64(c.Draws), truth(err == nil))
	}
	for _, n := range []int{10, 500, 4000} {
		say(fmt.Sprint("order ", n), float64(orderStatistic(n, 0.5)), float64(orderStatistic(n, 0.05)),
			float64(orderStatistic(n, 0.003)))
	}
}

// settings are of every structure, accounting and adjacency, exact or not.
func settings() (all []Setting) {
	for i, a := range []Accounting{Theorem31, Spectral, Directional, Exact, Best} {
		for j, off := range [][2]float64{{0, 0}, {1e-3, 0}, {0, 1e-4}, {0.02, 1e-3}} {
			adj := []privacy.Adjacency{privacy.ReplaceOne, privacy.AddRemove}[(i+j)%2]
			s := Setting{Wishart: Wishart{4 - i/2, 9 + 3*j}, Smoothness: 1.5, Rank: 1, Structure: LeastSquares,
				Accounting: a, Shift: 0.3 * float64(j%2), AnchorError: off[0], Accuracy: off[1], Adjacency: adj}
			if a == Spectral {
				s.Rank, s.Structure = 2, AnyLoss
			}
			all = append(all, s)
		}
	}
	return all
}

func sayNoise(say func(name string, values ...float64)) {
	for i, s := range settings() {
		name := fmt.Sprintf("%d, %v", i, s.accounting())
		for _, split := range []Split{{0.9, 0.1, 0.01, 1e-3, 0.01, 1e-3}, {6, 3, 0.1, 0.05, 0.05, 0.2},
			{0.05, 0.2, 1e-8, 1e-8, 1e-8, 1e-8}} {
			n, err := s.Noise(split)
			say(fmt.Sprintf("%s, noise at %g", name, split.Epsilon1), n.Sigma2, n.SigmaOut, n.Alpha, n.Sensitivity,
				truth(err == nil))
			if i%4 == 3 && i < 10 || i == 0 {
				p := s.printed(split)
				say(fmt.Sprintf("%s, printed at %g", name, split.Epsilon1), p.Sigma2, p.SigmaOut, p.Alpha,
					p.Sensitivity)
			}
			if r := (Risk{50, 2, 0.7}); split.Epsilon1 > 1 {
				e, d := split.Total()
				say(name+", risk", s.ExcessRisk(n, r), s.PrintedExcessRisk(n, r), e, d)
			}
		}
		x := []float64{0.3, -0.5, 1.2, 0.1}[:s.shares()]
		p := s.split(x, 2, 0.1)
		say(name+", split", float64(s.shares()), p.Epsilon1, p.Epsilon2, p.Delta1, p.Delta2, p.Delta3, p.Delta4,
			truth(s.needsSpectrum()), truth(s.needsStretch()), truth(p.Within(2, 0.1) == nil),
			truth(p.Within(1.9, 1) == nil), truth(p.Within(2, 0.09) == nil))
		n := s.noise(p, 1e-9)
		hopeless := p
		hopeless.Delta2 = 0
		say(name+", without δ₂", s.noise(hopeless, 1e-9).SigmaOut)
		e := Event{Setting: s, Split: p, Sigma2: n.Sigma2 * 1.1, SigmaOut: n.SigmaOut * 1.1}
		profile := must.Get(e.Profile(privacy.ReplaceOne))
		say(name+", event", profile.LogDeltaUpper(privacy.Remove, 0.5), profile.LogDeltaUpper(privacy.Remove, 3))
	}
	drawn := settings()[3]
	drawn.Certified = &CertifiedConstants{Wishart: drawn.Wishart, Delta1: 0.01, Delta3: 0.01, Alpha: 2, Alpha1: 0.1}
	for _, d := range []float64{0.001, 0.01, 0.1} {
		n := must.Get(drawn.Noise(Split{0.9, 0.1, d, 1e-3, d, 1e-3}))
		say(fmt.Sprint("drawn, noise at ", d), n.Sigma2, n.SigmaOut, n.Alpha, n.Sensitivity)
	}
}

func sayPlans(say func(name string, values ...float64)) {
	for _, p := range []float64{1, 1.5, 30} {
		for _, s := range []float64{1e-3, 0.5, 8} {
			h := shift{2 * p, s}
			for _, eps := range []float64{-0.4, 0, 0.2 * s, 0.6 * s, 3} {
				say(fmt.Sprintf("shift %g of %g at %g", s, 2*p, eps), h.LogDeltaUpper(privacy.Remove, eps),
					h.LogDeltaUpper(privacy.Add, eps), h.replaced(math.Abs(eps), 16), h.replaced(math.Abs(eps), 2))
			}
			say(fmt.Sprintf("shift %g of %g at infinity", s, 2*p), h.LogDeltaUpper(privacy.Remove, math.Inf(1)),
				h.LogDeltaUpper(privacy.Add, math.Inf(1)), h.LogDeltaUpper(privacy.Add, math.Inf(-1)))
		}
	}
	for i, s := range settings() {
		if i%4 == 3 && i > 4 && i != 11 {
			continue // long searches
		}
		if s.exact() {
			s.M = 0
		}
		p := must.Get(Optimise(s, 1, 1e-3, Risk{20, 1, 1}))
		say(fmt.Sprintf("%d, %v", i, s.accounting()), p.Risk, float64(p.Setting.M))
	}
	for _, off := range []float64{0, 1e-3} {
		p := must.Get(Figure1At(1, 1e-3, off, false, AnyLoss))
		say(fmt.Sprint("printed ", off), p.Risk, float64(p.Setting.M), p.Noise.Sigma2)
	}
}
