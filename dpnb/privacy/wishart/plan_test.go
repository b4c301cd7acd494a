package wishart

import (
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

func TestOptimise(t *testing.T) {
	testscale.Slow(t)
	r := Risk{Records: 10, Distance: 1, RegulariserSlope: 1}
	s := Setting{Wishart: Wishart{D: 12}, Smoothness: 1, Rank: 1}
	for name, c := range map[string]struct {
		change  func(*Setting)
		printed bool
	}{
		"printed, exact":   {func(*Setting) {}, true},
		"printed, inexact": {func(s *Setting) { s.Accuracy, s.AnchorError = 1e-3, 1e-3 }, true},
		"spectral":         {func(s *Setting) { s.Accuracy, s.AnchorError = 1e-3, 1e-3 }, false},
		"directional":      {func(s *Setting) { s.Structure = LinearModel; s.Accuracy = 1e-3 }, false},
		"least squares":    {func(s *Setting) { s.Structure = LeastSquares }, false},
	} {
		set := s
		c.change(&set)
		solve := Optimise
		if c.printed {
			solve = optimisePrinted
		}
		p, err := solve(set, 0.5, 0.01, r)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if err := p.Split.Within(0.5, 0.01); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if !c.printed {
			if err := p.Event().Validate(); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		// A start elsewhere, at the m found and next to it, finds nothing much better.
		for _, m := range []int{p.Setting.M, p.Setting.M + 2, max(13, p.Setting.M-2)} {
			fixed := set
			fixed.M = m
			q, err := solve(fixed, 0.5, 0.01, r)
			if err != nil || q.Risk < 0.99*p.Risk {
				t.Errorf("%s: risk %.4g at m = %d, found %.4g at m = %d (%v)", name, q.Risk, m, p.Risk, p.Setting.M,
					err)
			}
		}
		// Even shares are worse.
		even := Split{Epsilon1: 0.25, Epsilon2: 0.25, Delta1: 0.0025, Delta2: 0.0025, Delta3: 0.0025, Delta4: 0.0025}
		if set = p.Setting; !set.exact() && !c.printed {
			if n, err := set.Noise(even); err == nil && set.ExcessRisk(n, r) < p.Risk {
				t.Errorf("%s: even shares are better: %.4g < %.4g", name, set.ExcessRisk(n, r), p.Risk)
			}
		}
	}
	if _, err := Optimise(s, 0, 0.01, r); err == nil {
		t.Error("ε = 0")
	}
	if _, err := Optimise(s, 1, 0.01, Risk{Records: 1}); err == nil {
		t.Error("no distance")
	}
}

// Every part of a bound on the risk counts as its formula has it: ndLσ̃²/2 + G√d·σ̃ + τ beside (μσ²/2)(a + η)², or
// μσ²(a² + η²) as it is printed.
func TestPartsOfTheRisk(t *testing.T) {
	s := Setting{Wishart: Wishart{D: 4, M: 6}, Shift: 2, Smoothness: 3, Rank: 1, Accuracy: 0.5, AnchorError: 0.25}
	n := Noise{Sigma2: 0.5, SigmaOut: 0.1}
	r := Risk{Records: 10, Distance: 0.75, RegulariserSlope: 7}
	const output = 10*4*3*0.01/2 + 7*2*0.1 + 0.5
	if have, want := s.ExcessRisk(n, r), output+8*0.5/2.0; !(math.Abs(have-want) <= 1e-12) {
		t.Errorf("a risk of %v, want %v", have, want)
	}
	if have, want := s.PrintedExcessRisk(n, r), output+8*0.5*(0.5625+0.0625); !(math.Abs(have-want) <= 1e-12) {
		t.Errorf("a risk of %v as printed, want %v", have, want)
	}
}

// What the paper says of its Figure 1.
func TestFigure1(t *testing.T) {
	testscale.InTurn(t)
	f := must.Get(Figure1([]float64{0.5, 1}, []float64{1e-4, 1e-2}, false, AnyLoss))
	at := func(i, j int) FigurePoint { return f[2*i+j] }
	for i := range 2 {
		for j := range 2 {
			p := at(i, j)
			if !(p.Inexact.Risk > p.Exact.Risk && p.Exact.Risk > 0 && !math.IsInf(p.Inexact.Risk, 1)) {
				t.Errorf("ε = %g, δ = %g: exact %.4g, inexact %.4g", p.Epsilon, p.Delta, p.Exact.Risk, p.Inexact.Risk)
			}
			if i > 0 && !(p.Exact.Risk < at(0, j).Exact.Risk) || j > 0 && !(p.Exact.Risk < at(i, 0).Exact.Risk) {
				t.Errorf("the bound does not fall with ε and δ: %.4g", p.Exact.Risk)
			}
		}
	}
}

// A plan is one that can be run, by every accounting.
func TestPlanIsValid(t *testing.T) {
	for _, a := range []Accounting{Theorem31, Spectral, Directional, Exact} {
		for _, accuracy := range []float64{0, 1e-6} {
			s := Setting{Wishart: Wishart{D: 3, M: 6}, Smoothness: 1, Rank: 1, Structure: LeastSquares, Accounting: a,
				Accuracy: accuracy}
			p, err := Optimise(s, 1, 1e-3, Risk{Records: 1, Distance: 1})
			if err != nil {
				t.Errorf("%v, τ = %g: %v", a, accuracy, err)
				continue
			}
			if err := p.Event().Validate(); err != nil {
				t.Errorf("%v, τ = %g: %v", a, accuracy, err)
			}
		}
	}
}

// A solver so exact that the best share of ε₂ is next to nothing.
func TestPlanAtTheEdge(t *testing.T) {
	s := Setting{Wishart: Wishart{D: 4}, Smoothness: 1, Rank: 1, Structure: LeastSquares, Accuracy: 1e-34,
		Adjacency: privacy.AddRemove}
	p := must.Get(Optimise(s, 1, 1e-3, Risk{Records: 50, Distance: 1, RegulariserSlope: 2}))
	if err := p.Event().Validate(); err != nil {
		t.Error(err)
	}
	if p.Risk > 10 {
		t.Errorf("risk %.4g", p.Risk)
	}
}

func TestEventRefusesInfiniteNoise(t *testing.T) {
	e := Event{Setting: Setting{Wishart: Wishart{3, 6}, Smoothness: 1, Rank: 1, Accuracy: 1e-6},
		Split: Split{Epsilon1: 1, Epsilon2: 1, Delta1: 1e-3, Delta2: 1e-3, Delta3: 1e-3}, Sigma2: math.Inf(1),
		SigmaOut: math.Inf(1)}
	if e.Validate() == nil {
		t.Error("infinite noise is not a mechanism that can be run")
	}
	e.Sigma2 = 1e9
	if e.Validate() == nil {
		t.Error("infinite output noise is not a mechanism that can be run")
	}
	e.SigmaOut = 1e9
	if err := e.Validate(); err != nil {
		t.Error(err)
	}
}
