package wishart

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/golden"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// What is refused of settings, splits, events and plans, and how they are named, is as it was: testdata/said.txt.
func TestWhatIsSaid(t *testing.T) {
	var all strings.Builder
	say := func(values ...any) { fmt.Fprintln(&all, values...) }
	good := Setting{Wishart: Wishart{3, 8}, Smoothness: 1, Rank: 1, Structure: LinearModel, AnchorError: 1e-3}
	split := Split{0.9, 0.1, 0.01, 1e-3, 0.01, 1e-3}
	noise := must.Get(good.Noise(split))
	say(Event{good, split, noise.Sigma2, noise.SigmaOut}, must.Get(Printed(good, split)))
	for i, change := range []func(s *Setting, p *Split){func(*Setting, *Split) {}, func(s *Setting,
		_ *Split) {
		s.D = 0
	},
		func(s *Setting, _ *Split) { s.M = 3 }, func(s *Setting, _ *Split) { s.M = 4 }, func(s *Setting,
			_ *Split) {
			s.M = 2
		},
		func(s *Setting, _ *Split) { s.Shift = -1 }, func(s *Setting, _ *Split) { s.Shift = math.Inf(1) },
		func(s *Setting, _ *Split) { s.AnchorError = math.NaN() }, func(s *Setting, _ *Split) { s.Accuracy = -1 },
		func(s *Setting, _ *Split) { s.Adjacency = 9 }, func(s *Setting, _ *Split) { s.Adjacency = privacy.AddRemove },
		func(s *Setting, _ *Split) { s.Smoothness = 0 }, func(s *Setting, _ *Split) { s.Smoothness = math.Inf(1) },
		func(s *Setting, _ *Split) { s.Rank = 0 }, func(s *Setting, _ *Split) { s.Rank = 2 }, func(s *Setting,
			_ *Split) {
			s.Rank, s.Structure = 3, AnyLoss
		}, func(s *Setting, _ *Split) { s.Rank, s.Structure = 4, AnyLoss }, func(s *Setting,
			_ *Split) {
			s.Structure = -1
		},
		func(s *Setting, _ *Split) { s.Structure = 3 }, func(s *Setting, _ *Split) { s.Structure = LeastSquares },
		func(s *Setting, _ *Split) { s.Structure, s.Accounting = AnyLoss, Directional },
		func(s *Setting, _ *Split) { s.Accounting = Exact }, func(s *Setting, _ *Split) { s.Accounting = Exact + 1 },
		func(s *Setting, _ *Split) { s.Accounting = -1 }, func(s *Setting, _ *Split) { s.Accounting = Spectral },
		func(s *Setting, _ *Split) { s.Accounting = Theorem31 }, func(_ *Setting, p *Split) { p.Epsilon1 = 0 },
		func(_ *Setting, p *Split) { p.Epsilon2 = 0 }, func(_ *Setting, p *Split) { p.Epsilon2 = -1 },
		func(_ *Setting, p *Split) { p.Delta1 = -1 }, func(_ *Setting, p *Split) { p.Delta1 = 1 },
		func(_ *Setting, p *Split) { p.Delta2 = 0 }, func(_ *Setting, p *Split) { p.Delta3 = 0 },
		func(_ *Setting, p *Split) { p.Delta3 = 1 }, func(_ *Setting, p *Split) { p.Delta4 = 0 },
		func(_ *Setting, p *Split) { p.Delta4 = math.NaN() }, func(s *Setting, p *Split) {
			s.AnchorError, p.Epsilon2, p.Delta2, p.Delta4 = 0, 0, 0, 0
		}, func(s *Setting, p *Split) { s.AnchorError = 0 }} {
		s, p := good, split
		change(&s, &p)
		_, err := s.Noise(p)
		_, printed := Printed(s, p)
		eps, delta := p.Total()
		say(i, s.Validate(), "|", err, "|", printed, "|", s.Structure, s.Accounting, s.AccountingUsed(),
			fmt.Sprintf("%.6g %.6g", eps, delta))
	}
	for _, e := range []Event{{good, split, noise.Sigma2, noise.SigmaOut}, {good, split, noise.Sigma2 * 0.99,
		noise.SigmaOut},
		{good, split, math.Inf(1), noise.SigmaOut}, {good, split, noise.Sigma2, noise.SigmaOut * 0.99}, {good, split,
			noise.Sigma2, math.Inf(1)}, {good, split, math.NaN(), math.NaN()}} {
		for _, adj := range []privacy.Adjacency{privacy.AddRemove, privacy.ReplaceOne, 9} {
			p, err := e.Profile(adj)
			if say(e.Validate(), err); err == nil {
				say(fmt.Sprintf("%.6g", privacy.LogDeltaUpper(p, 1.5)), p.Adjacency())
			}
		}
	}
	for _, c := range []struct {
		smoothness, sigma2 float64
		adj                privacy.Adjacency
	}{{1, 5, privacy.AddRemove}, {1, 5, privacy.ReplaceOne}, {0, 5, privacy.AddRemove}, {1, 0, privacy.AddRemove}, {1,
		-1,
		privacy.AddRemove}, {1, math.NaN(), privacy.AddRemove}, {1, math.Inf(1), privacy.AddRemove}, {1, 5, 9}} {
		_, err := LeastSquaresProfile(Wishart{3, 8}, c.smoothness, c.sigma2, c.adj)
		say("least squares", c, err)
	}
	risk := Risk{50, 2, 0.7}
	for i, change := range []func(s *Setting, eps, delta *float64, r *Risk){func(_ *Setting, eps, _ *float64,
		_ *Risk) {
		*eps = 0
	},
		func(_ *Setting, eps, _ *float64, _ *Risk) { *eps = 1e3 }, func(_ *Setting, _, delta *float64,
			_ *Risk) {
			*delta = 0
		},
		func(_ *Setting, _, delta *float64, _ *Risk) { *delta = 1 }, func(_ *Setting, _, _ *float64,
			r *Risk) {
			r.Records = 0
		},
		func(_ *Setting, _, _ *float64, r *Risk) { r.Distance = 0 }, func(_ *Setting, _, _ *float64, r *Risk) {
			r.Distance = math.Inf(1)
		}, func(_ *Setting, _, _ *float64, r *Risk) { r.RegulariserSlope = -1 }, func(s *Setting, _, _ *float64,
			_ *Risk) {
			s.Rank = 0
		}} {
		s, eps, delta, r := good, 1.0, 1e-3, risk
		change(&s, &eps, &delta, &r)
		_, err := Optimise(s, eps, delta, r)
		say("plan", i, err)
	}
	for _, c := range [][2]float64{{-0.1, 0.1}, {1, 0.1}, {0, 0.1}, {0.1, 0}, {0.1, 1}, {0.1, 1e-9}} {
		got, err := (Wishart{3, 8}).certify(c[0], c[1], 200, rand.New(rand.NewPCG(1, 2)))
		say("certified", c, fmt.Sprintf("%.6g", got.Alpha), err)
		_, err = (Wishart{3, 8}).Constants(c[0], c[1], 0.1)
		say("constants", c, err)
	}
	for k := -1; k < 7; k++ {
		say(Structure(k), Accounting(k))
	}
	golden.Compare(t, "testdata/said.txt", all.String())
}
