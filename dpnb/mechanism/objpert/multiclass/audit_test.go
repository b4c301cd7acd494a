package multiclass_test

import (
	"math"
	"os"
	"slices"
	"strconv"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/dpnb/notebooks/dpnb/audit"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert/multiclass"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// attempts are neighbours that try to break a claim for three classes and records of norm at most 1: nothing else in
// the data, records that push the probabilities onto one or two wrong classes, records that hold them in the middle,
// tilts that do the same.
func attempts(lambda, sigma float64) []audit.Softmax {
	base := audit.Softmax{ExtraX: 1, Lambda: lambda, Sigma: sigma}
	all := []audit.Softmax{base}
	add := func(change func(*audit.Softmax)) {
		s := base
		change(&s)
		all = append(all, s)
	}
	for _, w := range []float64{1, 4, sigma * 3} {
		add(func(s *audit.Softmax) { s.X, s.Y, s.Weights = []float64{1, 1}, []int{1, 2}, []float64{w, w} })
		add(func(s *audit.Softmax) { s.X, s.Y, s.Weights = []float64{1}, []int{1}, []float64{w} })
		add(func(s *audit.Softmax) {
			s.X, s.Y, s.Weights = []float64{1, 1, 1}, []int{0, 1, 2}, []float64{w, w, w}
		})
	}
	for _, tilt := range []float64{2, -2} {
		add(func(s *audit.Softmax) { s.Tilt = [2]float64{0, tilt * sigma} })
		add(func(s *audit.Softmax) { s.Tilt = [2]float64{tilt * sigma, 0.5 * tilt * sigma} })
	}
	add(func(s *audit.Softmax) { s.ExtraX = 0.5 })
	return all
}

type setting struct{ lambda, sigma float64 }

var audited = []setting{{0.3, 2}, {1, 2}, {8, 2}, {0.5, 1}, {2, 6}, {12, 6}, {1, 12}}

// exact is the largest divergence found among the attempts.
type exact struct {
	setting
	eps   float64
	dir   privacy.Direction
	delta float64
}

func divergences() (all []exact) {
	for _, c := range audited {
		worst := map[exact]float64{}
		for _, s := range attempts(c.lambda, c.sigma) {
			without, with := s.Cells(200)
			off := math.Abs(floats.Sum(without)-1) + math.Abs(floats.Sum(with)-1)
			if off > 1e-3 {
				continue // the cells are too large for these data
			}
			for _, e := range []float64{0, 0.3, 1, 2.5} {
				for _, d := range privacy.Directions {
					p, q := without, with
					if d == privacy.Remove {
						p, q = with, without
					}
					// Less the kink of (·)₊ and what the grid lacks.
					delta := audit.HockeyStick(p, q, 2*e/c.sigma)*(1-1e-4) - off
					k := exact{setting: c, eps: 2 * e / c.sigma, dir: d}
					worst[k] = math.Max(worst[k], delta)
				}
			}
		}
		for k, delta := range worst {
			k.delta = delta
			all = append(all, k)
		}
	}
	return all
}

// worstRatio is the largest exact δ over claimed δ.
func worstRatio(found []exact, dirs []privacy.Direction, claim func(d privacy.Direction, c setting,
	eps float64) float64) (worst float64) {
	for _, f := range found {
		if f.delta > 1e-9 && slices.Contains(dirs, f.dir) {
			worst = math.Max(worst, f.delta/claim(f.dir, f.setting, f.eps))
		}
	}
	return worst
}

// The claimed profile must lie above the exact divergence of real neighbours, and claims that leave something out must
// not.
func TestExactDivergenceIsBelowTheClaim(t *testing.T) {
	testscale.InTurn(t)
	profile := func(bound multiclass.Bound) func(privacy.Direction, setting, float64) float64 {
		return func(d privacy.Direction, c setting, eps float64) float64 {
			p := must.Get(multiclass.Softmax{Classes: 3, RowNorm: 1, Lambda: c.lambda, Sigma: c.sigma, Tolerance: 1e-12,
				OutputSigma: 1e-3, Bound: bound}.Profile())
			return math.Exp(p.LogDeltaUpper(d, eps))
		}
	}
	both, found := privacy.Directions[:], divergences()
	for _, bound := range []multiclass.Bound{multiclass.Vertex, multiclass.RankK} {
		if w := worstRatio(found, both, profile(bound)); w > 1 || w < 0.5 {
			t.Errorf("%v: the exact δ is up to %.4f of the claim", bound, w)
		} else {
			t.Logf("%v: the exact δ is up to %.4f of the claim", bound, w)
		}
	}
	gauss := func(mu, eps float64) float64 {
		return privacy.DeltaUpper(privacy.GaussianProfile(mu, privacy.AddRemove), eps)
	}
	for _, wrong := range []struct {
		name  string
		dirs  []privacy.Direction
		claim func(d privacy.Direction, c setting, eps float64) float64
	}{
		{"the sensitivity of one logistic fit", both, func(_ privacy.Direction, c setting, eps float64) float64 {
			return 2 * gauss(1/c.sigma, eps)
		}},
		{"one wrong class in place of two, add", []privacy.Direction{privacy.Add}, func(_ privacy.Direction, c setting,
			eps float64) float64 {
			return gauss(math.Sqrt2/c.sigma, eps)
		}},
		{"no price for the curvature, remove", []privacy.Direction{privacy.Remove}, func(_ privacy.Direction, c setting,
			eps float64) float64 {
			return 2 * gauss(math.Sqrt2/c.sigma, eps)
		}},
		{"the bound for six times the λ", both, func(d privacy.Direction, c setting, eps float64) float64 {
			return profile(multiclass.Vertex)(d, setting{6 * c.lambda, c.sigma}, eps)
		}},
	} {
		if w := worstRatio(found, wrong.dirs, wrong.claim); w <= 1 {
			t.Errorf("%s: not found out, %.4f of the claim", wrong.name, w)
		} else {
			t.Logf("%s: found out, %.4f of the claim", wrong.name, w)
		}
	}
}

// randomAttempt draws λ, σ, records and a tilt.
func randomAttempt(rng *noise.Seeded) audit.Softmax {
	sigma := math.Exp(3.5*rng.Float64() - 0.5)
	s := audit.Softmax{ExtraX: 1, Sigma: sigma, Lambda: sigma * math.Exp(4*rng.Float64()-2)}
	if rng.Float64() < 0.3 {
		s.ExtraX = rng.Float64()
	}
	for range rng.IntN(4) {
		x := 1.0
		if rng.Float64() < 0.4 {
			x = 2*rng.Float64() - 1
		}
		s.X, s.Y = append(s.X, x), append(s.Y, rng.IntN(3))
		s.Weights = append(s.Weights, sigma*math.Exp(1.5*rng.NormFloat64()))
	}
	if rng.Float64() < 0.5 {
		s.Tilt = [2]float64{2 * sigma * rng.NormFloat64(), 2 * sigma * rng.NormFloat64()}
	}
	return s
}

// The same for random neighbours, λ, σ and ε, also below zero. Where the sum over cells comes near the claim it is
// repeated with smaller ones.
func TestRandomNeighbours(t *testing.T) {
	testscale.InTurn(t)
	rng := noise.NewSeeded(6)
	tries := 120
	if n, err := strconv.Atoi(os.Getenv("DPNB_ATTEMPTS")); err == nil {
		tries = n
	}
	used, finer, worst := 0, 0, 0.0
	for range tries {
		s := randomAttempt(rng)
		p := must.Get(multiclass.Softmax{Classes: 3, RowNorm: 1, Lambda: s.Lambda, Sigma: s.Sigma, Tolerance: 1e-12,
			OutputSigma: 1e-3 / s.Lambda}.Profile())
		ratio := func(points int) (r float64, ok bool) {
			without, with := s.Cells(points)
			if math.Abs(floats.Sum(without)-1)+math.Abs(floats.Sum(with)-1) > 1e-6 {
				return 0, false // the cells are too large for these data
			}
			for _, e := range []float64{-1, 0, 0.2, 0.7, 1.5, 3, 4} {
				eps := 2 * e / s.Sigma
				for _, d := range privacy.Directions {
					p1, p0 := without, with
					if d == privacy.Remove {
						p1, p0 = with, without
					}
					if delta := audit.HockeyStick(p1, p0, eps); delta > 1e-10 {
						r = math.Max(r, delta/math.Exp(p.LogDeltaUpper(d, eps)))
					}
				}
			}
			return r, true
		}
		r, ok := ratio(100)
		if ok && r > 0.985 {
			finer++
			r, _ = ratio(700)
		}
		if ok {
			used++
			worst = math.Max(worst, r)
		}
		if r > 1 {
			t.Errorf("%+v: %.5f of the claim", s, r)
		}
	}
	t.Logf("%d of %d neighbours, %d with finer cells: up to %.4f of the claim", used, tries, finer, worst)
}
