package audit

import (
	"context"
	"math"
	"testing"

	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/noise"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

func search(lambda, sigma, eps, claimed float64, dir privacy.Direction) Search {
	return Search{Loss: loss.Logistic{}, Labels: []float64{-1, 1}, RowNorm: 1, Lambda: lambda, Sigma: sigma,
		Epsilon: eps, Direction: dir, Claimed: claimed, Regulariser: true, Steps: 1200}
}

// The search must find a counterexample to a claim that is too small, and none to one that holds.
func TestSearch(t *testing.T) {
	ctx := context.Background()
	gauss := privacy.DeltaUpper(privacy.GaussianProfile(0.5, privacy.AddRemove), 1)
	p := must.Get(privacy.HalfNormal{K: math.Ln2 /* s/λ = 1 */, A: 0.5}.Profile(privacy.AddRemove))
	// λ = 0.25, σ = 2, ε = 1: the worst case in the remove direction is 1.00e-2, the Gaussian mechanism has 6.83e-3 and
	// DTZ24 allows 1.89e-1.
	f, err := search(0.25, 2, 1, gauss, privacy.Remove).Run(ctx, noise.NewSeeded(1))
	t.Log(f)
	if err != nil || f.Ratio < 1.2 {
		t.Errorf("against the Gaussian's δ: %+v, %v", f, err)
	}
	short := search(0.25, 2, 1, gauss, privacy.Remove)
	short.Steps = 80
	once, _ := short.Run(ctx, noise.NewSeeded(1))
	if again, _ := short.Run(ctx, noise.NewSeeded(1)); again != once {
		t.Errorf("a rerun gives %+v, not %+v", again, once)
	}
	if f.Exact > 1.01e-2 {
		t.Errorf("exact δ %v above the worst case 1.00e-2", f.Exact)
	}
	if f, _ := search(0.25, 2, 1, privacy.DeltaUpper(p, 1), privacy.Remove).Run(ctx, noise.NewSeeded(1)); f.Ratio > 1 {
		t.Errorf("DTZ24 is broken: %+v", f)
	}
	// One-signed losses: the add direction is exactly the Gaussian's.
	if f, _ := search(0.25, 2, 1, gauss, privacy.Add).Run(ctx, noise.NewSeeded(1)); f.Ratio > 1+1e-9 || f.Ratio < 0.95 {
		t.Errorf("add direction: %+v", f)
	}
}
