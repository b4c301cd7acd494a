package sgd

import (
	"errors"
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/privacy"
	"github.com/dpnb/notebooks/dpnb/privacy/account"
)

func adultCost() Cost { return Cost{Rate: 256.0 / 32_561, NoiseMultiplier: 3, Steps: 7680} }

// TestCostAgreesWithTheAccountants, to which the steps are given one by one.
func TestCostAgreesWithTheAccountants(t *testing.T) {
	for _, score := range []float64{0, 50} {
		c := adultCost()
		c.ScoreMultiplier = score
		step := privacy.SubsampledGaussian{Sigma: 6, Sensitivity: 2, Rate: c.Rate}
		runs, events := []int{c.Steps}, []privacy.RDPEvent{step}
		if score > 0 {
			runs, events = append(runs, 1), append(events, privacy.Gaussian{Sigma: score, Sensitivity: 1})
		}
		books := must.Get(account.NewPLD(privacy.AddRemove, nil))
		var curves []privacy.RDPCurve
		for i, e := range events {
			must.Do(books.Compose(e, runs[i]))
			curves = append(curves, must.Get(e.RDP(privacy.AddRemove)))
		}
		for accounting, want := range map[Accounting]float64{
			Sharpest: must.Get(books.EpsilonBounds(1e-5)).Upper,
			Renyi:    must.Get(must.Get(privacy.ComposeRDP(runs, curves...)).EpsilonUpper(1e-5)),
		} {
			c.Accounting = accounting
			if got, err := c.Epsilon(1e-5); err != nil || !(math.Abs(got-want) <= 1e-6*want) {
				t.Errorf("%v, accounting %d: ε = %v, the accountant says %v (%v)", c, accounting, got, want, err)
			}
		}
	}
}

// TestTunedCost: more than one run, less than the runs composed; and the Rényi curve with a δ̂ of its own, as rkw23 has
// it, is the looser one.
func TestTunedCost(t *testing.T) {
	c := adultCost()
	one := must.Get(c.Epsilon(1e-5))
	c.MeanRuns = 15.4
	sharp := must.Get(c.Epsilon(1e-5))
	c.Accounting = Renyi
	renyi := must.Get(c.Epsilon(1e-5))
	c.MeanRuns, c.Accounting, c.Steps = 0, Sharpest, 40*c.Steps
	composed := must.Get(c.Epsilon(1e-5))
	t.Logf("one run %.4f, tuned %.4f, by Rényi alone %.4f, 40 runs composed %.4f", one, sharp, renyi, composed)
	if !(one < sharp && sharp < 0.85*renyi && sharp < composed) {
		t.Errorf("one run %v, tuned %v, by Rényi alone %v, 40 runs composed %v", one, sharp, renyi, composed)
	}
}

// TestSelectionByHand evaluates the formula of the tuned curve at some orders.
func TestSelectionByHand(t *testing.T) {
	c := adultCost()
	base := must.Get(c.RDP(privacy.AddRemove))
	profile := must.Get(c.Profile(privacy.AddRemove))
	c.MeanRuns = 15.4
	tuned := must.Get(c.RDP(privacy.AddRemove))
	for _, alpha := range []float64{4, 12, 40} {
		shift := (alpha - 1) * 15.4 * privacy.DeltaUpper(profile, math.Log(alpha/(alpha-1)))
		want := math.Log1p(15.4*math.Exp(shift)*math.Expm1((alpha-1)*base.Epsilon(alpha))) / (alpha - 1)
		if got := tuned.Epsilon(alpha); got < want*(1-1e-3) || got > want*1.02 {
			t.Errorf("α = %v: ε(α) = %v, by hand %v", alpha, got, want)
		}
	}
}

func TestCalibrateNoise(t *testing.T) {
	const delta = 1e-5
	for _, c := range []Cost{
		{Rate: 0.01, Steps: 1000}, {Rate: 0.01, Steps: 1000, Accounting: Renyi}, {Rate: 1, Steps: 1},
		{Rate: 0.01, Steps: 1000, MeanRuns: 15.4, Accounting: Renyi}, {Rate: 0.01, Steps: 1000, MeanRuns: 15.4,
			ScoreMultiplier: 100},
	} {
		for _, eps := range testscale.Some(2, 0.3) {
			if c.ScoreMultiplier > 0 && !testscale.Full() {
				continue // takes seconds
			}
			got, err := c.CalibrateNoise(eps, delta)
			if err != nil {
				t.Fatalf("%v: %v", c, err)
			}
			spent, err := got.Epsilon(delta)
			if err != nil || spent > eps {
				t.Errorf("%v spends ε = %v, asked for %v (%v)", got, spent, eps, err)
			}
			less := got
			less.NoiseMultiplier *= 0.997
			if spent, err := less.Epsilon(delta); err != nil || spent <= eps {
				t.Errorf("%v: less noise would do, ε = %v for %v (%v)", got, spent, eps, err)
			}
		}
	}
}

