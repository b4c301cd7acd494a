package ours

import (
	"testing"

	"github.com/dpnb/notebooks/dpnb/audit"
	"github.com/dpnb/notebooks/dpnb/internal/testing/must"
	"github.com/dpnb/notebooks/dpnb/internal/testing/testscale"
	"github.com/dpnb/notebooks/dpnb/loss"
	"github.com/dpnb/notebooks/dpnb/matrix"
	"github.com/dpnb/notebooks/dpnb/mechanism/objpert"
	"github.com/dpnb/notebooks/dpnb/paper/internal/pictures"
	"github.com/dpnb/notebooks/dpnb/privacy"
)

// What the figures of this room draw.
func TestPictures(t *testing.T) {
	testscale.Slow(t)
	seen := pictures.New(t)
	seen.Figure(CoverageFigure(200, 3, 1, 4, 2))
	exact := Tracing{People: 30, Questions: 60, Trials: 100, Delta: 1e-5, Seed: 8}
	private := exact
	private.Epsilon = 1
	seen.Figure(AttackFigure("Who was in the survey?", exact, private))
	seen.Figure(AttackFigure("Who was fitted?", FitAttack{People: 20, Features: 10, Trials: 40, Delta: 1e-5, Seed: 8},
		FitAttack{People: 20, Features: 10, Trials: 40, Epsilon: 1, Delta: 1e-5, Seed: 8}))
	m := must.Get(objpert.Calibrate(objpert.Config{Loss: loss.Logistic{}, RowNorm: 1, Epsilon: 1, Delta: 1e-5,
		Adjacency: privacy.AddRemove}))
	law := &audit.Neighbours{Loss: loss.Logistic{}, Rows: matrix.NewDense(2, 1, []float64{1, 1}),
		Labels: []float64{-1, -1}, Lambda: m.Lambda, Sigma: m.Sigma, Extra: []float64{1}, ExtraLabel: 1}
	claim := privacy.GaussianProfile(m.Lipschitz()/m.Sigma, privacy.AddRemove)
	seen.Figure(LossesFigure("δ(ε) of real neighbours", claim, privacy.Add, []float64{0, 0.2, 0.4}, 400, 8,
		[]string{"sound"}, law))
	in, out, _, err := exact.Scores()
	if err != nil {
		t.Fatal(err)
	}
	curve := must.Get(audit.Attack(in, out, 0.99, nil))
	seen.Figure(CurvesFigure("Audited", claim, Arm{Name: "exact", Curve: curve}), nil)
	seen.Figure(RateFigure(400, []float64{0.5, 2}, 1, 3))
	seen.Figure(WhichChart(1), nil)
	seen.Compare()
}
