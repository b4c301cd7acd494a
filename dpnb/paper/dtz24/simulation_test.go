package dtz24

import (
	"context"
	"testing"

	"github.com/dpnb/notebooks/dpnb/claim"
	synthetic "github.com/dpnb/notebooks/dpnb/sim/population"
)

// The checks against simulation must fail on what is wrong.
func TestSimulationChecksCanFail(t *testing.T) {
	for name, run := range map[string]func(context.Context, claim.Size) (claim.Outcome, error){
		"the minimax theorem without its factor": minimaxHolds(1, 2408),
		"Figure 3, predicted 30 % too low":       figureAgrees(3, 0.7),
		"Figure 4, predicted 30 % too high":      figureAgrees(4, 1.3),
		"Figure 5, predicted 30 % too low":       figureAgrees(5, 0.7),
		"Figure 6, predicted 15 % too high":      figureAgrees(6, 1.15),
		"a control that is universal":            universal(synthetic.Uniform, 2407),
		"ρ″ for ρ′": figure2(func() []Graph {
			g := Figure2()
			g[1] = g[2]
			return g
		}),
		"a proximal operator for another γ": figure2(func() []Graph {
			g := Figure2()
			for i := range g[3].Y {
				g[3].Y[i] *= 1.001
			}
			return g
		}),
		"H_L at half its size": figure1(func() []Graph {
			g := Figure1()
			for i := range g[0].Y {
				g[0].Y[i] /= 2
			}
			return g
		}),
	} {
		if o, err := run(context.Background(), claim.Quick); err != nil || o.Verdict != claim.Fails {
			t.Errorf("%s: verdict %q, %v; measured %s", name, o.Verdict, err, o.Measured)
		}
	}
}