func TestMeanRunsFor(t *testing.T) {
	mu, err := MeanRunsFor(10, 0.9)
	if err != nil || !(math.Abs(mu-15.4066) <= 1e-3) {
		t.Errorf("μ = %v, want 15.4066 (%v)", mu, err)
	}
	for _, c := range []struct {
		s int
		p float64
	}{{0, 0.5}, {10, 0.9}, {100, 0.99}} {
		mu := must.Get(MeanRunsFor(c.s, c.p))
		term := math.Exp(-mu)
		sum := term
		for k := 1; k <= c.s; k++ {
			term *= mu / float64(k)
			sum += term
		}
		if !(math.Abs(1-sum-c.p) <= 1e-9) {
			t.Errorf("P(K > %d) = %v, want %v", c.s, 1-sum, c.p)
		}
	}
	var param *privacy.ParamError
	for _, p := range []float64{0, 1, math.NaN()} {
		if _, err := MeanRunsFor(10, p); !errors.As(err, &param) {
			t.Errorf("p = %v: %v", p, err)
		}
	}
	if _, err := MeanRunsFor(-1, 0.5); !errors.As(err, &param) {
		t.Errorf("s = −1: %v", err)
	}
}

func TestCostRefuses(t *testing.T) {
	var param *privacy.ParamError
	if _, err := (Cost{Rate: 2, NoiseMultiplier: 1, Steps: 1}).Epsilon(1e-5); !errors.As(err, &param) {
		t.Errorf("what TestLimits refuses: %v", err)
	}
	if _, err := adultCost().CalibrateNoise(0, 1e-5); !errors.As(err, &param) {
		t.Errorf("ε = 0: %v", err)
	}
	c := adultCost()
	c.ScoreMultiplier = 0.1 // spends more than is asked for
	if _, err := c.CalibrateNoise(0.1, 1e-5); !errors.As(err, &param) {
		t.Errorf("a score that spends all: %v", err)
	}
	c = adultCost()
	c.Accounting = Renyi
	if _, err := c.Profile(privacy.ReplaceOne); !errors.Is(err, privacy.ErrUnsupported) {
		t.Errorf("Rényi curve under replace-one: %v", err)
	}
	c.Accounting = Sharpest
	p := must.Get(c.Profile(privacy.ReplaceOne))
	single := must.Get(c.Epsilon(1e-5))
	if d := privacy.DeltaUpper(p, 1.5*single); d <= 1e-5 {
		t.Errorf("replace-one: δ = %v at 1.5 times the ε of add/remove-one", d)
	}
}

// TestCostAgainstExact: never below the exact ε, and within a thousandth of it.
// Values: mpmath 1.2.1, complex-contour inversion of the exact moment generating function with 40 digits, relative
// error 1e-22.
func TestCostAgainstExact(t *testing.T) {
	for _, g := range []struct {
		cost         Cost
		delta, exact float64
	}{
		{Cost{Rate: 0.01, NoiseMultiplier: 1, Steps: 1000}, 1e-6, 2.124515171120121282370159},
		{Cost{Rate: 0.001, NoiseMultiplier: 0.7, Steps: 10_000}, 1e-5, 1.244971160377279767505976},
		{Cost{Rate: 256.0 / 32_561, NoiseMultiplier: 1, Steps: 7620}, 1e-5, 4.027224742145850722300083},
		{Cost{Rate: 0.02, NoiseMultiplier: 2, Steps: 500}, 1e-5, 0.9209220208311837559827665},
		{Cost{Rate: 0.1, NoiseMultiplier: 4, Steps: 100}, 1e-5, 0.9828522579345957666622345},
	} {
		if got, err := g.cost.Epsilon(g.delta); err != nil || got < g.exact || got > g.exact*1.001 {
			t.Errorf("%v: ε = %v, exact %v (%v)", g.cost, got, g.exact, err)
		}
		g.cost.Accounting = Renyi
		if got, err := g.cost.Epsilon(g.delta); err != nil || got < g.exact || got > g.exact*1.7 {
			t.Errorf("%v by its Rényi curve: ε = %v, exact %v (%v)", g.cost, got, g.exact, err)
		}
	}
}

// Below and above its limits a profile that is asked seldom is no lower than the one that is asked.
func TestClampedIsAnUpperBound(t *testing.T) {
	of := privacy.GaussianProfile(0.5, privacy.AddRemove)
	for _, eps := range []float64{-1, 0, 0x1p-12, 0x1.fp-11, 0x1p-10, 1, 2, 2.1, 9} {
		for _, d := range []privacy.Direction{privacy.Add, privacy.Remove} {
			if got, least := (clamped{of}).LogDeltaUpper(d, eps), of.LogDeltaUpper(d, eps); got < least {
				t.Errorf("ε = %g: ln δ = %v, and %v is needed", eps, got, least)
			}
		}
	}
}
