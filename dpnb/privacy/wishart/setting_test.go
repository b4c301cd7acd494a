package wishart

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/univariate"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

func TestTheorem31Reference(t *testing.T) {
	for _, c := range wishartCases(t) {
		s := Setting{Wishart: Wishart{D: c.D, M: c.M}, Smoothness: 1, Rank: 1, Accounting: Theorem31}
		n := must.Get(s.Noise(Split{Epsilon1: 0.5, Delta1: c.Delta1, Delta3: c.Delta3}))
		near(t, "σ²", n.Sigma2, c.Sigma2, 1e-8)
	}
	// Appendix G.3: L = dξ² = 2,500, ε = 0.5, δ₁ = δ₃ = 0.005, m = 2d = 200.
	s := Setting{Wishart: Wishart{D: 100, M: 200}, Smoothness: 2500, Rank: 1, Accounting: Theorem31}
	n := must.Get(s.Noise(Split{Epsilon1: 0.5, Delta1: 0.005, Delta3: 0.005}))
	near(t, "σ² of G.3", n.Sigma2, 1.1747e5, 5e-5)
}

// Each accounting asks for less noise than the one before.
func TestAccountingsOrder(t *testing.T) {
	for _, w := range []Wishart{{2, 4}, {5, 10}, {12, 24}, {100, 200}, {100, 101}, {1, 2}, {30, 300}} {
		for _, target := range [][2]float64{{0.1, 1e-6}, {0.5, 0.01}, {3, 1e-3}} {
			last := math.Inf(1)
			for _, a := range []Accounting{Theorem31, Spectral, Directional, Exact} {
				split := Split{Epsilon1: target[0], Delta1: target[1] / 2, Delta3: target[1] / 2}
				if a >= Directional {
					split.Delta1, split.Delta3 = target[1], 0
				}
				n, err := Setting{Wishart: w, Smoothness: 1, Rank: 1, Structure: LeastSquares,
					Accounting: a}.Noise(split)
				if err != nil {
					t.Fatalf("%v %v %v: %v", w, target, a, err)
				}
				if !(n.Sigma2 <= last) {
					t.Errorf("%v %v: %v asks for σ² = %.4g, the one before for %.4g", w, target, a, n.Sigma2, last)
				}
				last = n.Sigma2
			}
		}
	}
}

// The exact profile against quadrature of the densities of χ²_ν and χ²_ν + s.
func TestShiftProfile(t *testing.T) {
	for _, c := range []struct{ nu, s float64 }{{2, 0.1}, {3, 0.5}, {6, 1}, {13, 2}, {40, 5}} {
		density := func(x float64) float64 {
			if x <= 0 {
				return 0
			}
			return math.Exp((c.nu/2-1)*math.Log(x/2)-x/2-lgamma(c.nu/2)) / 2
		}
		for _, eps := range []float64{-1, -0.1, 0, 0.1, 0.3, 1} {
			var absent, present float64
			top, steps := c.nu+c.s+14*math.Sqrt(2*c.nu)+60, 60_000
			h := c.s / math.Ceil(c.s*float64(steps)/top) // s, where densities jump, is between cells
			for i := range steps {
				x := (float64(i) + 0.5) * h
				p, q := density(x), density(x-c.s)
				absent += h * math.Max(0, p-math.Exp(eps)*q)
				present += h * math.Max(0, q-math.Exp(eps)*p)
			}
			h2 := shift{c.nu, c.s}
			for d, want := range map[privacy.Direction]float64{privacy.Add: absent, privacy.Remove: present} {
				got := math.Exp(h2.LogDeltaUpper(d, eps))
				if !(math.Abs(got-want) <= 2e-5+1e-3*want) || got < want*(1-1e-3)-2e-5 {
					t.Errorf("ν = %g, s = %g, ε = %g, %v: δ = %.8g, quadrature %.8g", c.nu, c.s, eps, d, got, want)
				}
			}
		}
	}
	// At ε = ∞ what is left is the mass beyond the other's support.
	near(t, "δ(∞)", math.Exp(shift{2, 0.1}.LogDeltaUpper(privacy.Add, math.Inf(1))), -math.Expm1(-0.05), 1e-9)
	if v := (shift{2, 0.1}).LogDeltaUpper(privacy.Remove, 0.05); !math.IsInf(v, -1) {
		t.Errorf("with the record the loss is at most s/2, and δ(s/2) = e^%g", v)
	}
}

