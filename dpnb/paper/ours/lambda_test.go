package ours

import (
	"context"
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/loss"

	"github.com/dpnb/notebooks/dpnb/mechanism/objpert"
)

// ridge is the rule's, from a curve's public numbers.
func (c LambdaCurve) ridge() float64 {
	m := objpert.Objective{Loss: loss.Logistic{}, RowNorm: math.Sqrt2}
	p := objpert.Planned{Records: c.Setting.Records, Features: c.Setting.Features + 1}
	return p.Ridge(m, c.Noise*m.Lipschitz())
}

// TestRidgeHasLittleRegret: over a part of the family the ridge of the rule is on
// average within a point of the best, and the least ridge, or one sixteen times
// the rule's, loses far more.
func TestRidgeHasLittleRegret(t *testing.T) {
	family := []Truth{{Name: "clusters", Clusters: true, Base: 0.5}, {Name: "isotropic", Signal: 2, Base: 0.5},
		{Name: "1/j, signal on top", Spectrum: 1, Top: true, Signal: 2, Base: 0.25}}
	settings := []LambdaSetting{{300, 20, 1}, {300, 100, 8}, {150, 150, 8}}
	curves, err := LambdaCurves(context.Background(), family, settings, 2, 9, 0.5, 7)
	if err != nil {
		t.Fatal(err)
	}
	var rule, least, large float64
	for _, c := range curves {
		n := float64(len(curves))
		rule += 100 * c.Regret(c.ridge()) / n
		least += 100 * c.Regret(0) / n
		large += 100 * c.Regret(16*c.ridge()) / n
	}
	t.Logf("mean regret in points: rule %.2f, least ridge %.2f, sixteen times the rule's %.2f", rule, least, large)
	if rule > 1.5 || least < 2*rule || large < 2*rule {
		t.Errorf("mean regret in points: rule %.2f, least ridge %.2f, sixteen times the rule's %.2f", rule, least, large)
	}
	if _, err := LambdaCurves(cancelled(), family, settings, 1, 2, 0, 1); err == nil {
		t.Error("a context that has ended is not heard")
	}
}

func cancelled() context.Context {
	ctx, stop := context.WithCancel(context.Background())
	stop()
	return ctx
}