// The composition for a replacement is between the exact add/remove value and the general conversion, which searches
// longer.
func TestReplaced(t *testing.T) {
	for _, c := range []struct{ nu, s, eps float64 }{{3, 0.05, 0.5}, {13, 0.7, 0.5}, {101, 2, 0.5}, {20, 0.5, 0.1}} {
		h := shift{c.nu, c.s}
		p := must.Get(privacy.ReplaceProfile(h))
		general := p.LogDeltaUpper(privacy.Remove, c.eps)
		got := h.replaced(c.eps, 16)
		if !(got >= general-1e-6) || got > general+0.02 || got < h.absent(c.eps)-1e-12 {
			t.Errorf("%+v: ln δ = %g, by the general conversion %g, add/remove %g", c, got, general, h.absent(c.eps))
		}
	}
}

func TestSettingRefuses(t *testing.T) {
	good := Setting{Wishart: Wishart{5, 10}, Smoothness: 1, Rank: 1, Accuracy: 1e-6, AnchorError: 1e-3}
	split := Split{Epsilon1: 0.5, Epsilon2: 0.5, Delta1: 1e-3, Delta2: 1e-3, Delta3: 1e-3, Delta4: 1e-3}
	must.Get(good.Noise(split))
	for name, c := range map[string]struct {
		setting func(*Setting)
		split   func(*Split)
		says    string
	}{
		"m ≤ d":             {func(s *Setting) { s.M = 5 }, nil, "more than d"},
		"unbounded L":       {func(s *Setting) { s.Smoothness = math.Inf(1) }, nil, "curvature"},
		"no L":              {func(s *Setting) { s.Smoothness = 0 }, nil, "Smoothness"},
		"rank 0":            {func(s *Setting) { s.Rank = 0 }, nil, "Rank"},
		"rank above d":      {func(s *Setting) { s.Rank = 6 }, nil, "Rank"},
		"negative η":        {func(s *Setting) { s.AnchorError = -1 }, nil, "AnchorError"},
		"negative shift":    {func(s *Setting) { s.Shift = -1 }, nil, "Shift"},
		"direction unknown": {func(s *Setting) { s.Accounting = Directional }, nil, "keep its direction"},
		"curvature varies": {func(s *Setting) { s.Accounting = Exact; s.Structure = LinearModel }, nil,
			"constant curvature"},
		"rank of a model": {func(s *Setting) { s.Rank = 2; s.Structure = LinearModel }, nil, "Rank"},
		"no ε₁":           {nil, func(s *Split) { s.Epsilon1 = 0 }, "ε₁"},
		"no ε₂":           {nil, func(s *Split) { s.Epsilon2 = 0 }, "must be paid for"},
		"no δ₂":           {nil, func(s *Split) { s.Delta2 = 0 }, "δ₂"},
		"no δ₃":           {nil, func(s *Split) { s.Delta3 = 0 }, "δ₃"},
		"no δ₄":           {nil, func(s *Split) { s.Delta4 = 0 }, "δ₄"},
		"δ₁ = NaN":        {nil, func(s *Split) { s.Delta1 = math.NaN() }, "δ₁"},
	} {
		s, p := good, split
		if c.setting != nil {
			c.setting(&s)
		}
		if c.split != nil {
			c.split(&p)
		}
		if _, err := s.Noise(p); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := split.Within(1, 4e-3); err != nil {
		t.Error(err)
	}
	if split.Within(0.99, 4e-3) == nil || split.Within(1, 3.9e-3) == nil {
		t.Error("a split that does not sum was accepted")
	}
}

func TestEvent(t *testing.T) {
	s := Setting{Wishart: Wishart{5, 10}, Smoothness: 1, Rank: 1, Structure: LeastSquares}
	n := must.Get(s.Noise(Split{Epsilon1: 0.5, Delta1: 1e-3}))
	e := Event{Setting: s, Split: Split{Epsilon1: 0.5, Delta1: 1e-3}, Sigma2: n.Sigma2}
	for _, adj := range []privacy.Adjacency{privacy.AddRemove, privacy.ReplaceOne} {
		p := must.Get(e.Profile(adj))
		if d := privacy.DeltaUpper(p, 0.5); d > 1.0001e-3 || p.Adjacency() != adj {
			t.Errorf("%v: δ = %g", adj, d)
		}
	}
	e.Setting.Structure, e.Setting.Accounting = AnyLoss, Spectral
	e.Split.Delta3 = 1e-3
	n = must.Get(e.Setting.Noise(e.Split))
	e.Sigma2 = n.Sigma2
	p, err := e.Profile(privacy.ReplaceOne)
	if err != nil || privacy.DeltaUpper(p, 0.5) > 2.0001e-3 || privacy.DeltaUpper(p, 0.5) < 2e-3 {
		t.Errorf("%v, %v", p, err)
	}
	// A record that is not there is one of loss zero.
	if q, err := e.Profile(privacy.AddRemove); err != nil || privacy.LogDeltaUpper(q, 0.5) != privacy.LogDeltaUpper(p,
		0.5) || q.Adjacency() != privacy.AddRemove {
		t.Errorf("add/remove: %v, %v", q, err)
	}
	if _, err := e.Profile(0); err == nil {
		t.Error("no adjacency")
	}
	e.Sigma2 *= 0.999
	if _, err := e.Profile(privacy.ReplaceOne); err == nil {
		t.Error("less noise than needed was accepted")
	}
}

// Add/remove-one needs less noise, never more, and says less about replacements.
func TestAddRemove(t *testing.T) {
	for _, w := range []Wishart{{1, 3}, {5, 10}, {100, 200}} {
		for _, st := range []Structure{AnyLoss, LinearModel, LeastSquares} {
			s := Setting{Wishart: w, Smoothness: 1, Rank: 1, Structure: st, Accuracy: 1e-9}
			split := Split{Epsilon1: 0.4, Epsilon2: 0.1, Delta1: 1e-3, Delta2: 1e-3, Delta3: 1e-3}
			replace := must.Get(s.Noise(split))
			s.Adjacency = privacy.AddRemove
			add := must.Get(s.Noise(split))
			if add.Sigma2 > replace.Sigma2 || st == LeastSquares && !(add.Sigma2 < replace.Sigma2) {
				t.Errorf("%v, %v: σ² = %g for add/remove-one, %g for replace-one", w, st, add.Sigma2, replace.Sigma2)
			}
			e := Event{Setting: s, Split: split, Sigma2: add.Sigma2, SigmaOut: add.SigmaOut}
			a := must.Get(e.Profile(privacy.AddRemove))
			r, err := e.Profile(privacy.ReplaceOne)
			if err != nil || !(privacy.DeltaUpper(r, 0.5) > 2*privacy.DeltaUpper(a, 0.5)) {
				t.Errorf("%v, %v: a replacement costs no more than one record: %v", w, st, err)
			}
			// An event with less of either noise than its split asks for is none.
			for _, share := range [][2]float64{{1 - 1e-9, 1}, {1, 1 - 1e-9}} {
				less := e
				less.Sigma2, less.SigmaOut = share[0]*e.Sigma2, share[1]*e.SigmaOut
				if less.Validate() == nil {
					t.Errorf("%v, %v: %v of the noise is taken for enough", w, st, share)
				}
			}
		}
	}
	if _, err := (Setting{Wishart: Wishart{2, 4}, Smoothness: 1, Rank: 1, Adjacency: 9}).Noise(Split{Epsilon1: 1,
		Delta1: 0.1, Delta3: 0.1}); err == nil {
		t.Error("an adjacency that does not exist")
	}
}

// Noise falls as ε or a part of δ grows, for every accounting, far into the corners.
func TestNoiseMonotone(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	for range 300 {
		w := Wishart{D: 1 + rng.IntN(60)}
		w.M = w.D + 1 + rng.IntN(200)
		s := Setting{Wishart: w, Smoothness: math.Exp(4 * rng.NormFloat64()), Rank: 1,
			Structure: Structure(rng.IntN(3)), Accuracy: math.Exp(5*rng.NormFloat64() - 10)}
		if rng.IntN(2) == 0 {
			s.AnchorError = math.Exp(3*rng.NormFloat64() - 3)
		}
		if rng.IntN(3) == 0 {
			s.Accounting = Theorem31
		}
		draw := func() float64 { return math.Pow(10, -1-11*rng.Float64()) }
		split := Split{Epsilon1: math.Exp(1.5 * rng.NormFloat64()), Epsilon2: math.Exp(1.5 * rng.NormFloat64()),
			Delta1: draw(), Delta2: draw(), Delta3: draw(), Delta4: draw()}
		n, err := s.Noise(split)
		if err != nil {
			continue // no finite noise
		}
		if !(n.Sigma2 > 0 && n.SigmaOut > 0) {
			t.Fatalf("%+v %+v: %+v", s, split, n)
		}
		more := split
		more.Epsilon1 *= 1.3
		more.Delta1 *= 1.5
		if m, err := s.Noise(more); err != nil || !(m.Sigma2 <= n.Sigma2*(1+1e-6)) {
			t.Errorf("%+v %+v: σ² = %g, with more ε₁ and δ₁ %g (%v)", s, split, n.Sigma2, m.Sigma2, err)
		}
		more = split
		more.Epsilon2 *= 1.3
		more.Delta2 *= 1.5
		if m, err := s.Noise(more); err != nil || !(m.SigmaOut <= n.SigmaOut*(1+1e-9)) {
			t.Errorf("%+v %+v: σ̃ = %g, with more ε₂ and δ₂ %g (%v)", s, split, n.SigmaOut, m.SigmaOut, err)
		}
	}
}

// Probabilities that fall with ε, in any corner.
func TestProfileShape(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	for range 400 {
		h := shift{float64(2 + rng.IntN(3000)), math.Exp(6 * rng.NormFloat64())}
		for _, d := range privacy.Directions {
			last := 0.0
			for _, eps := range []float64{math.Inf(-1), -30, -1, -1e-9, 0, 1e-9, 0.1, 1, 5, 50, 1e4, math.Inf(1)} {
				l := h.LogDeltaUpper(d, eps)
				if math.IsNaN(l) || l > 0 || l > last+1e-8+1e-9*math.Abs(last) {
					t.Fatalf("%+v, %v: ln δ(%g) = %g after %g", h, d, eps, l, last)
				}
				last = l
			}
		}
	}
	for _, sigma2 := range []float64{0, -1, math.Inf(1), math.NaN()} {
		if _, err := LeastSquaresProfile(Wishart{2, 4}, 1, sigma2, privacy.AddRemove); err == nil {
			t.Errorf("σ² = %g", sigma2)
		}
	}
}

// Where float64 has no digits left nothing is rounded up, and nothing is claimed.
func TestNoiseRefusesDenormals(t *testing.T) {
	split := Split{Epsilon1: 1, Epsilon2: 1, Delta1: 1e-3, Delta2: 1e-3, Delta3: 1e-3, Delta4: 1e-3}
	for name, s := range map[string]Setting{
		"L": {Smoothness: 1e-323}, "η": {Smoothness: 1, AnchorError: 5e-324},
		"η by L": {Smoothness: 1e-200, AnchorError: 1e-310},
	} {
		s.Wishart, s.Rank, s.Structure = Wishart{2, 5}, 1, LeastSquares
		if n, err := s.Noise(split); err == nil {
			t.Errorf("%s: %+v", name, n)
		}
	}
	tiny := Setting{Wishart: Wishart{2, 5}, Rank: 1, Structure: LeastSquares, Smoothness: 1e-250, Accuracy: 1e-250}
	if _, err := tiny.Noise(split); err != nil {
		t.Error(err)
	}
}

// With few degrees of freedom and a large ε the only split of it that will do gives the record that goes exactly s/2.
// For ν = 2, δ_add = P(χ²₂ < s) = 1 − e^{−s/2}.
func TestReplacedAtLargeEpsilon(t *testing.T) {
	for _, eps := range []float64{20, 50, 900} {
		n, err := Setting{Wishart: Wishart{2, 3}, Smoothness: 1, Rank: 1, Structure: LeastSquares}.Noise(
			Split{Epsilon1: eps, Delta1: 0.1})
		if err != nil {
			t.Errorf("ε = %g: %v", eps, err)
			continue
		}
		near(t, "σ²", n.Sigma2, -1/(2*math.Log1p(-0.1)), 1e-6)
	}
	for _, nu := range []float64{2, 3, 8, 100} {
		for _, s := range []float64{1e-6, 0.1, 3} {
			h := shift{nu, s}
			for _, eps := range []float64{0.01, 1, 30} {
				// No bound for replacing is below that for adding alone.
				if got, alone := h.replaced(eps, 16), h.absent(eps); got < alone-1e-12 {
					t.Errorf("ν = %g, s = %g, ε = %g: ln δ = %g, adding alone %g", nu, s, eps, got, alone)
				}
			}
		}
	}
}

// The determinants of a record's Hessian of rank r, on a W that is as flat as the event allows, are no more of the loss
// than ε₁: by brute force, where they are most of it. With the rank of a linear model they would be.
func TestRankIsPaidFor(t *testing.T) {
	const d, eps = 40, 1.0
	for _, rank := range []int{1, 10, d} {
		s := Setting{Wishart: Wishart{D: d, M: 2 * d}, Smoothness: 1, Rank: rank, Accounting: Spectral}
		p := s.perturbation(Split{Epsilon1: eps, Delta1: 1e-3, Delta3: 1e-3}, 0)
		w := mat.NewSymDense(d, nil)
		for j := range d {
			w.SetSym(j, j, p.alpha)
		}
		before, _ := mat.LogDet(w)
		for j := range rank {
			w.SetSym(j, j, p.alpha+1/p.Sigma2)
		}
		after, _ := mat.LogDet(w)
		// Beside it, in the density, one direction of W may have all of L less: (m−d−1)/2 of its logarithm, and the
		// trace takes some of that back.
		y := 1 / (p.Sigma2 * p.alpha)
		lost := after - before - 0.5*(d-1)*math.Log1p(-y) - 0.5/p.Sigma2
		if !(lost <= eps) || rank == d && lost < 0.9*eps {
			t.Errorf("rank %d: a loss of %.4f of ε₁ = %g", rank, lost, eps)
		}
	}
}

// For Hessians of any rank, and with a shift, the exponents in the proof of Theorem 3.1 add up to ε₁: a U of rank two
// with ‖U‖ ≤ 2L in the densities, 2ρ + 2 eigenvalues within ±4L in the determinants.
func TestTheorem31OfAnyRank(t *testing.T) {
	const eps, l = 0.5, 3.0
	for _, rank := range []int{1, 3, 7} {
		for _, shift := range []float64{0, 2} {
			s := Setting{Wishart: Wishart{D: 8, M: 30}, Smoothness: l, Rank: rank, Shift: shift, Accounting: Theorem31}
			p := s.perturbation(Split{Epsilon1: eps, Delta1: 1e-3, Delta3: 1e-3}, 0)
			densities := 2 * l / p.Sigma2 * 2 * ((s.P()-1)/p.alpha + 0.5)
			determinants := float64(2*rank+2) * 4 * l / (p.Sigma2 * (p.alpha + shift))
			if sum := densities + determinants; !(math.Abs(sum-eps) <= 1e-9) {
				t.Errorf("rank %d, c = %g: the exponents add up to %v, want %v", rank, shift, sum, eps)
			}
		}
	}
}

// Directional accounting cuts off δ₁ and no more: of a record that goes 0.8 of it beside two tenths for the one that
// comes, by (5), and all of it where there is one record alone.
func TestDirectionalCutsDelta1(t *testing.T) {
	const eps, delta = 0.5, 0.05
	for _, w := range []Wishart{{D: 3, M: 6}, {D: 3, M: 12}} {
		s := Setting{Wishart: w, Smoothness: 1, Rank: 1, Structure: LinearModel}
		law, p := distuv.ChiSquared{K: s.freedom()}, s.P()
		// cut is the share of δ₁ in which Z₋ is above what is left of ε₁.
		cut := func(v, left float64) float64 {
			chi, _ := univariate.Bisect(func(chi float64) bool { return -p*math.Log1p(-v/chi)-0.5*v <= left },
				v, 1e6, univariate.Geometric, 0)
			return law.CDF(chi) / delta
		}
		v, _ := s.directionalRatio(eps, delta)
		comes := math.Log1p(v / law.Quantile(0.1*delta))
		if share := cut(v, eps-comes); !(math.Abs(share-0.8) <= 1e-6) {
			t.Errorf("%v: %.3f of δ₁ is cut off beside two tenths", w, share)
		}
		s.Adjacency = privacy.AddRemove
		v, _ = s.directionalRatio(eps, delta)
		if share := cut(v, eps); !(math.Abs(share-1) <= 1e-6) {
			t.Errorf("%v: %.3f of δ₁ is cut off for one record", w, share)
		}
	}
}

// With a shift the trace is most of the loss in low dimensions, and the determinants of Hessians are paid for beside
// it.
func TestSpectralLossWithAShift(t *testing.T) {
	const eps, shift = 0.03, 5.0
	s := Setting{Wishart: Wishart{D: 1, M: 2}, Smoothness: 1, Rank: 1, Shift: shift, Accounting: Spectral}
	p := s.perturbation(Split{Epsilon1: eps, Delta1: 0.025, Delta3: 0.025}, 0)
	if loss := 0.5/p.Sigma2 + math.Log1p(1/(p.Sigma2*(p.alpha+shift))); !(math.Abs(loss-eps) <= 1e-9) {
		t.Errorf("a loss of %v, want %v", loss, eps)
	}
}
